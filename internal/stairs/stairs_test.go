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
	for _, size := range [][2]int{{0, 0}, {0, 5}, {1, 1}, {1, 7}, {31, 31}, {32, 40}, {33, 33}, {100, 130}} {
		rows, cols := size[0], size[1]
		l := la.NewMatrix[float64](rows, cols)
		for i := range rows {
			for j, row := 0, l.Row(i); j < cols; j++ {
				if row[j] = math.NaN(); j <= cols-rows+i {
					row[j] = rng.NormFloat64()
				}
			}
		}
		x, y := la.NewMatrix[float64](3, cols), la.NewMatrix[float64](3, rows)
		for i := range x.Data {
			x.Data[i] = rng.NormFloat64()
		}
		m := New(l)
		r, c := m.Dims()
		assert.Equal(t, size, [2]int{r, c})
		m.Multiply(&ws, x, y)
		one := make([]float64, rows)
		m.MultiplyVec(&ws, x.Row(2), one)
		assert.InDeltaSlice(t, y.Row(2), one, 0)
		for v := range 3 {
			for i := range rows {
				var want float64
				for j := range cols - rows + i + 1 {
					want += l.At(i, j) * x.At(v, j)
				}
				assert.InDelta(t, want, y.At(v, i), 1e-13)
			}
		}
	}
}
