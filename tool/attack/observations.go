package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/mkl"
)

// observed are estimators of what is no target and no class: times of events, counts, and grades.
var observed = []estimate{
	{"survival", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.viewless(), mkl.Survival{Law: pick(p.Rand, mkl.LawByEvidence, mkl.LogNormal, mkl.Weibull)})
		if !p.mild() {
			e.Law = pick(p.Rand, mkl.SurvivalLaw(-1), mkl.SurvivalLaw(99), mkl.Weibull)
		}
		return some(e.Fit(ctx, p.seen(e.MissingViews), p.lifetimes()))
	}},
	{"counts", func(ctx context.Context, p *problem) (mkl.Model, error) {
		e := with(p.viewless(), mkl.Counts{Law: pick(p.Rand, mkl.CountLawByEvidence, mkl.Poisson, mkl.NegativeBinomial, mkl.DoublePoisson)})
		if !p.mild() {
			e.Law = pick(p.Rand, mkl.CountLaw(-1), mkl.CountLaw(99), mkl.DoublePoisson)
		}
		if p.IntN(3) == 0 {
			for range p.n {
				e.Exposure = append(e.Exposure, p.size(0.1, 1, 50))
			}
			if !p.mild() && p.IntN(10) == 0 {
				e.Exposure = e.Exposure[1:]
			}
		}
		return some(e.Fit(ctx, p.seen(e.MissingViews), p.counts()))
	}},
	{"grades", func(ctx context.Context, p *problem) (mkl.Model, error) {
		y, order := p.grades()
		e := with(p.viewless(), mkl.Ordinal[string]{Grades: order})
		return some(e.Fit(ctx, p.seen(e.MissingViews), y))
	}},
}

// grades returns grades of the samples, and all grades in order.
func (p *problem) grades() (y, order []string) {
	number := 2 + p.IntN(8)
	for k := range number {
		order = append(order, fmt.Sprint("grade ", k))
	}
	spread := pick(p.Rand, 0.1, 1, 5)
	for _, v := range p.targets() {
		at := math.Floor(float64(number)/2 + spread*v)
		if math.IsNaN(at) {
			at = 0
		}
		y = append(y, order[int(max(min(at, float64(number-1)), 0))])
	}
	if !p.mild() && p.IntN(4) == 0 {
		order = pick(p.Rand, nil, order[1:], append(order, order[0]))
	}
	return y, order
}

// lifetimes returns what is known of the times of the samples.
func (p *problem) lifetimes() []mkl.Lifetime {
	var out []mkl.Lifetime
	all := p.IntN(6) == 0 // none has happened
	for _, v := range p.targets() {
		t := mkl.EventAt(math.Exp(v))
		switch kind := p.IntN(8); {
		case all || kind == 0:
			t = mkl.EventAfter(t.From)
		case kind == 1:
			t = mkl.EventBefore(t.From)
		case kind == 2:
			t = mkl.EventBetween(t.From, 2*t.From)
		}
		if !p.mild() && p.IntN(10) == 0 {
			t = mkl.Lifetime{From: p.number(), To: p.number()}
		}
		out = append(out, t)
	}
	return out
}

// counts returns counts of the samples.
func (p *problem) counts() []float64 {
	y := p.targets()
	size := pick(p.Rand, -3, 0, 1, 5, 12) // of their logarithm
	for i, v := range y {
		if y[i] = math.Floor(math.Exp(float64(size) + v)); !p.mild() && p.IntN(10) == 0 {
			y[i] = p.number()
		}
	}
	return y
}

// judgeObserved holds predictions of times and counts to what their numbers are. A loaded model must predict the same.
func judgeObserved(p *problem, m, loaded mkl.Model, x []mkl.Features) (wrong []string) {
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	got, err := observedNumbers(p.again(1), m, x, complain)
	back, berr := observedNumbers(p.again(1), loaded, x, func(string, ...any) {})
	bits := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
	if (err == nil) != (berr == nil) || !slices.EqualFunc(got, back, bits) {
		complain("loaded it predicts differently: %v, %v", err, berr)
	}
	if err != nil {
		wrong = append(wrong, sane(err)...)
	}
	return wrong
}

// observedNumbers returns numbers of a prediction of a model of times or counts, and complains of what no number of such a
// prediction can be.
func observedNumbers(p *problem, m mkl.Model, x []mkl.Features, complain func(format string, args ...any)) (all []float64, err error) {
	ctx, opt := context.Background(), mkl.PredictOptions{Workers: 1}
	rising := func(name string, v []float64, least, most float64) {
		for i, a := range v {
			if !(a >= least && a <= most) || i > 0 && a < v[i-1] {
				complain("%s: %g", name, v)
			}
		}
		all = append(all, v...)
	}
	falling := func(name string, v []float64, least, most float64) {
		v = slices.Clone(v)
		slices.Reverse(v)
		rising(name, v, least, most)
	}
	switch m := m.(type) {
	case *mkl.SurvivalModel:
		got, err := m.PredictTimes(ctx, opt, x...)
		if err != nil {
			return nil, err
		}
		times := []float64{-1, 0, 5e-324, 1e-100, 0.1, 1, 2, 10, 1e100, math.MaxFloat64, math.Inf(1)}
		low, median, high := got.Quantile(0.01), got.Median(), got.Quantile(0.99)
		for i, risk := range got.Risk() {
			if risk-risk != 0 {
				complain("risk %g", risk)
			}
			rising("quantiles", []float64{low[i], median[i], high[i]}, 0, math.Inf(1))
			falling("survival", got.Survival(i, times), 0, 1)
			least, most := got.Band(i, times, 0.9)
			falling("lower band", least, 0, 1)
			falling("upper band", most, 0, 1)
			for _, t := range []mkl.Lifetime{mkl.EventAt(1), mkl.EventAfter(3), mkl.EventBefore(1e-9), mkl.EventBetween(1, 1.5)} {
				if s := got.LogScore(i, t); math.IsNaN(s) || math.IsInf(s, 1) {
					complain("the score of %v is %g", t, s)
				}
			}
		}
	case *mkl.CountModel:
		var exposure []float64
		if p.IntN(2) == 0 {
			exposure = make([]float64, x[0].Rows)
			for i := range exposure {
				exposure[i] = p.size(0.5, 1, 100)
			}
		}
		got, err := m.PredictCounts(ctx, opt, exposure, x...)
		if err != nil {
			return nil, err
		}
		mean, variance := got.Moments()
		for i := range mean {
			rising("moments", []float64{mean[i]}, 0, math.MaxFloat64)
			rising("moments", []float64{variance[i]}, 0, math.MaxFloat64)
			for _, y := range []float64{0, 1, 17, 1e9} {
				rising("probability", []float64{math.Exp(got.LogProbability(i, y))}, 0, 1+1e-9)
			}
		}
		for _, q := range got.Quantiles(0.01, 0.5, 0.99) {
			rising("quantiles", q, 0, math.Inf(1))
		}
	}
	return all, nil
}
