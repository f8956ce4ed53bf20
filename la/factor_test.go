package la

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// The references are the textbook loops, with the chains that the
// documentation of each routine promises: results must be equal bit for bit.

func refCholesky[T Float](a Matrix[T]) {
	for j := range a.Rows {
		var r T
		for i := j; i < a.Rows; i++ {
			s := a.At(i, j)
			for k := range j {
				s = fma(-a.At(i, k), a.At(j, k), s)
			}
			if i == j {
				a.Set(j, j, T(math.Sqrt(float64(s))))
				r = 1 / a.At(j, j)
			} else {
				a.Set(i, j, s*r)
			}
		}
	}
}

func refTrsm[T Float](s Side, t Trans, l, b Matrix[T]) {
	n := l.Rows
	lt := l.Clone()
	if t == Transpose {
		for i := range n {
			for j := range n {
				lt.Set(i, j, l.At(j, i))
			}
		}
	}
	x := b.Clone()
	if s == Right {
		// X·op(L) = B is op(L)ᵀ·Xᵀ = Bᵀ.
		x = NewMatrix[T](b.Cols, b.Rows)
		for i := range b.Rows {
			for j := range b.Cols {
				x.Set(j, i, b.At(i, j))
			}
		}
		u := lt.Clone()
		for i := range n {
			for j := range n {
				u.Set(i, j, lt.At(j, i))
			}
		}
		lt = u
	}
	upper := (s == Left) == (t == Transpose)
	for c := range x.Cols {
		for p := range n {
			i := p
			if upper {
				i = n - 1 - p
			}
			v := x.At(i, c)
			for q := range p {
				k := q
				if upper {
					k = n - 1 - q
				}
				v = fma(-lt.At(i, k), x.At(k, c), v)
			}
			x.Set(i, c, v*(1/lt.At(i, i)))
		}
	}
	for i := range b.Rows {
		for j := range b.Cols {
			if s == Left {
				b.Set(i, j, x.At(i, j))
			} else {
				b.Set(i, j, x.At(j, i))
			}
		}
	}
}

func refTriInv[T Float](l Matrix[T]) {
	n := l.Rows
	x := NewMatrix[T](n, n)
	for i := range n {
		x.Set(i, i, 1)
	}
	refTrsm(Left, NoTrans, l, x)
	for i := range n {
		copy(l.Row(i)[:i+1], x.Row(i))
	}
}

func refCholeskyInv[T Float](l Matrix[T]) {
	refTriInv(l)
	for i := range l.Rows {
		for j := range i + 1 {
			var s T
			for k := i; k < l.Rows; k++ {
				s = fma(l.At(k, i), l.At(k, j), s)
			}
			l.Set(i, j, s)
		}
	}
}

func refInvDiag[T Float](l Matrix[T], d []T) {
	refTriInv(l)
	for j := range d {
		var s T
		for k := j; k < l.Rows; k++ {
			s = fma(l.At(k, j), l.At(k, j), s)
		}
		d[j] = s
	}
}

const guard = 7 // columns of padding behind a test matrix

// guarded returns a rows×cols matrix of NaN inside a wider one, also of NaN.
func guarded[T Float](rows, cols int) Matrix[T] {
	if rows == 0 || cols == 0 {
		return NewMatrix[T](rows, cols)
	}
	m := NewMatrix[T](rows, cols+guard)
	m.Fill(T(math.NaN()))
	return m.Slice(0, rows, 0, cols)
}

// requireGuards fails if anything behind the columns of m was written.
func requireGuards[T Float](t *testing.T, m Matrix[T]) {
	t.Helper()
	for i := range m.Rows - 1 {
		for _, v := range m.Data[i*m.Stride+m.Cols : (i+1)*m.Stride] {
			if v == v {
				require.Failf(t, "padding written", "row %d", i)
			}
		}
	}
}

// spd returns a well-conditioned symmetric positive definite matrix; its strict
// upper triangle is NaN.
func spd[T Float](rng *rand.Rand, n int) Matrix[T] {
	a := guarded[T](n, n)
	for i := range n {
		for j := range i {
			a.Set(i, j, T(rng.NormFloat64()))
		}
		a.Set(i, i, T(3*math.Sqrt(float64(n))+2+rng.Float64()))
	}
	return a
}

func requireSameLower[T Float](t *testing.T, want, got Matrix[T], what string) {
	t.Helper()
	for i := range want.Rows {
		for j := range want.Cols {
			if j > i {
				if v := got.At(i, j); v == v {
					require.Failf(t, what, "n = %d: upper triangle written at (%d, %d)", want.Rows, i, j)
				}
			} else if bitsOf(want.At(i, j)) != bitsOf(got.At(i, j)) {
				require.Failf(t, what, "n = %d, (%d, %d): want %v, got %v", want.Rows, i, j, want.At(i, j), got.At(i, j))
			}
		}
	}
	requireGuards(t, got)
}

func clone[T Float](m Matrix[T]) Matrix[T] {
	c := guarded[T](m.Rows, m.Cols)
	c.CopyFrom(m)
	return c
}

// systems are a matrix, its factor and inverse, and right-hand sides and
// solutions, computed by the references.
type systems[T Float] struct {
	a, l, x, inv Matrix[T]
	diag         []T
	solves       []system[T]
}

type system[T Float] struct {
	side Side
	t    Trans
	b, x Matrix[T]
}

func newSystems[T Float](rng *rand.Rand, n int, sides ...int) systems[T] {
	a := spd[T](rng, n)
	s := systems[T]{a: a, l: clone(a), x: clone(a), inv: clone(a), diag: make([]T, n)}
	refCholesky(s.l)
	s.x.CopyFrom(s.l)
	refTriInv(s.x)
	s.inv.CopyFrom(s.l)
	refCholeskyInv(s.inv)
	refInvDiag(clone(s.l), s.diag)
	for _, m := range sides {
		for _, side := range []Side{Left, Right} {
			for _, t := range []Trans{NoTrans, Transpose} {
				b := guarded[T](n, m)
				if side == Right {
					b = guarded[T](m, n)
				}
				for i := range b.Rows {
					for j := range b.Row(i) {
						b.Row(i)[j] = T(rng.NormFloat64())
					}
				}
				x := clone(b)
				refTrsm(side, t, s.l, x)
				s.solves = append(s.solves, system[T]{side, t, b, x})
			}
		}
	}
	return s
}

// check holds every routine to the references' bits.
func (s *systems[T]) check(t *testing.T, w *Workspace) {
	t.Helper()
	m := clone(s.a)
	require.NoError(t, Cholesky(w, m))
	requireSameLower(t, s.l, m, "Cholesky")
	TriInv(w, m)
	requireSameLower(t, s.x, m, "TriInv")
	m = clone(s.l)
	CholeskyInv(w, m)
	requireSameLower(t, s.inv, m, "CholeskyInv")
	m = clone(s.l)
	d := make([]T, len(s.diag))
	CholeskyInvDiag(w, m, d)
	sameBits(t, s.diag, d, "CholeskyInvDiag, n = %d", len(d))
	requireSameLower(t, s.l, m, "CholeskyInvDiag, its argument")
	for _, e := range s.solves {
		b := clone(e.b)
		Trsm(w, e.side, e.t, s.l, b)
		for i := range b.Rows {
			sameBits(t, e.x.Row(i), b.Row(i), "Trsm(%v, %v), %d×%d, row %d", e.side, e.t, b.Rows, b.Cols, i)
		}
		requireGuards(t, b)
	}
}

// TestTriangularRoutinesEqualTextbookLoops has 64 rows of float32 among its sizes. The padding of
// AVX-512's strips is then more than the mode of a tile can leave out.
func TestTriangularRoutinesEqualTextbookLoops(t *testing.T) {
	t.Run("float64", func(t *testing.T) { testTriangularBits[float64](t, 1, 95, 145, 193, 239, 240, 241, 385) })
	t.Run("float32", func(t *testing.T) { testTriangularBits[float32](t, 5, 64, 97, 193) })
}

func testTriangularBits[T Float](t *testing.T, step int, sizes ...int) {
	if raceEnabled || testing.Short() { // each element then costs a call, or is emulated
		step, sizes = 13, sizes[:1]
	}
	var small, large []systems[T]
	for n := 0; n <= 70; n += step {
		small = append(small, newSystems[T](rand.New(rand.NewPCG(1, uint64(n))), n, 1, 5, 24, 53))
	}
	for _, n := range sizes {
		large = append(large, newSystems[T](rand.New(rand.NewPCG(1, uint64(n))), n, 25))
	}
	forEachKernel(t, func(t *testing.T) {
		workers := []int{1, 2, 3, 7}
		for n := range small {
			small[n].check(t, &Workspace{})
			small[n].check(t, &Workspace{Workers: workers[n%4], blockWidth: 24})
			small[n].check(t, &Workspace{Workers: workers[3-n%4], blockWidth: 48})
		}
		for i := range large {
			for _, workers := range []int{1, 3} {
				large[i].check(t, &Workspace{Workers: workers})
			}
		}
	})
}

func TestTrsvIsTheSameEverywhere(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	l := spd[float64](rng, 150)
	b := filled[float64](rng, 1, 150).Row(0)
	for n := range 151 {
		ln := l.Slice(0, n, 0, n)
		for _, tr := range []Trans{NoTrans, Transpose} {
			want := append([]float64(nil), b[:n]...)
			use(t, &genericSet)
			Trsv(tr, ln, want)
			for _, s := range instructionSets {
				use(t, s)
				got := append([]float64(nil), b[:n]...)
				Trsv(tr, ln, got)
				sameBits(t, want, got, "%s, n = %d, %v", s.name, n, tr)
			}
		}
	}
}
