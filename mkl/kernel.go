package mkl

import (
	"fmt"
	"strconv"
)

// Kernel is a measure of how similar two samples are. The kinds of kernels are
// those of this package; [Func] makes one of any function.
//
// A width or scale of 0 stands for the mean distance between training samples, and
// a width in Medians for a multiple of their median distance; fitting replaces it
// by that figure, which the model keeps.
type Kernel interface {
	// String returns the kernel in the notation of the command line, such as
	// rbf(width=0.5).
	String() string

	// check reports settings that make no sense for samples of d features.
	check(d int) error

	// statistic says what the kernel is a function of.
	statistic() statistic

	// lacks says of what figure of the training samples the kernel's width or scale
	// is still to be made, and resolve makes it of that.
	lacks() figure
	resolve(distance float64) Kernel

	// apply turns statistics into kernel values, in place.
	apply(s []float64)

	// bounded reports whether the kernel's values lie in [0, 1] for any samples.
	bounded() bool
}

// number formats a number in the fewest digits that tell it from all others.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// setting formats a width or scale.
func setting(name string, v float64) string {
	if v == 0 {
		return name + "=mean"
	}
	return name + "=" + number(v)
}

// checkLength reports a width or scale whose square or reciprocal is not an
// ordinary number; 0 is left to be resolved.
func checkLength(name string, v float64) error {
	if v == 0 || v >= 1e-150 && v <= 1e150 {
		return nil
	}
	return fmt.Errorf("%s is %g, not a positive number between 1e-150 and 1e150", name, v)
}
