package la

import (
	"fmt"
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
				s = fmaChain(-a.At(i, k), a.At(j, k), s)
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
				v = fmaChain(-lt.At(i, k), x.At(k, c), v)
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
				s = fmaChain(l.At(k, i), l.At(k, j), s)
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
			s = fmaChain(l.At(k, j), l.At(k, j), s)
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
			require.True(t, v != v, "padding of row %d was written", i)
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

func requireSameLower[T Float](t *testing.T, want, got Matrix[T]) {
	t.Helper()
	for i := range want.Rows {
		for j := range want.Cols {
			if j > i {
				require.True(t, got.At(i, j) != got.At(i, j), "upper triangle written at (%d, %d)", i, j)
			} else if want.At(i, j) != got.At(i, j) {
				require.Failf(t, "differs", "n = %d, (%d, %d): want %v, got %v", want.Rows, i, j, want.At(i, j), got.At(i, j))
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

func TestFactorBits(t *testing.T) {
	k := genericStripKernels[float64]()
	for n := range 71 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, uint64(n)))
			a := spd[float64](rng, n)
			want, got := clone(a), clone(a)
			refCholesky(want)
			require.NoError(t, cholesky(nil, &k, got))
			requireSameLower(t, want, got)
			l := clone(want)

			refTriInv(want)
			invert(nil, &k, got, false)
			requireSameLower(t, want, got)

			want, got = clone(l), clone(l)
			refCholeskyInv(want)
			invert(nil, &k, got, true)
			requireSameLower(t, want, got)

			d, e := make([]float64, n), make([]float64, n)
			want = clone(l)
			refInvDiag(want, d)
			got = clone(l)
			cholInvDiag(nil, &k, got, e)
			require.Equal(t, d, e)
			requireSameLower(t, l, got)

			for _, m := range []int{1, 3, n, 50} {
				for _, s := range []Side{Left, Right} {
					for _, tr := range []Trans{NoTrans, Transpose} {
						b := guarded[float64](n, m)
						if s == Right {
							b = guarded[float64](m, n)
						}
						for i := range b.Rows {
							for j := range b.Cols {
								b.Set(i, j, rng.NormFloat64())
							}
						}
						want, got := clone(b), clone(b)
						refTrsm(s, tr, l, want)
						trsm(nil, &k, s, tr, l, got)
						for i := range b.Rows {
							require.Equal(t, want.Row(i), got.Row(i), "%v %v m=%d row %d", s, tr, m, i)
						}
						requireGuards(t, got)
					}
				}
			}
		})
	}
}
