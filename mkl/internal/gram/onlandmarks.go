package gram

import (
	"context"

	"github.com/bmkl/bmkl/la"
)

// OnLandmarks returns the design of the views whose basis points are the landmarks basis, a matrix for each input, and the
// kernels among the landmarks. t is the training of the views on a sample.
func (t *Training) OnLandmarks(ctx context.Context, basis []la.Matrix[float64], workers int) (*Design, []la.Matrix[float64], error) {
	ds := &Design{D: basis[0].Rows}
	for i, in := range t.Inputs {
		in.Basis = basis[i]
		ds.Inputs = append(ds.Inputs, in)
	}
	for _, v := range t.Views {
		v.Center = false // the fit subtracts the features' means
		ds.Views = append(ds.Views, v)
	}
	on := t.on(ds, basis)
	on.Regroup()
	ks, err := on.fill(ctx, workers)
	if err != nil {
		return nil, nil, err
	}
	for i, k := range ks {
		if err := on.finish(i, k); err != nil {
			return nil, nil, err
		}
	}
	return ds, ks, nil
}
