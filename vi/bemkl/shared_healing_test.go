package bemkl

import (
	"context"
	"math"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// sharedHealingProblem is a healingProblem of outputs that share their sample weights.
type sharedHealingProblem struct {
	healingProblem
	fit *SharedFit
}

func newSharedHealingProblem(t *testing.T, P, N, L, T int, missing float64) sharedHealingProblem {
	t.Helper()
	h := sharedHealingProblem{healingProblem: newHealingProblem(t, P, N, L, T, missing, 1)}
	var err error
	h.fit, err = SharedRegression{Plain: true, Ascent: vi.Ascent{MaxSweeps: 8, Tolerance: -1}}.Fit(
		context.Background(), testkit.Must(vi.NewDense(h.training...)), h.y)
	require.NoError(t, err)
	require.True(t, h.fit.Posterior.Healable())
	return h
}

// TestSharedHealingIsTheAugmentedGaussian is TestHealingIsTheAugmentedGaussian for outputs
// that share sample weights: it conditions on the targets of all.
func TestSharedHealingIsTheAugmentedGaussian(t *testing.T) {
	for _, c := range []struct {
		P, N, L, T int
		missing    float64
	}{{3, 9, 2, 5, 0}, {2, 8, 4, 3, 0}, {1, 6, 3, 2, 0}, {4, 7, 1, 2, 0}, {2, 5, 2, 1000, 0}, {3, 9, 2, 5, 0.3}, {2, 11, 4, 3, 0.6}, {3, 8, 1, 2, 0.3}} {
		h := newSharedHealingProblem(t, c.P, c.N, c.L, c.T, c.missing)
		p := h.fit.Posterior
		s := p.State()
		plain, err := p.Predict(h.k, vi.PredictOptions{})
		require.NoError(t, err)
		healed, err := p.PredictHealed(h.k, h.self, vi.PredictOptions{})
		require.NoError(t, err)

		D, NL := c.N, c.N*c.L
		lambda, all := make([]float64, D), make([]int, D)
		var squares float64
		for d := range all {
			all[d] = d
		}
		cov, err := p.WeightCovariance(nil, 0, all)
		require.NoError(t, err)
		for d := range lambda {
			lambda[d] = (s.Priors.Lambda.Shape + 0.5) * s.Lambda.At(0, d)
			squares += s.A.At(0, d)*s.A.At(0, d) + cov.At(d, d)
		}
		require.InEpsilon(t, float64(D)/squares, s.Healing.Precision, 1e-10)

		noise := func(o, q int) float64 { // the covariance of two outputs at a sample, given a
			var v float64
			for m, e := range s.BEMean[o][1:] {
				v += e * s.BEMean[q][1+m] / s.Upsilon.Mean()
				if o == q {
					v += s.BECov[o].At(1+m, 1+m) / s.Upsilon.Mean()
				}
			}
			if o == q {
				v += 1 / s.Epsilon[o].Mean()
			}
			return v
		}
		// Rows of weights of (a, a*): of the outputs at the new sample, and of the targets.
		weights := func(i int) la.Matrix[float64] {
			rows := la.NewMatrix[float64](c.L+NL, D+1)
			for o := range c.L {
				for m, e := range s.BEMean[o][1:] {
					for d := range D {
						rows.Row(o)[d] += e * h.later[m].At(d, i)
						for n := range D {
							rows.Row(c.L + o*c.N + n)[d] += e * h.training[m].At(d, n)
						}
						rows.Row(c.L + o*c.N + d)[D] += e * h.later[m].At(d, i)
					}
					rows.Row(o)[D] += e * h.self.At(m, i)
				}
			}
			return rows
		}
		for i := range min(c.T, 5) {
			rows := weights(i)
			for o := range c.L {
				predict := func(spread float64) (float64, float64) {
					index := []int{o}
					for j := range NL {
						if !math.IsNaN(h.y.At(j/c.N, j%c.N)) {
							index = append(index, c.L+j)
						}
					}
					mean, cov := make([]float64, len(index)), la.NewMatrix[float64](len(index), len(index))
					var y []float64
					for a, j := range index {
						out := o
						if a > 0 {
							out = (j - c.L) / c.N
							y = append(y, h.y.At(out, (j-c.L)%c.N))
						}
						mean[a] = s.BEMean[out][0]
						for b, l := range index {
							v := rows.At(j, D) * rows.At(l, D) * spread
							for d, precision := range lambda {
								v += rows.At(j, d) * rows.At(l, d) / precision
							}
							if a > 0 && b > 0 && (j-c.L)%c.N == (l-c.L)%c.N {
								v += noise((j-c.L)/c.N, (l-c.L)/c.N)
							}
							cov.Set(a, b, v)
						}
					}
					return conditioned(mean, cov, y)
				}
				mean, variance := predict(0)
				wantMean, wantVariance := predict(1 / s.Healing.Precision)
				assert.InDelta(t, wantMean-mean, healed.Mean.At(o, i)-plain.Mean.At(o, i), 1e-10*(1+math.Abs(wantMean)))
				assert.InDelta(t, wantVariance-variance, healed.Variance.At(o, i)-plain.Variance.At(o, i), 1e-10*(1+wantVariance))
				assert.GreaterOrEqual(t, healed.Variance.At(o, i), plain.Variance.At(o, i))
			}
		}
		assert.LessOrEqual(t, len(s.Healing.Kernels), min(c.P, c.L))
	}
}

// The variance of one output is healed in the way of a Regression, and a healer of one sample agrees with
// the predictions of many, as does a restored posterior.
func TestSharedHealedPredictions(t *testing.T) {
	for _, c := range []struct {
		L       int
		missing float64
	}{{1, 0}, {3, 0}, {1, 0.3}, {3, 0.3}} {
		L := c.L
		h := newSharedHealingProblem(t, 2, 30, L, 40, c.missing)
		p := h.fit.Posterior
		want, err := p.PredictHealed(h.k, h.self, vi.PredictOptions{Workers: 1})
		require.NoError(t, err)
		got, err := p.PredictHealed(h.k, h.self, vi.PredictOptions{Workers: 3})
		require.NoError(t, err)
		assert.True(t, reflect.DeepEqual(want, got), "other bits with three workers")
		restored, err := NewSharedPosterior(p.State())
		require.NoError(t, err)
		got, err = restored.PredictHealed(h.k, h.self, vi.PredictOptions{})
		require.NoError(t, err)
		assert.True(t, reflect.DeepEqual(want, got), "other bits after a restoration")
		if L == 1 {
			one, err := h.healingProblem.fit.Posterior.PredictHealed(h.k, h.self, vi.PredictOptions{})
			require.NoError(t, err)
			testkit.RequireClose(t, "variance", one.Variance, want.Variance, 1e-7)
		}
		requireHealersAgree(t, h.healingProblem, p, want)
	}
}

func TestSharedHealingRefusals(t *testing.T) {
	h := newSharedHealingProblem(t, 2, 6, 3, 2, 0)
	for want, spoil := range map[string]func(s *SharedState, h *SharedHealing){
		"Healing: 6 basis points are not the 7 samples":                       func(s *SharedState, h *SharedHealing) { s.Samples = 7 },
		"Healing.Precision is 0":                                              func(s *SharedState, h *SharedHealing) { h.Precision = 0 },
		"Healing.Residual: entry (0, 0) is NaN":                               func(s *SharedState, h *SharedHealing) { h.Residual.Data[0] = math.NaN() },
		"Healing.Kernels[1] is not symmetric":                                 func(s *SharedState, h *SharedHealing) { h.Kernels[1].Set(0, 1, 7) },
		"Healing.Kernels: 0 of 3 outputs and 2 kernels":                       func(s *SharedState, h *SharedHealing) { h.Kernels = nil },
		"Healing.Weights: 1×2 (stride 2, 2 elements) where 2×2 is needed":     func(s *SharedState, h *SharedHealing) { h.Weights = h.Weights.Slice(0, 1, 0, 2) },
		"Healing.Kernels[0]: 5×5 (stride 6, 29 elements) where 6×6 is needed": func(s *SharedState, h *SharedHealing) { h.Kernels[0] = h.Kernels[0].Slice(0, 5, 0, 5) },
	} {
		s := h.fit.Posterior.State()
		spoiled := *s.Healing
		spoiled.Residual, spoiled.Kernels = s.Healing.Residual.Clone(), nil
		for _, k := range s.Healing.Kernels {
			spoiled.Kernels = append(spoiled.Kernels, k.Clone())
		}
		s.Healing = &spoiled
		spoil(&s, &spoiled)
		_, err := NewSharedPosterior(s)
		assert.EqualError(t, err, "vi: shared regression state: "+want)
	}

	s := newSharedHealingProblem(t, 2, 9, 3, 2, 0.4).fit.Posterior.State()
	require.NotNil(t, s.Healing.Patterns)
	for want, patterns := range map[string][]int{
		"Healing.Patterns[8] is -1 of ": append(make([]int, 8), -1),
		"Healing.Patterns[0] is 99 of ": append([]int{99}, make([]int, 8)...),
		"Healing.Patterns: 8 samples ":  make([]int, 8),
	} {
		spoiled := *s.Healing
		spoiled.Patterns = patterns
		s.Healing = &spoiled
		_, err := NewSharedPosterior(s)
		assert.ErrorContains(t, err, "vi: shared regression state: "+want)
	}
}
