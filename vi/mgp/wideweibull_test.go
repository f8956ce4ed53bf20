package mgp

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wideBounds are bounds of targets: censored on the right, on the left, and intervals.
func wideBounds(s float64) [][2]float64 {
	inf := math.Inf(1)
	return [][2]float64{
		{-3 * s, inf}, {-0.2 * s, inf}, {1.1 * s, inf}, {6 * s, inf}, {-inf, -5 * s}, {-inf, -0.3 * s}, {-inf, 0}, {-inf, 4 * s},
		{-s, 2 * s}, {-0.1 * s, 0.05 * s}, {3 * s, 5 * s},
	}
}

// The integral over the errors is the one over the function.
func TestThroughErrors(t *testing.T) {
	for _, s := range []float64{21, 30, 45, 70} { // above, the quadrature over the function takes longer steps than it needs
		for _, b := range wideBounds(s) {
			name := fmt.Sprint(s, b)
			const mean, sigma = 0.3, 0.8
			v := s * s * sigma * sigma
			l, u := b[0]*sigma, b[1]*sigma
			m, shape, ok := throughErrors(l, u, mean, v, sigma)
			require.True(t, ok, name)
			want, wantShape := integrate(mean, v, sigma, func(f float64) logLikelihood { return gumbel(l, u, f, sigma) })
			assert.InDelta(t, want.logZ, m.logZ, 1e-11, name)
			assert.InDelta(t, want.slope*s*sigma, m.slope*s*sigma, 1e-11, name)
			assert.InDelta(t, want.bend*v, m.bend*v, 1e-10, name)
			assert.InDelta(t, wantShape, shape, 1e-11, name)
		}
	}
}

// Where f varies 850 times as much as σ, sums of many points agree.
func TestThroughErrorsOfAStep(t *testing.T) {
	const mean, sigma, s = -0.4, 2e-3, 1.7
	for _, b := range wideBounds(s) {
		l, u := b[0], b[1]
		var sum, first, square float64
		const h = sigma / 20
		for f := mean - 12*s; f < mean+12*s; f += h {
			p := 1.0
			if !math.IsInf(l, -1) {
				p = math.Exp(-math.Exp((l - f) / sigma))
			}
			if !math.IsInf(u, 1) {
				p -= math.Exp(-math.Exp((u - f) / sigma))
			}
			z := (f - mean) / s
			w := p * math.Exp(-0.5*z*z)
			sum += w
			first += w * z
			square += w * z * z
		}
		first, square = first/sum, square/sum
		m, shape := weibullMoments(l, u, mean, s*s, sigma)
		name := fmt.Sprint(b)
		assert.InDelta(t, math.Log(sum*h/math.Sqrt(2*math.Pi)/s), m.logZ, 1e-9, name)
		assert.InDelta(t, first, m.slope*s, 1e-9, name)
		assert.InDelta(t, 1-square+first*first, m.bend*s*s, 1e-8, name)
		const d = 1e-3 // of log σ²
		more, _ := weibullMoments(l, u, mean, s*s, sigma*math.Exp(0.5*d))
		less, _ := weibullMoments(l, u, mean, s*s, sigma*math.Exp(-0.5*d))
		assert.InDelta(t, (more.logZ-less.logZ)/(2*d), shape, 1e-9, name)
	}
}

func TestThroughErrorsLeaves(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range [][4]float64{{0, inf, 0, 19 * 19}, {1, 1, 0, 1e6}, {0, 50, 0, 1e6}, {4e4, inf, 0, 1e6}, {650, inf, 0, 21 * 21}} {
		_, _, ok := throughErrors(c[0], c[1], c[2], c[3], 1)
		assert.False(t, ok, c)
	}
}

func BenchmarkWideWeibull(b *testing.B) {
	for _, s := range []float64{25, 300, 1e4} {
		for name, f := range map[string]func(l, u, m, v, sigma float64) (moments, float64){
			"errors": weibullMoments, "function": func(l, u, m, v, sigma float64) (moments, float64) {
				return integrate(m, v, sigma, func(f float64) logLikelihood { return gumbel(l, u, f, sigma) })
			},
		} {
			b.Run(fmt.Sprint(name, s), func(b *testing.B) {
				for b.Loop() {
					f(0.3, math.Inf(1), 0, s*s, 1)
				}
			})
		}
	}
}
