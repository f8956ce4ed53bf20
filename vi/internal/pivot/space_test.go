package pivot

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// TestSpaceIsTheFactor compares a space of many pivots, which lie in several blocks of memory, with a Cholesky factorisation of the pivots'
// kernel, and its lengths and allowances with their formulas.
func TestSpaceIsTheFactor(t *testing.T) {
	const n, many = 90, 75
	src := rand.New(rand.NewPCG(3, 2))
	x := la.NewMatrix[float64](n, 12)
	for i := range x.Data {
		x.Data[i] = src.NormFloat64()
	}
	kernel := func(i, j int) float64 {
		s := 0.0
		for f, v := range x.Row(i) {
			s += (v - x.At(j, f)) * (v - x.At(j, f))
		}
		return (1 + float64(i%3)) * (1 + float64(j%3)) * math.Exp(-s/20)
	}
	diagonal := make([]float64, n)
	for i := range diagonal {
		diagonal[i] = kernel(i, i)
	}
	s := NewSpace(slices.Clone(diagonal))
	assert.Equal(t, 9.0, s.Most)
	assert.Equal(t, 8*0x1p-52*n*9, s.Spare())
	s.Grow(func(i int, dst []float64) {
		for j := range dst {
			dst[j] = kernel(i, j)
		}
	}, 0, many)
	require.Len(t, s.Pivots, many)

	left := slices.Clone(diagonal)
	l := la.NewMatrix[float64](many, many) // of the pivots' kernel, row by row
	w := la.NewMatrix[float64](many, n)
	for i, pivot := range s.Pivots {
		best := 0
		for j, v := range left {
			if v > left[best] {
				best = j
			}
		}
		require.Equal(t, best, pivot, "the largest residual")
		root := math.Sqrt(left[pivot])
		for j := range n {
			v := kernel(pivot, j)
			for k := range i {
				v -= w.At(k, pivot) * w.At(k, j)
			}
			w.Set(i, j, v/root)
		}
		for j := range n {
			left[j] -= w.At(i, j) * w.At(i, j)
		}
		left[pivot] = 0
		for k := range i + 1 {
			l.Set(i, k, w.At(k, pivot))
		}
	}
	for i, row := range s.W {
		for j, v := range row {
			require.InDelta(t, w.At(i, j), v, 1e-7)
		}
	}
	for j, v := range s.Left {
		require.InDelta(t, left[j], v, 1e-7)
	}
	two := s.Matrix(2)
	assert.Equal(t, append(slices.Clone(s.W[0]), s.W[1]...), two.Data)

	var sum, squares, plain float64
	weights := x.Data[:n]
	for j, v := range s.Left {
		v += s.Spare()
		sum += math.Abs(weights[j]) * math.Sqrt(v)
		squares += weights[j] * weights[j] * v
		plain += v
	}
	assert.InEpsilon(t, sum, s.Sum(weights), 1e-12)
	assert.InEpsilon(t, math.Sqrt(squares), s.Length(weights), 1e-12)
	assert.InEpsilon(t, math.Sqrt(plain), s.Length(nil), 1e-12)

	inverse := la.NewMatrix[float64](many, many)
	shift := s.Invert(inverse, 7)
	size := 0.0
	for i := range many {
		for j := range i + 1 {
			dot := 0.0
			for k := j; k <= i; k++ {
				dot += inverse.At(i, k) * l.At(k, j)
			}
			want := 0.0
			if i == j {
				want = 1
			}
			require.InDelta(t, want, dot, 1e-6)
			size += inverse.At(i, j) * inverse.At(i, j)
		}
	}
	assert.InEpsilon(t, 0x1p-52*(many+15+7)*math.Sqrt(size*many*9), shift, 1e-12)
	assert.InEpsilon(t, 2*shift+shift*shift+0x1p-52*(many+16), s.Hidden(shift), 1e-12)
	assert.InEpsilon(t, 0.25+1.0/64+0x1p-52*(many+16), s.Hidden(0.125), 1e-15)
}
