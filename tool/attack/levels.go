package main

import (
	"context"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// leveled are estimators of observations with a column of many codes, above the landmarks: they learn an effect of each code.
var leveled = []estimate{
	{"counts with codes", func(ctx context.Context, p *problem) (mkl.Model, error) {
		views := p.codes()
		return some(with(p.fitting(), mkl.Counts{Landmarks: p.few(), Law: pick(p.Rand, mkl.CountLawByEvidence, mkl.Poisson)}).Fit(ctx, views, p.counts()))
	}},
	{"survival with codes", func(ctx context.Context, p *problem) (mkl.Model, error) {
		views, law := p.codes(), pick(p.Rand, mkl.LawByEvidence, mkl.LogNormal, mkl.Weibull)
		return some(with(p.fitting(), mkl.Survival{Landmarks: p.few(), Law: law}).Fit(ctx, views, p.lifetimes()))
	}},
	{"grades with codes", func(ctx context.Context, p *problem) (mkl.Model, error) {
		views := p.codes()
		y, order := p.grades()
		return some(with(p.fitting(), mkl.Ordinal[string]{Landmarks: p.few(), Grades: order}).Fit(ctx, views, y))
	}},
}

// few returns a number of landmarks far below the samples of codes.
func (p *problem) few() int {
	if !p.mild() && p.IntN(10) == 0 {
		return pick(p.Rand, -1, math.MaxInt)
	}
	return pick(p.Rand, 1, 3, 10)
}

// codes makes the problem one of some more samples. It returns a view of a column of many codes, and mostly a view of features.
func (p *problem) codes() []mkl.View {
	p.n = pick(p.Rand, 40, 60, 120)
	p.share = pick(p.Rand, 0, 0.003, 0.03) // of so many samples few may be hostile, or every fit is refused
	levels := pick(p.Rand, 31, 35, p.n)
	first := pick(p.Rand, 0, 1, 1000, -50, 1e15)
	x := mkl.Features{Rows: p.n, Cols: 1, Stride: 1, Data: make([]float64, p.n)}
	for i := range x.Data {
		if x.Data[i] = first + float64(p.IntN(levels)); i < levels && p.IntN(3) > 0 {
			x.Data[i] = first + float64(i) // so that most levels are there
		}
		if !p.mild() && p.IntN(20) == 0 {
			x.Data[i] = p.number()
		}
	}
	views := []mkl.View{{Name: "codes", Input: "codes", X: x, Kernel: kernel.Categorical{}}}
	if p.IntN(5) > 0 {
		views = append(views, mkl.View{Name: "features", Input: "features", X: p.features(1 + p.IntN(3)), Kernel: pick[kernel.Kernel](p.Rand, kernel.RBF{}, kernel.Linear{}), Standardize: p.IntN(2) == 0})
	}
	return views
}

// groupedFactors fits factors to a table whose rows have groups.
var groupedFactors = estimate{"factors of groups", func(ctx context.Context, p *problem) (mkl.Model, error) {
	e := with(p.fitting(), mkl.FactorAnalysis{Factors: p.count(0, 1, 3), NoOffsets: p.IntN(4) == 0, SharedNoise: p.IntN(4) == 0})
	cols := 1 + p.IntN(5)
	number := pick(p.Rand, 1, 2, 2, 3, p.n)
	for i := range p.n {
		e.Groups = append(e.Groups, fmt.Sprint("group ", i%number))
	}
	if !p.mild() && p.IntN(4) == 0 {
		e.Groups = pick(p.Rand, e.Groups[1:], []string{"\xff"}, make([]string, p.n))
	}
	if p.IntN(3) == 0 {
		first := 1 + p.IntN(cols)
		e.Views = []mkl.FactorView{{Name: "first", Columns: first}, {Name: "last", Columns: cols - first, Kind: pick(p.Rand, mkl.GaussianView, mkl.PoissonView, mkl.BernoulliView)}}
		if first == cols {
			e.Views = e.Views[:1]
		}
	}
	return some(e.Fit(ctx, p.table(p.n, cols)))
}}
