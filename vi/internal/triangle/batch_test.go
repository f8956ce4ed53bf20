package triangle

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

// A vector among others gets the bits that it gets alone, whatever the others are: zeros, tiny and huge vectors, and vectors that are not finite.
func TestBatchHasTheBitsOfSingleVectors(t *testing.T) {
	src := rand.New(rand.NewPCG(95, 96))
	for _, n := range []int{256, 301} {
		for _, bytes := range []int{1, 2} {
			l, trials := la.NewMatrix[float64](n, n), la.NewMatrix[float64](20, n)
			for i := n / 3; i < n; i++ { // with rows of zeros before
				for j := range i + 1 {
					l.Set(i, j, src.NormFloat64()/float64(n))
				}
				l.Set(i, i, 1)
			}
			selves, forms := make([]float64, trials.Rows), make([]float64, trials.Rows)
			for q := range trials.Rows {
				for j := range n {
					trials.Set(q, j, math.Exp(src.NormFloat64()))
				}
				selves[q] = 1
				for i := range n {
					forms[q] += trials.At(q, i) * la.Dot(l.Row(i)[:i+1], trials.Row(q)[:i+1])
				}
			}
			g := Of(l, trials, selves, func(_, _, _, _ float64) bool { return true }, bytes)
			require.True(t, g.Coarse())
			require.Equal(t, bytes == 2, g.steps.low.Rows > 0)
			f := NewForm(l, trials, forms, true)
			require.True(t, f.Coarse())

			const most = 9
			b, alone := NewBatch(n+5, most), NewScratch(n)
			for _, vectors := range []int{most, 1, 6} {
				k, self := la.NewMatrix[float64](vectors, n), make([]float64, vectors)
				for i := range vectors {
					self[i] = 1
					b.Alone(i).Inexact(float64(i) * 1e-6)
					scale := []float64{1, 0, 1e-200, 1e150, 1, math.Inf(1)}[i%6]
					for j := range n {
						k.Set(i, j, src.NormFloat64()*scale)
					}
				}
				square, bound := make([]float64, vectors), make([]float64, vectors)
				b.Squares(g, k, self, square, bound)
				for i := range vectors {
					alone.Inexact(float64(i) * 1e-6)
					wantSquare, wantBound := g.Square(k.Row(i), self[i], true, alone)
					assertBits(t, wantSquare, square[i])
					assertBits(t, wantBound, bound[i])
				}
				b.Forms(f, k, square, bound)
				for i := range vectors {
					alone.Inexact(float64(i) * 1e-6)
					wantValue, wantBound := f.At(k.Row(i), true, alone)
					assertBits(t, wantValue, square[i])
					assertBits(t, wantBound, bound[i])
				}
			}
		}
	}
}

func assertBits(t *testing.T, want, got float64) {
	t.Helper()
	if math.IsNaN(want) && math.IsNaN(got) {
		return
	}
	assert.Equal(t, math.Float64bits(want), math.Float64bits(got), "%g and %g", want, got)
}
