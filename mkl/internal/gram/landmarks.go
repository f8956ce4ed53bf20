package gram

import (
	"context"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// RowsOf returns the samples rows of each input.
func (ds *Design) RowsOf(rows []int) (out []la.Matrix[float64]) {
	for _, in := range ds.Inputs {
		out = append(out, in.Basis.TakeRows(rows))
	}
	return out
}

// ChoosePivots returns the samples that are the first count pivots of the sum of the kernels, where each kernel is divided by
// its mean for a sample with itself. The next pivot is the sample that the pivots so far represent worst. It
// returns fewer if they represent all samples.
func (ds *Design) ChoosePivots(ctx context.Context, count, workers int) (rows []int, err error) {
	n, self := ds.D, ds.ownKernels()
	left, weight := make([]float64, n), make([]float64, len(ds.Views))
	for i := range weight {
		if mean := vec.Total(self.Row(i)) / float64(n); mean > 0 {
			weight[i] = 1 / mean
		}
		la.Axpy(weight[i], self.Row(i), left)
	}
	least := 1e-10 * slices.Max(left)
	factor := la.NewMatrix[float64](count, n)
	ks := make([]la.Matrix[float64], len(ds.Views))
	for i := range ks {
		ks[i] = la.NewMatrix[float64](n, 1)
	}
	ws, before := &la.Workspace{Workers: workers}, make([]float64, count)
	for len(rows) < count {
		m := len(rows)
		pivot := vec.ArgMax(left)
		if !(left[pivot] > least) {
			break
		}
		if err := ds.Cross(ctx, 1, ds.RowsOf([]int{pivot}), 0, ks); err != nil {
			return nil, err
		}
		row := factor.Row(m)
		for i, k := range ks {
			la.Axpy(weight[i], k.Data[:n], row)
		}
		for r := range before[:m] {
			before[r] = factor.At(r, pivot)
		}
		if m > 0 {
			la.Gemv(ws, la.Transpose, -1, factor.Slice(0, m, 0, n), before[:m], 1, row)
		}
		la.Scal(1/math.Sqrt(left[pivot]), row)
		for t, v := range row {
			left[t] -= float64(v * v)
		}
		left[pivot] = 0
		rows = append(rows, pivot)
	}
	slices.Sort(rows)
	return rows, nil
}

// ownKernels returns the kernel of each sample with itself, views × samples, and prepares the views for [Design.Cross]:
// none is centred, and a normalised view gets the factors that make these kernels 1.
func (ds *Design) ownKernels() la.Matrix[float64] {
	n := ds.D
	self := la.NewMatrix[float64](len(ds.Views), n)
	for _, g := range ds.Groups {
		for _, i := range g.Views {
			v := &ds.Views[i]
			v.Center = false
			row := self.Row(i)
			for t := range row {
				row[t] = g.statisticOfOne(v, g.basis.Row(t))
			}
			v.Kernel.Apply(row)
			if !v.Normalize {
				continue
			}
			v.Unit = make([]float64, n)
			for t, s := range row {
				if v.Unit[t] = 0; s > 0 {
					v.Unit[t], row[t] = 1/math.Sqrt(s), 1
				}
			}
		}
	}
	return self
}
