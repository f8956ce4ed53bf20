package bemkl

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/internal/testkit/golden"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/intermediate"
	"github.com/bmkl/bmkl/vi/internal/work"
)

func (p problem) shared(t testing.TB, seed uint64) (SharedRegression, *vi.Dense, la.Matrix[float64]) {
	p.missing = 0
	r, k, y := p.draw(t, seed)
	return SharedRegression{Lambda: r.Lambda, Omega: r.Omega, Seed: seed, Workers: 2}, k, y
}

// sharedGaps is shared with missing targets; all targets of the last sample are missing.
func (p problem) sharedGaps(t testing.TB, seed uint64) (SharedRegression, *vi.Dense, la.Matrix[float64]) {
	p.missing = max(p.missing, 0.3)
	r, k, y := p.draw(t, seed)
	for o := 0; o < p.L && p.N > 3; o++ {
		y.Set(o, p.N-1, math.NaN())
	}
	return SharedRegression{Lambda: r.Lambda, Omega: r.Omega, Seed: seed, Workers: 2}, k, y
}

// model is the initial state of a fit to complete targets.
func (r SharedRegression) model(k vi.Kernels, y la.Matrix[float64]) (*shared, error) {
	m, err := r.state(k, y)
	if err != nil {
		return nil, err
	}
	return m.(*shared), nil
}

// TestSharedOfOneOutputIsRegression compares two implementations of one model.
func TestSharedOfOneOutputIsRegression(t *testing.T) {
	for _, p := range problems {
		if p.lambda == broken {
			continue // rounding is amplified to 1e-8
		}
		p.L = 1
		for _, plain := range []bool{true, false} {
			s, k, y := p.shared(t, 3)
			s.Plain = plain
			s.Epsilon, s.Upsilon, s.Gamma = vi.Gamma{Shape: 2, Scale: 0.7}, vi.Gamma{Shape: 0.6, Scale: 3}, vi.Gamma{Shape: 1.5, Scale: 0.4}
			r := Regression{Lambda: s.Lambda, Upsilon: s.Upsilon, Gamma: s.Gamma, Omega: s.Omega, Epsilon: s.Epsilon, Seed: 3, Plain: plain}
			one, err := s.model(k, y)
			require.NoError(t, err)
			two, err := r.model(k, y)
			require.NoError(t, err)
			for range work.FirstSweeps + 6 {
				require.NoError(t, one.Sweep(nil))
				require.NoError(t, two.Sweep(nil))
				require.InEpsilon(t, two.Bound(), one.Bound(), 1e-9, "%s, plain %v", p.name, plain)
			}
			assert.Equal(t, two.collapsed(two.y), one.collapsed())
			a, err := one.Posterior().Predict(k, vi.PredictOptions{Intermediate: true})
			require.NoError(t, err)
			b, err := two.Posterior().Predict(k, vi.PredictOptions{Intermediate: true})
			require.NoError(t, err)
			testkit.RequireClose(t, p.name+": mean", b.Mean, a.Mean, 1e-6)
			testkit.RequireClose(t, p.name+": variance", b.Variance, a.Variance, 1e-6)
			testkit.RequireClose(t, p.name+": g* variance", b.GVariance, a.GVariance, 1e-6)
		}
	}
}

// naiveShared is the bound by its definition, with dense covariances; covOf returns the covariance
// of g_i.
func naiveShared(t testing.TB, m *sharedLayers, aCov la.Matrix[float64], covOf func(i int) la.Matrix[float64]) float64 {
	a := normalFactor{m.AMean.Row(0), aCov}
	sum := a.entropy(t) + gammaTerm(m.upsilonQ.At(0), m.priors.Upsilon)
	for d := range m.D {
		sum += gammaTerm(m.Lambda.At(d), m.priors.Lambda) + normalTerm(m.Lambda.At(d), a.second(d, d))
	}
	for o := range m.L {
		be := normalFactor{m.be[o].Mean, m.be[o].Cov}
		sum += be.entropy(t) + gammaTerm(m.epsilon[o].At(0), m.priors.Epsilon)
		sum += gammaTerm(m.gamma.At(o), m.priors.Gamma) + normalTerm(m.gamma.At(o), be.second(0, 0))
		for j := range m.P {
			w := m.omega.At(o*m.P + j)
			sum += gammaTerm(w, m.priors.Omega) + normalTerm(w, be.second(1+j, 1+j))
		}
	}
	for i := range m.N {
		g := normalFactor{meanOfG(m.latent, 0, i), covOf(i)}
		sum += g.entropy(t)
		for j := range m.P {
			var h, v float64
			for d := range m.D {
				kd := m.K.(*vi.Dense).At(j).At(d, i)
				h += a.mean[d] * kd
				for c := range m.D {
					v += kd * aCov.At(d, c) * m.K.(*vi.Dense).At(j).At(c, i)
				}
			}
			sum += normalTerm(m.upsilonQ.At(0), (g.mean[j]-h)*(g.mean[j]-h)+g.cov.At(j, j)+v)
		}
		for o := range m.L {
			if m.observed.Rows > 0 && m.observed.At(o, i) == 0 {
				continue
			}
			be, y := normalFactor{m.be[o].Mean, m.be[o].Cov}, m.y.At(o, i)
			square := y*y - 2*y*be.mean[0] + be.second(0, 0)
			for j := range m.P {
				square += -2*y*be.mean[1+j]*g.mean[j] + 2*be.second(0, 1+j)*g.mean[j]
				for n := range m.P {
					square += be.second(1+j, 1+n) * g.second(j, n)
				}
			}
			sum += normalTerm(m.epsilon[o].At(0), square)
		}
	}
	return sum
}

// TestSharedBound holds the bound after each update against its definition, and demands that it
// never falls.
func TestSharedBound(t *testing.T) {
	for _, p := range problems {
		p.L += 2
		for _, gaps := range []bool{false, true} {
			for _, plain := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/gaps=%v/plain=%v", p.name, gaps, plain), func(t *testing.T) {
					for seed := range testkit.Fewer(uint64(2), 1) {
						r, k, y := p.shared(t, seed)
						if gaps {
							r, k, y = p.sharedGaps(t, seed)
						}
						r.Plain = plain
						state, err := r.state(k, y)
						require.NoError(t, err)
						checkSharedBound(t, p, k, state)
					}
				})
			}
		}
	}
}

func checkSharedBound(t *testing.T, p problem, k *vi.Dense, state sharedState) {
	m := state.common()
	covOf := func(int) la.Matrix[float64] { return m.GCov[0] }
	if q, is := state.(*patterned); is {
		covOf = q.covOf
	}
	rows := make([]int, p.D)
	for d := range rows {
		rows[d] = d
	}
	require.NoError(t, m.Sweep(nil))
	last := m.Bound()
	var line *tangent
	shape, err := state.Posterior().WeightCovariance(nil, 0, rows)
	require.NoError(t, err)
	for i := range testkit.Fewer(work.FirstSweeps+20, work.FirstSweeps+5) {
		updates := 0
		require.NoError(t, m.Sweep(func(name string) {
			if name == "a" || name == "Cov[a]" {
				shape, err = state.Posterior().WeightCovariance(nil, 0, rows)
				require.NoError(t, err)
			}
			if updates++; updates > 24 && name != "G" && updates%17 != 0 {
				return // of the many rounds of an accelerated sweep, two and some
			}
			b := m.Bound()
			require.False(t, testkit.Fell(last, b, m.Roundoff()), "sweep %d: %s: from %.17g to %.17g (%g)", i+2, name, last, b, b-last)
			last = b
			if i > work.FirstSweeps+3 || p.lambda == broken {
				return
			}
			cov, below := shape.Clone(), 0.0
			lambda, upsilon := means(m.Lambda.Scale, m.Lambda.Shape), m.upsilonMean[0]
			if name == "Cov[a]" {
				line = newTangent(t, k, lambda, upsilon)
			}
			if line != nil {
				cov, below = line.covariance(t, lambda, upsilon), line.below(t, lambda, upsilon)
			} else {
				la.Scal(m.AVar.At(0, 0)/cov.At(0, 0), cov.Data)
			}
			require.InEpsilon(t, naiveShared(t, m, cov, covOf)-below, b, 1e-9, "%s of sweep %d", name, i+2)
		}))
	}
}

func TestSharedScaleStepFollowsTheRidge(t *testing.T) {
	r, k, y := problem{P: 3, D: 9, N: 12, L: 4}.shared(t, 1)
	m, err := r.model(k, y)
	require.NoError(t, err)
	require.NoError(t, m.Sweep(nil))
	m.updateScale()
	a, b, c := m.ridge()
	assert.InDelta(t, 0, c+a-b, 1e-9*(math.Abs(a)+b+c), "s = 1 is the root after the step")
}

func TestSharedFit(t *testing.T) {
	r, k, y := problem{P: 3, D: 30, N: 30, L: 3}.shared(t, 2)
	fit, err := r.Fit(context.Background(), k, y)
	require.NoError(t, err)
	assert.Equal(t, vi.Converged, fit.Record.Reason)
	assert.Empty(t, fit.Collapsed)
	want, err := fit.Posterior.Predict(k, vi.PredictOptions{})
	require.NoError(t, err)
	for o := range 3 {
		rest := append(golden.Vec(nil), y.Row(o)...)
		la.Axpy(-1, want.Mean.Row(o), rest)
		assert.Less(t, intermediate.Variation(rest), 0.9*intermediate.Variation(y.Row(o)))
	}
	restored, err := NewSharedPosterior(fit.Posterior.State())
	require.NoError(t, err)
	got, err := restored.Predict(k, vi.PredictOptions{Workers: 3})
	require.NoError(t, err)
	assert.Equal(t, want.Variance, got.Variance)
	mean, sd := restored.KernelWeights(2)
	assert.Len(t, mean, 3)
	assert.Len(t, sd, 3)

	bad := fit.Posterior.State()
	bad.Epsilon = bad.Epsilon[:2]
	_, err = NewSharedPosterior(bad)
	assert.EqualError(t, err, "vi: shared regression state: BEMean, BECov, Epsilon, Gamma and Omega have 3, 3, 2, 3 and 9 entries")
}
