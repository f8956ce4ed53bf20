package onnx

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// bumps are functions of x as sums of Gaussian bumps Σ_k c_k·exp(−(x − x_k)²/2τ²) of equally spaced centres x_k. Where x has a normal
// distribution, the expectation of a bump is a wider bump. So the expectations of the functions need no quadrature, and are as exact for a wide
// distribution as for a point.
type bumps struct {
	centres []float64
	width   float64            // τ
	heights la.Matrix[float64] // c, a row for each centre and a column for each function
}

const (
	bumpWidth = 1.5 // τ in steps: the sum of equal bumps is then constant to 1e-19
	bumpReach = 13  // how many steps away a bump is 0 but for rounding: exp(−13²/2τ²) = 5e-17
)

// newBumps returns the bumps that meet the functions in the centres, from low to high. The functions must be next to 0 there, and vary by little
// within a step, which should be a power of 2: the centres are then exact in float32 too.
func newBumps(low, high, step float64, functions func(x float64) []float64) *bumps {
	b := &bumps{width: bumpWidth * step}
	var heights []float64
	for x := low; x <= high; x += step {
		b.centres = append(b.centres, x)
		heights = append(heights, functions(x)...)
	}
	n := len(b.centres)
	b.heights = la.MatrixOf(n, len(heights)/n, heights)

	// The bumps' values in the centres are a matrix with few diagonals, A = LLᵀ. Row i of lower has the elements L(i, i−bumpReach) to L(i, i).
	lower := la.NewMatrix[float64](n, bumpReach+1)
	for i := range n {
		row := lower.Row(i)
		for j := max(i-bumpReach, 0); j <= i; j++ {
			d := float64(i-j) / bumpWidth
			sum := special.Exp(-0.5 * d * d)
			other := lower.Row(j)
			for k := max(i-bumpReach, 0); k < j; k++ {
				sum -= float64(row[k-i+bumpReach] * other[k-j+bumpReach])
			}
			if j < i {
				row[j-i+bumpReach] = sum / other[bumpReach]
			} else {
				row[bumpReach] = math.Sqrt(sum)
			}
		}
	}
	for i := range n {
		for j := max(i-bumpReach, 0); j < i; j++ {
			la.Axpy(-lower.At(i, j-i+bumpReach), b.heights.Row(j), b.heights.Row(i))
		}
		la.Scal(1/lower.At(i, bumpReach), b.heights.Row(i))
	}
	for i := n - 1; i >= 0; i-- {
		la.Scal(1/lower.At(i, bumpReach), b.heights.Row(i))
		for j := max(i-bumpReach, 0); j < i; j++ {
			la.Axpy(-lower.At(i, j-i+bumpReach), b.heights.Row(i), b.heights.Row(j))
		}
	}
	return b
}

// expected returns the expectations of the functions, T×F, where x has a mean and a variance.
func (e *exporter) expected(b *bumps, x moments) value {
	wide := e.shift(x.variance, b.width*b.width)
	bump := e.exp(e.div(e.square(e.sub(x.mean, e.row(b.centres))), e.scale(wide, -2)))
	lower := e.div(e.number(b.width), e.sqrt(wide))
	return e.product(e.mul(bump, lower), e.matrixOf(b.heights))
}
