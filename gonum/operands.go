package gonum

import (
	"sync"

	"gonum.org/v1/gonum/blas"

	"github.com/bmkl/bmkl/la"
)

// scratch is the memory of one call.
type scratch struct {
	ws  la.Workspace
	f64 []float64
	f32 []float32
}

var pool = sync.Pool{New: func() any { return new(scratch) }}

// borrow returns memory for one call. The caller returns it with pool.Put.
func borrow() *scratch { return pool.Get().(*scratch) }

// room returns n elements of s, not cleared. Later calls return the same elements.
func room[T la.Float](s *scratch, n int) []T {
	p, ok := any(&s.f64).(*[]T)
	if !ok {
		p = any(&s.f32).(*[]T)
	}
	if cap(*p) < n {
		*p = make([]T, n)
	}
	return (*p)[:n]
}

// square returns an n×n matrix in the memory of s.
func square[T la.Float](s *scratch, n int) la.Matrix[T] { return la.MatrixOf(n, n, room[T](s, n*n)) }

// matrix returns the rows×cols matrix in a, or the empty matrix if a is too short or a size is not
// valid.
func matrix[T la.Float](rows, cols int, a []T, stride int) la.Matrix[T] {
	m := la.Matrix[T]{Rows: rows, Cols: cols, Stride: stride, Data: a}
	if rows <= 0 || cols <= 0 || !m.Valid() {
		return la.Matrix[T]{}
	}
	return m
}

// operand returns the matrix A in a whose op(A) is rows×cols, as matrix does.
func operand[T la.Float](t la.Trans, rows, cols int, a []T, stride int) la.Matrix[T] {
	if t {
		rows, cols = cols, rows
	}
	return matrix(rows, cols, a, stride)
}

// empty reports whether one of the matrices is empty.
func empty[T la.Float](ms ...la.Matrix[T]) bool {
	for _, m := range ms {
		if m.Rows == 0 {
			return true
		}
	}
	return false
}

// transpose returns la's value for t. ConjTrans is Trans, as the matrices are real. ok is false for
// other values.
func transpose(t blas.Transpose) (tr la.Trans, ok bool) {
	return t != blas.NoTrans, t == blas.NoTrans || t == blas.Trans || t == blas.ConjTrans
}

func isTriangle(u blas.Uplo) bool { return u == blas.Lower || u == blas.Upper }
func isSide(s blas.Side) bool     { return s == blas.Left || s == blas.Right }
func isDiag(d blas.Diag) bool     { return d == blas.NonUnit || d == blas.Unit }

// rowsOf returns rows i0 ≤ i < i1 of op(A).
func rowsOf[T la.Float](t la.Trans, a la.Matrix[T], i0, i1 int) la.Matrix[T] {
	if t {
		return a.Slice(0, a.Rows, i0, i1)
	}
	return a.Slice(i0, i1, 0, a.Cols)
}

// lower stores one triangle of A, the lower one or the upper one transposed, in the lower
// triangle of dst.
func lower[T la.Float](dst, a la.Matrix[T], uplo blas.Uplo) {
	if uplo == blas.Lower {
		for i := range a.Rows {
			copy(dst.Row(i)[:i+1], a.Row(i))
		}
		return
	}
	inTiles(a.Rows, func(i, j0, j1 int) {
		row := a.Row(i)
		for j := j0; j < j1; j++ {
			dst.Data[j*dst.Stride+i] = row[j]
		}
	})
}

// backToUpper stores the lower triangle of src, transposed, in the upper triangle of A.
func backToUpper[T la.Float](a, src la.Matrix[T]) {
	inTiles(a.Rows, func(i, j0, j1 int) {
		row := a.Row(i)
		for j := j0; j < j1; j++ {
			row[j] = src.Data[j*src.Stride+i]
		}
	})
}

// inTiles calls do for the upper triangle of n rows, columns j0 ≤ j < j1 of row i at a time,
// in tiles that stay in the cache with their transposes.
func inTiles(n int, do func(i, j0, j1 int)) {
	const side = 32
	for i0 := 0; i0 < n; i0 += side {
		for j0 := i0; j0 < n; j0 += side {
			for i := i0; i < min(i0+side, n); i++ {
				do(i, max(i, j0), min(j0+side, n))
			}
		}
	}
}

// vector is a vector of n elements, inc apart; a negative inc runs from the last to the first.
type vector[T la.Float] struct {
	data   []T
	n, inc int
}

// fits reports whether the vector has all elements and inc is not 0.
func (v vector[T]) fits() bool {
	return v.n > 0 && v.inc != 0 && len(v.data) > (v.n-1)*max(v.inc, -v.inc)
}

// column returns the vector's elements as a matrix, for la.Overlap.
func (v vector[T]) column() la.Matrix[T] {
	if v.inc == 1 {
		return la.Matrix[T]{Rows: 1, Cols: v.n, Stride: v.n, Data: v.data}
	}
	return la.Matrix[T]{Rows: v.n, Cols: 1, Stride: max(v.inc, -v.inc), Data: v.data}
}

// first returns the index of the first element.
func (v vector[T]) first() int { return max(0, -(v.n-1)*v.inc) }

// gather returns the elements with a distance of 1. It copies them to tmp if inc is not 1.
func (v vector[T]) gather(tmp []T) []T {
	if v.inc == 1 {
		return v.data[:v.n]
	}
	at := v.first()
	for i := range tmp[:v.n] {
		tmp[i] = v.data[at]
		at += v.inc
	}
	return tmp[:v.n]
}

// scatter copies the result of gather back to the vector.
func (v vector[T]) scatter(tmp []T) {
	if v.inc == 1 {
		return
	}
	at := v.first()
	for _, x := range tmp {
		v.data[at] = x
		at += v.inc
	}
}
