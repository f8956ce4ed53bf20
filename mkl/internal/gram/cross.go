package gram

import (
	"context"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// Cross stores the kernels between the basis points and T samples of x in ks, D×T each. The
// samples are first … first+T−1, where T is the number of columns of ks.
func (ds *Design) Cross(ctx context.Context, workers int, x []la.Matrix[float64], first int, ks []la.Matrix[float64]) error {
	return ds.CrossSelf(ctx, workers, x, first, ks, la.Matrix[float64]{})
}

// CrossSelf is Cross, and also stores the kernels of the samples with
// themselves in self, P×T, unless that is empty.
func (ds *Design) CrossSelf(ctx context.Context, workers int, x []la.Matrix[float64], first int, ks []la.Matrix[float64], self la.Matrix[float64]) error {
	t := ks[0].Cols
	row := func(i int) []float64 {
		if self.Rows == 0 {
			return nil
		}
		return self.Row(i)
	}
	for _, g := range ds.Groups {
		xt := x[g.input].Slice(first, first+t, 0, x[g.input].Cols)
		if g.stat.Kind == kernel.GivenStatistic {
			ds.fillGiven(g.Views[0], xt, ks[g.Views[0]])
			ds.adjust(g.Views[0], g, xt, nil, ks[g.Views[0]], row(g.Views[0]))
			continue
		}
		in := &ds.Inputs[g.input]
		whole, absent := in.whole(xt)
		z := in.Seen(whole, g.sight, g.stat.Widths)
		err := inBlocks(ctx, workers, ds.D, func() func(int, int) {
			ws := &la.Workspace{Workers: 1}
			return func(d0, d1 int) { ds.fillBlock(ws, g, z, d0, d1, ks) }
		})
		if err != nil {
			return err
		}
		for _, i := range g.Views {
			ds.Views[i].fillCross(ks[i], in.Lacking, absent)
			ds.adjust(i, g, z, absent, ks[i], row(i))
		}
	}
	return nil
}

// adjust centres and normalises the test kernel k, D×T, of view i as the
// training kernel was. x are the samples as the kernel sees them. absent marks the samples that
// lack the view (nil: none does). Unless self is nil, adjust stores the kernels of the samples with themselves
// in it.
func (ds *Design) adjust(i int, g Group, x la.Matrix[float64], absent []bool, k la.Matrix[float64], self []float64) {
	v := &ds.Views[i]
	if !v.Center && !v.Normalize {
		for t := range self {
			self[t] = g.statisticOfOne(v, x.Row(t))
		}
		v.Kernel.Apply(self)
		for t := range self {
			if absent != nil && absent[t] {
				self[t] = v.ExpectedSelf
			}
		}
		return
	}
	column, one := make([]float64, k.Rows), make([]float64, 1)
	for t := range k.Cols {
		for d := range column {
			column[d] = k.At(d, t)
		}
		if one[0] = g.selfStatistic(v, x.Row(t)); self != nil {
			one[0] = g.statisticOfOne(v, x.Row(t))
		}
		v.Kernel.Apply(one)
		if absent != nil && absent[t] {
			one[0] = v.ExpectedSelf
		}
		s := v.adjust(column, ds.mean(column), one[0])
		if self != nil {
			self[t] = s
		}
		for d, value := range column {
			k.Data[d*k.Stride+t] = value
		}
	}
}

// selfStatistic returns the statistic of x with itself if Normalize needs it.
func (g *Group) selfStatistic(v *Bound, x []float64) float64 {
	if !v.Normalize {
		return 0
	}
	return g.statisticOfOne(v, x)
}

// statisticOfOne returns the statistic of x with itself.
func (g *Group) statisticOfOne(v *Bound, x []float64) float64 {
	switch _, precomputed := v.Kernel.(kernel.Precomputed); {
	case precomputed:
		return x[len(x)-1]
	case g.stat.Kind == kernel.GivenStatistic:
		return 0
	}
	return g.stat.Of(x, x)
}
