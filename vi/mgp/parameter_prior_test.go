package mgp

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParameterPrior(t *testing.T) {
	for _, p := range []ParameterPrior{{Mode: 0.3, Scale: 0.5}, {Mode: -1, Scale: 2, Freedom: 4}, {Mode: 0, Scale: 1, Freedom: 1}} {
		at := func(x float64) float64 { v, _, _ := p.at(x); return v }
		for _, d := range []float64{-8, -1, -1e-3, 1e-3, 0.7, 3, 20} {
			x := p.Mode + d*p.Scale
			density, slope, curvature := p.at(x)
			const h = 1e-5
			assert.InDelta(t, (at(x+h)-at(x-h))/(2*h), slope, 1e-7, "%+v at %g", p, x)

			// The density itself, from its definition.
			want := -0.5 * d * d
			if p.Freedom > 0 && d > 0 {
				want = -(p.Freedom + 1) / 2 * math.Log(1+d*d/p.Freedom)
			}
			assert.InDelta(t, want, density, 1e-12*(1+math.Abs(want)), "%+v at %g", p, x)

			// The parabola of the curvature touches the logarithm of the density, and lies nowhere above it.
			assert.Positive(t, curvature)
			for _, to := range []float64{0, 0.5, 2, 10, 40} {
				y := p.Mode + math.Copysign(to, d)*p.Scale
				parabola := density + slope*(y-x) - curvature/2*(y-x)*(y-x)
				assert.LessOrEqual(t, parabola, at(y)+1e-9*(1+math.Abs(parabola)), "%+v from %g to %g", p, x, y)
			}
		}
	}
}
