package mkl

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

// residuals are means, and squared errors over variances that are too small by a factor of the mean.
func residuals(seed uint64, n int, factor func(mean float64) float64) (mean, ratio []float64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for range n {
		m, e := 5*rng.NormFloat64(), rng.NormFloat64()
		mean, ratio = append(mean, m), append(ratio, factor(m)*e*e)
	}
	return mean, ratio
}

func TestWideningFindsTheFactor(t *testing.T) {
	for name, factor := range map[string]func(float64) float64{
		"rising": func(m float64) float64 { return math.Exp(0.2 * m) },
		"bent":   func(m float64) float64 { return 0.5 + 2/(1+math.Exp(m)) },
		"wide":   func(float64) float64 { return 1.5 },
	} {
		mean, ratio := residuals(1, 4000, factor)
		s := fitWidening(mean, ratio)
		require.NotEmpty(t, s.at, name)
		for _, m := range []float64{-7, -3, 0, 3, 7} {
			assert.InEpsilon(t, factor(m), s.factor(m), 0.2, "%s at %g", name, m)
		}
	}
	few, of := residuals(1, leastWidening-1, func(float64) float64 { return 9 })
	assert.Empty(t, fitWidening(few, of).at)
}

// Variances that are right stay as they are, up to the two standard errors of the test.
func TestWideningLeavesRightVariancesAlone(t *testing.T) {
	changed := 0
	for seed := range uint64(20) {
		if s := fitWidening(residuals(seed, 1000, func(float64) float64 { return 1 })); s.at != nil {
			changed++
			for _, m := range []float64{-5, 0, 5} {
				assert.InDelta(t, 1, s.factor(m), 0.35)
			}
		}
	}
	assert.LessOrEqual(t, changed, 2)
}

// The derivatives of the loss agree with differences, and the fit has none left.
func TestWideningLoss(t *testing.T) {
	mean, ratio := residuals(3, 500, func(m float64) float64 { return math.Exp(0.1 * m) })
	s := widening{at: wideningKnots(mean)}
	c := wideningCurve{widening: &s, ratio: ratio, bend: 7}
	for _, m := range mean {
		k, share := s.place(m)
		c.knot, c.share = append(c.knot, k), append(c.share, share)
	}
	K := len(s.at)
	theta := make([]float64, K)
	for k := range theta {
		theta[k] = math.Sin(float64(k))
	}
	const h = 1e-5
	gradient, hessian := make([]float64, K), la.NewMatrix[float64](K, K)
	c.loss(theta, gradient, &hessian)
	for k := range theta {
		moved := func(by float64) (float64, []float64) {
			at := append([]float64{}, theta...)
			at[k] += by
			g, unused := make([]float64, K), la.NewMatrix[float64](K, K)
			return c.loss(at, g, &unused), g
		}
		up, above := moved(h)
		down, below := moved(-h)
		assert.InDelta(t, (up-down)/(2*h), gradient[k], 1e-4)
		for j := range theta {
			assert.InDelta(t, (above[j]-below[j])/(2*h), hessian.At(k, j), 1e-4)
		}
	}
	c.bend = 7
	best := s.fit(mean, ratio, 7*float64(K)/500, func(int) bool { return true })
	clear(gradient)
	c.loss(best, gradient, &hessian)
	for _, g := range gradient {
		assert.InDelta(t, 0, g, 1e-2)
	}
}
