package special

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Reference values: mpmath with 50 digits.
func TestDigamma(t *testing.T) {
	for _, c := range []struct{ x, want float64 }{
		{1e-10, -10000000000.5772153},
		{1e-3, -1000.5755719318102797},
		{0.3, -3.5025242222001331249},
		{0.5000000001, -1.9635100255279432186},
		{1, -0.57721566490153286061},
		{1.4616321449683623, -9.2412655217294275168e-17},
		{2, 0.42278433509846713939},
		{9.999, 2.2516474172057353142},
		{10, 2.2517525890667211076},
		{55.2, 4.0018776342196747425},
		{1e3, 6.9072551956488120521},
		{1234567.5, 14.026230859279687594},
		{1e15, 34.53877639491068476},
	} {
		assert.InDelta(t, c.want, Digamma(c.x), 4e-16*math.Max(1, math.Abs(c.want)), "x = %g", c.x)
	}
	for _, x := range []float64{0, -1, -0.5, math.NaN(), math.Inf(-1)} {
		assert.True(t, math.IsNaN(Digamma(x)), "x = %g", x)
	}
	assert.True(t, math.IsInf(Digamma(math.Inf(1)), 1))
}
