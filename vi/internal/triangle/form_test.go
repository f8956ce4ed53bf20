package triangle

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

// Forms and squares are within their bounds of sums in float64, with rows of zeros at the top too.
func TestFormsWithinTheirBounds(t *testing.T) {
	src := rand.New(rand.NewPCG(83, 84))
	for _, n := range []int{1, 2, 63, 65, 200} {
		for _, zeros := range []int{0, n / 2, n} {
			l, trials := la.NewMatrix[float64](n, n), la.NewMatrix[float64](20, n)
			for i := zeros; i < n; i++ {
				for j := range i + 1 {
					l.Set(i, j, src.NormFloat64())
				}
			}
			form := func(x []float64) (value, square float64) {
				for i := range n {
					y := la.Dot(l.Row(i)[:i+1], x[:i+1])
					value += x[i] * y
					square += y * y
				}
				return value, square
			}
			var forms, squares, selves []float64
			draw := func(x []float64) {
				for i := range x {
					x[i] = math.Exp(4 * src.NormFloat64())
				}
			}
			for q := range trials.Rows {
				draw(trials.Row(q))
				value, square := form(trials.Row(q))
				forms, squares, selves = append(forms, value), append(squares, square), append(selves, 1)
			}
			f, g := NewForm(l, trials, forms, false), Against(l, trials, selves, squares, nil)
			require.NotNil(t, f)
			require.NotNil(t, g)
			s, x := NewScratch(n), make([]float64, n)
			for range 50 {
				draw(x)
				value, square := form(x)
				got, bound := f.At(x, false, s)
				assert.InDelta(t, value, got, bound)
				assert.LessOrEqual(t, bound, 1e-3*(math.Abs(value)+la.SumSq(x)*float64(n)))
				got, bound = g.Square(x, 1, false, s)
				assert.InDelta(t, square, got, bound)
				assert.LessOrEqual(t, bound, 1e-3*(square+la.SumSq(x)))
			}
		}
	}
}

// TestSpilled adds to the bound of a form what elements that count as 0 may add: 2⁻⁴⁰ of the largest, at every place.
func TestSpilled(t *testing.T) {
	const n = 5
	l := la.NewMatrix[float64](n, n)
	for i := range n {
		for j := range i + 1 {
			l.Set(i, j, float64(1+i-j))
		}
	}
	f := NewForm(l, la.NewMatrix[float64](0, n), nil, false)
	f.t.factor = 0
	for _, x := range [][]float64{{3, 1, 0, 0, 2}, {1e-3, 0, 0, -5e-3, 0}, {-200, 1, 1, 1, 1}} {
		most, square := 0.0, 0.0
		for _, v := range x {
			most, square = max(most, math.Abs(v)), square+v*v
		}
		norm := 0.0
		for i := range n {
			for j := range i + 1 {
				norm += l.At(i, j) * l.At(i, j)
			}
		}
		_, bound := f.At(x, false, NewScratch(n))
		assert.InEpsilon(t, 0x1p-40*math.Sqrt(n*norm)*most*math.Sqrt(square), bound, 1e-12)
	}
}
