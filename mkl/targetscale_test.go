package mkl

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/mkl/internal/vec"
)

var targetScales = []targetScale{ownScale, rootScale, logScale}

// The moments agree with draws, the slopes with differences.
func TestTargetScaleMoments(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, s := range targetScales {
		const mean, sd, n = 1.5, 0.4, 400_000
		var sum, square float64
		for range n {
			y := s.target(mean + sd*rng.NormFloat64())
			sum += y
			square += y * y
		}
		m, v := s.moments(mean, sd*sd)
		assert.InEpsilon(t, sum/n, m, 0.003, s)
		assert.InEpsilon(t, square/n-sum/n*sum/n, v, 0.02, s)
		for _, y := range []float64{0.01, 1, 70} {
			const h = 1e-6
			z := s.learned(y)
			assert.InEpsilon(t, y, s.target(z), 1e-12, s)
			assert.InEpsilon(t, (s.target(z+h)-s.target(z-h))/(2*h), s.slope(z), 1e-5, s)
			assert.InDelta(t, -math.Log(s.slope(z)), s.logSlope(y), 1e-9, s)
		}
	}
	m, v := logScale.moments(1e9, 1e9)
	assert.False(t, math.IsInf(m, 0) || math.IsInf(v, 0))
	assert.Zero(t, rootScale.target(-2))
	assert.Zero(t, largestTarget(ownScale, []float64{3, 8, 2}))
	assert.EqualValues(t, 8, largestTarget(logScale, []float64{3, 8, 2}))
}

// prices are positive targets whose noise grows with their level, besides targets whose noise does not.
func prices(seed uint64, n int) (x Features, price, plain []float64) {
	rng := rand.New(rand.NewPCG(seed, 9))
	x, price, plain = normal(rng, n, 3), make([]float64, n), make([]float64, n)
	for i := range price {
		f := 0.8*math.Sin(1.5*x.At(i, 0)) + 0.6*x.At(i, 1)
		e := rng.NormFloat64()
		price[i] = math.Exp(7 + f + 0.15*e*(1+0.5*math.Tanh(f)))
		plain[i] = 9 + f + 0.3*e
	}
	return x, price, plain
}

// coveredByTenths returns which share of the truths 95 % intervals hold in each tenth of the predictions, by their mean.
func coveredByTenths(p *Prediction, truth []float64) (share []float64) {
	order := vec.UpTo(len(truth))
	slices.SortFunc(order, func(a, b int) int {
		if p.Mean[0][a] < p.Mean[0][b] {
			return -1
		}
		return 1
	})
	for k := range 10 {
		part, inside := order[k*len(order)/10:(k+1)*len(order)/10], 0
		for _, i := range part {
			if low, high := p.Interval(0, i, 0.95); low <= truth[i] && truth[i] <= high {
				inside++
			}
		}
		share = append(share, float64(inside)/float64(len(part)))
	}
	return share
}

// Intervals of prices hold their share in every tenth, no interval is below 0, and files and predictors keep that.
func TestPositiveTargetsOfManyRows(t *testing.T) {
	testkit.NotShort(t)
	x, price, plain := prices(1, DefaultExactSamples+1000)
	at, truth, _ := prices(2, 4000)
	m := fitPool(t, Auto{Time: quickly}, []View{{X: x}}, price)
	assert.Equal(t, logScale, m.scale)
	assert.Contains(t, m.Story(), "the target's logarithm")
	p, err := m.PredictTargets(context.Background(), PredictOptions{}, at)
	require.NoError(t, err)
	second := fitPool(t, Auto{Time: quickly, Fitting: Fitting{Seed: 1}}, []View{{X: x}}, price)
	q, err := second.PredictTargets(context.Background(), PredictOptions{}, at)
	require.NoError(t, err)
	again := coveredByTenths(q, truth)
	for i, share := range coveredByTenths(p, truth) { // the shares of one fit of 300 samples go from .89 to .97
		assert.InDelta(t, 0.945, (share+again[i])/2, 0.035)
	}
	for i := range truth {
		low, high := p.Interval(0, i, 0.9999)
		assert.Greater(t, low, 0.0)
		assert.Greater(t, high, p.Mean[0][i])
	}
	assert.InDelta(t, 0.15*math.Exp(7), m.NoiseSD()[0], 60)

	back := requireFile(t, m, LoadAs[*AutoModel], 4002)
	assert.True(t, reflect.DeepEqual(predicted(t, m, at), predicted(t, back, at)))
	for _, meanOnly := range []bool{false, true} {
		one, err := m.Predictor(PredictorOptions{MeanOnly: meanOnly, Exact: true})
		require.NoError(t, err)
		all, err := m.PredictTargets(context.Background(), PredictOptions{MeanOnly: meanOnly}, at.Slice(0, 9, 0, 3))
		require.NoError(t, err)
		for i := range 9 {
			mean, variance, err := one.Predict(at.Row(i))
			require.NoError(t, err)
			assert.InEpsilon(t, p.Mean[0][i], mean, 1e-6)
			assert.InEpsilon(t, p.Mean[0][i], all.Mean[0][i], 1e-12)
			if meanOnly {
				assert.True(t, math.IsNaN(variance))
				assert.Nil(t, all.Variance)
			} else {
				assert.InEpsilon(t, p.Variance[0][i], variance, 1e-6)
			}
		}
	}
	own := fitPool(t, Auto{Time: quickly}, []View{{X: x}}, plain)
	assert.Equal(t, ownScale, own.scale, "positive, but neither skewed nor with noise that grows")
	assert.Nil(t, own.widening.at)
}

// Means on the target's scale need variances. A predictor of means alone computes them by the same triangles as a predictor of both.
func TestMeanAloneOfAnotherScale(t *testing.T) {
	x, price, _ := prices(1, 60)
	m := fitPool(t, Auto{}, []View{{X: x}}, price)
	require.Equal(t, logScale, m.scale)
	both, err := m.Predictor(PredictorOptions{})
	require.NoError(t, err)
	alone, err := m.Predictor(PredictorOptions{MeanOnly: true})
	require.NoError(t, err)
	assert.Equal(t, both.Info(), alone.Info())
	for i := range 20 {
		want, _, err := both.Predict(x.Row(i))
		require.NoError(t, err)
		mean, variance, err := alone.Predict(x.Row(i))
		require.NoError(t, err)
		assert.Equal(t, want, mean)
		assert.True(t, math.IsNaN(variance))
	}
}
