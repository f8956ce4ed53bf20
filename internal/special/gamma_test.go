package special

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Reference values in this file: mpmath with 40 digits.

func TestTrigammaAndLogMinusDigamma(t *testing.T) {
	for _, c := range []struct{ x, trigamma, gap float64 }{
		{0.001, 1000001.6425331958273, 993.66781665282814262},
		{0.7, 2.8340491566946109126, 0.86334860975920229825},
		{1.0, 1.6449340668482264365, 0.57721566490153286061},
		{2.5, 0.49035775610023486497, 0.21313409122891187796},
		{9.99, 0.10527695014824178439, 0.050884219829261049877},
		{10.0, 0.10516633568168574612, 0.050832503927324576371},
		{31.4, 0.032359636070142211899, 0.016008078304811213227},
		{1000.0, 0.0010005001666666333334, 0.00050008333332500000397},
		{1e6, 1.0000005000001666667e-6, 5.0000008333333333332e-7},
		{1e12, 1.0000000000005e-12, 5.0000000000008333333e-13},
	} {
		assert.InEpsilon(t, c.trigamma, Trigamma(c.x), 1e-15, "ψ'(%g)", c.x)
		tol := 1e-15
		if c.x < 10 {
			tol = 4e-14 // the difference of two terms of order log 10
		}
		assert.InEpsilon(t, c.gap, LogMinusDigamma(c.x), tol, "log x − ψ(x) at %g", c.x)
	}
	for _, x := range []float64{0, -1, math.NaN()} {
		assert.True(t, math.IsNaN(Trigamma(x)))
		assert.True(t, math.IsNaN(LogMinusDigamma(x)))
	}
}

func TestLogGammaRise(t *testing.T) {
	for _, c := range []struct{ x, d, want float64 }{
		{0.3, 2, -0.94160853985844498613},
		{5, 0.5, 0.77976013727077067423},
		{10, 3, 7.1853870155804165383},
		{123.5, 20, 97.788153793980605214},
		{1e5, 0.5, 5.7564614824851142153},
		{1e5, 20, 230.26040917591660033},
		{1e8, 1e3, 18420.68573893572388},
		{12, 0, 0},
	} {
		assert.InDelta(t, c.want, LogGammaRise(c.x, c.d), 2e-15*max(1, c.want), "x = %g, d = %g", c.x, c.d)
	}
}
