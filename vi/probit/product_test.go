package probit

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The integral over π ends, and equals a sum of 40 000 terms, for every power that a fit can have: E[log χ] and
// E[log β] of any size, also where the density has hardly any mode. Without a mode the results are not numbers.
func TestPowersEnd(t *testing.T) {
	for _, c := range []float64{-1e12, -1e4, -700, -20, -1, 0, 1, 3, 8} {
		p := newPowerPriors(1, 1, 1)
		p.solvePi(0, c, 0)
		// In v = log π: from where e^v is nothing to far beyond the largest.
		low, high := -40.0, 40.0
		if c < 0 {
			low = -40 - math.Log(1-c)
		}
		const n = 40_000
		var total, first float64
		log := func(i int) (x, h float64) {
			v := low + (high-low)*float64(i)/n
			x = math.Exp(v)
			g, _ := math.Lgamma(x)
			return x, c*x - g + v
		}
		top := math.Inf(-1)
		for i := range n + 1 {
			if _, h := log(i); h > top {
				top = h
			}
		}
		for i := range n + 1 {
			x, h := log(i)
			w := math.Exp(h - top)
			total, first = total+w, first+w*x
		}
		assert.InEpsilon(t, first/total, p.pi[0], 1e-6, "%g", c)
	}
	for _, c := range []float64{-1e300, 40, 700, 1e300, math.Inf(1), math.Inf(-1), math.NaN()} {
		p := newPowerPriors(1, 1, 1)
		p.solvePi(0, c, 0) // ends
		assert.False(t, p.pi[0] <= 0, "%g: %g", c, p.pi[0])
	}
}
