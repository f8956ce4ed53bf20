package mkl

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi/mgp"
)

// The dispersion of counts is what their variance has beside the mean, above and below 1, and the summary says it.
func TestDispersion(t *testing.T) {
	const n = 80
	x, rng := la.NewMatrix[float64](n, 1), rand.New(rand.NewPCG(6, 2))
	wide, narrow := make([]float64, n), make([]float64, n)
	for i := range n {
		x.Set(i, 0, rng.NormFloat64())
		wide[i] = math.Floor(20 * math.Pow(rng.ExpFloat64(), 2)) // the square of an exponential variate has the variance 5·mean²
		narrow[i] = max(0, math.Floor(20+float64(8*rng.NormFloat64())))
	}
	views := []View{{X: x, Kernel: kernel.RBF{Width: 1}}}
	fit := func(c Counts, y []float64) *CountModel {
		m, err := c.Fit(t.Context(), views, y)
		require.NoError(t, err)
		return m
	}
	m := fit(Counts{}, wide)
	assert.Greater(t, m.Dispersion(), 1.5)
	assert.InEpsilon(t, math.Exp(-m.Posterior().State().Shape[1]), m.Dispersion(), 1e-12)
	m = fit(Counts{}, narrow)
	assert.Less(t, m.Dispersion(), 0.5)
	assert.Positive(t, m.Dispersion())
	assert.Contains(t, m.Summary(), "the variance of a count of the mean μ is μ + 0.")
	m = fit(Counts{Poisson: true}, narrow)
	assert.Zero(t, m.Dispersion())
	assert.Contains(t, m.Summary(), "the variance of a count is its mean")
	assert.Contains(t, m.String(), "oisson counts by a multiple Gaussian process")
}

// Quantiles, intervals, distribution functions and scores of counts are sums over their probabilities.
func TestCountDistributions(t *testing.T) {
	p := CountPrediction{[]mgp.CountDistribution{{Mean: 0.5, Variance: 0.3, Exposure: 1.5, R: 0}, {Mean: 1, Variance: 0.2, Exposure: 2, R: 3}}}
	for i := range p.Samples() {
		const most = 400
		upTo := make([]float64, most+1) // the distribution function
		sum := 0.0
		for k := range upTo {
			sum += math.Exp(p.LogProbability(i, float64(k)))
			upTo[k] = sum
		}
		require.InDelta(t, 1, sum, 1e-6)
		quantile := func(q float64) (k float64) {
			for upTo[int(k)] < q {
				k++
			}
			return k
		}
		assert.Equal(t, []float64{quantile(0.001), quantile(0.5), quantile(0.999)}, p.Quantiles(0.001, 0.5, 0.999)[i])
		assert.Equal(t, []float64{quantile(0.7)}, p.Quantiles(0.7)[i])
		for _, q := range []float64{0.3, 0.9} {
			low, high := p.Interval(i, q)
			assert.Equal(t, [2]float64{quantile(0.5 - q/2), quantile(0.5 + q/2)}, [2]float64{low, high})
		}
		for _, y := range []float64{0, 1, 2, 9} {
			below, at := p.CDF(i, y)
			want, crps := 0.0, 0.0
			if y > 0 {
				want = upTo[int(y)-1]
			}
			for k, f := range upTo {
				if float64(k) >= y {
					f = 1 - f
				}
				crps += f * f
			}
			assert.InDelta(t, want, below, 1e-6)
			assert.InDelta(t, upTo[int(y)], at, 1e-6)
			assert.InDelta(t, crps, p.CRPS(i, y), 1e-5)
		}
		for _, y := range []float64{-1, 2.5, math.Inf(1), math.NaN()} {
			below, at := p.CDF(i, y)
			for _, v := range []float64{below, at, p.CRPS(i, y)} {
				assert.True(t, math.IsNaN(v), "%g is no count", y)
			}
		}
	}
	for _, bad := range [][]float64{{}, {0, 0.5}, {-0.1}, {0.5, 1}, {1.5}, {0.5, 0.1}, {0}, {1}} {
		assert.Panics(t, func() { p.Quantiles(bad...) }, "%v", bad)
	}
}
