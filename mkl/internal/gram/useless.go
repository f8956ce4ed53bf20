package gram

import (
	"context"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
)

const (
	// NearIdentity is a limit for the largest entry off the diagonal: below it a kernel matrix counts
	// as the identity. The values of such a kernel's function at the training
	// samples are independent. A model cannot distinguish them from noise,
	// and they predict nothing.
	NearIdentity = 1e-3

	// duplicate is the cosine of the angle between two centred kernel matrices above
	// which the second is left out. It is close to 1 because the widest Gaussian kernel,
	// whose cosine with the linear one is often 1 − 1e-5, makes quadratic functions
	// that the linear kernel cannot make. The matrices are centred because the constant kernel absorbs
	// their means.
	duplicate = 1 - 1e-8

	// comparedSamples is the largest number of samples on which kernels are compared.
	comparedSamples = 500
)

// DropIdentities marks in drop the kernels whose matrix is the identity on the samples.
func (t *Training) DropIdentities(ctx context.Context, drop []bool, note func(i int, largest float64)) error {
	for n := range t.Groups {
		g := &t.Groups[n]
		if !g.stat.IsDistance() {
			continue
		}
		closest, err := g.closest(ctx, t.Inputs[g.input].Present(g.basis))
		if err != nil {
			return err
		}
		for _, i := range g.Views {
			k := []float64{closest}
			t.Views[i].Kernel.Apply(k)
			if k[0] < NearIdentity && !kernel.Learns(t.Views[i].Kernel) {
				drop[i] = true
				note(i, k[0])
			}
		}
	}
	return nil
}

// closest returns the least statistic of two different samples in the rows of b.
func (g *Group) closest(ctx context.Context, b la.Matrix[float64]) (float64, error) {
	least := make([]float64, b.Rows)
	err := inBlocks(ctx, 0, b.Rows, func() func(int, int) {
		ws, scratch := &la.Workspace{Workers: 1}, la.NewMatrix[float64](min(blockRows, b.Rows), b.Rows)
		return func(first, last int) {
			s := scratch.Slice(0, last-first, 0, last)
			g.stat.Compute(ws, b.Slice(first, last, 0, b.Cols), b.Slice(0, last, 0, b.Cols), s)
			for r := range s.Rows {
				least[first+r] = math.Inf(1)
				for _, v := range s.Row(r)[:first+r] {
					least[first+r] = min(least[first+r], v)
				}
			}
		}
	})
	return slices.Min(least), err
}

// DropDuplicates marks in drop the kernels that equal an earlier one up to a factor and a
// constant.
func (ds *Design) DropDuplicates(drop []bool, note func(first, i int)) {
	n := min(comparedSamples, ds.D)
	rows := la.NewMatrix[float64](len(ds.Views), n*(n+1)/2) // lower triangles, whose products are half of the matrices' products
	ws, stat, k := &la.Workspace{}, la.NewMatrix[float64](n, n), la.NewMatrix[float64](n, n)
	for _, g := range ds.Groups {
		b := Evenly(g.basis, n)
		g.stat.Compute(ws, b, b, stat)
		for _, i := range g.Views {
			v := &ds.Views[i]
			if drop[i] || kernel.Learns(v.Kernel) {
				continue
			}
			copy(k.Data, stat.Data)
			v.Kernel.Apply(k.Data)
			scratch := &Bound{}
			if lacking := ds.Inputs[v.Input].Lacking; lacking != nil {
				scratch.expect(k, evenlyOf(lacking, n))
			}
			scratch.centerTraining(k, nil)
			row := rows.Row(i)
			packHalf(k, row)
			if size := math.Sqrt(la.SumSq(row)); size > 0 {
				la.Scal(1/size, row)
			}
		}
	}
	cosines := la.NewMatrix[float64](len(ds.Views), len(ds.Views))
	la.Gemm(ws, la.NoTrans, la.Transpose, 1, rows, rows, 0, cosines)
	for i := range ds.Views {
		for j := range i {
			if !drop[i] && !drop[j] && cosines.At(i, j) > duplicate {
				drop[i] = true
				note(j, i)
			}
		}
	}
}

// packHalf stores the lower triangle of a symmetric matrix row by row, the diagonal divided by √2.
func packHalf(m la.Matrix[float64], dst []float64) {
	for i := range m.Rows {
		row := m.Row(i)
		copy(dst, row[:i])
		dst[i] = row[i] / math.Sqrt2
		dst = dst[i+1:]
	}
}
