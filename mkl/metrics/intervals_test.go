package metrics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIntervalScore(t *testing.T) {
	must := must(t)
	// Inside, 1 below and 3 above intervals of length 2, 4 and 6, of 80 %.
	assert.InDelta(t, (2+(4+10*1)+(6+10*3))/3., must(IntervalScore([]float64{1, -1, 9}, []float64{0, 0, 0}, []float64{2, 4, 6}, 0.8)), 1e-12)
	r := rand.New(rand.NewPCG(5, 6))
	truth, lower, upper := make([]float64, 50), make([]float64, 50), make([]float64, 50)
	for i := range truth {
		truth[i], lower[i] = 3*r.NormFloat64(), r.NormFloat64()
		upper[i] = lower[i] + r.ExpFloat64()
	}
	sum := must(Pinball(truth, lower, 0.05)) + must(Pinball(truth, upper, 0.95))
	assert.InEpsilon(t, 20*sum, must(IntervalScore(truth, lower, upper, 0.9)), 1e-12)
	// The expectation under a standard normal truth is least for its own quantiles: 2·φ(z)·2/α for the α of both tails.
	const z, alpha, n = 1.6448536269514722, 0.1, 200_000
	all, low, high := make([]float64, n), slices.Repeat([]float64{-z}, n), slices.Repeat([]float64{z}, n)
	for i := range all {
		all[i] = r.NormFloat64()
	}
	own := must(IntervalScore(all, low, high, 1-alpha))
	assert.InDelta(t, 4/alpha*math.Exp(-z*z/2)/math.Sqrt(2*math.Pi), own, 0.03)
	for _, other := range []float64{0.8, 1.25} {
		for i := range all {
			low[i], high[i] = -z*other, z*other
		}
		assert.Greater(t, must(IntervalScore(all, low, high, 1-alpha)), own)
	}
	for _, bad := range [][]float64{{2, 1, 0.5}, {1, 2, 1}, {math.NaN(), 2, 0.5}} {
		_, err := IntervalScore([]float64{1}, bad[:1], bad[1:2], bad[2])
		assert.Error(t, err)
	}
	_, err := IntervalScore([]float64{1}, nil, nil, 0.5)
	assert.Error(t, err)
}

// The histogram of counts is the mean over randomised transforms, and it is even if the distribution is right.
func TestPIT(t *testing.T) {
	share, err := PIT([]float64{0.05, 0.5, 0.999, 0, 1}, []float64{0.05, 0.5, 0.999, 0, 1}, 4)
	require.NoError(t, err)
	assert.InDeltaSlice(t, []float64{0.4, 0, 0.2, 0.4}, share, 1e-12)
	assert.InDelta(t, 0.15, PITDistance(share), 1e-12)
	share, err = PIT([]float64{0.1, 0}, []float64{0.6, 1}, 2)
	require.NoError(t, err)
	assert.InDeltaSlice(t, []float64{(0.8 + 0.5) / 2, (0.2 + 0.5) / 2}, share, 1e-12)

	r := rand.New(rand.NewPCG(7, 8))
	const n, rate, bins = 4000, 1.7, 10
	cdf := []float64{0}
	for k, p := 0, math.Exp(-rate); k < 40; k++ {
		cdf = append(cdf, min(1, cdf[k]+p))
		p *= rate / float64(k+1)
	}
	below, upTo, drawn := make([]float64, n), make([]float64, n), make([]float64, bins)
	for i := range below {
		u := r.Float64()
		y := 0
		for cdf[y+1] < u {
			y++
		}
		below[i], upTo[i] = cdf[y], cdf[y+1]
		const draws = 50
		for range draws {
			drawn[int(bins*(below[i]+r.Float64()*(upTo[i]-below[i])))] += 1. / n / draws
		}
	}
	share, err = PIT(below, upTo, bins)
	require.NoError(t, err)
	assert.InDeltaSlice(t, drawn, share, 0.005)
	assert.Less(t, PITDistance(share), 1.4/math.Sqrt(n))
	sum := 0.0
	for _, s := range share {
		sum += s
	}
	assert.InDelta(t, 1, sum, 1e-12)
	for _, bad := range [][]float64{{0.5, 0.4}, {-0.1, 0.4}, {0, 1.1}, {math.NaN(), 1}} {
		_, err := PIT(bad[:1], bad[1:], 10)
		assert.Error(t, err)
	}
	_, err = PIT([]float64{0}, []float64{1}, 0)
	assert.Error(t, err)
	_, err = PIT(nil, nil, 10)
	assert.Error(t, err)
}

// The figure of chance that the comment names: the mean distance over many sets of right predictions.
func TestPITDistanceOfChance(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	const n, sets = 100, 300
	var mean, rare float64
	for range sets {
		u := make([]float64, n)
		for i := range u {
			u[i] = r.Float64()
		}
		share, err := PIT(u, u, 20)
		require.NoError(t, err)
		d := PITDistance(share) * math.Sqrt(n)
		mean += d / sets
		if d > 1.4 {
			rare++
		}
	}
	assert.InDelta(t, 0.8, mean, 0.1)
	assert.Less(t, rare/sets, 0.05)
}
