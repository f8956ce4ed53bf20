package special_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/bmkl/bmkl/internal/special"
)

// The log odds are the difference of the logarithms, of opposite signs for opposite numbers, and rise.
func TestLogOdds(t *testing.T) {
	src := rand.New(rand.NewPCG(3, 4))
	last := 0.0
	for i := range 40000 {
		x := float64(i) / 400
		got := special.LogOdds(x)
		assert.GreaterOrEqual(t, got, last-1e-15, "%g", x)
		last = got
		for _, x := range []float64{x, src.ExpFloat64() * 3, math.Exp(8 * src.NormFloat64())} {
			got := special.LogOdds(x)
			up, down := special.LogNormalCDF(x), special.LogNormalCDF(-x)
			assert.InDelta(t, up-down, got, 1e-15*math.Max(1, math.Abs(down)), "%g", x)
			assert.Equal(t, -got, special.LogOdds(-x), "%g", x)
		}
		if t.Failed() {
			return
		}
	}
	assert.InDelta(t, 0, special.LogOdds(0), 1e-15)
	assert.True(t, math.IsNaN(special.LogOdds(math.NaN())))
	for _, x := range []float64{1e154, 2e154, math.MaxFloat64, math.Inf(1)} {
		assert.Greater(t, special.LogOdds(x), 1e307)
		assert.Less(t, special.LogOdds(-x), -1e307)
	}
}
