package mcmc

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/bmkl/bmkl/internal/special"
)

// uniformity returns the Kolmogorov–Smirnov statistic √n·sup|F_n − u| of values
// that should be uniform on (0, 1). It exceeds 1.95 in one case of a thousand.
func uniformity(u []float64) float64 {
	slices.Sort(u)
	n := float64(len(u))
	var worst float64
	for i, v := range u {
		worst = max(worst, v-float64(i)/n, float64(i+1)/n-v)
	}
	return worst * math.Sqrt(n)
}

func TestBelow(t *testing.T) {
	r := rand.New(newStream(1, 0))
	for _, limit := range []float64{5, 0.3, -1, -8, -40, -1e3, -1e6} {
		const mean = 0.7
		u := make([]float64, 2000)
		for i := range u {
			y := below(mean+limit, mean, uniform(r))
			assert.Less(t, y, mean+limit)
			u[i] = math.Exp(special.LogNormalCDF(y-mean) - special.LogNormalCDF(limit))
			if limit < -1e5 {
				// There y is known to 1e-10 only, its distance to the limit is
				// exponential with rate |limit|.
				u[i] = math.Exp(limit * (limit - (y - mean)))
			}
		}
		assert.Less(t, uniformity(u), 1.95, "limit %g", limit)
	}
	// So far out that only the limit itself is left.
	y := below(-1e300, 0, 0.5)
	assert.Less(t, y, -1e300)
	assert.False(t, math.IsInf(y, 0) || math.IsNaN(y))
}

// The gamma distribution function of integer and half-integer shapes has a closed
// form.
func TestLogGamma(t *testing.T) {
	r := rand.New(newStream(2, 0))
	for _, c := range []struct {
		shape float64
		cdf   func(x float64) float64
	}{
		{0.5, func(x float64) float64 { return math.Erf(math.Sqrt(x)) }},
		{1, func(x float64) float64 { return -math.Expm1(-x) }},
		{1.5, func(x float64) float64 {
			return math.Erf(math.Sqrt(x)) - 2*math.Sqrt(x/math.Pi)*math.Exp(-x)
		}},
		{3, func(x float64) float64 { return 1 - math.Exp(-x)*(1+x+x*x/2) }},
	} {
		u := make([]float64, 4000)
		for i := range u {
			u[i] = c.cdf(math.Exp(logGamma(r, c.shape)))
		}
		assert.Less(t, uniformity(u), 1.95, "shape %g", c.shape)
	}
	// For a small shape a, x^a is almost uniform: P(x ≤ z) → z^a/Γ(a+1).
	const a = 1e-4
	u := make([]float64, 4000)
	for i := range u {
		u[i] = math.Exp(a * logGamma(r, a))
	}
	assert.Less(t, uniformity(u), 1.95)
}

func TestStreamsDiffer(t *testing.T) {
	seen := map[uint64]bool{}
	for seed := range uint64(4) {
		for chain := range 4 {
			seen[newStream(seed, chain).Uint64()] = true
		}
	}
	assert.Len(t, seen, 16)
}
