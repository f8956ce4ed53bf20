package bemkl

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/internal/testkit/golden"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// TestPredictAgreesWithItsFormulas writes the predictive moments out with dense
// covariances, for more test points than fit into a block of rows.
func TestPredictAgreesWithItsFormulas(t *testing.T) {
	for _, c := range []struct {
		problem
		T int
	}{
		{problem{P: 3, D: 9, N: 9, L: 2, missing: 0.2}, 200},
		{problem{P: 1, D: 6, N: 6, L: 3}, 1},
		{problem{P: 2, D: 4, N: 10, L: 1}, 3},
		{problem{P: 2, D: 7, N: 7, L: 1}, 0},
	} {
		r, k, y := c.draw(t, 4)
		r.Ascent = vi.Ascent{MaxSweeps: 15, Tolerance: -1}
		fit, err := r.Fit(context.Background(), k, y)
		require.NoError(t, err)
		post := fit.Posterior
		src := rand.New(rand.NewPCG(8, 8))
		later := make([]la.Matrix[float64], c.P)
		for m := range later {
			later[m] = testkit.Normal(src, c.D, c.T)
		}
		var test vi.Kernels = noSamples{P: c.P, D: c.D}
		if c.T > 0 {
			test = testkit.Must(vi.NewDense(later...))
		}
		got, err := post.Predict(test, vi.PredictOptions{Intermediate: true})
		require.NoError(t, err)
		published, err := post.Predict(test, vi.PredictOptions{Published: true})
		require.NoError(t, err)
		meanOnly, err := post.Predict(test, vi.PredictOptions{MeanOnly: true})
		require.NoError(t, err)
		assert.Equal(t, got.Mean, meanOnly.Mean)
		assert.Empty(t, meanOnly.Variance.Data)
		assert.Empty(t, published.GVariance.Data)
		if c.T == 0 {
			continue
		}

		L, P := c.L, c.P
		be := normalFactor{post.s.BEMean, post.s.BECov}
		mean, full, plain := la.NewMatrix[float64](L, c.T), la.NewMatrix[float64](L, c.T), la.NewMatrix[float64](L, c.T)
		gMean, gVar := la.NewMatrix[float64](L*P, c.T), la.NewMatrix[float64](L*P, c.T)
		all := make([]int, c.D)
		for d := range all {
			all[d] = d
		}
		for o := range L {
			cov, err := post.WeightCovariance(nil, o, all)
			require.NoError(t, err)
			variances, _, err := post.WeightVariances(nil, o)
			require.NoError(t, err)
			for d, v := range variances {
				assert.InEpsilon(t, cov.At(d, d), v, 1e-9)
			}
			for i := range c.T {
				x := append(golden.Vec{1}, make(golden.Vec, P)...)
				cm := la.NewMatrix[float64](P, P)
				for m := range P {
					for d := range c.D {
						x[1+m] += post.s.A.At(o, d) * later[m].At(d, i)
						for n := range P {
							for e := range c.D {
								cm.Row(m)[n] += later[m].At(d, i) * cov.At(d, e) * later[n].At(e, i)
							}
						}
					}
					cm.Row(m)[m] += 1 / post.s.Upsilon[o].Mean()
					gMean.Set(o*P+m, i, x[1+m])
					gVar.Set(o*P+m, i, cm.At(m, m))
				}
				index := func(j int) int {
					if j == 0 {
						return o
					}
					return L + j - 1
				}
				v := 1 / post.s.Epsilon[o].Mean()
				for j := range x {
					mean.Row(o)[i] += be.mean[index(j)] * x[j]
					for l := range x {
						v += x[j] * be.cov.At(index(j), index(l)) * x[l]
					}
				}
				plain.Set(o, i, v)
				for m := range P {
					for n := range P {
						v += cm.At(m, n) * be.second(L+m, L+n)
					}
				}
				full.Set(o, i, v)
			}
		}
		const tol = 1e-11
		testkit.RequireClose(t, "mean", mean, got.Mean, tol)
		testkit.RequireClose(t, "full variance", full, got.Variance, tol)
		testkit.RequireClose(t, "published variance", plain, published.Variance, tol)
		testkit.RequireClose(t, "g* mean", gMean, got.GMean, tol)
		testkit.RequireClose(t, "g* variance", gVar, got.GVariance, tol)
	}
}

func TestStateRestoresThePosterior(t *testing.T) {
	r, k, y := problems[5].draw(t, 4)
	r.Ascent.MaxSweeps = 20
	fit, err := r.Fit(context.Background(), k, y)
	require.NoError(t, err)
	want, err := fit.Posterior.Predict(k, vi.PredictOptions{Intermediate: true})
	require.NoError(t, err)

	restored, err := NewRegressionPosterior(fit.Posterior.State())
	require.NoError(t, err)
	got, err := restored.Predict(k, vi.PredictOptions{Intermediate: true, Workers: 3})
	require.NoError(t, err)
	assert.True(t, reflect.DeepEqual(want, got), "predictions differ")

	_, err = restored.Predict(nil, vi.PredictOptions{})
	assert.EqualError(t, err, "vi: kernels: nil")
	short, err := vi.NewDense(la.NewMatrix[float64](10, 2))
	require.NoError(t, err)
	_, err = restored.Predict(short, vi.PredictOptions{})
	assert.EqualError(t, err, "vi: kernels: 1 of 10×2 where 3 with 10 basis points are needed")

	for want, spoil := range map[string]func(*RegressionState){
		"vi: regression state: 4 outputs, 0 kernels, 10 basis points, 10 samples: each must be at least 1": func(s *RegressionState) { s.Omega = nil },
		"vi: regression state: Epsilon: 3 factors where 4 are needed":                                      func(s *RegressionState) { s.Epsilon = s.Epsilon[:3] },
		"vi: regression state: BEMean: 8 entries where 7 are needed":                                       func(s *RegressionState) { s.BEMean = append(s.BEMean, 1) },
		"vi: regression state: BEMean[0] is NaN":                                                           func(s *RegressionState) { s.BEMean = append(golden.Vec{math.NaN()}, s.BEMean[1:]...) },
		"vi: regression state: Gram: 9×9 (stride 10, 89 elements) where 10×10 is needed":                   func(s *RegressionState) { s.Gram = s.Gram.Slice(0, 9, 0, 9) },
		"vi: regression state: Lambda: entry (0, 0) is 0": func(s *RegressionState) {
			s.Lambda = s.Lambda.Clone()
			s.Lambda.Set(0, 0, 0)
		},
	} {
		s := fit.Posterior.State()
		spoil(&s)
		_, err := NewRegressionPosterior(s)
		assert.EqualError(t, err, want)
	}
}

// noSamples are kernels with none.
type noSamples struct {
	vi.Kernels
	P, D int
}

func (k noSamples) Dims() (P, D, N int) { return k.P, k.D, 0 }

func (k noSamples) Project(*la.Workspace, la.Matrix[float64], la.Matrix[float64]) {}
