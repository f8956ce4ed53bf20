package stairs

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/bmkl/bmkl/la"
)

func TestMultiply(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var ws la.Workspace
	trapezoid := func(rows, cols int) func(i, j int) bool {
		return func(i, j int) bool { return j <= cols-rows+i }
	}
	blocks := func(i, j int) bool { return j <= i && (i < 40) == (j < 40) && (i < 47) == (j < 47) }
	everywhere := func(int, int) bool { return true }
	for _, c := range []struct {
		rows, cols int
		inside     func(i, j int) bool
	}{
		{0, 0, everywhere}, {0, 5, everywhere}, {5, 0, everywhere}, {3, 40, func(int, int) bool { return false }}, {70, 33, everywhere},
		{1, 1, trapezoid(1, 1)}, {1, 7, trapezoid(1, 7)}, {31, 31, trapezoid(31, 31)}, {32, 40, trapezoid(32, 40)},
		{33, 33, trapezoid(33, 33)}, {200, 230, trapezoid(200, 230)}, {100, 130, trapezoid(100, 130)}, {90, 90, blocks}, {190, 190, blocks}, {300, 200, everywhere},
	} {
		a := la.NewMatrix[float64](c.rows, c.cols)
		for i := range c.rows {
			for j := range c.cols {
				if c.inside(i, j) {
					a.Set(i, j, rng.NormFloat64())
				}
			}
		}
		x, y := la.NewMatrix[float64](3, c.cols), la.NewMatrix[float64](3, c.rows)
		for i := range x.Data {
			x.Data[i] = rng.NormFloat64()
		}
		y.Fill(math.NaN()) // is not read
		m := New(a)
		rows, cols := m.Dims()
		assert.Equal(t, [2]int{c.rows, c.cols}, [2]int{rows, cols})
		m.Multiply(&ws, x, y)
		one := make([]float64, c.rows)
		m.MultiplyVec(&ws, x.Row(2), one)
		assert.InDeltaSlice(t, y.Row(2), one, 0)
		for v := range 3 {
			for i := range c.rows {
				var want float64
				for j := range c.cols {
					want += a.At(i, j) * x.At(v, j)
				}
				assert.InDelta(t, want, y.At(v, i), 1e-13)
			}
		}
	}
}

// A product reads little more than what lies between the stairs.
func TestSize(t *testing.T) {
	for _, n := range []int{150, 700} {
		l := la.NewMatrix[float64](n, n)
		for i := range n {
			for j := i / 100 * 100; j <= i; j++ {
				l.Set(i, j, 1)
			}
		}
		m, size := New(l), 0
		for _, b := range m.bands {
			size += len(b.a.Data)
		}
		assert.Equal(t, n == 150, m.columns)
		assert.Less(t, size, n*n*6/10)
	}
}
