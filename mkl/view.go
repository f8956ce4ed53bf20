package mkl

import (
	"fmt"
	"strconv"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// View is one kernel on one matrix of features.
type View struct {
	// Name is the name of the view in results and errors; views may share one. If it
	// is empty, the kernel's notation replaces it, preceded by the input's number
	// if there are several.
	Name string

	// X has a row for each sample.
	X Features

	// Input names X. Views with the same Input, which may be empty, have the same X: it is an error if their
	// values differ. A prediction takes one matrix for each Input, in the order of their first views.
	Input string

	// Columns are the columns of X that the kernel sees; nil means all.
	Columns []int

	Kernel kernel.Kernel

	// Standardize subtracts each feature's mean and divides by its standard
	// deviation (with n−1) over the training samples before the kernel sees them.
	Standardize bool

	// Ranks replaces each feature v by the normal score of its rank among the N
	// training samples before the kernel sees it:
	//
	//	Φ⁻¹((#{x_i < v} + #{x_i ≤ v}) / 2N), with the argument limited to [0.01, 0.99].
	//
	// The kernel then depends only on the order of a feature's values. Ranks excludes
	// Standardize.
	Ranks bool

	// Center moves the samples' mean in the kernel's feature space to the origin:
	// k(x,y) − mean_j k(x,x_j) − mean_i k(x_i,y) + mean_ij k(x_i,x_j), with means over
	// the training samples. A centred kernel cannot be pruned to fewer samples.
	Center bool

	// Normalize scales the kernel, after centring, to k(x,y)/√(k(x,x)·k(y,y)),
	// so that its diagonal is 1. For a given kernel (Precomputed), the
	// matrices of a prediction then have one more column: k(x,x).
	Normalize bool

	// from is one more than the index of the caller's view, if an estimator chose the kernel of
	// this one. Errors name the caller's view.
	from int
}

// PrecomputedViews returns a view for each of these kernel matrices, samples × basis points, with an Input of its own. They
// are named kernel 1, kernel 2 and so on.
func PrecomputedViews(kernels ...la.Matrix[float64]) []View {
	views := make([]View, len(kernels))
	for i, k := range kernels {
		name := fmt.Sprint("kernel ", i+1)
		views[i] = View{Name: name, X: k, Input: name, Kernel: kernel.Precomputed{}}
	}
	return views
}

// ModelInput is one of the matrices that a prediction takes.
type ModelInput struct {
	Name  string // Input of the views; empty if they have none
	Views []int  // indices of the views that use it
	Cols  int    // columns it must have

	// MissingViews says that a sample may lack this input: its row is then NaN.
	MissingViews bool
}

// argument names the i-th view as the caller's argument.
func (v *View) argument(i int) string {
	if v.from > 0 {
		i = v.from - 1
	}
	return "views[" + strconv.Itoa(i) + "]"
}

// label names the i-th view in an error.
func (v *View) label(i int) string {
	s := v.source(i)
	return s.Label()
}

// isGiven reports whether the view's X holds kernels or distances, not features.
func isGiven(v View) bool {
	return v.Kernel != nil && v.Kernel.Statistic().Kind == kernel.GivenStatistic
}

// source returns the i-th view in the form of package gram.
func (v *View) source(i int) gram.View {
	return gram.View{
		Argument: v.argument(i), Name: v.Name, Input: v.Input, X: v.X,
		Sight: gram.Sight{Columns: v.Columns, Standardize: v.Standardize, Ranks: v.Ranks}, Kernel: v.Kernel, Center: v.Center, Normalize: v.Normalize,
	}
}
