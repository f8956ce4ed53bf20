package gram

import (
	"context"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// Among returns the kernels between the T samples of x, a T×T matrix for each view, centred and normalised as the
// training kernels were. It is an error if a view is given as kernels or distances, which say nothing of pairs of
// new samples, or if a sample lacks a view.
func (ds *Design) Among(ctx context.Context, workers int, x []la.Matrix[float64]) ([]la.Matrix[float64], error) {
	ks := make([]la.Matrix[float64], len(ds.Views))
	for _, g := range ds.Groups {
		in := &ds.Inputs[g.input]
		if g.stat.Kind == kernel.GivenStatistic {
			return nil, fmt.Errorf("mkl: input %d holds kernels or distances to the training samples, not among the new samples", g.input)
		}
		whole, absent := in.whole(x[g.input])
		for i, lacks := range absent {
			if lacks {
				return nil, fmt.Errorf("mkl: input %d: sample %d lacks the view", g.input, i)
			}
		}
		z := in.Seen(whole, g.sight, g.stat.Widths)
		among := g
		among.basis = z
		for _, i := range g.Views {
			ks[i] = la.NewMatrix[float64](z.Rows, z.Rows)
		}
		if err := ds.fillSymmetric(ctx, workers, among, ks); err != nil {
			return nil, err
		}
		means, err := ds.crossMeans(ctx, workers, g, z)
		if err != nil {
			return nil, err
		}
		for _, i := range g.Views {
			ds.Views[i].adjustAmong(ks[i], means[i])
		}
	}
	return ks, nil
}

// crossMeans returns, for each view of a group that is centred, the means over the training samples of its kernels
// with the samples z, before centring.
func (ds *Design) crossMeans(ctx context.Context, workers int, g Group, z la.Matrix[float64]) (map[int][]float64, error) {
	means := map[int][]float64{}
	for _, i := range g.Views {
		if ds.Views[i].Center {
			means[i] = make([]float64, z.Rows)
		}
	}
	if len(means) == 0 {
		return means, nil
	}
	ks := make([]la.Matrix[float64], len(ds.Views))
	for _, i := range g.Views {
		ks[i] = la.NewMatrix[float64](ds.D, z.Rows)
	}
	err := inBlocks(ctx, workers, ds.D, func() func(int, int) {
		ws := &la.Workspace{Workers: 1}
		return func(first, last int) { ds.fillBlock(ws, g, z, first, last, ks) }
	})
	if err != nil {
		return nil, err
	}
	column := make([]float64, ds.D)
	for i, mean := range means {
		ds.Views[i].fillCross(ks[i], ds.Inputs[g.input].Lacking, nil)
		for t := range mean {
			for d := range column {
				column[d] = ks[i].At(d, t)
			}
			mean[t] = ds.mean(column)
		}
	}
	return means, nil
}

// adjustAmong centres and normalises the kernels k among new samples as adjust does those with the basis points;
// mean is of each sample's kernels with the training samples.
func (v *Bound) adjustAmong(k la.Matrix[float64], mean []float64) {
	if v.Center {
		for i, mi := range mean {
			row := k.Row(i)
			for j, mj := range mean {
				row[j] = row[j] - (mi + mj) + v.TotalMean
			}
		}
	}
	if !v.Normalize {
		return
	}
	scale := make([]float64, k.Rows)
	for i := range scale {
		if self := k.At(i, i); self > v.floor {
			scale[i] = 1 / math.Sqrt(self)
		}
	}
	for i, si := range scale {
		row := k.Row(i)
		for j, sj := range scale {
			row[j] *= si * sj
		}
	}
}
