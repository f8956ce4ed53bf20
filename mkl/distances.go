package mkl

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
)

// figure is a figure of the distances between training samples.
type figure int

const (
	noFigure figure = iota
	meanDistance
	medianDistance
)

func (f figure) String() string { return [...]string{"", "mean", "median"}[f] }

// resolve replaces the widths and scales that were left to the data by the mean or
// a multiple of the median distance.
func (ds *design) resolve(ctx context.Context, views []View, workers int) error {
	for _, g := range ds.groups {
		distances := map[figure]float64{}
		for _, i := range g.views {
			v := &ds.views[i]
			what := v.kernel.lacks()
			if what == noFigure {
				v.kernel = v.kernel.resolve(0)
				continue
			}
			distance, ok := distances[what]
			if !ok {
				var err error
				switch what {
				case meanDistance:
					distance, err = g.meanDistance(ctx, workers, ds.inputs[g.input].present(g.basis), views[i].X)
				case medianDistance:
					distance, err = g.medianDistance(ctx, workers, ds.inputs[g.input].present(g.basis))
				}
				if err != nil {
					return err
				}
				distances[what] = distance
			}
			k := v.kernel.resolve(distance)
			if err := k.check(v.sight.cols(views[i].X.Cols)); err != nil || k.lacks() != noFigure {
				return fmt.Errorf("mkl: %s: the %v distance between the training samples is %g: give a width or scale", views[i].label(i), what, distance)
			}
			v.kernel = k
		}
	}
	return nil
}

// meanDistance is the mean distance over all pairs of two training samples b as the kernels
// see them, or of given ones over all pairs of x, a training sample and a basis point. The
// order of the sum does not depend on the workers.
func (g *group) meanDistance(ctx context.Context, workers int, b, x Features) (float64, error) {
	sums := make([]float64, x.Rows)
	if g.stat.kind == given {
		for i := range sums {
			for _, v := range x.Row(i) {
				sums[i] += v
			}
		}
		return total(sums) / float64(x.Rows) / float64(x.Cols), nil
	}
	err := inBlocks(ctx, workers, b.Rows, func() func(int, int) {
		ws, scratch := &la.Workspace{Workers: 1}, la.NewMatrix[float64](min(blockRows, b.Rows), b.Rows)
		return func(first, last int) {
			s := scratch.Slice(0, last-first, 0, b.Rows)
			g.stat.compute(ws, b.Slice(first, last, 0, b.Cols), b, s)
			for i := range s.Rows {
				for _, v := range s.Row(i) {
					if g.stat.kind == squaredDistance {
						v = math.Sqrt(v)
					}
					sums[first+i] += v
				}
			}
		}
	})
	return total(sums) / float64(b.Rows) / float64(b.Rows), err
}

// medianSamples is the most training samples that a median distance is taken of:
// half a million pairs tell it to a fraction of a percent. In very many dimensions,
// where distances are alike, fewer do.
func medianSamples(n, features int) int {
	return min(n, 1000, max(100, int(1e4/math.Sqrt(float64(features)))))
}

// evenly returns m of the rows of x at even distances.
func evenly(x Features, m int) Features {
	if m == x.Rows {
		return x
	}
	y := la.NewMatrix[float64](m, x.Cols)
	for i := range m {
		copy(y.Row(i), x.Row(i*x.Rows/m))
	}
	return y
}

// medianDistance is the median distance over pairs of two training samples, all of those in x
// or some at even distances. If it is 0, for more than half of the pairs
// are of equal samples, it is the median of the positive distances, and 0 only if
// there are none.
func (g *group) medianDistance(ctx context.Context, workers int, x Features) (float64, error) {
	b := evenly(x, medianSamples(x.Rows, x.Cols))
	d := make([]float64, b.Rows*(b.Rows-1)/2)
	err := inBlocks(ctx, workers, b.Rows, func() func(int, int) {
		ws, scratch := &la.Workspace{Workers: 1}, la.NewMatrix[float64](min(blockRows, b.Rows), b.Rows)
		return func(first, last int) {
			s := scratch.Slice(0, last-first, 0, last)
			g.stat.compute(ws, b.Slice(first, last, 0, b.Cols), b.Slice(0, last, 0, b.Cols), s)
			for r := range s.Rows {
				i := first + r
				copy(d[i*(i-1)/2:], s.Row(r)[:i])
			}
		}
	})
	if err != nil {
		return 0, err
	}
	slices.Sort(d)
	median := middle(d)
	if median == 0 {
		positive, _ := slices.BinarySearchFunc(d, 0, func(v, _ float64) int {
			if v > 0 {
				return 1
			}
			return -1
		})
		median = middle(d[positive:])
	}
	if g.stat.kind == squaredDistance {
		median = math.Sqrt(median)
	}
	return median, nil
}

// middle returns the middle of sorted numbers, the lower of two, and 0 of none.
func middle(sorted []float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)-1)/2]
}
