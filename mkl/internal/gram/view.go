package gram

import (
	"fmt"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// View is a view of the training samples, as the estimator got it.
type View struct {
	Argument string // its name in errors, such as views[2]
	Name     string // empty if it has none
	Input    string // the name of its matrix, shared by views of the same X
	X        la.Matrix[float64]
	Sight    Sight
	Kernel   kernel.Kernel

	Center, Normalize bool
}

// Label names the view in errors.
func (v *View) Label() string {
	switch {
	case v.Kernel == nil:
		return v.Argument
	case v.Name == "":
		return fmt.Sprintf("%s (%s)", v.Argument, v.Kernel)
	}
	return fmt.Sprintf("%s (%q, %s)", v.Argument, v.Name, v.Kernel)
}

// Given reports whether the view's matrix holds kernels or distances, not features.
func (v *View) Given() bool {
	return v.Kernel != nil && v.Kernel.Statistic().Kind == kernel.GivenStatistic
}

// check returns an error for settings of the view that do not fit each other or n samples, which may have gaps.
func (v *View) check(n int, gaps bool) error {
	if v.Kernel == nil {
		return fmt.Errorf("mkl: %s: Kernel is nil", v.Label())
	}
	if err := v.checkMatrix(n); err != nil {
		return err
	}
	label := v.Label()
	if err := v.Sight.Check(v.X.Cols); err != nil {
		return fmt.Errorf("mkl: %s: %w", label, err)
	}
	if err := v.Kernel.Check(v.Sight.Cols(v.X.Cols)); err != nil {
		return fmt.Errorf("mkl: %s: %w", label, err)
	}
	if v.Given() {
		return v.checkGiven(n)
	}
	learns := kernel.Learns(v.Kernel)
	switch {
	case learns && (v.Center || v.Normalize):
		return fmt.Errorf("mkl: %s: ARD excludes Center and Normalize", label)
	case learns && gaps:
		return fmt.Errorf("mkl: %s: ARD excludes MissingViews", label)
	case v.Kernel.Statistic().Kind == kernel.Disagreement && (v.Sight.Standardize || v.Sight.Ranks):
		return fmt.Errorf("mkl: %s: Standardize and Ranks are for quantities, not for categories", label)
	}
	return nil
}

// checkMatrix returns an error for a matrix that does not hold n samples.
func (v *View) checkMatrix(n int) error {
	if err := CheckLayout(v.Argument+".X", v.X); err != nil {
		return err
	}
	if v.X.Rows != n {
		return fmt.Errorf("mkl: %s: X is %d×%d where y has %d samples (samples are rows)", v.Label(), v.X.Rows, v.X.Cols, n)
	}
	if v.X.Cols == 0 {
		return fmt.Errorf("mkl: %s: X has no columns", v.Label())
	}
	return nil
}

// checkGiven returns an error for settings that do not fit a matrix of kernels or distances of n samples.
func (v *View) checkGiven(n int) error {
	switch {
	case v.Sight.Standardize:
		return fmt.Errorf("mkl: %s: Standardize is for features, not for given kernels or distances", v.Label())
	case v.Sight.Ranks || v.Sight.Columns != nil:
		return fmt.Errorf("mkl: %s: Ranks and Columns are for features, not for given kernels or distances", v.Label())
	case v.X.Cols != n && (v.Center || v.Normalize):
		return fmt.Errorf("mkl: %s: Center and Normalize need the %d samples as basis points, and X has %d columns", v.Label(), n, v.X.Cols)
	}
	return nil
}

// SameMatrix reports whether two matrices have the same shape and the same entries. NaN equals NaN.
func SameMatrix(a, b la.Matrix[float64]) bool {
	if a.Rows != b.Rows || a.Cols != b.Cols {
		return false
	}
	for i := range a.Rows {
		x, y := a.Row(i), b.Row(i)
		if len(x) > 0 && &x[0] == &y[0] {
			continue // they share their memory
		}
		for j, v := range x {
			if v != y[j] && (v == v || y[j] == y[j]) {
				return false
			}
		}
	}
	return true
}
