package slab

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/fittest"
)

// taskProblem returns Q tasks on N inputs, sparse combinations of two smooth
// functions, the halved squared distances between the inputs, and values missing
// here and there.
func taskProblem(Q, N int, noise float64, seed uint64) (y, d la.Matrix[float64]) {
	src := rand.New(rand.NewPCG(seed, 5))
	y, d = la.NewMatrix[float64](Q, N), la.NewMatrix[float64](N, N)
	x := make([]float64, N)
	for n := range x {
		x[n] = 6 * float64(n) / float64(N)
	}
	for i := range N {
		for j := range N {
			d.Set(i, j, (x[i]-x[j])*(x[i]-x[j])/2)
		}
	}
	for q := range Q {
		a, b := src.NormFloat64(), src.NormFloat64()
		if q%3 == 0 {
			b = 0
		}
		for n := range x {
			y.Set(q, n, a*math.Sin(2*x[n])+b*math.Cos(x[n])+noise*src.NormFloat64())
			if src.IntN(6) == 0 {
				y.Set(q, n, math.NaN())
			}
		}
	}
	return y, d
}

// latentKinds are sets of latent functions with every kind of covariance.
func latentKinds(d la.Matrix[float64]) map[string][]Latent {
	N := d.Rows
	gram, mean := la.NewMatrix[float64](N, N), make([]float64, N)
	DecayCovariance(d, 0.5, 0.5, 0.5).fill(0.5, gram)
	for n := range mean {
		mean[n] = math.Cos(0.2 * float64(n))
	}
	smooth := Latent{Covariance: DecayCovariance(d, 1, 0.01, 100)}
	return map[string][]Latent{
		"smooth": {smooth, smooth, smooth},
		"mixed":  {{Covariance: FixedCovariance(gram)}, {Covariance: WhiteCovariance(), Mean: mean}, smooth, {Mean: mean}},
		"linear": {{Mean: mean}, {Mean: gram.Row(3)}},
	}
}

func complete(y la.Matrix[float64]) la.Matrix[float64] {
	z := y.Clone()
	for i, v := range z.Data {
		if math.IsNaN(v) {
			z.Data[i] = 0.1
		}
	}
	return z
}

func TestMultiTaskBoundRises(t *testing.T) {
	y, d := taskProblem(5, 20, 0.2, 1)
	for name, latents := range latentKinds(d) {
		for _, shared := range []bool{false, true} {
			for _, missing := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/shared=%t/missing=%t", name, shared, missing), func(t *testing.T) {
					target := y
					if !missing {
						target = complete(y)
					}
					m, err := MultiTask{SharedNoise: shared, LengthsEvery: 3, Workers: 1}.model(latents, target, 3)
					require.NoError(t, err)
					last := m.Bound()
					for sweep := range testkit.Fewer(60, 20) {
						require.NoError(t, m.Sweep(func(factor string) {
							b := m.Bound()
							require.False(t, testkit.Fell(last, b, m.Roundoff()), "sweep %d, %s: %.15g after %.15g", sweep, factor, b, last)
							last = b
						}))
					}
				})
			}
		}
	}
}

// At a fixed point no small change of what is learned raises the bound.
func TestMultiTaskUpdatesAreOptimal(t *testing.T) {
	y, d := taskProblem(4, 15, 0.2, 2)
	m, err := MultiTask{Workers: 1, LengthsEvery: 1}.model(latentKinds(d)["smooth"][:2], y, 3)
	require.NoError(t, err)
	m.lengthTolerance = 1e-9
	for range 2000 {
		require.NoError(t, m.Sweep(nil))
	}
	top := m.Bound()
	lower := func(name string) {
		t.Helper()
		assert.Less(t, m.Bound(), top+1e-9, name)
		assert.InDelta(t, top, m.Bound(), 1e-2, name)
	}
	for _, f := range []float64{1 - 1e-3, 1 + 1e-3} {
		for q := range m.noise {
			old := m.noise[q]
			m.noise[q] *= f
			lower("σ²")
			m.noise[q] = old
		}
		// σ_w² is also the variance of q(w̃ | s=0), as bound assumes.
		old := m.prior
		m.prior.Variance *= f
		lower("σ_w²")
		m.prior = old
		m.prior.Pi *= f
		lower("π")
		m.prior = old
		for i := range m.latents {
			// The length with the q(φ) that is best for it.
			l := &m.latents[i]
			kept := *l
			kept.lambda, kept.alpha = append([]float64{}, l.lambda...), append([]float64{}, l.alpha...)
			h := make([]float64, m.N)
			require.NoError(t, m.updateLatent(i))
			copy(h, m.h)
			l.residual(m.scratch, h)
			best, _, err := l.objective(&m.crew.All, m.scratch, math.Log(l.length))
			require.NoError(t, err)
			off, _, err := l.objective(&m.crew.All, m.scratch, math.Log(l.length*f))
			require.NoError(t, err)
			if l.length > l.cov.least*1.01 && l.length < l.cov.most*0.99 {
				assert.Less(t, off, best, "length of %d", i)
			}
			require.NoError(t, l.update(&m.crew.All, m.scratch, h))
		}
	}
}

// The slope of the marginalised objective, by differences.
func TestMarginalisedSlope(t *testing.T) {
	y, d := taskProblem(1, 18, 0.2, 4)
	l := latentGP{cov: DecayCovariance(d, 1, 1e-3, 1e3), prior: complete(y).Row(0)}
	l.start(18, make([]float64, 18))
	h := make([]float64, 18)
	src := rand.New(rand.NewPCG(1, 1))
	for n := range h {
		l.lambda[n] = max(0, 30*(src.Float64()-0.2))
		h[n] = l.lambda[n] * src.NormFloat64()
	}
	g, ws := newLatentScratch(18, true), &la.Workspace{Workers: 1}
	l.residual(g, h)
	for _, at := range []float64{-4, -1, 0, 0.5, 3} {
		const e = 1e-5
		up, _, err := l.objective(ws, g, at+e)
		require.NoError(t, err)
		down, _, err := l.objective(ws, g, at-e)
		require.NoError(t, err)
		_, slope, err := l.objective(ws, g, at)
		require.NoError(t, err)
		assert.InDelta(t, (up-down)/(2*e), slope, 1e-6*max(1, math.Abs(slope)), "log ℓ = %g", at)
	}
	for _, from := range []float64{0.01, 1, 50} {
		l.length = from
		require.NoError(t, l.climb(ws, g, h, 1e-8))
		_, slope, err := l.objective(ws, g, math.Log(l.length))
		require.NoError(t, err)
		if l.length != l.cov.least && l.length != l.cov.most {
			assert.InDelta(t, 0, slope, 1e-5, "from %g", from)
		}
	}
}

// Latent functions that no task needs are taken out, and the bound rises by it.
func TestMultiTaskPrunes(t *testing.T) {
	testkit.NotShort(t)
	y, d := taskProblem(6, 30, 0.1, 6)
	brief := vi.Ascent{Tolerance: 1e-3, MaxSweeps: 600}
	smooth := Latent{Covariance: DecayCovariance(d, 1, 0.01, 100)}
	latents := []Latent{smooth, smooth, smooth, smooth, smooth}
	all, err := MultiTask{KeepAll: true, Workers: 1, Ascent: brief}.Fit(context.Background(), latents, y)
	require.NoError(t, err)
	few, err := MultiTask{Workers: 1, Ascent: brief}.Fit(context.Background(), latents, y)
	require.NoError(t, err)
	assert.Len(t, all.Posterior.State().Active, 5)
	assert.LessOrEqual(t, len(few.Posterior.State().Active), 3)
	assert.Greater(t, few.Record.Bound(), all.Record.Bound())
	for i := 1; i < len(few.Record.Trace); i++ {
		assert.False(t, testkit.Fell(few.Record.Trace[i-1], few.Record.Trace[i], 0))
	}
	// The rise is what was foreseen.
	m, err := MultiTask{Workers: 1}.model(latents, y, 0)
	require.NoError(t, err)
	for range 30 {
		require.NoError(t, m.Sweep(nil))
	}
	for len(m.active) > 1 {
		before, gain := m.Bound(), m.gainWithout(m.active[1])
		m.remove(1)
		assert.InDelta(t, before+gain, m.Bound(), 1e-8*math.Abs(before))
	}
}

// With known weights 1 and one task the model is a Gaussian process, whose
// posterior is in every textbook.
func TestMultiTaskIsAGaussianProcess(t *testing.T) {
	y, d := taskProblem(1, 25, 0.1, 3)
	y = complete(y)
	const noise = 0.05
	weight := Pair{Logit: math.Inf(1), Mean: 1, Variance: 0}
	m, err := MultiTask{Plain: true, Start: &MultiTaskStart{Weights: []Pair{weight}, Noise: []float64{noise}}, Workers: 1}.
		model([]Latent{{Covariance: DecayCovariance(d, 0.7, 0.7, 0.7)}}, y, 0)
	require.NoError(t, err)
	require.NoError(t, m.updateLatent(0))
	k, c := la.NewMatrix[float64](25, 25), la.NewMatrix[float64](25, 25)
	m.latents[0].cov.fill(0.7, k)
	k.MirrorLower()
	c.CopyFrom(k)
	for n := range 25 {
		c.Set(n, n, c.At(n, n)+noise)
	}
	require.NoError(t, la.Cholesky(nil, c))
	alpha := append([]float64(nil), y.Row(0)...)
	la.CholeskySolveVec(c, alpha)
	for n := range 25 {
		v := append([]float64(nil), k.Row(n)...)
		la.CholeskySolveVec(c, v)
		assert.InDelta(t, la.Dot(k.Row(n), alpha), m.a.At(0, n), 1e-9)
		assert.InDelta(t, k.At(n, n)-la.Dot(k.Row(n), v), m.latents[0].variance[n], 1e-10)
	}
	evidence := -0.5 * (25*conjugate.Log2Pi + la.LogDet(c) + la.Dot(alpha, y.Row(0)))
	likelihood, _, _, functions := m.boundTerms()
	assert.InDelta(t, evidence, likelihood+functions, 1e-9)
}

func TestMultiTaskRestartsKeepTheBest(t *testing.T) {
	y, d := taskProblem(5, 20, 0.2, 1)
	fit, err := MultiTask{Restarts: 2, Seed: 10, Workers: 2}.Fit(context.Background(), latentKinds(d)["smooth"], y)
	require.NoError(t, err)
	require.Len(t, fit.Bounds, 3)
	assert.Equal(t, fit.Bounds[fit.Start], fit.Record.Bound())
	for _, b := range fit.Bounds {
		assert.LessOrEqual(t, b, fit.Record.Bound())
	}
	one, err := MultiTask{Seed: 10 + uint64(fit.Start), Workers: 1}.Fit(context.Background(), latentKinds(d)["smooth"], y)
	require.NoError(t, err)
	assert.Equal(t, one.Posterior.s, fit.Posterior.s, "for any number of workers")
}

func TestMultiTaskSweepAllocatesNothing(t *testing.T) {
	y, d := taskProblem(5, 20, 0.2, 1)
	for name, latents := range latentKinds(d) {
		for _, target := range []la.Matrix[float64]{y, complete(y)} {
			for _, workers := range []int{1, 2} {
				m, err := MultiTask{LengthsEvery: 1, Workers: workers}.model(latents, target, 3)
				require.NoError(t, err)
				for range 3 {
					require.NoError(t, m.Sweep(nil))
				}
				assert.Zero(t, testkit.LeastAllocs(workers, func() {
					if err := m.Sweep(nil); err != nil {
						t.Error(err)
					}
					m.Bound()
				}), "%s, %d workers", name, workers)
			}
		}
	}
}

func TestMultiTaskRefusals(t *testing.T) {
	y, d := taskProblem(2, 6, 0.2, 1)
	smooth := []Latent{{Covariance: DecayCovariance(d, 1, 0.1, 10)}}
	infinite := complete(y)
	infinite.Set(1, 2, math.Inf(1))
	off := []Pair{{Logit: math.Inf(-1), Mean: 3, Variance: 1}, {Logit: 0, Mean: 0, Variance: 1}}
	for _, c := range []struct {
		m       MultiTask
		latents []Latent
		y       la.Matrix[float64]
		want    string
	}{
		{MultiTask{}, smooth, la.Matrix[float64]{}, "vi: y: 0×0 where at least one task of one sample is needed"},
		{MultiTask{}, nil, y, "vi: latents: none given"},
		{MultiTask{}, smooth, infinite, "vi: y: entry (1, 2) is +Inf"},
		{MultiTask{}, smooth, la.NewMatrix[float64](2, 6), "vi: y: every value is zero"},
		{MultiTask{}, smooth, la.NewMatrix[float64](2, 5), "vi: latents[0].Covariance: 6×6 where 5×5 is needed"},
		{MultiTask{}, []Latent{{Covariance: DecayCovariance(d, 1, 2, 3)}}, y, "vi: latents[0].Covariance: length 1 between 2 and 3: they must be positive, finite and ascending"},
		{MultiTask{}, []Latent{{Mean: []float64{1}}}, y, "vi: latents[0].Mean: 1 values for 6 samples"},
		{MultiTask{Noise: -1}, smooth, y, "vi: Noise is -1: it must be positive and finite"},
		{MultiTask{Prior: Prior{Pi: 2}}, smooth, y, "vi: Prior.Pi is 2: it must be positive and at most 1"},
		{MultiTask{Start: &MultiTaskStart{}}, smooth, y, "vi: Start.Weights: 0 where 2 tasks of 1 are needed"},
		{MultiTask{Start: &MultiTaskStart{Weights: off}}, smooth, y,
			"vi: Start.Weights: every weight is zero, and so is every mean function: no update would ever move from there"},
	} {
		fit, err := c.m.Fit(context.Background(), c.latents, c.y)
		assert.Nil(t, fit)
		assert.EqualError(t, err, c.want)
	}
	indefinite := la.NewMatrix[float64](6, 6)
	for i := range 6 {
		for j := range 6 {
			indefinite.Set(i, j, -1)
		}
		indefinite.Set(i, i, 1)
	}
	_, err := MultiTask{}.Fit(context.Background(), []Latent{{Covariance: FixedCovariance(indefinite)}}, y)
	assert.ErrorContains(t, err, "latent function 0: I + S·K·S: the covariance is not positive semidefinite")

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	m := MultiTask{Ascent: vi.Ascent{Tolerance: -1, Progress: func(p vi.Progress) {
		if p.Sweep == 3 {
			cancel()
		}
	}}}
	fit, err := m.Fit(ctx, smooth, y)
	assert.ErrorIs(t, err, context.Canceled)
	require.NotNil(t, fit)
	assert.Len(t, fit.Record.Trace, 3)
	assert.Equal(t, vi.Cancelled, fit.Record.Reason)
}

// A saved state gives the same predictions, and one that was tampered with an
// error.
func TestMultiTaskState(t *testing.T) {
	y, d := taskProblem(3, 12, 0.2, 1)
	fit, err := MultiTask{}.Fit(context.Background(), latentKinds(d)["mixed"], y)
	require.NoError(t, err)
	s := fit.Posterior.State()
	p, err := NewMultiTaskPosterior(s)
	require.NoError(t, err)
	assert.Equal(t, fit.Posterior.Train(vi.PredictOptions{}), p.Train(vi.PredictOptions{}))
	for name, spoil := range map[string]func(*MultiTaskState){
		"Noise":   func(s *MultiTaskState) { s.Noise = []float64{1, 2, math.NaN()} },
		"Weights": func(s *MultiTaskState) { s.Weights = append([]Pair{{Mean: math.NaN()}}, s.Weights[1:]...) },
		"Active":  func(s *MultiTaskState) { s.Active = []int{1, 1} },
		"Alpha":   func(s *MultiTaskState) { s.Alpha = la.NewMatrix[float64](3, 12) },
		"Factors": func(s *MultiTaskState) { s.Factors = s.Factors[:1] },
		"Lengths": func(s *MultiTaskState) { s.Lengths = []float64{1, -1, 0, 0} },
	} {
		bad := s
		spoil(&bad)
		_, err := NewMultiTaskPosterior(bad)
		assert.ErrorContains(t, err, "vi: multi-task state: ", name)
	}
}

// A fit that goes on from an earlier one ends where one ends that was not stopped.
func TestMultiTaskResumes(t *testing.T) {
	y, d := taskProblem(4, 18, 0.2, 1)
	for name, latents := range latentKinds(d) {
		fit := func(sweeps int, from *MultiTaskFit) *MultiTaskFit {
			fit, err := MultiTask{Workers: 1, Plain: true, From: from, Ascent: vi.Ascent{Tolerance: -1, MaxSweeps: sweeps}}.Fit(t.Context(), latents, y)
			require.NoError(t, err)
			return fit
		}
		half, whole := fit(12, nil), fit(24, nil)
		require.Len(t, half.Record.Trace, 12)
		again := fit(24, half)
		require.Len(t, again.Record.Trace, 24)
		assert.InDeltaSlice(t, whole.Record.Trace, again.Record.Trace, 1e-6, name)
		want, got := whole.Posterior.Train(vi.PredictOptions{}), again.Posterior.Train(vi.PredictOptions{})
		assert.InDeltaSlice(t, want.Mean.Data, got.Mean.Data, 1e-6, name)
		assert.InDeltaSlice(t, want.Variance.Data, got.Variance.Data, 1e-6, name)

		_, err := MultiTask{From: half}.Fit(context.Background(), latents[:1], y)
		assert.ErrorContains(t, err, "vi: From: 4 tasks, ")
	}
	for _, plain := range []bool{false, true} {
		for name, latents := range latentKinds(d) {
			fittest.RequireResumed(t, name, 30, []int{1, 7, 11, 16}, func(a vi.Ascent) any {
				fit, err := MultiTask{Workers: 1, Plain: plain, Ascent: a}.Fit(t.Context(), latents, y)
				require.NoError(t, err)
				return []any{fit.Record, fit.Posterior.State()}
			})
		}
	}
}
