package la

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// filled returns a rows×cols view with random elements, of a matrix whose other
// elements are NaN and whose stride is wider.
func filled[T Float](r *rand.Rand, rows, cols int) Matrix[T] {
	pad := NewMatrix[T](rows+2, cols+5)
	pad.Fill(T(math.NaN()))
	m := pad.Slice(1, 1+rows, 3, 3+cols)
	for i := range rows {
		for j := range m.Row(i) {
			m.Row(i)[j] = T(r.NormFloat64())
		}
	}
	return m
}

// orient returns op⁻¹'s shape.
func orient(t Trans, rows, cols int) (int, int) {
	if t {
		return cols, rows
	}
	return rows, cols
}

// bits returns x's bits, all NaNs being one.
func bits[T Float](x T) uint64 {
	if x != x {
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(float64(x))
}

// sameBits fails unless two vectors, or the storage of two matrices, have equal bits.
func sameBits[T Float](t testing.TB, want, got []T, what string, args ...any) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%s: length %d, want %d", fmt.Sprintf(what, args...), len(got), len(want))
	}
	for i := range want {
		if bits(want[i]) != bits(got[i]) {
			t.Fatalf("%s: element %d is %v (%x), want %v (%x)", fmt.Sprintf(what, args...),
				i, got[i], bits(got[i]), want[i], bits(want[i]))
		}
	}
}

// onGeneric runs f with the portable kernels.
func onGeneric(t testing.TB, f func()) {
	was := active
	active = &genericSet
	defer func() { active = was }()
	f()
}

// widths are sizes on both sides of the edges of tiles, lanes and blocks.
var edges = []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 13, 15, 16, 17, 23, 24, 25, 31, 32, 33, 47, 48, 49, 63, 64, 65, 70}

func TestGemmIsTheSameEverywhere(t *testing.T) {
	t.Run("float64", testGemmSame[float64])
	t.Run("float32", testGemmSame[float32])
}

func testGemmSame[T Float](t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	type shape struct{ m, n, k int }
	var shapes []shape
	for _, e := range edges {
		pick := func() int { return edges[r.IntN(len(edges))] }
		shapes = append(shapes, shape{e, pick(), pick()}, shape{pick(), e, pick()}, shape{pick(), pick(), e})
	}
	for _, k := range []int{BlockK - 1, BlockK, BlockK + 1, 2*BlockK + 3} {
		shapes = append(shapes, shape{9, 25, k}, shape{30, 5, k})
	}
	for _, s := range shapes {
		ta, tb := Trans(r.IntN(2) == 0), Trans(r.IntN(2) == 0)
		alpha := []T{1, -1, 0.7, 0}[r.IntN(4)]
		beta := []T{0, 1, -0.3}[r.IntN(3)]
		am, ak := orient(ta, s.m, s.k)
		bk, bn := orient(tb, s.k, s.n)
		a, b, c := filled[T](r, am, ak), filled[T](r, bk, bn), filled[T](r, s.m, s.n)
		if beta == 0 {
			c.Fill(T(math.NaN()))
		}
		want := cloneStorage(c)
		onGeneric(t, func() { Gemm(nil, ta, tb, alpha, a, b, beta, want) })
		forEachKernel(t, func(t *testing.T) {
			got := cloneStorage(c)
			Gemm(nil, ta, tb, alpha, a, b, beta, got)
			sameBits(t, want.Data, got.Data, "%v %v %v α=%v β=%v", s, ta, tb, alpha, beta)
		})
	}
}

// cloneStorage copies m with what lies between its rows.
func cloneStorage[T Float](m Matrix[T]) Matrix[T] {
	m.Data = append([]T(nil), m.Data...)
	return m
}
