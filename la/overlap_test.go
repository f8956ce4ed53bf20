package la

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Parts of one matrix overlap if they have an entry in common. Empty parts have none.
func TestOverlapOfParts(t *testing.T) {
	src := rand.New(rand.NewPCG(6, 1))
	whole := NewMatrix[float64](6, 7)
	part := func() (m Matrix[float64], has [6][7]bool) {
		i, j := src.IntN(6), src.IntN(7)
		end, right := i+src.IntN(7-i), j+src.IntN(8-j)
		for r := i; r < end; r++ {
			for c := j; c < right; c++ {
				has[r][c] = true
			}
		}
		return whole.Slice(i, end, j, right), has
	}
	some := 0
	for range 3000 {
		a, inA := part()
		b, inB := part()
		want := false
		for r := range 6 {
			for c := range 7 {
				want = want || inA[r][c] && inB[r][c]
			}
		}
		assert.Equal(t, want, Overlap(a, b), "%d×%d and %d×%d", a.Rows, a.Cols, b.Rows, b.Cols)
		assert.False(t, Overlap(a, NewMatrix[float64](3, 3)))
		if want {
			some++
		}
	}
	assert.Greater(t, some, 300)
}
