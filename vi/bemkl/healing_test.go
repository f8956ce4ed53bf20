package bemkl

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// healingProblem is a fit whose basis points are its samples, and new samples. The
// kernels are symmetric but not definite, which healing does not need.
type healingProblem struct {
	fit      *RegressionFit
	y        la.Matrix[float64]
	training []la.Matrix[float64] // P of N×N
	later    []la.Matrix[float64] // P of N×T
	k        vi.Kernels           // later
	self     la.Matrix[float64]   // P×T
}

func newHealingProblem(t *testing.T, P, N, L, T int, missing float64, workers int) healingProblem {
	t.Helper()
	src := rand.New(rand.NewPCG(3, uint64(P*N*L)))
	h := healingProblem{y: testkit.Normal(src, L, N), self: testkit.Normal(src, P, T)}
	for i := range h.y.Data {
		if src.Float64() < missing {
			h.y.Data[i] = math.NaN()
		}
	}
	for range P {
		x := testkit.Normal(src, N, N)
		x.MirrorLower()
		h.training = append(h.training, x)
		h.later = append(h.later, testkit.Normal(src, N, T))
	}
	h.k = testkit.Must(vi.NewDense(h.later...))
	var err error
	h.fit, err = Regression{Plain: true, Ascent: vi.Ascent{MaxSweeps: 8, Tolerance: -1}, Workers: workers}.Fit(
		context.Background(), testkit.Must(vi.NewDense(h.training...)), h.y)
	require.NoError(t, err)
	require.True(t, h.fit.Posterior.Healable())
	return h
}

// point returns the kernels of new sample i with the samples and with itself.
func (h healingProblem) point(i int) (k la.Matrix[float64], self []float64) {
	k = la.NewMatrix[float64](len(h.later), h.later[0].Rows)
	for m, x := range h.later {
		for d := range x.Rows {
			k.Set(m, d, x.At(d, i))
		}
		self = append(self, h.self.At(m, i))
	}
	return k, self
}

// conditioned returns mean and variance of the first of jointly Gaussian variables
// given the others.
func conditioned(mean []float64, cov la.Matrix[float64], y []float64) (float64, float64) {
	n := len(mean) - 1
	// Gauss-Jordan elimination of the others' rows in [C_yy | C_yf, y − E y].
	x := la.NewMatrix[float64](n, n+2)
	for i := range n {
		copy(x.Row(i), cov.Row(1 + i)[1:])
		x.Set(i, n, cov.At(1+i, 0))
		x.Set(i, n+1, y[i]-mean[1+i])
	}
	for i := range n {
		la.Scal(1/x.At(i, i), x.Row(i))
		for j := range n {
			if j != i {
				la.Axpy(-x.At(j, i), x.Row(i), x.Row(j))
			}
		}
	}
	m, v := mean[0], cov.At(0, 0)
	for i := range n {
		m += cov.At(0, 1+i) * x.At(i, n+1)
		v -= cov.At(0, 1+i) * x.At(i, n)
	}
	return m, v
}

// TestHealingIsTheAugmentedGaussian writes down the joint Gaussian of a new sample's
// function and the targets, with and without a basis point of the sample's own, and
// conditions on the targets. The prior mean of the sample weights is such that their
// posterior mean is E[a].
func TestHealingIsTheAugmentedGaussian(t *testing.T) {
	for name, c := range map[string]struct {
		P, N, L, T int
		missing    float64
	}{
		"one output":        {3, 9, 1, 5, 0},
		"several outputs":   {2, 12, 3, 4, 0.3},
		"one kernel":        {1, 5, 2, 2, 0},
		"missing targets":   {4, 7, 1, 1, 0.3},
		"blocks of samples": {2, 6, 1, 300, 0},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHealingProblem(t, c.P, c.N, c.L, c.T, c.missing, 1)
			plain, err := h.fit.Posterior.Predict(h.k, vi.PredictOptions{})
			require.NoError(t, err)
			healed, err := h.fit.Posterior.PredictHealed(h.k, h.self, vi.PredictOptions{})
			require.NoError(t, err)
			for o := range c.L {
				joint := newJointGaussian(t, h, o)
				for i := range c.T {
					mean, variance := joint.predict(i, 0)
					wantMean, wantVariance := joint.predict(i, 1/joint.precision)
					assert.InDelta(t, wantMean-mean, healed.Mean.At(o, i)-plain.Mean.At(o, i), 1e-10*(1+math.Abs(wantMean)))
					assert.InDelta(t, wantVariance-variance, healed.Variance.At(o, i)-plain.Variance.At(o, i), 1e-10*(1+wantVariance))
					assert.GreaterOrEqual(t, healed.Variance.At(o, i), plain.Variance.At(o, i))
				}
			}
		})
	}
}

// jointGaussian is the prior of one output's sample weights with which the targets that are observed
// give the posterior means, and what a function and its targets are made of.
type jointGaussian struct {
	h           healingProblem
	e           []float64
	bias, noise float64
	seen        []int     // the samples whose target is observed
	y           []float64 // these targets
	prior       []float64 // D, the mean of the weights
	lambda      []float64 // D, their precisions
	precision   float64   // of the weight of a new sample
	f, phi      la.Matrix[float64]
}

// newJointGaussian returns the prior of output o, and checks the precision of a new weight.
func newJointGaussian(t *testing.T, h healingProblem, o int) *jointGaussian {
	p := h.fit.Posterior
	s := p.State()
	L, D := s.A.Rows, s.A.Cols
	g := &jointGaussian{
		h: h, e: s.BEMean[L:], bias: s.BEMean[o], noise: 1 / s.Epsilon[o].Mean(),
		lambda: make([]float64, D), precision: s.Healing.Precision[o],
	}
	g.f, g.phi = g.sum(h.training), g.sum(h.later)
	for i, v := range h.y.Row(o) {
		if !math.IsNaN(v) {
			g.seen, g.y = append(g.seen, i), append(g.y, v)
		}
	}
	for m, w := range g.e {
		g.noise += (w*w + s.BECov.At(L+m, L+m)) / s.Upsilon[o].Mean()
	}
	cov, err := p.WeightCovariance(nil, o, upTo(D))
	require.NoError(t, err)
	var squares float64
	for d := range g.lambda {
		g.lambda[d] = (s.Priors.Lambda.Shape + 0.5) * s.Lambda.At(o, d)
		squares += s.A.At(o, d)*s.A.At(o, d) + cov.At(d, d)
	}
	// In the plain order nothing that Cov(a) depends on is updated after it.
	require.InEpsilon(t, float64(D)/squares, g.precision, 1e-10)
	g.prior = append([]float64(nil), s.A.Row(o)...) // μ − Λ⁻¹Fᵀ(y − b − Fμ)/s²
	for j, i := range g.seen {
		r := g.y[j] - g.bias - la.Dot(g.f.Row(i), s.A.Row(o))
		for d := range g.prior {
			g.prior[d] -= g.f.At(i, d) * r / g.noise / g.lambda[d]
		}
	}
	return g
}

// sum returns Σ_m E[e_m]·K_m.
func (g *jointGaussian) sum(k []la.Matrix[float64]) la.Matrix[float64] {
	x := la.NewMatrix[float64](k[0].Rows, k[0].Cols)
	for m, w := range g.e {
		for i := range x.Rows {
			la.Axpy(w, k[m].Row(i), x.Row(i))
		}
	}
	return x
}

// predict returns mean and variance of the function of new sample i given the targets, where the
// weight of the sample's own basis point has this variance.
func (g *jointGaussian) predict(i int, spread float64) (mean, variance float64) {
	D := len(g.lambda)
	var own float64
	for m, w := range g.e {
		own += w * g.h.self.At(m, i)
	}
	// Rows of weights of (a, a*): of the function, and of the targets.
	rows := la.NewMatrix[float64](1+len(g.seen), D+1)
	for d := range D {
		rows.Set(0, d, g.phi.At(d, i))
	}
	rows.Set(0, D, own)
	for j, n := range g.seen {
		copy(rows.Row(1+j), g.f.Row(n))
		rows.Set(1+j, D, g.phi.At(n, i))
	}
	means, cov := make([]float64, rows.Rows), la.NewMatrix[float64](rows.Rows, rows.Rows)
	for j := range means {
		means[j] = g.bias + la.Dot(rows.Row(j)[:D], g.prior)
		for l := range means {
			v := rows.At(j, D) * rows.At(l, D) * spread
			for d, precision := range g.lambda {
				v += rows.At(j, d) * rows.At(l, d) / precision
			}
			if j == l && j > 0 {
				v += g.noise
			}
			cov.Set(j, l, v)
		}
	}
	return conditioned(means, cov, g.y)
}

// Predictions do not depend on the workers or on what is predicted beside them; a
// Healer gives the same; options leave out what they say.
func TestHealedPredictions(t *testing.T) {
	for _, L := range []int{1, 2} {
		h := newHealingProblem(t, 3, 40, L, 300, 0.2*float64(L-1), 1)
		p := h.fit.Posterior
		want, err := p.PredictHealed(h.k, h.self, vi.PredictOptions{Workers: 1})
		require.NoError(t, err)
		got, err := newHealingProblem(t, 3, 40, L, 300, 0.2*float64(L-1), 3).fit.Posterior.PredictHealed(h.k, h.self, vi.PredictOptions{Workers: 3})
		require.NoError(t, err)
		assert.True(t, reflect.DeepEqual(want, got), "other bits with three workers")
		mean, err := p.PredictHealed(h.k, h.self, vi.PredictOptions{MeanOnly: true})
		require.NoError(t, err)
		assert.Equal(t, want.Mean, mean.Mean)
		assert.Empty(t, mean.Variance.Data)

		for i := range 3 {
			var one []la.Matrix[float64]
			for _, k := range h.later {
				one = append(one, k.Slice(0, 40, i, i+1))
			}
			alone, err := p.PredictHealed(testkit.Must(vi.NewDense(one...)), h.self.Slice(0, 3, i, i+1), vi.PredictOptions{})
			require.NoError(t, err)
			for o := range L {
				assert.Equal(t, want.Mean.At(o, i), alone.Mean.At(o, 0))
				assert.Equal(t, want.Variance.At(o, i), alone.Variance.At(o, 0))
			}
		}

		published, err := p.PredictHealed(h.k, h.self, vi.PredictOptions{Published: true})
		require.NoError(t, err)
		same, err := p.Predict(h.k, vi.PredictOptions{Published: true})
		require.NoError(t, err)
		assert.True(t, reflect.DeepEqual(same, published))

		restored, err := NewRegressionPosterior(p.State())
		require.NoError(t, err)
		again, err := restored.PredictHealed(h.k, h.self, vi.PredictOptions{})
		require.NoError(t, err)
		assert.True(t, reflect.DeepEqual(want, again), "other bits after a restoration")

		requireHealersAgree(t, h, p, want)
	}
}

// requireHealersAgree holds the healers of one sample to the healed predictions of all new
// samples.
func requireHealersAgree(t *testing.T, h healingProblem, p interface {
	Predict(k vi.Kernels, opt vi.PredictOptions) (*Prediction, error)
	Healer(ws *la.Workspace, o int) (*Healer, error)
}, healed *Prediction) {
	t.Helper()
	plain, err := p.Predict(h.k, vi.PredictOptions{})
	require.NoError(t, err)
	for o := range plain.Mean.Rows {
		healer, err := p.Healer(nil, o)
		require.NoError(t, err)
		scratch := make([]float64, healer.ScratchSize())
		for i := range scratch {
			scratch[i] = math.NaN() // is not read
		}
		for i := range plain.Mean.Cols {
			k, self := h.point(i)
			mean, variance := healer.Heal(nil, k, self, scratch)
			require.InDelta(t, healed.Mean.At(o, i), plain.Mean.At(o, i)+mean, 1e-10)
			require.InDelta(t, healed.Variance.At(o, i), plain.Variance.At(o, i)+variance, 1e-10)
		}
	}
}

// Moving the kernels of a new sample moves what healing adds by no more than the
// bound says.
func TestHealingSensitivity(t *testing.T) {
	src := rand.New(rand.NewPCG(5, 5))
	var healers []*Healer
	own, shared := newHealingProblem(t, 2, 12, 2, 1, 0.2, 1), newSharedHealingProblem(t, 3, 12, 2, 1, 0)
	gaps := newSharedHealingProblem(t, 3, 12, 2, 1, 0.3)
	for o := range 2 {
		healers = append(healers, testkit.Must(own.fit.Posterior.Healer(nil, o)), testkit.Must(shared.fit.Posterior.Healer(nil, o)),
			testkit.Must(gaps.fit.Posterior.Healer(nil, o)))
	}
	const limit = 1.0
	for _, healer := range healers {
		sizes := healer.Sizes()
		P := len(sizes)
		scratch := make([]float64, healer.ScratchSize())
		boundMean, boundSD := healer.Sensitivity(limit)
		var largestMean, largestSD float64
		for range 4000 {
			step := math.Exp(-8 * src.Float64())
			k, moved := la.NewMatrix[float64](P, 12), la.NewMatrix[float64](P, 12)
			self, movedSelf := make([]float64, P), make([]float64, P)
			for m, size := range sizes {
				most := limit / float64(P) / size
				draw := func() (float64, float64) {
					v := most * (2*src.Float64() - 1) * math.Exp(-4*src.Float64())
					return v, max(-most, min(most, v+step*most*float64(2*src.IntN(2)-1)))
				}
				for d := range 12 {
					k.Row(m)[d], moved.Row(m)[d] = draw()
				}
				self[m], movedSelf[m] = draw()
			}
			mean, variance := healer.Heal(nil, k, self, scratch)
			mean2, variance2 := healer.Heal(nil, moved, movedSelf, scratch)
			largestMean = max(largestMean, math.Abs(mean2-mean)/(step*limit))
			// sd is the root of another variance and this one: with none besides it moves most.
			largestSD = max(largestSD, math.Abs(math.Sqrt(variance2)-math.Sqrt(variance))/(step*limit))
		}
		t.Logf("mean %.3g of %.3g, sd %.3g of %.3g", largestMean, boundMean, largestSD, boundSD)
		assert.LessOrEqual(t, largestMean, boundMean)
		assert.LessOrEqual(t, largestSD, boundSD)
	}
}

func TestHealingRefusals(t *testing.T) {
	h := newHealingProblem(t, 2, 6, 1, 2, 0, 1)
	_, err := h.fit.Posterior.PredictHealed(h.k, la.NewMatrix[float64](2, 3), vi.PredictOptions{})
	assert.EqualError(t, err, "vi: self: 2×3 where 2×2 is needed")

	src := rand.New(rand.NewPCG(6, 6))
	for _, k := range []la.Matrix[float64]{testkit.Normal(src, 4, 7), testkit.Normal(src, 7, 7)} { // rectangular, and not symmetric
		one := testkit.Must(vi.NewDense(k))
		fit, err := Regression{Ascent: vi.Ascent{MaxSweeps: 2}}.Fit(context.Background(), one, testkit.Normal(src, 1, 7))
		require.NoError(t, err)
		assert.False(t, fit.Posterior.Healable())
		_, err = fit.Posterior.PredictHealed(one, la.NewMatrix[float64](1, 7), vi.PredictOptions{})
		assert.EqualError(t, err, "vi: the posterior cannot be healed: its basis points are not the samples")
	}

	for want, spoil := range map[string]func(s *RegressionState, h *Healing){
		"vi: regression state: Healing: 6 basis points are not the 7 samples":   func(s *RegressionState, h *Healing) { s.Samples = 7 },
		"vi: regression state: Healing.Precision: 0 entries where 1 are needed": func(s *RegressionState, h *Healing) { h.Precision = nil },
		"vi: regression state: Healing.Precision[0] is 0":                       func(s *RegressionState, h *Healing) { h.Precision = []float64{0} },
		"vi: regression state: Healing.Residual: entry (0, 0) is NaN":           func(s *RegressionState, h *Healing) { h.Residual.Data[0] = math.NaN() },
		"vi: regression state: Healing.Kernel is not symmetric":                 func(s *RegressionState, h *Healing) { h.Kernel.Set(0, 1, 7) },
		"vi: regression state: Healing.Observed: entry (0, 5) is 2": func(s *RegressionState, h *Healing) {
			h.Observed = la.NewMatrix[float64](1, 6)
			h.Observed.Set(0, 5, 2)
		},
		"vi: regression state: Healing.Kernel: 5×5 (stride 6, 29 elements) where 6×6 is needed": func(s *RegressionState, h *Healing) { h.Kernel = h.Kernel.Slice(0, 5, 0, 5) },
	} {
		s := h.fit.Posterior.State()
		spoiled := *s.Healing
		spoiled.Kernel, spoiled.Residual = s.Healing.Kernel.Clone(), s.Healing.Residual.Clone()
		s.Healing = &spoiled
		spoil(&s, &spoiled)
		_, err := NewRegressionPosterior(s)
		assert.EqualError(t, err, want)
	}
}
