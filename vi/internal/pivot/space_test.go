package pivot

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/bmkl/bmkl/la"
)

// TestSpace holds coordinates, residuals and the bounds on what a space leaves out against the
// kernel itself, of samples that pivots are taken of and of others, as the space grows.
func TestSpace(t *testing.T) {
	src := rand.New(rand.NewPCG(3, 1))
	x, weights := make([]float64, 30), make([]float64, 30)
	for i := range x {
		x[i], weights[i] = src.NormFloat64(), src.NormFloat64()
	}
	kernel := func(a, b float64) float64 { return 2 * math.Exp(-(a-b)*(a-b)) }
	column := func(n int, dst []float64) {
		for i, v := range x {
			dst[i] = kernel(x[n], v)
		}
	}
	s := NewSpace(slices.Repeat([]float64{2}, len(x)))
	s.Grow(column, 3, 10)
	assert.Empty(t, s.Pivots, "no residual is above the limit")
	for _, most := range []int{1, 4, 8} {
		s.Grow(column, 0, most)
		assert.Len(t, s.Pivots, most)
		l := la.NewMatrix[float64](most, most)
		shift := s.Invert(l, 1)
		assert.Less(t, shift, 1e-8)
		for q := range 60 {
			at := 3 * src.NormFloat64()
			if q < len(x) {
				at = x[q]
			}
			coordinates := make([]float64, most)
			for i := range coordinates {
				for j := range i + 1 {
					coordinates[i] += l.At(i, j) * kernel(at, x[s.Pivots[j]])
				}
			}
			residual := 2 - la.SumSq(coordinates)
			if q < len(x) {
				assert.InDelta(t, s.Left[q], residual, 1e-9)
			}
			root := math.Sqrt(max(0, residual) + s.Hidden(shift)*2)
			var sum, squares, plain float64
			for n := range x {
				d := kernel(at, x[n]) // what the space leaves of it
				for i, w := range s.W {
					d -= coordinates[i] * w[n]
				}
				sum, squares, plain = sum+weights[n]*d, squares+weights[n]*d*weights[n]*d, plain+d*d
			}
			const rounding = 1e-12
			assert.LessOrEqual(t, math.Abs(sum), root*s.Sum(weights)+rounding)
			assert.LessOrEqual(t, math.Sqrt(squares), root*s.Length(weights)+rounding)
			assert.LessOrEqual(t, math.Sqrt(plain), root*s.Length(nil)+rounding)
		}
	}
	s.Grow(column, 0, len(x))
	assert.Less(t, len(s.Pivots), len(x), "until round-off")
	assert.LessOrEqual(t, slices.Max(s.Left), s.Spare())
	kept := len(s.Pivots)
	s.Grow(func(int, []float64) { panic("a finished space needs no column") }, 0, len(x))
	assert.Len(t, s.Pivots, kept)
}
