package mkl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
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

// sight is what a kernel sees of a sample.
type sight struct {
	columns     []int // nil for all
	standardize bool
	ranks       bool
}

func (s sight) equal(o sight) bool {
	return s.standardize == o.standardize && s.ranks == o.ranks &&
		(s.columns == nil) == (o.columns == nil) && slices.Equal(s.columns, o.columns)
}

// cols returns how many of d columns are seen.
func (s sight) cols(d int) int {
	if s.columns == nil {
		return d
	}
	return len(s.columns)
}

// check reports a sight that is not of samples of d features.
func (s sight) check(d int) error {
	if s.columns != nil && len(s.columns) == 0 {
		return fmt.Errorf("Columns is empty: nil stands for all")
	}
	used := make(map[int]bool, len(s.columns)) // d may be any number of a file
	for i, c := range s.columns {
		switch {
		case c < 0 || c >= d:
			return fmt.Errorf("Columns[%d] is %d, and X has %d columns", i, c, d)
		case used[c]:
			return fmt.Errorf("Columns[%d] is %d a second time", i, c)
		}
		used[c] = true
	}
	if s.ranks && s.standardize {
		return fmt.Errorf("Ranks and Standardize exclude each other")
	}
	return nil
}

// String says what is seen, for the name of a view that has none: nothing for
// whole samples, standardised or not. Columns are counted from 1.
func (s sight) String() string {
	var b strings.Builder
	if s.ranks {
		b.WriteString(" of ranks")
	}
	const most = 8
	for i, c := range s.columns {
		if i == most {
			fmt.Fprintf(&b, ",… (%d columns)", len(s.columns))
			break
		}
		b.WriteString([]string{" of #", ",#"}[min(i, 1)])
		b.WriteString(strconv.Itoa(c + 1))
	}
	return b.String()
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
