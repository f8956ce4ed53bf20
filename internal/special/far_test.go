package special

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// However far, Φ is between 0 and 1.
func TestLogNormalCDFFarOut(t *testing.T) {
	for _, x := range []float64{1e153, 1e154, 1e155, 1e200, math.MaxFloat64, math.Inf(1)} {
		assert.Equal(t, 0.0, math.Abs(LogNormalCDF(x)), "%g", x)
		want := -0.5 * x * x
		if math.IsInf(want, -1) {
			assert.Equal(t, want, LogNormalCDF(-x), "%g", x)
		} else {
			assert.InEpsilon(t, want, LogNormalCDF(-x), 1e-12, "%g", x)
		}
	}
}
