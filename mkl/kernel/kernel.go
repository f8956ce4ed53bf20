package kernel

import (
	"fmt"
	"strconv"
)

// Kernel is a function of two samples: a function of one number that is computed from them, the statistic.
// Implementations are values, which must be safe for concurrent use.
type Kernel interface {
	// String returns the kernel in the notation of the command line, such as rbf(width=0.5).
	String() string

	// Check reports settings that are not valid for samples of d features.
	Check(d int) error

	// Statistic returns the quantity of two samples that the kernel is a function of.
	Statistic() Statistic

	// Apply replaces each statistic in s by the kernel's value. The kernel is resolved.
	Apply(s []float64)

	// Properties returns what is known of the kernel's values, whatever the samples are.
	Properties() Properties

	// Missing says which distance between training samples the kernel's width or scale is still to be made of:
	// NoDistance if the kernel needs none.
	Missing() Distance

	// Resolve returns the kernel with all defaults filled in, given the distance that Missing asked for.
	Resolve(distance float64) Kernel
}

// Properties are what is known of a kernel's values, whatever the samples are. The zero value knows nothing.
type Properties struct {
	Bounded   bool // the values lie in [0, 1]
	Definite  bool // every kernel matrix is positive semidefinite
	Divisible bool // with Definite: so is every positive power of its entries
}

// Distance is a typical distance between training samples.
type Distance int

// The distances that a width or scale can be made of.
const (
	NoDistance     Distance = iota
	MeanDistance            // the mean over all pairs of training samples, each sample with itself included
	MedianDistance          // the median over all pairs of different training samples
)

// String returns "mean" or "median".
func (d Distance) String() string { return [...]string{"", "mean", "median"}[d] }

// number formats a number in the fewest digits that tell it from all others.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// setting formats a width or scale.
func setting(name string, v float64) string {
	if v == 0 {
		return name + "=mean"
	}
	return name + "=" + number(v)
}

// checkLength reports a width or scale whose square or reciprocal is not an ordinary number. It accepts 0, which
// is still to be resolved.
func checkLength(name string, v float64) error {
	if v == 0 || v >= 1e-150 && v <= 1e150 {
		return nil
	}
	return fmt.Errorf("%s is %g, not a positive number between 1e-150 and 1e150", name, v)
}
