package mkl

import (
	"fmt"

	"github.com/bmkl/bmkl/la"
)

// isFunction reports whether the view is a function that is known.
func (v *boundView) isFunction() bool {
	_, ok := v.kernel.(Function)
	return ok
}

// kernelViews returns the number of views with kernels.
func (ds *design) kernelViews() (n int) {
	for i := range ds.views {
		if !ds.views[i].isFunction() {
			n++
		}
	}
	return n
}

// functionViews returns the views with one for each function that is known in place of those that hold several.
func functionViews(views []View) (all []View, err error) {
	for i, v := range views {
		if _, ok := v.Kernel.(Function); !ok {
			v.from = i + 1
			all = append(all, v)
			continue
		}
		if v.Center || v.Normalize {
			return nil, fmt.Errorf("mkl: %s: Center and Normalize are for kernels: Standardize gives functions their scale", v.label(i))
		}
		s := sight{columns: v.Columns}
		if err := s.check(v.X.Cols); err != nil {
			return nil, fmt.Errorf("mkl: %s: %w", v.label(i), err)
		}
		cols := s.cols(v.X.Cols)
		for j := range cols {
			one := v
			one.from = i + 1
			one.Columns = []int{j}
			if v.Columns != nil {
				one.Columns[0] = v.Columns[j]
			}
			if v.Name != "" && cols > 1 {
				one.Name = fmt.Sprintf("%s #%d", v.Name, one.Columns[0]+1)
			}
			all = append(all, one)
		}
		if cols == 0 { // bindViews refuses it
			all = append(all, v)
		}
	}
	return all, nil
}

// value returns a function that is known at a sample of its input.
func (v *boundView) value(in *input, x []float64) float64 {
	var z [1]float64
	in.see(z[:], x, v.sight, nil)
	return z[0]
}

// functions returns the functions that are known at samples first … first+n−1 of x, a row for each view, of
// zeros where it is none; it is empty if none is.
func (ds *design) functions(x []Features, first, n int) (out la.Matrix[float64]) {
	for i := range ds.views {
		v := &ds.views[i]
		if !v.isFunction() {
			continue
		}
		if out.Rows == 0 {
			out = la.NewMatrix[float64](len(ds.views), n)
		}
		for t := range n {
			out.Set(i, t, v.value(&ds.inputs[v.input], x[v.input].Row(first+t)))
		}
	}
	return out
}
