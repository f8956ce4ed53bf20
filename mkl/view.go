package mkl

import (
	"fmt"
	"strconv"
)

// View is one kernel on one matrix of features.
type View struct {
	// Name is what results and errors call the view; views may share one. If it
	// is empty, the kernel's notation stands in, with the input's number before
	// it when there are several.
	Name string

	// X has a row for each sample. Several views of the same X, not copies of
	// it, are computed together and take one matrix in a prediction.
	X Features

	// Columns are the columns of X that the kernel sees; nil means all. Views of
	// different columns share their X all the same.
	Columns []int

	Kernel Kernel

	// Standardize subtracts each feature's mean and divides by its standard
	// deviation (with n−1) over the training samples before the kernel sees them.
	Standardize bool

	// Ranks replaces each feature v by the normal score of its rank among the N
	// training samples before the kernel sees it:
	//
	//	Φ⁻¹((#{x_i < v} + #{x_i ≤ v}) / 2N), the argument held within .01 and .99.
	//
	// The kernel then depends on the order of a feature's values alone. It excludes
	// Standardize.
	Ranks bool

	// Center moves the samples' mean in the kernel's feature space to the origin:
	// k(x,y) − mean_j k(x,x_j) − mean_i k(x_i,y) + mean_ij k(x_i,x_j), means over
	// the training samples. A centred kernel cannot be pruned to fewer samples.
	Center bool

	// Normalize scales the kernel, after centring, to k(x,y)/√(k(x,x)·k(y,y)),
	// so that its diagonal is 1. For a kernel that is given (Precomputed), the
	// matrices of a prediction then carry one more column: k(x,x).
	Normalize bool

	// from is one more than the index of the caller's view that this one stands for, if
	// an estimator chose its kernel; errors name that one.
	from int
}

// Input is one of the matrices that a prediction takes.
type Input struct {
	Views []int // indices of the views that use it
	Cols  int   // columns it must have

	// MissingViews says that a sample may lack it: its row is then NaN.
	MissingViews bool
}

// argument names the i-th view as the caller gave it.
func (v *View) argument(i int) string {
	if v.from > 0 {
		i = v.from - 1
	}
	return "views[" + strconv.Itoa(i) + "]"
}

// label names a view in an error.
func (v *View) label(i int) string {
	switch {
	case v.Kernel == nil:
		return v.argument(i)
	case v.Name == "":
		return fmt.Sprintf("%s (%s)", v.argument(i), v.Kernel)
	}
	return fmt.Sprintf("%s (%q, %s)", v.argument(i), v.Name, v.Kernel)
}

// describe names a view without its number.
func (v *View) describe() string {
	if v.Name == "" {
		return v.Kernel.String()
	}
	return fmt.Sprintf("%q, %s", v.Name, v.Kernel)
}
