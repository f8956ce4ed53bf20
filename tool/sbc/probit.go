package main

import (
	"context"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mcmc"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/probit"
)

// labelled are samples of two kernels with labels drawn from a multinomial probit kernel machine. The samples are its
// basis points.
type labelled struct {
	points
	rule    probit.Rule
	classes int
	w       la.Matrix[float64] // C×N
	alpha   la.Matrix[float64]
	beta    []float64
	rho     []float64
	theta   []float64 // parameters of the kernels; nil if they are known
	labels  []int
}

// fixedBeta are the weights of the fixed rules.
var fixedBeta = []float64{0.7, 1.3}

// newLabelled draws until every class occurs, on which the posterior does not depend.
func newLabelled(src special.Rand, rule probit.Rule, parametric bool, samples, classes int) labelled {
	for {
		s := labelled{points: newPoints(src, samples, 2, 1, 3), rule: rule, classes: classes}
		s.drawWeights(src)
		if parametric {
			for range s.width {
				s.theta = append(s.theta, gamma(src, vi.Gamma{}))
			}
		}
		s.alpha, s.w = la.NewMatrix[float64](classes, samples), la.NewMatrix[float64](classes, samples)
		for i := range s.w.Data {
			s.alpha.Data[i] = gamma(src, vi.Gamma{})
			s.w.Data[i] = gaussian(src, s.alpha.Data[i])
		}
		seen := make([]bool, classes)
		for n := range samples {
			best, top := 0, math.Inf(-1)
			for c, f := range s.scores(s.w, s.beta, s.theta, n) {
				if y := f + src.NormFloat64(); y > top {
					best, top = c, y
				}
			}
			s.labels, seen[best] = append(s.labels, best), true
		}
		all := true
		for _, v := range seen {
			all = all && v
		}
		if all {
			return s
		}
	}
}

// drawWeights draws the kernels' weights from the prior of the rule.
func (s *labelled) drawWeights(src special.Rand) {
	s.beta = make([]float64, len(s.width))
	switch s.rule {
	case probit.RuleFixSum, probit.RuleFixProd:
		copy(s.beta, fixedBeta)
	case probit.RuleBin:
		for p := range s.beta {
			if src.Float64() < 0.5 {
				s.beta[p] = 1
			}
		}
	case probit.RuleWSum:
		var sum float64
		for p := range s.beta {
			s.rho = append(s.rho, gamma(src, vi.Gamma{}))
			s.beta[p] = gamma(src, vi.Gamma{Shape: s.rho[p], Scale: 1})
			sum += s.beta[p]
		}
		la.Scal(1/sum, s.beta)
	case probit.RuleWProd:
		for p := range s.beta {
			s.beta[p] = gamma(src, vi.Gamma{Shape: src.ExpFloat64(), Scale: 1 / src.ExpFloat64()})
		}
	}
}

// scores returns the classes' functions at sample n.
func (s labelled) scores(w la.Matrix[float64], beta, theta []float64, n int) []float64 {
	f := make([]float64, s.classes)
	for d := range s.n {
		k := s.composite(beta, theta, d, n)
		for c := range f {
			f[c] += w.At(c, d) * k
		}
	}
	return f
}

// composite returns the composite kernel of two samples.
func (s labelled) composite(beta, theta []float64, i, j int) float64 {
	product := s.rule == probit.RuleFixProd || s.rule == probit.RuleWProd
	k := 0.0
	if product {
		k = 1
	}
	for p, b := range beta {
		v := s.value(p, i, j)
		if theta != nil {
			v = math.Pow(v, theta[p])
		}
		if product {
			k *= math.Pow(v, b)
		} else {
			k += b * v
		}
	}
	return k
}

// logProbability returns log P(class | scores) by the trapezoidal rule, which for this integrand converges
// exponentially.
func logProbability(f []float64, class int) float64 {
	const step = 0.1
	var sum float64
	for u := -8.0; u <= 8; u += step {
		l := -u * u / 2
		for c, v := range f {
			if c != class {
				l += special.LogNormalCDF(u + f[class] - v)
			}
		}
		sum += step * math.Exp(l)
	}
	return math.Log(sum / math.Sqrt(2*math.Pi))
}

// values returns what is compared of W, the weights of the kernels and their parameters: the difference of two functions at the
// further sample, the log likelihood, and the first weight and parameter if they are unknown.
func (s labelled) values(w la.Matrix[float64], beta, theta []float64) []float64 {
	f := s.scores(w, beta, theta, s.n)
	var logLikelihood float64
	for n, label := range s.labels {
		logLikelihood += logProbability(s.scores(w, beta, theta, n), label)
	}
	v := []float64{f[1] - f[0], logLikelihood}
	if s.rule.Learned() {
		v = append(v, beta[0])
	}
	if theta != nil {
		v = append(v, theta[0])
	}
	return v
}

func (s labelled) names() []string {
	names := []string{"function", "log likelihood"}
	if s.rule.Learned() {
		names = append(names, "kernel weight")
	}
	if s.theta != nil {
		names = append(names, "kernel parameter")
	}
	return names
}

// sample returns draws of the values, and of the mean log precision of class 0 last.
func (s labelled) sample(ctx context.Context, how mcmc.Sampling) ([][]float64, error) {
	m := mcmc.Probit{Rule: s.rule, Sampling: how}
	if !s.rule.Learned() {
		m.Beta = s.beta
	}
	var draws *mcmc.ProbitDraws
	var err error
	if s.theta == nil {
		draws, err = m.Sample(ctx, s.training(), s.labels)
	} else {
		var k *mcmc.ExponentialKernels
		if k, err = mcmc.NewExponentialKernels(s.distances()); err == nil {
			draws, err = m.SampleParametric(ctx, k, s.labels)
		}
	}
	if err != nil {
		return nil, err
	}
	return collect(draws.Draws, func(chain, draw int) []float64 {
		beta, theta := s.beta, s.theta
		if s.rule.Learned() {
			beta = draws.Value("beta", chain, draw).Row(0)
		}
		if theta != nil {
			theta = draws.Value("theta", chain, draw).Row(0)
		}
		v := s.values(draws.Value("W", chain, draw), beta, theta)
		return append(v, draws.Value("log precision", chain, draw).At(0, 0))
	}), nil
}

// distances returns −log of each kernel, the one distance that it has.
func (s labelled) distances() (d [][]la.Matrix[float64]) {
	for _, k := range s.square() {
		for i, v := range k.Data {
			k.Data[i] = max(0, -math.Log(v))
		}
		d = append(d, []la.Matrix[float64]{k})
	}
	return d
}

// sampledProbit calibrates the sampler.
func sampledProbit(rule probit.Rule, parametric bool, samples, classes int) func(context.Context, special.Rand) ([]quantity, error) {
	return func(ctx context.Context, src special.Rand) ([]quantity, error) {
		s := newLabelled(src, rule, parametric, samples, classes)
		draws, err := s.sample(ctx, mcmc.Sampling{Chains: 2, Draws: 30, Thin: 20, BurnIn: 200, Seed: src.Uint64(), Workers: 1})
		if err != nil {
			return nil, err
		}
		var logAlpha float64
		for _, a := range s.alpha.Row(0) {
			logAlpha += math.Log(a) / float64(s.n)
		}
		return rankAll(src, append(s.names(), "log precision"), append(s.values(s.w, s.beta, s.theta), logAlpha), draws), nil
	}
}

// variationalProbit calibrates the approximate posterior beside the sampler.
func variationalProbit(m probit.Model, samples, classes int) func(context.Context, special.Rand) ([]quantity, error) {
	return func(ctx context.Context, src special.Rand) ([]quantity, error) {
		s := newLabelled(src, m.Rule, false, samples, classes)
		m := m
		m.Seed, m.Workers = src.Uint64(), 1
		if !m.Rule.Learned() {
			m.Beta = s.beta
		}
		fit, err := m.Fit(ctx, s.training(), s.labels)
		if err != nil {
			return nil, err
		}
		p, err := fit.Posterior.Predict(s.fresh(), vi.PredictOptions{})
		if err != nil {
			return nil, err
		}
		draws, err := s.sample(ctx, mcmc.Sampling{Chains: 2, Draws: 250, Thin: 2, BurnIn: 200, Seed: src.Uint64(), Workers: 1})
		if err != nil {
			return nil, err
		}
		mean := p.Mean.At(1, 0) - p.Mean.At(0, 0)
		variance := p.Variance.At(1, 0) + p.Variance.At(0, 0) - 2 // less the noise of both auxiliary variables
		return []quantity{normal("function", s.values(s.w, s.beta, nil)[0], mean, variance).beside(math.Sqrt(variance), draws[0])}, nil
	}
}
