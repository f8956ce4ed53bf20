package special

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The scores are the integrals of their definition, by a sum over many short steps of the normal variable.
func TestCRPSAgainstTheirIntegrals(t *testing.T) {
	cdf := func(t float64) float64 { return 0.5 * math.Erfc(-t/math.Sqrt2) }
	integral := func(y, mean, s, least float64, value, slope func(z float64) float64) float64 {
		const steps = 200_000
		from, to := max(mean-12*s, least), max(mean+12*s, least)
		h := (to - from) / steps
		sum := max(value(from)-y, 0)
		if from > least { // values that are not reached have no probability
			sum = 0
		}
		if y < value(from) {
			sum = value(from) - y
		}
		if y > value(to) {
			sum = y - value(to)
		}
		for k := range steps {
			z := from + (float64(k)+0.5)*h
			f := cdf((z - mean) / s)
			if value(z) >= y {
				f--
			}
			sum += f * f * slope(z) * h
		}
		return sum
	}
	for _, c := range []struct{ y, mean, s float64 }{
		{0.3, 0, 1}, {-2, 1.5, 0.4}, {4, 1.2, 0.7}, {9, 3, 0.2}, {0.02, -1, 1.3}, {0, 0.5, 0.5}, {1e3, 2, 1},
	} {
		one := func(float64) float64 { return 1 }
		same := func(z float64) float64 { return z }
		square := func(z float64) float64 { return z * z }
		twice := func(z float64) float64 { return 2 * z }
		within := func(got, want float64) {
			t.Helper()
			assert.InDelta(t, want, got, 2e-4*(1+math.Abs(want)), "%+v", c)
		}
		within(NormalCRPS(c.y, c.mean, c.s), integral(c.y, c.mean, c.s, math.Inf(-1), same, one))
		within(LogNormalCRPS(c.y, c.mean, c.s), integral(c.y, c.mean, c.s, math.Inf(-1), math.Exp, math.Exp))
		within(SquareCRPS(c.y, c.mean, c.s), integral(c.y, c.mean, c.s, 0, square, twice))
	}
	// Narrow distributions have the distance.
	assert.InDelta(t, 3, SquareCRPS(12, 3, 1e-6), 1e-5)
	assert.InDelta(t, 12-math.E, LogNormalCRPS(12, 1, 1e-6), 1e-5)
	assert.InDelta(t, 1, NormalCDF(50), 0)
}
