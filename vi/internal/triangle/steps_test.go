package triangle

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

// Squares in integers are within their bounds, at samples among, beside and beyond the training samples and at vectors that no kernel
// has, after all panels and after some. Where samples are as in the calibration the bound is small.
func TestIntegersWithinTheirBounds(t *testing.T) {
	src := rand.New(rand.NewPCG(91, 92))
	const features = 3
	for _, n := range []int{256, 257, 400} {
		for _, width := range []float64{0.3, 1, 4} {
			at := la.NewMatrix[float64](n, features)
			for i := range at.Data {
				at.Data[i] = src.NormFloat64()
			}
			kernel := func(x []float64, dst []float64) {
				for i := range dst {
					var d float64
					for j, v := range at.Row(i) {
						d += (v - x[j]) * (v - x[j])
					}
					dst[i] = math.Exp(-d / (2 * width * width))
				}
			}
			k, factor := la.NewMatrix[float64](n, n), la.NewMatrix[float64](n, n)
			for i := range n {
				kernel(at.Row(i), k.Row(i))
				copy(factor.Row(i), k.Row(i))
				factor.Set(i, i, factor.At(i, i)+0.1)
			}
			require.NoError(t, la.Cholesky(nil, factor))
			g := New(factor, nil, matrix{k}, func(self, square, bound, _ float64) bool { return bound <= 1e-2*(self-square+0.1) }, true)
			require.NotNil(t, g)
			require.True(t, g.Coarse(), "%d samples, width %v", n, width)
			s, x, p := NewScratch(n), make([]float64, n), make([]float64, features)
			var largest, small float64
			for q := range 300 {
				for j := range p {
					p[j] = src.NormFloat64() * []float64{1, 0.1, 3, 30}[q%4]
				}
				kernel(p, x)
				self := 1.0
				if q%5 == 0 { // a vector that is not of a kernel
					for i := range x {
						x[i], self = 0.1*src.NormFloat64(), float64(n)
					}
				}
				z := append([]float64(nil), x...)
				la.Trsv(la.NoTrans, factor, z)
				want := la.SumSq(z)
				if want < 1e-200 {
					continue
				}
				square, bound := g.Square(x, self, true, s)
				assert.InDelta(t, want, square, bound)
				largest = max(largest, math.Abs(square-want)/bound)
				if q%4 == 0 && q%5 != 0 {
					assert.Less(t, bound, 5e-3)
					small = max(small, bound)
				}
				g.Start(x, self, true, s)
				for before, all := 0.0, false; !all; {
					var part, e float64
					part, e, all = g.Add(s)
					assert.GreaterOrEqual(t, part, before)
					assert.LessOrEqual(t, part, want+e)
					if before = part; all {
						assert.InDelta(t, square, part, 1e-12*square)
					}
				}
			}
			t.Logf("%d samples, width %v: errors up to %.2f of the bound, bounds up to %.1e", n, width, largest, small)
			square, bound := g.Square(make([]float64, n), 1, true, s)
			assert.Zero(t, square)
			assert.Zero(t, bound)
		}
	}
}

// Forms in integers are within their bounds.
func TestFormsInIntegersWithinTheirBounds(t *testing.T) {
	src := rand.New(rand.NewPCG(93, 94))
	const n = 300
	for _, zeros := range []int{0, 100, n} {
		l, trials, want := la.NewMatrix[float64](n, n), la.NewMatrix[float64](20, n), make([]float64, 20)
		for i := zeros; i < n; i++ {
			for j := range i + 1 {
				l.Set(i, j, src.NormFloat64())
			}
		}
		draw := func(x []float64) {
			for i := range x {
				x[i] = math.Exp(src.NormFloat64())
			}
		}
		form := func(x []float64) (value float64) {
			for i := range n {
				value += x[i] * la.Dot(l.Row(i)[:i+1], x[:i+1])
			}
			return value
		}
		for q := range trials.Rows {
			draw(trials.Row(q))
			want[q] = form(trials.Row(q))
		}
		f := NewForm(l, trials, want, true)
		require.True(t, f.Coarse())
		s, x := NewScratch(n), make([]float64, n)
		for range 50 {
			draw(x)
			got, bound := f.At(x, true, s)
			assert.InDelta(t, form(x), got, bound)
			assert.LessOrEqual(t, bound, 1e-2*la.SumSq(x))
		}
	}
	x := make([]float64, n)
	assert.False(t, NewForm(la.NewMatrix[float64](9, 9), la.NewMatrix[float64](1, 9), x[:1], true).Coarse(), "no gain")
}

// TestProbes compares the mean of what the probes measure with the squares of the errors, at vectors of whole numbers, which are not rounded.
func TestProbes(t *testing.T) {
	const n = 300
	src := rand.New(rand.NewPCG(95, 96))
	g, trials := la.NewMatrix[float64](n, n), la.NewMatrix[float64](20, n)
	for i := range n {
		for j := range i + 1 {
			g.Set(i, j, src.NormFloat64())
		}
	}
	for i := range trials.Data {
		trials.Data[i] = src.NormFloat64()
	}
	for _, width := range []width{oneByte, twoBytes} {
		d, s := newSteps(g, trials, width), NewScratch(n)
		k, z := make([]float64, n), make([]float64, n+la.PanelRows)
		measured, squares := 0.0, 0.0
		for range 40 {
			for j := range k {
				k[j] = float64(src.IntN(4001) - 2000)
			}
			k[n-1] = mostWord - 1 // sets the unit; its column has the diagonal alone, so that no single error outweighs the others
			d.start(k, &s.steps)
			require.Equal(t, 1.0, s.steps.unit)
			d.multiply(0, (n+la.PanelRows-1)/la.PanelRows, k, &s.steps, z)
			for i := range n {
				e := la.Dot(g.Row(i)[:i+1], k[:i+1]) - z[i]
				squares += e * e
			}
			measured += s.steps.measured
		}
		assert.InEpsilon(t, 1, measured/squares, 0.15)
	}
}

// Integers of two bytes are kept if their bounds are enough for half of the trials, and not for fewer; of one byte if they are enough for nine tenths.
func TestHalfIsEnough(t *testing.T) {
	const n = leastSteps
	src := rand.New(rand.NewPCG(97, 98))
	g, trials := la.NewMatrix[float64](n, n), la.NewMatrix[float64](10, n)
	selves := make([]float64, trials.Rows)
	for i := range n {
		for j := range i + 1 {
			g.Set(i, j, src.NormFloat64())
		}
	}
	for q := range selves {
		selves[q] = 1
		for j := range n {
			trials.Set(q, j, src.Float64())
		}
	}
	for enough := range 11 {
		asked := 0
		v := Of(g, trials, selves, func(_, _, _, _ float64) bool { asked++; return asked <= enough }, 2)
		require.NotNil(t, v)
		assert.Equal(t, 10, asked)
		assert.Equal(t, enough >= 5, v.Coarse(), "%d of 10", enough)
	}
	least := Of(g, trials, selves, func(_, _, _, _ float64) bool { return true }, 1).Bytes()
	for enough := range 11 { // one byte, and then two
		asked := 0
		v := Of(g, trials, selves, func(_, _, _, _ float64) bool { asked++; return asked <= enough || asked > 15 }, 1)
		require.True(t, v.Coarse())
		assert.Equal(t, enough < 9, asked == 20, "%d of 10", enough)
		assert.Equal(t, enough < 9, v.Bytes() > least, "%d of 10", enough)
	}
}
