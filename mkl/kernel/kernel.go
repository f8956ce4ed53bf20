package kernel

import (
	"fmt"
	"strconv"
)

// Kernel is a function of two samples. It is a function of one number, the statistic, which is computed from them.
// Implementations are values, which must be safe for concurrent use.
type Kernel interface {
	// String returns the kernel in the notation of the command line, such as rbf(width=0.5).
	String() string

	// Check returns an error for settings that are not valid for samples of d features.
	Check(d int) error

	// Statistic returns the quantity that the kernel is a function of.
	Statistic() Statistic

	// Apply replaces each statistic in s by the kernel's value. It is called on a resolved kernel only.
	Apply(s []float64)

	// Properties returns facts about the kernel's values that hold for all samples.
	Properties() Properties

	// Missing says which distance between training samples is still needed to set the kernel's width or scale:
	// NoDistance if the kernel needs none.
	Missing() Distance

	// Resolve returns the kernel with all defaults filled in, given the distance that Missing asked for.
	Resolve(distance float64) Kernel
}

// Properties are facts about a kernel's values that hold for all samples. The zero value claims nothing.
type Properties struct {
	Bounded   bool // the values lie in [0, 1]
	Definite  bool // every kernel matrix is positive semidefinite
	Divisible bool // with Definite: the same holds for every positive power of the entries
}

// Distance is a typical distance between training samples.
type Distance int

// The distances that can set a width or scale.
const (
	NoDistance     Distance = iota
	MeanDistance            // the mean over all pairs of training samples, each sample with itself included
	MedianDistance          // the median over all pairs of different training samples
)

// String returns "mean" or "median".
func (d Distance) String() string { return [...]string{"", "mean", "median"}[d] }

// number formats a number with the fewest digits that identify it.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// setting formats a width or scale.
func setting(name string, v float64) string {
	if v == 0 {
		return name + "=mean"
	}
	return name + "=" + number(v)
}

// checkLength returns an error for a width or scale whose square or reciprocal overflows or underflows. It accepts 0,
// which means not yet resolved.
func checkLength(name string, v float64) error {
	if v == 0 || v >= 1e-150 && v <= 1e150 {
		return nil
	}
	return fmt.Errorf("%s is %g, not a positive number between 1e-150 and 1e150", name, v)
}
