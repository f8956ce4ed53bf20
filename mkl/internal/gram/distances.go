package gram

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/smallest"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// Resolve replaces the widths and scales that are to be taken from the data by the mean or
// a multiple of the median distance.
func (t *Training) Resolve(ctx context.Context, workers int) error {
	for j := range t.Groups {
		g := &t.Groups[j]
		if p, ok := t.Views[g.Views[0]].Kernel.(kernel.Product); ok { // its statistic is its own
			if err := t.resolveFactors(ctx, workers, g, p); err != nil {
				return err
			}
			continue
		}
		distances := map[kernel.Distance]float64{}
		for _, i := range g.Views {
			v := &t.Views[i]
			what := v.Kernel.Missing()
			if what == kernel.NoDistance {
				v.Kernel = v.Kernel.Resolve(0)
				continue
			}
			distance, ok := distances[what]
			if !ok {
				var err error
				switch what {
				case kernel.MeanDistance:
					distance, err = g.meanDistance(ctx, workers, t.Inputs[g.input].Present(g.basis), t.sources[i].X)
				case kernel.MedianDistance:
					distance, err = g.medianDistance(ctx, workers, t.Inputs[g.input].Present(g.basis))
				}
				if err != nil {
					return err
				}
				distances[what] = distance
			}
			k := v.Kernel.Resolve(distance)
			if err := k.Check(v.Sight.Cols(t.sources[i].X.Cols)); err != nil || k.Missing() != kernel.NoDistance {
				return fmt.Errorf("mkl: %s: the %v distance between the training samples is %g: give a width or scale", t.Label(i), what, distance)
			}
			v.Kernel = k
		}
	}
	return nil
}

// resolveFactors is Resolve for the product p, whose factors take distances of their own features.
func (t *Training) resolveFactors(ctx context.Context, workers int, g *Group, p kernel.Product) (err error) {
	i := g.Views[0]
	present := t.Inputs[g.input].Present(g.basis)
	resolved := p.WithFactors(func(f kernel.Factor, first int) kernel.Kernel {
		own := &Group{stat: f.Kernel.Statistic()}
		x := present.Slice(0, present.Rows, first, first+f.Columns)
		distance, what := 0.0, f.Kernel.Missing()
		var failed error
		switch what {
		case kernel.MeanDistance:
			distance, failed = own.meanDistance(ctx, workers, x, x)
		case kernel.MedianDistance:
			distance, failed = own.medianDistance(ctx, workers, x)
		}
		k := f.Kernel.Resolve(distance)
		if failed == nil && what != kernel.NoDistance && (k.Check(f.Columns) != nil || k.Missing() != kernel.NoDistance) {
			failed = fmt.Errorf("mkl: %s: %v: the %v distance between the training samples is %g: give a width or scale", t.Label(i), f.Kernel, what, distance)
		}
		err = cmp.Or(err, failed)
		return k
	})
	t.Views[i].Kernel = resolved
	g.stat = resolved.Statistic()
	return err
}

// meanDistance is the mean distance over all pairs of two training samples b, as the kernels
// see them. For given distances it is the mean over all pairs of x, a training sample and a basis point. The
// order of the sum does not depend on the workers.
func (g *Group) meanDistance(ctx context.Context, workers int, b, x la.Matrix[float64]) (float64, error) {
	sums := make([]float64, x.Rows)
	if g.stat.Kind == kernel.GivenStatistic {
		for i := range sums {
			for _, v := range x.Row(i) {
				sums[i] += v
			}
		}
		return vec.Total(sums) / float64(x.Rows) / float64(x.Cols), nil
	}
	err := inBlocks(ctx, workers, b.Rows, func() func(int, int) {
		ws, scratch := &la.Workspace{Workers: 1}, la.NewMatrix[float64](min(blockRows, b.Rows), b.Rows)
		return func(first, last int) {
			s := scratch.Slice(0, last-first, 0, b.Rows)
			g.stat.Compute(ws, b.Slice(first, last, 0, b.Cols), b, s)
			for i := range s.Rows {
				for _, v := range s.Row(i) {
					if g.stat.Kind == kernel.SquaredDistance {
						v = math.Sqrt(v)
					}
					sums[first+i] += v
				}
			}
		}
	})
	return vec.Total(sums) / float64(b.Rows) / float64(b.Rows), err
}

// MedianSamples returns how many of n training samples a median distance is computed from:
// the half a million pairs of 1000 samples determine it to a fraction of a percent. In very many dimensions
// distances are alike, and fewer samples are enough.
func MedianSamples(n, features int) int {
	return min(n, 1000, max(100, int(1e4/math.Sqrt(float64(features)))))
}

// Evenly returns m evenly spaced rows of x.
func Evenly(x la.Matrix[float64], m int) la.Matrix[float64] {
	if m == x.Rows {
		return x
	}
	y := la.NewMatrix[float64](m, x.Cols)
	for i := range m {
		copy(y.Row(i), x.Row(i*x.Rows/m))
	}
	return y
}

// evenlyOf returns the entries of x at the rows that [Evenly] takes.
func evenlyOf(x []bool, m int) []bool {
	y := make([]bool, m)
	for i := range y {
		y[i] = x[i*len(x)/m]
	}
	return y
}

// medianDistance is the median distance over pairs of two training samples, either all of those in x
// or some evenly spaced ones. If more than half of the pairs are equal samples, so that the median is 0, it is
// the median of the positive distances. If all of these samples are equal, it is the median of the positive distances of all other samples
// to them, or 0 if no distance is positive.
func (g *Group) medianDistance(ctx context.Context, workers int, x la.Matrix[float64]) (float64, error) {
	b := Evenly(x, MedianSamples(x.Rows, x.Cols))
	d := make([]float64, b.Rows*(b.Rows-1)/2)
	err := inBlocks(ctx, workers, b.Rows, func() func(int, int) {
		ws, scratch := &la.Workspace{Workers: 1}, la.NewMatrix[float64](min(blockRows, b.Rows), b.Rows)
		return func(first, last int) {
			s := scratch.Slice(0, last-first, 0, last)
			g.stat.Compute(ws, b.Slice(first, last, 0, b.Cols), b.Slice(0, last, 0, b.Cols), s)
			for r := range s.Rows {
				i := first + r
				copy(d[i*(i-1)/2:], s.Row(r)[:i])
			}
		}
	})
	if err != nil {
		return 0, err
	}
	median := middle(d)
	if median == 0 {
		median = middlePositive(d)
	}
	if median == 0 && b.Rows < x.Rows {
		one := la.NewMatrix[float64](1, x.Rows)
		g.stat.Compute(&la.Workspace{Workers: 1}, x.Slice(0, 1, 0, x.Cols), x, one)
		median = middlePositive(one.Data)
	}
	if g.stat.Kind == kernel.SquaredDistance {
		median = math.Sqrt(median)
	}
	return median, nil
}

// middlePositive returns the median of the positive ones of some numbers, or 0 without any. It reorders the numbers.
func middlePositive(x []float64) float64 {
	return middle(slices.DeleteFunc(x, func(v float64) bool { return !(v > 0) }))
}

// middle returns the median of some numbers, the lower one of two, or 0 without numbers. It reorders the numbers.
func middle(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	half := (len(x) + 1) / 2
	smallest.First(x, half)
	return slices.Max(x[:half])
}
