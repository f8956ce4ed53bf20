package la

import (
	"fmt"
	"math"
)

// Trsm overwrites B with the solution X of op(L)·X = B (Left, B n×m) or
// X·op(L) = B (Right, B m×n), where L is n×n lower triangular. The strict upper
// triangle of L is not read; a zero on its diagonal gives Inf or NaN. B must not
// overlap L.
func Trsm[T Float](w *Workspace, s Side, t Trans, l, b Matrix[T]) {
	if s == Right {
		x := make([]T, b.Cols)
		for i := range b.Rows {
			copy(x, b.Row(i))
			Trsv(!t, l, x)
			copy(b.Row(i), x)
		}
		return
	}
	x := make([]T, b.Rows)
	for j := range b.Cols {
		for i := range x {
			x[i] = b.At(i, j)
		}
		Trsv(t, l, x)
		for i := range x {
			b.Set(i, j, x[i])
		}
	}
}

// Trsv overwrites x with the solution of op(L)·x = b, b being x on entry, where
// L is lower triangular and its strict upper triangle is not read.
func Trsv[T Float](t Trans, l Matrix[T], x []T) {
	n := l.Rows
	if !t {
		for i := range n {
			s := x[i]
			for j := range i {
				s -= l.At(i, j) * x[j]
			}
			x[i] = s / l.At(i, i)
		}
		return
	}
	for i := n - 1; i >= 0; i-- {
		s := x[i]
		for j := i + 1; j < n; j++ {
			s -= l.At(j, i) * x[j]
		}
		x[i] = s / l.At(i, i)
	}
}

// PivotError says why a Cholesky factorisation stopped.
type PivotError struct {
	Index int     // row of the pivot, from 0
	Value float64 // what was to be square-rooted: ≤ 0, NaN or ±Inf
}

// Indefinite reports whether the matrix is not positive definite, as opposed to
// holding NaN or Inf (or overflowing).
func (e *PivotError) Indefinite() bool {
	return !math.IsNaN(e.Value) && !math.IsInf(e.Value, 0)
}

func (e *PivotError) Error() string {
	if e.Indefinite() {
		return fmt.Sprintf("la: matrix is not positive definite: pivot %d is %g", e.Index, e.Value)
	}
	return fmt.Sprintf("la: matrix is not finite: pivot %d is %g", e.Index, e.Value)
}

// Cholesky overwrites the lower triangle of the symmetric positive definite A
// with its factor L, A = L·Lᵀ. The strict upper triangle is neither read nor
// written. The error is a *PivotError; the lower triangle is then partly
// overwritten.
func Cholesky[T Float](w *Workspace, a Matrix[T]) error {
	n := a.Rows
	for j := range n {
		for i := j; i < n; i++ {
			s := a.At(i, j)
			for k := range j {
				s -= a.At(i, k) * a.At(j, k)
			}
			if i == j {
				if !(s > 0) || math.IsInf(float64(s), 0) {
					return &PivotError{Index: j, Value: float64(s)}
				}
				a.Set(j, j, T(math.Sqrt(float64(s))))
			} else {
				a.Set(i, j, s/a.At(j, j))
			}
		}
	}
	return nil
}

// LogDet returns log|A| = 2 Σ log L_ii from the Cholesky factor L of A.
func LogDet[T Float](l Matrix[T]) float64 {
	var s float64
	for i := range l.Rows {
		s += math.Log(float64(l.At(i, i)))
	}
	return 2 * s
}

// CholeskySolve overwrites the n×m matrix B with A⁻¹·B, where L is the Cholesky
// factor of A.
func CholeskySolve[T Float](w *Workspace, l, b Matrix[T]) {
	Trsm(w, Left, NoTrans, l, b)
	Trsm(w, Left, Transpose, l, b)
}

// CholeskySolveVec overwrites x with A⁻¹·x, where L is the Cholesky factor of A.
func CholeskySolveVec[T Float](l Matrix[T], x []T) {
	Trsv(NoTrans, l, x)
	Trsv(Transpose, l, x)
}

// TriInv overwrites the lower triangle of L with that of L⁻¹. The strict upper
// triangle is neither read nor written.
func TriInv[T Float](w *Workspace, l Matrix[T]) {
	n := l.Rows
	inv := NewMatrix[T](n, n)
	for i := range n {
		inv.Set(i, i, 1)
	}
	Trsm(w, Left, NoTrans, l, inv)
	for i := range n {
		copy(l.Row(i)[:i+1], inv.Row(i)[:i+1])
	}
}

// CholeskyInv overwrites the Cholesky factor L of A, a lower triangle, with the
// lower triangle of A⁻¹. The strict upper triangle is neither read nor written.
func CholeskyInv[T Float](w *Workspace, l Matrix[T]) {
	TriInv(w, l)
	n := l.Rows
	lt := NewMatrix[T](n, n)
	for i := range n {
		copy(lt.Row(i)[:i+1], l.Row(i)[:i+1])
	}
	Syrk(w, Transpose, 1, lt, 0, l)
}

// CholeskyInvDiag stores the diagonal of A⁻¹ in d, from the Cholesky factor L of
// A, for about half the work of CholeskyInv. L is not changed.
func CholeskyInvDiag[T Float](w *Workspace, l Matrix[T], d []T) {
	c := l.Clone()
	TriInv(w, c)
	for j := range d {
		var s T
		for i := j; i < l.Rows; i++ {
			s += c.At(i, j) * c.At(i, j)
		}
		d[j] = s
	}
}
