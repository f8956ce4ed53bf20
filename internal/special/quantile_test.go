package special

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Reference values: mpmath with 50 digits.
func TestLogNormalQuantile(t *testing.T) {
	for _, c := range []struct{ l, want float64 }{
		{-1e-300, 37.047096299361199237},
		{-1e-20, 9.2623400897984075796},
		{-1e-10, 6.3613409024117348176},
		{-0.001, 3.0903807869170451304},
		{-0.1, 1.3096177994584931321},
		{-0.5, 0.27028802073873585392},
		{-0.69, 0.0039506295602800570152},
		{-0.7, -0.0085594785824802822957},
		{-1.0, -0.33747496376420245528},
		{-2.5, -1.3911828143255684557},
		{-5.0, -2.4709386372615884169},
		{-10.0, -3.9139462405318930773},
		{-36.7, -8.205116084026954097},
		{-200.5, -19.828837423262382428},
		{-204.0, -20.004131527948424856},
		{-1000.0, -44.61574773196940302},
		{-1000000.0, -1414.207782991017327},
		{-1000000000000000.0, -44721359.549995379475},
	} {
		assert.InDelta(t, c.want, LogNormalQuantile(c.l), 1e-15*math.Max(1, math.Abs(c.want)), "l = %g", c.l)
	}
	const ulp = 0x1p-52 // of 1, in which the error is stated
	assert.InDelta(t, 0, LogNormalQuantile(-math.Ln2), ulp)
	assert.True(t, math.IsInf(LogNormalQuantile(math.Inf(-1)), -1))
	assert.True(t, math.IsInf(LogNormalQuantile(0), 1))
	assert.True(t, math.IsNaN(LogNormalQuantile(1)))
	assert.True(t, math.IsNaN(LogNormalQuantile(math.NaN())))
	assert.InEpsilon(t, 1.959963984540054, NormalQuantile(0.975), 1e-15)
	assert.InEpsilon(t, -1.959963984540054, NormalQuantile(0.025), 1e-15)
	assert.InDelta(t, 0, NormalQuantile(0.5), ulp)
	assert.True(t, math.IsInf(NormalQuantile(1), 1))
	assert.True(t, math.IsNaN(NormalQuantile(1.5)))
}

func TestLogNormalQuantileInverts(t *testing.T) {
	for x := -45.0; x < 5; x += 0.37 {
		// log Φ knows x to |log Φ|·(Φ/φ) ulp, which near Φ = 1 is little.
		l := LogNormalCDF(x)
		slope := math.Exp(-0.5*x*x - logSqrt2Pi - l)
		assert.InDelta(t, x, LogNormalQuantile(l), 1e-14*math.Max(1, math.Abs(x))+4e-16*math.Max(math.Abs(l), 1)/slope, "x = %g", x)
	}
}

func BenchmarkLogNormalQuantile(b *testing.B) {
	l := -0.01
	for b.Loop() {
		LogNormalQuantile(l)
		if l *= 1.3; l < -100 {
			l = -0.01
		}
	}
}
