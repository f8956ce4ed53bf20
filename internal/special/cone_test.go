package special

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMillsAgreesWithNormalAbove(t *testing.T) {
	for x := -40.0; x < 12; x += 0.0137 {
		mean, _, logZ := NormalAbove(-x)
		lambda, logCDF := Mills(x)
		assert.InEpsilon(t, mean, lambda, 1e-14, "λ(%g)", x)
		assert.InEpsilon(t, logZ, logCDF, 4e-16*(10+x*x), "log Φ(%g)", x)
		near, nearLog := millsNear(x)
		assert.InDelta(t, mean, near, 4e-15*max(1, math.Abs(x)), "λ(%g)", x)
		assert.InDelta(t, logZ, nearLog, 4e-15*max(1, math.Abs(logZ)), "log Φ(%g)", x)
	}
	for _, x := range []float64{-1e150, -1e9, -1e4, -50} {
		lambda, logCDF := Mills(x)
		assert.InEpsilon(t, -x, lambda, 1/x/x+1e-15)
		assert.InEpsilon(t, LogNormalCDF(x), logCDF, 1e-15)
	}
	lambda, logCDF := Mills(1e9)
	assert.Zero(t, lambda)
	assert.Zero(t, logCDF)
}

// With two classes the cone is a half-plane and everything has a closed form.
func TestConeOfTwoClasses(t *testing.T) {
	var c Cone
	y := make([]float64, 2)
	for _, d := range []float64{-300, -40, -3, -0.1, 0, 0.5, 4, 30} {
		logZ := c.Mean(1, []float64{0, d}, y)
		want := LogNormalCDF(d / math.Sqrt2)
		assert.InDelta(t, want, logZ, 1e-12*max(1, math.Abs(want)), "d = %g", d)
		half := func() float64 { l, _ := Mills(d / math.Sqrt2); return l / math.Sqrt2 }()
		assert.InDelta(t, d+half, y[1], 1e-12*max(1, math.Abs(d)), "d = %g", d)
		assert.InDelta(t, -half, y[0], 1e-12*max(1, math.Abs(d)), "d = %g", d)
	}
	for _, s := range [][]float64{{1, 1}, {0.3, 2}, {20, 1}} {
		d := -0.7
		want := LogNormalCDF(d / math.Hypot(s[0], s[1]))
		c.set(1, []float64{0, d}, s)
		assert.InDelta(t, want, c.integrate(false), 1e-12)
	}
}

// The closed form of two classes is what the quadrature comes to.
func TestLogHalfPlane(t *testing.T) {
	var c Cone
	for _, s := range [][]float64{nil, {0.3, 2}, {20, 1}, {1, 1e6}, {1e200, 3}, {1e-100, 1e50}} {
		for _, d := range []float64{-30, -0.7, 0, 1e-3, 4} {
			m := []float64{0, d}
			if s != nil {
				m[1] = d * max(s[0], s[1])
			}
			c.set(1, m, s)
			want := c.integrate(false)
			assert.InDelta(t, want, c.LogProbability(1, m, s), 1e-12*max(1, math.Abs(want)), "%g, %v", d, s)
		}
	}
}

// TestConeMeanIsTheGradient compares the means with finite differences:
// E[y] = m + ∇ log Z.
func TestConeMeanIsTheGradient(t *testing.T) {
	var c Cone
	for _, m := range [][]float64{{0.3, -1, 2}, {0, 0, 0, 0}, {-12, 3, 5, 0.1, 2}} {
		y := make([]float64, len(m))
		logZ := c.Mean(0, m, y)
		assert.Equal(t, logZ, c.LogProbability(0, m, nil))
		for j := range m {
			const eps = 1e-5
			at := func(e float64) float64 {
				x := append([]float64(nil), m...)
				x[j] += e
				return c.LogProbability(0, x, nil)
			}
			assert.InDelta(t, m[j]+(at(eps)-at(-eps))/(2*eps), y[j], 1e-8, "%v, %d", m, j)
		}
	}
}

func TestConeProbabilitiesSumToOne(t *testing.T) {
	var c Cone
	for _, p := range []struct{ m, sd []float64 }{
		{[]float64{1, -2, 0.5, 3}, []float64{1, 1, 1, 1}},
		{[]float64{1, -2, 0.5, 3}, []float64{1, 5, 0.2, 3}},
		{[]float64{100, -200, 0.5, 99}, []float64{1, 50, 9, 1}},
		{make([]float64, 27), nil},
	} {
		var sum float64
		for i := range p.m {
			sum += math.Exp(c.LogProbability(i, p.m, p.sd))
		}
		assert.InDelta(t, 1, sum, 1e-13, "%v", p)
	}
}

// The mode is where h' vanishes, and e^h lies below the normal density there:
// the envelope of rejection sampling.
func TestConeMode(t *testing.T) {
	var c Cone
	for _, m := range [][]float64{{0, 1}, {-30, 5, 2}, {4, 0, 0, 0, 0}, {-400, 3, 1}} {
		c.SetUnit(0, m)
		u := c.Mode()
		top := c.LogDensity(u)
		assert.GreaterOrEqual(t, u, 0.0)
		slope := -u
		for _, l := range c.lambda {
			slope += l
		}
		assert.InDelta(t, 0, slope, 1e-9*(1+u), "%v", m)
		for _, x := range []float64{-5, -1, -0.1, 0.1, 1, 5} {
			assert.LessOrEqual(t, c.LogDensity(u+x), top-0.5*x*x+1e-9, "%v, %g", m, x)
		}
	}
}

// Standard deviations of any ratio give what the half-plane of two classes has in
// closed form, probabilities of sum one, and cost little.
func TestConeOfSharpEdges(t *testing.T) {
	var c Cone
	for _, ratio := range []float64{99, 101, 1e3, 1e6, 1e12, 1e100} {
		for _, d := range []float64{-30, -3, -1e-3, 0, 0.7, 5} {
			m, sd := []float64{0, d * ratio}, []float64{1, ratio}
			want := LogNormalCDF(d * ratio / math.Hypot(1, ratio))
			c.set(1, m, sd)
			assert.InDelta(t, want, c.integrate(false), 1e-12*max(1, math.Abs(want)), "d = %g, ratio %g", d, ratio)
		}
		for _, m := range [][]float64{{1, 0, 2, -1}, {1, ratio, -ratio, 3}, {ratio, ratio - 5, 0, 1}} {
			var sum float64
			sd := []float64{1, ratio, 3 * ratio, 5}
			for i := range m {
				sum += math.Exp(c.LogProbability(i, m, sd))
			}
			assert.InDelta(t, 1, sum, 1e-11, "%v, ratio %g", m, ratio)
		}
	}
}

// Where y_i is so far from being the largest that h has no digits left for the edges, nothing is gained by halving.
func TestConeOfSharpEdgesFarAway(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	m, sd := make([]float64, 20), make([]float64, 20)
	var c Cone
	for _, scale := range []float64{1e4, 1e6, 1e8, 1e10} {
		for i := range m {
			m[i], sd[i] = scale*rng.NormFloat64(), math.Exp(8*(rng.Float64()-0.5))
		}
		all := 0
		for i := range m {
			c.set(i, m, sd)
			squares := 1.0
			for _, a := range c.a {
				squares += a * a
			}
			_, looked := c.sharp(c.mode(), 1/math.Sqrt(squares))
			all += looked
		}
		assert.Less(t, all, 50*len(m), "scale %g", scale)
	}
}

// Arguments without an answer give NaN, and so large ones that rounding is all there
// is end all the same.
func TestConeLeavesOnNonsense(t *testing.T) {
	var c Cone
	inf, nan := math.Inf(1), math.NaN()
	for _, p := range []struct{ m, sd []float64 }{
		{[]float64{0, nan}, nil}, {[]float64{0, inf}, []float64{1, inf}}, {[]float64{0, 0}, []float64{inf, inf}},
		{[]float64{0, 0}, []float64{nan, 1}}, {[]float64{1e300, 0, 0}, []float64{1e160, nan, 1}},
	} {
		assert.True(t, math.IsNaN(c.LogProbability(0, p.m, p.sd)), "%v", p)
	}
	for _, x := range []float64{1e9, 1e12, 1e17, 1e100, 1e160, 1e308} {
		m := []float64{-x, x, 0}
		y := make([]float64, 3)
		c.Mean(0, m, y)
		if x < 1e300 {
			assert.InEpsilon(t, 1, 1+(y[0]-y[1])/x, 1e-6, "%g", x) // the two meet
		}
		for _, sd := range [][]float64{nil, {1e10, 1, 1}, {x, 1, 1}} {
			p := c.LogProbability(0, m, sd)
			assert.False(t, p > 0, "%g, %v: %g", x, sd, p)
		}
		assert.Equal(t, 0.0, c.LogProbability(1, m, nil), "%g", x)
	}
	lambda, logCDF := Mills(nan)
	assert.True(t, math.IsNaN(lambda) && math.IsNaN(logCDF))
}

func BenchmarkConeMean(b *testing.B) {
	for _, classes := range []int{3, 10, 27} {
		b.Run(fmt.Sprintf("C=%d", classes), func(b *testing.B) {
			var c Cone
			m, y := make([]float64, classes), make([]float64, classes)
			for j := range m {
				m[j] = math.Sin(float64(3 * j))
			}
			m[0] = 2
			for b.Loop() {
				c.Mean(0, m, y)
			}
		})
	}
}
