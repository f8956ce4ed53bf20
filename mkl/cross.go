package mkl

import (
	"context"

	"github.com/bmkl/bmkl/la"
)

// cross stores the kernels between the basis points and samples first … of x, as
// many as the matrices have columns, in ks: D×T each.
func (ds *design) cross(ctx context.Context, workers int, x []Features, first int, ks []la.Matrix[float64]) error {
	return ds.crossSelf(ctx, workers, x, first, ks, la.Matrix[float64]{})
}

// crossSelf is cross which also stores the kernels of the samples with
// themselves in self, P×T, unless that is empty.
func (ds *design) crossSelf(ctx context.Context, workers int, x []Features, first int, ks []la.Matrix[float64], self la.Matrix[float64]) error {
	t := ks[0].Cols
	row := func(i int) []float64 {
		if self.Rows == 0 {
			return nil
		}
		return self.Row(i)
	}
	for _, g := range ds.groups {
		xt := x[g.input].Slice(first, first+t, 0, x[g.input].Cols)
		if g.stat.kind == given {
			ds.fillGiven(g.views[0], xt, ks[g.views[0]])
			ds.adjust(g.views[0], g, xt, nil, ks[g.views[0]], row(g.views[0]))
			continue
		}
		in := &ds.inputs[g.input]
		whole, absent := in.whole(xt)
		z := in.seen(whole, g.sight, g.stat.widths)
		err := inBlocks(ctx, workers, ds.d, func() func(int, int) {
			ws := &la.Workspace{Workers: 1}
			return func(d0, d1 int) { ds.fillBlock(ws, g, z, d0, d1, ks) }
		})
		if err != nil {
			return err
		}
		for _, i := range g.views {
			ds.views[i].fillCross(ks[i], in.lacking, absent)
			ds.adjust(i, g, z, absent, ks[i], row(i))
		}
	}
	return nil
}

// adjust centres and normalises the test kernel k, D×T, of view i as the
// training kernel was; x are the samples as the kernel sees them, of which those that are
// absent lack the view (nil: none). Their kernels with themselves are stored in self, unless
// that is nil.
func (ds *design) adjust(i int, g group, x Features, absent []bool, k la.Matrix[float64], self []float64) {
	v := &ds.views[i]
	if !v.center && !v.normalize {
		for t := range self {
			self[t] = g.statisticOfOne(v, x.Row(t))
		}
		v.kernel.apply(self)
		for t := range self {
			if absent != nil && absent[t] {
				self[t] = v.expectedSelf
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
		v.kernel.apply(one)
		if absent != nil && absent[t] {
			one[0] = v.expectedSelf
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

// selfStatistic returns the statistic of x with itself, where Normalize needs it.
func (g *group) selfStatistic(v *boundView, x []float64) float64 {
	if !v.normalize {
		return 0
	}
	return g.statisticOfOne(v, x)
}

// statisticOfOne returns the statistic of x with itself.
func (g *group) statisticOfOne(v *boundView, x []float64) float64 {
	switch _, kernel := v.kernel.(Precomputed); {
	case kernel:
		return x[len(x)-1]
	case g.stat.kind == given:
		return 0
	}
	return g.stat.of(x, x)
}
