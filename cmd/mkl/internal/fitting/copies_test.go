package fitting

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/la"
)

// TestCopies counts copies by comparing all pairs of rows.
func TestCopies(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name   string
		levels int // of each feature
		rows   int
		said   bool
	}{{"numbers", 1 << 40, 0, false}, {"four copies", 1 << 40, 4, false}, {"copies", 1 << 40, 16, true}, {"categories", 2, 16, false}} {
		const different = 60
		n := different + c.rows
		x := la.NewMatrix[float64](n, 3)
		var y dataset.Targets
		y.Numbers = [][]float64{make([]float64, n)}
		for i := range n {
			for j := range 3 {
				x.Set(i, j, float64(rng.IntN(c.levels)))
			}
			y.Numbers[0][i] = rng.NormFloat64()
			if i >= different {
				x.Row(i)[0] = math.NaN()
				copy(x.Row(i), x.Row(i-different))
				y.Numbers[0][i] = y.Numbers[0][i-different]
			}
		}
		views := []dataset.Features{{X: x}}
		lines := Copies(views, n, y)
		assert.Equal(t, c.said, lines != nil, c.name)
		if c.said {
			assert.Contains(t, lines[0], fmt.Sprintf("%d of %d rows (21 %%)", c.rows, n))
			y.Numbers[0][3]++ // of one of a pair
			assert.Contains(t, Copies(views, n, y)[0], fmt.Sprintf("%d of %d rows", c.rows-1, n))
		}
	}
}
