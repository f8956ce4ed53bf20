package measure

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFifths compares intervals of the right width with intervals of one width where the noise grows.
func TestFifths(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 2000
	truth, mean, right, constant := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		mean[i] = r.Float64()
		sd := 0.1 + mean[i]
		truth[i] = mean[i] + sd*r.NormFloat64()
		right[i], constant[i] = sd*sd, 0.41
	}
	truth[7] = math.NaN()
	fifths := func(truth, mean, variance []float64) []Fifth {
		lower, upper := slices.Clone(mean), slices.Clone(mean)
		for i, v := range variance {
			lower[i] -= Quantile(0.95) * math.Sqrt(v)
			upper[i] += Quantile(0.95) * math.Sqrt(v)
		}
		own, err := Target(truth, mean, variance, 0.95)
		require.NoError(t, err)
		ends, err := Ends(truth, lower, upper, 0.95)
		require.NoError(t, err)
		assert.InDelta(t, own["coverage"], ends["coverage"], 1e-12)
		assert.InDelta(t, own["interval score"], ends["interval score"], 1e-12)
		return Fifths(truth, mean, lower, upper)
	}
	good, bad := fifths(truth, mean, right), fifths(truth, mean, constant)
	count, fails := 0, 0
	for k := range good {
		assert.False(t, good[k].Fails(0.95), good[k])
		count += bad[k].Count
		if bad[k].Fails(0.95) {
			fails++
		}
		assert.LessOrEqual(t, bad[k].From, bad[k].To)
	}
	assert.Equal(t, n-1, count)
	assert.GreaterOrEqual(t, fails, 3)
	assert.Greater(t, bad[0].Coverage, bad[4].Coverage)
	assert.Nil(t, fifths(truth[:49], mean[:49], right[:49]))
	assert.False(t, Fifth{Count: 10, Coverage: 0.8}.Fails(0.95), "by chance")
}
