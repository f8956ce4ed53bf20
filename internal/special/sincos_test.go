package special

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSincos(t *testing.T) {
	for i := -4000; i <= 4000; i++ {
		x := float64(i) / 4000 * 2 * math.Pi
		sin, cos := Sincos(x)
		wantSin, wantCos := math.Sincos(x)
		assert.InDelta(t, wantSin, sin, 4e-15, "sin %g", x)
		assert.InDelta(t, wantCos, cos, 4e-15, "cos %g", x)
		assert.InDelta(t, 1, sin*sin+cos*cos, 4e-15, "%g", x)
	}
	sin, cos := Sincos(0)
	assert.Zero(t, sin)
	assert.Equal(t, 1.0, cos)
}
