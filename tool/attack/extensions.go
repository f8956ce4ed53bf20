package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/bmkl/bmkl/internal/testkit/siege"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// extended returns the attack on fits of counts, times and grades that go on from few samples to many. Fits of more than 3000 samples
// do so. The attack calls package mgp, which takes few landmarks of few samples.
func extended() []siege.Attack {
	return []siege.Attack{{Name: "observations on landmarks", Run: func(r *rand.Rand) siege.Case {
		p := newProblem(r)
		p.n = pick(r, 6, 12, 33, 60, 120)
		return p.extend()
	}}}
}

// extend fits observations of the first samples and extends the fit to all.
func (p *problem) extend() siege.Case {
	x, z := p.features(1+p.IntN(3)), p.normal(1)
	finite := !slices.ContainsFunc(x.Data, func(v float64) bool { return v-v != 0 })
	if !finite || len(x.Data) != p.n*x.Cols || x.Stride != x.Cols {
		return siege.Case{} // views of such features are refused before
	}
	few := 1 + p.IntN(min(p.n, 40))
	kernel := p.similarity()
	between := func(m int) la.Matrix[float64] {
		k := la.NewMatrix[float64](m, few)
		for i := range m {
			for j := range few {
				k.Set(i, j, kernel(x.Row(i), x.Row(j)))
			}
		}
		return k
	}
	all := p.likelihood(z.Data)
	rows := make([]int, few)
	for i := range rows {
		rows[i] = i
	}
	some := all.Some(rows)
	k, err := vi.NewDense(between(few))
	if err != nil {
		return refusal(err)
	}
	ctx := context.Background()

	part, err := mgp.Evidence{}.FitLikelihood(ctx, k, some)
	if part == nil || err != nil {
		return refusal(err)
	}
	scale := 1 / part.Posterior.State().Gamma[0]
	e := mgp.Extension{Likelihood: all, Among: between(few), Cross: between(p.n), Self: make([]float64, p.n)}
	la.Scal(scale, e.Among.Data)
	la.Scal(scale, e.Cross.Data)
	for i := range e.Self {
		e.Self[i] = float64(scale * kernel(x.Row(i), x.Row(i)))
	}
	whole, err := part.Posterior.Extend(ctx, e, 1+p.IntN(2))
	if whole == nil {
		return refusal(err)
	}
	return siege.Case{Outcome: siege.Held, Wrong: p.judgeExtension(whole, e.Self, between)}
}

// judgeExtension holds an extended fit to what its numbers are.
func (p *problem) judgeExtension(fit *mgp.Fit, self []float64, between func(m int) la.Matrix[float64]) (wrong []string) {
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if v := fit.LogEvidence; v-v != 0 {
		complain("the evidence is %g", v)
	}
	for i, v := range fit.LeaveOneOut.LogProbability {
		if math.IsNaN(v) || math.IsInf(v, 1) {
			complain("left out, sample %d has the log probability %g", i, v)
		}
	}
	state := fit.Posterior.State()
	for _, v := range state.Shape {
		if v-v != 0 {
			complain("parameters %g", state.Shape)
		}
	}
	if _, err := mgp.NewPosterior(state); err != nil {
		complain("the state is refused: %v", err)
	}
	scale := 1 / state.Gamma[0]
	of := la.Matrix[float64]{Rows: 1, Cols: len(self), Stride: len(self), Data: make([]float64, len(self))}
	for i, v := range self {
		of.Data[i] = v / scale
	}
	k, err := vi.NewDense(transposed(between(p.n)))
	if err != nil {
		return append(wrong, sane(err)...)
	}
	got, err := fit.Posterior.Predict(k, of, vi.PredictOptions{})
	if err != nil {
		return append(wrong, sane(err)...)
	}
	for i, v := range got.Mean {
		if v-v != 0 || !(got.Function[i] >= 0) || math.IsInf(got.Function[i], 1) {
			complain("sample %d: mean %g, variance of the function %g", i, v, got.Function[i])
		}
	}
	return wrong
}

// transposed returns the transpose of a matrix.
func transposed(m la.Matrix[float64]) la.Matrix[float64] {
	t := la.NewMatrix[float64](m.Cols, m.Rows)
	for i := range m.Rows {
		for j := range m.Cols {
			t.Set(j, i, m.At(i, j))
		}
	}
	return t
}

// similarity returns a kernel of two samples, mostly one that is no larger than 1.
func (p *problem) similarity() func(a, b []float64) float64 {
	width := p.size(0.1, 1, 10)
	switch p.IntN(5) {
	case 0:
		return func(a, b []float64) float64 { return 1 + la.Dot(a, b) }
	case 1:
		return func([]float64, []float64) float64 { return 1 }
	}
	return func(a, b []float64) float64 {
		square := 0.0
		for j := range a {
			d := (a[j] - b[j]) / width
			square += float64(d * d)
		}
		return math.Exp(-0.5 * square)
	}
}

// likelihood returns observations of all samples that depend on the numbers z.
func (p *problem) likelihood(z []float64) mgp.Likelihood {
	p.spoil(z, 1)
	spread := pick(p.Rand, 0.1, 1, 3)
	switch p.IntN(4) {
	case 0:
		o := mgp.Ordinal{Grades: 2 + p.IntN(8)}
		for _, v := range z {
			at := math.Floor(float64(o.Grades)/2 + float64(spread*v))
			if math.IsNaN(at) {
				at = 0
			}
			o.Y = append(o.Y, int(max(0, min(float64(o.Grades-1), at))))
		}
		return o
	case 1:
		c := mgp.Censored{Law: pick(p.Rand, mgp.LogNormal, mgp.Weibull)}
		for _, v := range z {
			low := max(-750, min(float64(spread*v), 750)) // the logarithm of a number
			high := low
			switch p.IntN(8) {
			case 0:
				high = math.Inf(1)
			case 1:
				low = math.Inf(-1)
			case 2:
				high = low + 1
			}
			c.Lower, c.Upper = append(c.Lower, low), append(c.Upper, high)
		}
		return c
	}
	c := mgp.Counts{}
	switch p.IntN(3) {
	case 0:
		c.Dispersed = true
	case 1:
		c.Narrow = true
	}
	size := pick(p.Rand, -3, 0, 1, 5, 12)
	for _, v := range z {
		c.Y = append(c.Y, math.Floor(math.Exp(float64(size)+float64(spread*v))))
	}
	if p.IntN(3) == 0 {
		for range z {
			c.Exposure = append(c.Exposure, p.size(0.1, 1, 50))
		}
	}
	return c
}
