package probit

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// logClass is log P(t = c) of functions f with unit noise, by the trapezoidal rule (D2).
func logClass(c int, f []float64) float64 {
	const step = 0.1
	var sum float64
	for u := -9.0; u <= 9; u += step {
		p := math.Exp(-0.5*u*u) / math.Sqrt(2*math.Pi)
		for j, v := range f {
			if j != c {
				p *= 0.5 * math.Erfc(-(u+f[c]-v)/math.Sqrt2)
			}
		}
		sum += step * p
	}
	return math.Log(sum)
}

// logJoint is the logarithm of the density of labels, W and β, from its definition.
func logJoint(p Model, k *vi.Dense, labels []int, w la.Matrix[float64], beta []float64) (sum float64) {
	P, D, N := k.Dims()
	f := make([]float64, w.Rows)
	for n := range N {
		clear(f)
		for d := range D {
			value := 0.0
			if p.Rule == RuleFixProd {
				value = 1
			}
			for i := range P {
				if p.Rule == RuleFixProd {
					value *= math.Pow(k.At(i).At(d, n), beta[i])
				} else {
					value += beta[i] * k.At(i).At(d, n)
				}
			}
			for c := range f {
				f[c] += w.At(c, d) * value
			}
		}
		sum += logClass(labels[n], f)
	}
	tau, nu := p.Alpha.Shape, 1/p.Alpha.Scale
	up, _ := math.Lgamma(tau + 0.5)
	down, _ := math.Lgamma(tau)
	for _, v := range w.Data {
		sum += up - down - 0.5*math.Log(2*math.Pi*nu) - (tau+0.5)*math.Log1p(v*v/(2*nu))
	}
	if p.Rule == RuleWSum {
		l, _ := math.Lgamma(float64(P))
		sum += l
	}
	return sum
}

// The mode is where the logarithm of the joint density has no slope, and the record has its value.
func TestMAPIsAMode(t *testing.T) {
	k, star, labels, _ := probitProblem(t, 15, 3, 2, 4, 3)
	for _, rule := range []Rule{RuleFixSum, RuleWSum, RuleFixProd} {
		p := Model{Rule: rule, Alpha: vi.Gamma{Shape: 2, Scale: 0.5}, MAP: true, Workers: 1, Ascent: vi.Ascent{Tolerance: -1, MaxSweeps: 400}}
		if rule == RuleFixSum {
			p.Beta = []float64{0.8, 0.4}
		}
		fit, err := p.Fit(context.Background(), k, labels)
		require.NoError(t, err)
		for i, b := range fit.Record.Trace[1:] {
			require.GreaterOrEqual(t, b, fit.Record.Trace[i]-1e-10, "sweep %d", i+2)
		}
		s := fit.Posterior.State()
		w, beta := s.W.Clone(), append([]float64(nil), s.Beta...)
		assert.InDelta(t, logJoint(p, k, labels, w, beta), fit.Record.Bound(), 1e-8, "%v", rule)
		slope := func(x *float64) float64 {
			const h = 1e-4
			at := *x
			*x = at + h
			up := logJoint(p, k, labels, w, beta)
			*x = at - h
			down := logJoint(p, k, labels, w, beta)
			*x = at
			return (up - down) / (2 * h)
		}
		for c := range w.Rows {
			for d := range w.Row(c) {
				assert.InDelta(t, 0, slope(&w.Row(c)[d]), 1e-5, "%v: w of class %d, regressor %d", rule, c, d)
			}
		}
		if rule == RuleWSum {
			first, second := slope(&beta[0]), slope(&beta[1])
			if beta[0] > 0 && beta[1] > 0 {
				assert.InDelta(t, first, second, 1e-4)
			} else {
				assert.Equal(t, beta[0] > 0, first > second)
			}
		}
		_, sd := fit.Posterior.KernelWeights()
		assert.Equal(t, []float64{0, 0}, sd)

		q, err := fit.Posterior.Predict(star, vi.PredictOptions{})
		require.NoError(t, err)
		point, err := fit.Posterior.Point()
		require.NoError(t, err)
		scratch, one := point.NewScratch(), la.NewMatrix[float64](2, 15)
		f := make([]float64, 3)
		for n := range 4 {
			for i := range 2 {
				for d := range 15 {
					one.Set(i, d, star.At(i).At(d, n))
				}
			}
			single, err := point.Predict(one, scratch)
			require.NoError(t, err)
			for c := range f {
				f[c] = q.Mean.At(c, n)
			}
			for c := range f {
				assert.InDelta(t, math.Exp(logClass(c, f)), q.Probability.At(n, c), 1e-9)
				assert.InDelta(t, q.Probability.At(n, c), single[c], 1e-12)
			}
		}
		cov, err := fit.Posterior.WeightCovariance(nil, 1, []int{0, 3})
		require.NoError(t, err)
		assert.Equal(t, []float64{0, 0, 0, 0}, cov.Data)
		variances, rounding, err := fit.Posterior.WeightVariances(nil, 1)
		require.NoError(t, err)
		_, _, D := fit.Posterior.Dims()
		assert.Equal(t, make([]float64, D), variances)
		assert.Zero(t, rounding)
	}
}

func TestMAPRefused(t *testing.T) {
	k, _, labels, _ := probitProblem(t, 15, 3, 2, 0, 3)
	for want, p := range map[string]Model{
		"vi: MAP: Bin: FixSum, FixProd or WSum is needed":                     {Rule: RuleBin, MAP: true},
		"vi: MAP: WProd: FixSum, FixProd or WSum is needed":                   {Rule: RuleWProd, MAP: true},
		"vi: MAP: not with Update, Search or parameters of kernels":           {Rule: RuleWSum, Update: WeightUpdateMeanField, MAP: true},
		"vi: From: 3 classes, 2 kernels and 15 basis points where there are ": {From: &Posterior{s: State{W: la.NewMatrix[float64](3, 15), Beta: []float64{1, 1}}}},
	} {
		use := labels
		if p.From != nil {
			use = make([]int, len(labels))
			for i := range use {
				use[i] = i % 2
			}
		}
		_, err := p.Fit(context.Background(), k, use)
		assert.ErrorContains(t, err, want)
	}
}

// A fit that goes on from one that has converged is as high after a sweep or two.
func TestFitsGoOnFromPosteriors(t *testing.T) {
	testkit.NotShort(t)
	k, _, labels, _ := probitProblem(t, 30, 3, 3, 0, 4)
	for name, p := range map[string]Model{
		"FixSum":     {},
		"WSum":       {Rule: RuleWSum},
		"mean field": {Rule: RuleWSum, Update: WeightUpdateMeanField},
		"Bin":        {Rule: RuleBin, Update: WeightUpdateMeanField, NotEmpty: true},
		"FixProd":    {Rule: RuleFixProd, Beta: []float64{0.3, 1, 0.5}},
		"WProd":      {Rule: RuleWProd, Update: WeightUpdateMeanField},
		"MAP":        {Rule: RuleWSum, MAP: true},
		"pruned":     {Alpha: vi.Gamma{Shape: 1e-6, Scale: 1e6}, Prune: 50},
	} {
		p.Workers = 1
		first := p
		first.Ascent = vi.Ascent{MaxSweeps: 500, Tolerance: 1e-9}
		cold, err := first.Fit(context.Background(), k, labels)
		require.NoError(t, err, name)
		p.From, p.Ascent = cold.Posterior, vi.Ascent{MaxSweeps: 2, Tolerance: -1}
		warm, err := p.Fit(context.Background(), k, labels)
		require.NoError(t, err, name)
		assert.GreaterOrEqual(t, warm.Record.Bound(), cold.Record.Bound()-1e-3, name)
		assert.Equal(t, cold.Kept, warm.Kept, name)
	}
	mixture, err := Model{Rule: RuleBin, Update: WeightUpdateStructured, Ascent: vi.Ascent{MaxSweeps: 3}}.Fit(context.Background(), k, labels)
	require.NoError(t, err)
	_, err = Model{Rule: RuleBin, From: mixture.Posterior}.Fit(context.Background(), k, labels)
	assert.EqualError(t, err, "vi: From: a mixture of the states of switches is nothing to go on from")
	_, err = Model{Rule: RuleWSum, From: mixture.Posterior}.Fit(context.Background(), k, labels)
	assert.EqualError(t, err, "vi: From: its rule is Bin, not WSum")
}
