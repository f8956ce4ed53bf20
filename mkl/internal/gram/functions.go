package gram

import (
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// IsFunction reports whether the view is a known function.
func (v *Bound) IsFunction() bool {
	_, ok := v.Kernel.(kernel.KnownFunction)
	return ok
}

// KernelViews returns the number of views with kernels.
func (ds *Design) KernelViews() (n int) {
	for i := range ds.Views {
		if !ds.Views[i].IsFunction() {
			n++
		}
	}
	return n
}

// Value returns the value of a known function at a sample x of its input.
func (v *Bound) Value(in *Input, x []float64) float64 {
	var z [1]float64
	in.see(z[:], x, v.Sight, nil)
	return z[0]
}

// Functions returns the values of the known functions at samples first … first+n−1 of x. It has a row for each view, with
// zeros for a view with a kernel; it is empty if all views have kernels.
func (ds *Design) Functions(x []la.Matrix[float64], first, n int) (out la.Matrix[float64]) {
	for i := range ds.Views {
		v := &ds.Views[i]
		if !v.IsFunction() {
			continue
		}
		if out.Rows == 0 {
			out = la.NewMatrix[float64](len(ds.Views), n)
		}
		for t := range n {
			out.Set(i, t, v.Value(&ds.Inputs[v.Input], x[v.Input].Row(first+t)))
		}
	}
	return out
}
