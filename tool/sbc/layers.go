package main

import (
	"context"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// layers is one function of package bemkl, drawn from Gamma(1, 1) priors of all precisions:
//
//	g_{m,i} = aᵀ·k_{m,i} + N(0, 1/υ),   f_i = eᵀ·g_i + b,   y_i = f_i + N(0, 1/ε).
//
// For labels υ and ε are fixed, and the labels are the signs of y.
type layers struct {
	points
	labels   bool
	a        []float64
	e        []float64
	b        float64
	upsilon  float64
	epsilon  float64
	f, y     []float64 // at all samples and the further one
	kernels  *vi.Dense // of the training samples
	at       *vi.Dense // with the further sample
	observed []float64 // targets or labels of the training samples
}

const labelUpsilon = 1 / (0.1 * 0.1) // σ_g of package bemkl is 0.1

// newLayers draws a function with the given kernel weights.
func newLayers(src special.Rand, s points, e []float64, labels bool) layers {
	l := layers{points: s, labels: labels, a: priorWeights(src, s.n), e: e, b: priorWeights(src, 1)[0], upsilon: labelUpsilon, epsilon: 1}
	if !labels {
		l.upsilon, l.epsilon = gamma(src, vi.Gamma{}), gamma(src, vi.Gamma{})
	}
	l.kernels, l.at = s.training(), s.fresh()
	for i := range s.n + 1 {
		f := l.b
		for p, e := range l.e {
			g := gaussian(src, l.upsilon)
			for d, a := range l.a {
				g += a * s.value(p, d, i)
			}
			f += e * g
		}
		l.f = append(l.f, f)
		l.y = append(l.y, f+gaussian(src, l.epsilon))
	}
	for _, y := range l.y[:s.n] {
		if labels {
			y = math.Copysign(1, y)
		}
		l.observed = append(l.observed, y)
	}
	return l
}

// priorWeights draws weights whose precisions have the prior Gamma(1, 1).
func priorWeights(src special.Rand, n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = gaussian(src, gamma(src, vi.Gamma{}))
	}
	return w
}

// bothSigns reports whether labels of both signs occur.
func (l layers) bothSigns() bool {
	var sum float64
	for _, t := range l.observed {
		sum += t
	}
	return math.Abs(sum) < float64(l.n)
}

// drawLayers draws a function of a few samples, again if all labels are alike.
func drawLayers(src special.Rand, labels bool) layers {
	for {
		l := newLayers(src, newPoints(src, 8, 2, 0.7, 2), priorWeights(src, 2), labels)
		if !labels || l.bothSigns() {
			return l
		}
	}
}

// gibbs is a Gibbs sampler of the parameters of layers.
type gibbs struct {
	special.Rand
	*layers
	a, lambda     []float64
	g             la.Matrix[float64] // P×N
	be, precision []float64          // (b, e), and (γ, ω)
	upsilon       float64
	epsilon       float64
	y             []float64
}

func (l *layers) sampler(src special.Rand) *gibbs {
	P := len(l.width)
	s := &gibbs{Rand: src, layers: l, a: priorWeights(src, l.n), lambda: make([]float64, l.n), g: la.NewMatrix[float64](P, l.n),
		be: priorWeights(src, P+1), precision: make([]float64, P+1), upsilon: l.upsilon, epsilon: 1, y: append([]float64(nil), l.observed...)}
	if !l.labels {
		s.upsilon = 1
	}
	for i := range s.lambda {
		s.lambda[i] = 1
	}
	for i := range s.precision {
		s.precision[i] = 1
	}
	return s
}

// ofPrecision draws a precision with the prior Gamma(1, 1) of n normal variables with the given sum of squares.
func (s *gibbs) ofPrecision(n int, squares float64) float64 {
	return gamma(s.Rand, vi.Gamma{Shape: 1 + float64(n)/2, Scale: 1 / (1 + squares/2)})
}

// normal draws from the normal distribution with the precision in the lower triangle of q and the mean q⁻¹x.
func (s *gibbs) normal(q la.Matrix[float64], x []float64) {
	if err := la.Cholesky(nil, q); err != nil {
		panic(err) // a precision is positive definite
	}
	la.Trsv(la.NoTrans, q, x)
	for i := range x {
		x[i] += s.NormFloat64()
	}
	la.Trsv(la.Transpose, q, x)
}

// sweep draws a with G integrated out, then G, λ, υ, (b, e), their precisions, ε, and for labels y.
func (s *gibbs) sweep() {
	P, D, N := s.kernels.Dims()
	e := s.be[1:]
	variance := la.SumSq(e)/s.upsilon + 1/s.epsilon
	ke, q, rest := la.NewMatrix[float64](D, N), la.NewMatrix[float64](D, D), make([]float64, N)
	s.kernels.Sum(nil, e, ke)
	la.Syrk(nil, la.NoTrans, 1/variance, ke, 0, q)
	for i, y := range s.y {
		rest[i] = y - s.be[0]
	}
	for d, v := range s.lambda {
		q.Row(d)[d] += v
	}
	la.Gemv(nil, la.NoTrans, 1/variance, ke, rest, 0, s.a)
	s.normal(q, s.a)
	for d, a := range s.a {
		s.lambda[d] = s.ofPrecision(1, a*a)
	}
	s.kernels.Project(nil, la.MatrixOf(1, D, s.a), s.g)
	var squares float64
	for i := range N {
		miss := rest[i] - gaussian(s.Rand, s.epsilon)
		noise := make([]float64, P)
		for m := range P {
			noise[m] = gaussian(s.Rand, s.upsilon)
			miss -= e[m] * (s.g.At(m, i) + noise[m])
		}
		for m := range P {
			noise[m] += e[m] * miss / s.upsilon / variance
			squares += noise[m] * noise[m]
			s.g.Set(m, i, s.g.At(m, i)+noise[m])
		}
	}
	if !s.labels {
		s.upsilon = s.ofPrecision(P*N, squares)
	}
	s.combine()
	squares = 0
	for i := range N {
		mean := s.be[0]
		for m, e := range s.be[1:] {
			mean += e * s.g.At(m, i)
		}
		if s.labels {
			s.y[i] = mean + s.observed[i]*s.above(-s.observed[i]*mean)
			continue
		}
		squares += (s.y[i] - mean) * (s.y[i] - mean)
	}
	if !s.labels {
		s.epsilon = s.ofPrecision(N, squares)
	}
}

// combine draws (b, e) and their precisions.
func (s *gibbs) combine() {
	q, x := la.NewMatrix[float64](len(s.be), len(s.be)), make([]float64, len(s.be))
	for i, y := range s.y {
		z := []float64{1}
		for m := range s.g.Rows {
			z = append(z, s.g.At(m, i))
		}
		for r, v := range z {
			x[r] += s.epsilon * v * y
			la.Axpy(s.epsilon*v, z, q.Row(r))
		}
	}
	for r, v := range s.precision {
		q.Row(r)[r] += v
	}
	s.normal(q, x)
	copy(s.be, x)
	for r, v := range s.be {
		s.precision[r] = s.ofPrecision(1, v*v)
	}
}

// above draws a standard normal variable beyond x.
//
// Source: C. P. Robert, "Simulation of truncated normal variables", Statistics and Computing 5 (1995).
func (s *gibbs) above(x float64) float64 {
	if x < 0.5 {
		for {
			if z := s.NormFloat64(); z > x {
				return z
			}
		}
	}
	rate := (x + math.Sqrt(x*x+4)) / 2
	for {
		z := x + s.ExpFloat64()/rate
		if s.Float64() < math.Exp(-(z-rate)*(z-rate)/2) {
			return z
		}
	}
}

// values returns the function at the further sample, the absolute value of its first kernel weight, the precision of the noise and
// the log likelihood of the targets given all else, or the log likelihood of the labels given the functions.
func (s *gibbs) values() []float64 {
	P := len(s.width)
	g := la.NewMatrix[float64](P, 1)
	s.at.Project(nil, la.MatrixOf(1, len(s.a), s.a), g)
	f := s.be[0]
	for m, e := range s.be[1:] {
		f += e * (g.At(m, 0) + gaussian(s.Rand, s.upsilon))
	}
	return []float64{f, math.Abs(s.be[1]), s.epsilon, s.logLikelihood(s.be[0], s.be[1:], s.a, s.upsilon, s.epsilon)}
}

// logLikelihood returns the log likelihood of targets or labels, with G integrated out.
func (l *layers) logLikelihood(b float64, e, a []float64, upsilon, epsilon float64) (sum float64) {
	P, D, N := l.kernels.Dims()
	g := la.NewMatrix[float64](P, N)
	l.kernels.Project(nil, la.MatrixOf(1, D, a), g)
	sd := math.Sqrt(la.SumSq(e)/upsilon + 1/epsilon)
	for i, y := range l.observed {
		f := b
		for m, e := range e {
			f += e * g.At(m, i)
		}
		if l.labels {
			sum += special.LogNormalCDF(y * f / sd)
			continue
		}
		d := (y - f) / sd
		sum -= d*d/2 + math.Log(sd)
	}
	return sum
}

// sample returns draws of the values.
func (l *layers) sample(src special.Rand, draws, thin int) [][]float64 {
	s := l.sampler(src)
	var rows [][]float64
	for sweep := range (draws + draws/4) * thin {
		s.sweep()
		if sweep < draws/4*thin || sweep%thin != 0 {
			continue
		}
		for i, v := range s.values() {
			if i == len(rows) {
				rows = append(rows, nil)
			}
			rows[i] = append(rows[i], v)
		}
	}
	return rows
}

// sampledLayers calibrates the Gibbs sampler that mean field is compared with.
func sampledLayers(labels bool) func(context.Context, special.Rand) ([]quantity, error) {
	return func(_ context.Context, src special.Rand) ([]quantity, error) {
		l := drawLayers(src, labels)
		truth := []float64{l.f[l.n], math.Abs(l.e[0]), l.epsilon, l.logLikelihood(l.b, l.e, l.a, l.upsilon, l.epsilon)}
		out := rankAll(src, []string{"function", "kernel weight", "noise", "log likelihood"}, truth, l.sample(src, 100, 40))
		if labels {
			out = append(out[:2], out[3])
		}
		return out, nil
	}
}

// meanField compares the prediction of the further sample, whose noise is 1/E[ε], and the distribution of the noise's precision,
// which is zero for labels. Draws of a sampler may be nil.
func (l *layers) meanField(src special.Rand, p *bemkl.Prediction, o int, noise vi.Gamma, draws [][]float64) []quantity {
	known := 1.0
	if !l.labels {
		known = 1 / noise.Mean()
	}
	variance := p.Variance.At(o, 0) - known
	out := []quantity{normal("function", l.f[l.n], p.Mean.At(o, 0), variance)}
	if draws != nil {
		out[0] = out[0].beside(math.Sqrt(variance), draws[0])
	}
	if !l.labels {
		var q []float64
		for range 200 {
			q = append(q, gamma(src, noise))
		}
		out = append(out, ranked(src, "noise", l.epsilon, q))
		if draws != nil {
			_, sd := moments(q)
			out[1] = out[1].beside(sd, draws[2])
		}
	}
	return out
}

// regression calibrates mean field for targets.
func regression(ctx context.Context, src special.Rand) ([]quantity, error) {
	l := drawLayers(src, false)
	fit, err := bemkl.Regression{Seed: src.Uint64(), Workers: 1}.Fit(ctx, l.kernels, la.MatrixOf(1, l.n, l.observed))
	if err != nil {
		return nil, err
	}
	p, err := fit.Posterior.Predict(l.at, vi.PredictOptions{})
	if err != nil {
		return nil, err
	}
	return l.meanField(src, p, 0, fit.Posterior.State().Epsilon[0], l.sample(src, 100, 20)), nil
}

// classification calibrates mean field for labels.
func classification(ctx context.Context, src special.Rand) ([]quantity, error) {
	l := drawLayers(src, true)
	fit, err := bemkl.Classification{Seed: src.Uint64(), Workers: 1}.Fit(ctx, l.kernels, la.MatrixOf(1, l.n, l.observed))
	if err != nil {
		return nil, err
	}
	p, err := fit.Posterior.Predict(l.at, vi.PredictOptions{})
	if err != nil {
		return nil, err
	}
	return l.meanField(src, &p.Prediction, 0, vi.Gamma{}, l.sample(src, 100, 20)), nil
}

// shared calibrates regression of two outputs with common sample weights. The intermediate outputs are common too, and the
// second output is made of the outputs of the first.
func shared(ctx context.Context, src special.Rand) ([]quantity, error) {
	s := newPoints(src, 8, 2, 0.7, 2)
	a, upsilon := priorWeights(src, s.n), gamma(src, vi.Gamma{})
	g := la.NewMatrix[float64](len(s.width), s.n+1)
	for p := range g.Rows {
		for i := range g.Cols {
			v := gaussian(src, upsilon)
			for d, a := range a {
				v += a * s.value(p, d, i)
			}
			g.Set(p, i, v)
		}
	}
	y := la.NewMatrix[float64](2, s.n)
	l := layers{points: s, at: s.fresh()}
	for o := range y.Rows {
		l.e, l.b, l.epsilon, l.f = priorWeights(src, g.Rows), priorWeights(src, 1)[0], gamma(src, vi.Gamma{}), nil
		for i := range g.Cols {
			f := l.b
			for p, e := range l.e {
				f += e * g.At(p, i)
			}
			l.f = append(l.f, f)
			if i < s.n {
				y.Set(o, i, f+gaussian(src, l.epsilon))
			}
		}
	}
	fit, err := bemkl.SharedRegression{Seed: src.Uint64(), Workers: 1}.Fit(ctx, s.training(), y)
	if err != nil {
		return nil, err
	}
	p, err := fit.Posterior.Predict(l.at, vi.PredictOptions{})
	if err != nil {
		return nil, err
	}
	return l.meanField(src, p, 1, fit.Posterior.State().Epsilon[1], nil), nil
}

// tasks calibrates two tasks with common kernel weights.
func tasks(labels bool) func(context.Context, special.Rand) ([]quantity, error) {
	return func(ctx context.Context, src special.Rand) ([]quantity, error) {
		var both []layers
		var data []bemkl.Task
		for e := priorWeights(src, 2); len(both) < 2; {
			l := newLayers(src, newPoints(src, 8, 2, 0.7, 2), e, labels)
			if labels && !l.bothSigns() {
				e = priorWeights(src, 2) // both tasks again, as the weights are common
				both, data = nil, nil
				continue
			}
			both, data = append(both, l), append(data, bemkl.Task{Kernels: l.kernels, Y: l.observed})
		}
		l := both[0]
		if !labels {
			fit, err := bemkl.TaskRegression{Seed: src.Uint64(), Workers: 1}.Fit(ctx, data)
			if err != nil {
				return nil, err
			}
			p, err := fit.Posterior.Task(0).Predict(l.at, vi.PredictOptions{})
			if err != nil {
				return nil, err
			}
			return l.meanField(src, p, 0, fit.Posterior.Task(0).State().Epsilon[0], nil), nil
		}
		fit, err := bemkl.TaskClassification{Seed: src.Uint64(), Workers: 1}.Fit(ctx, data)
		if err != nil {
			return nil, err
		}
		p, err := fit.Posterior.Task(0).Predict(l.at, vi.PredictOptions{})
		if err != nil {
			return nil, err
		}
		return l.meanField(src, &p.Prediction, 0, vi.Gamma{}, nil), nil
	}
}
