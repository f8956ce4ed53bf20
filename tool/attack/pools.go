package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/mkl"
)

// viewed are pools of several views whose kernels the pool chooses, with positive targets among others: such pools have a member of all
// columns as one table, and may learn their targets on another scale.
var viewed = []estimate{
	{"pool of views", func(ctx context.Context, p *problem) (mkl.Model, error) {
		p.n = pick(p.Rand, 3, 12, 21, 33, 48)
		e := with(p.viewless(), mkl.Auto{MaxSamples: pick(p.Rand, 0, 0, 0, 20, 30), OwnScale: p.IntN(4) == 0})
		views, y := p.openViews(e.MissingViews), p.positive()
		if p.IntN(6) == 0 {
			e.Weights = p.weights()
		}
		if p.IntN(8) == 0 {
			e.KnownNoise = p.size(0.1, 1)
		}
		if len(views) > 2 && p.IntN(6) == 0 {
			e.Groups = []mkl.ViewGroup{{Name: "first two", Views: []string{views[0].Name, views[1].Name}}}
		}
		return some(e.Fit(ctx, views, y))
	}},
	{"pools of views", func(ctx context.Context, p *problem) (mkl.Model, error) {
		p.n = pick(p.Rand, 3, 12, 21, 33)
		e := with(p.viewless(), mkl.AutoTargets{MissingTargets: p.IntN(2) == 0, OwnScale: p.IntN(4) == 0})
		views, y := p.openViews(e.MissingViews), [][]float64{p.positive(), p.positive()}
		if e.MissingTargets {
			p.gaps(y)
		}
		return some(e.Fit(ctx, views, y...))
	}},
	{"pool classifier of views", func(ctx context.Context, p *problem) (mkl.Model, error) {
		p.n = pick(p.Rand, 3, 12, 21, 33)
		e := with(p.viewless(), mkl.AutoClassifier[string]{Classes: p.classes()})
		views := p.openViews(e.MissingViews)
		return some(e.Fit(ctx, views, p.labels()))
	}},
}

// openViews returns two to four views without kernels: some see columns of one matrix, some samples lack some.
func (p *problem) openViews(gaps bool) []mkl.View {
	var views []mkl.View
	for i := range 2 + p.IntN(3) {
		v := mkl.View{Name: fmt.Sprint("view ", i), Input: fmt.Sprint("x", i), X: p.features(1 + p.IntN(3))}
		if i > 0 && p.IntN(4) == 0 {
			v.X, v.Columns, v.Input = views[0].X, []int{p.IntN(views[0].X.Cols)}, views[0].Input
		}
		if !p.mild() && p.IntN(6) == 0 {
			v.Name = pick(p.Rand, "", "view 0", mkl.AllColumns, "\xff", "a\nb")
		}
		if gaps && v.Columns == nil && p.IntN(2) == 0 && v.X.Stride == v.X.Cols {
			v.X.Data = slices.Clone(v.X.Data)
			for r := range v.X.Rows {
				if p.IntN(4) == 0 && (r+1)*v.X.Cols <= len(v.X.Data) {
					for j := range v.X.Cols {
						v.X.Data[r*v.X.Cols+j] = math.NaN()
					}
				}
			}
		}
		views = append(views, v)
	}
	return views
}

// positive returns targets that are positive, mostly: logarithms, squares or counts are spread little or far.
func (p *problem) positive() []float64 {
	y := p.targets()
	spread := pick(p.Rand, 0.1, 1, 1, 3, 300)
	kind := p.IntN(4)
	for i, v := range y {
		switch kind {
		case 0:
			y[i] = math.Exp(float64(spread * v))
		case 1:
			y[i] = (spread + v) * (spread + v)
		case 2:
			y[i] = 1 + math.Floor(math.Abs(float64(10*spread*v)))
		}
	}
	return y
}

// weights returns weights of the samples.
func (p *problem) weights() []float64 {
	w := make([]float64, p.n)
	for i := range w {
		w[i] = p.size(1, 2, 0.5)
	}
	if !p.mild() && p.IntN(4) == 0 {
		w = w[1:]
	}
	return w
}
