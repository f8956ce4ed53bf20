package la

import (
	"fmt"
	"math"
)

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
//
// Element l_ij is a_ij - Σ_k l_ik·l_jk, one chain of fused multiply-adds with k
// ascending, times 1/l_jj. The computed factor obeys |A - L·Lᵀ| ≤ γ_{n+2}·|L|·|Lᵀ|
// element by element (Higham, Accuracy and Stability of Numerical Algorithms,
// 2nd ed., theorem 10.3, with one more rounding for the reciprocal), as does
// LAPACK's: no block of the diagonal is inverted.
//
// A NaN or an infinity in the lower triangle always ends in an error, since it
// reaches the pivot of its row.
func Cholesky[T Float](w *Workspace, a Matrix[T]) error {
	a.checkSquare("a")
	return cholesky(w, stripTable[T](), a)
}

func cholesky[T Float](w *Workspace, k *stripKernels[T], a Matrix[T]) error {
	if a.Rows == 0 {
		return nil
	}
	nr, ld := k.nr, a.Stride
	t := newTriangle(w, k, a)
	tile := scratch[T](w, nr*nr)
	for b := range t.blocks {
		t.seek(b)
		for i := t.s; i < t.e; i++ {
			t.load(i)
			y := t.strip(i)
			row, line, m := t.rows(i)
			q := (i - t.s) * nr
			if q > 0 {
				k.solve(t.lo, q, t.t, t.ts, t.r, y)
				t.store(i)
			}
			if p := k.chol(t.lo, max(q, t.lo), q+nr, t.r, y); p >= 0 {
				return &PivotError{Index: t.s*nr + p - t.pad, Value: float64(*at(y, p*nr+p%nr))}
			}
			for l := range m {
				ai := a.Row(row + l)[row:]
				for p := range l + 1 {
					ai[p] = *at(y, (q+p+line)*nr+l+line)
				}
			}
		}
		for i := t.e; i < t.strips; i++ {
			t.load(i)
			k.solve(t.lo, t.width(), t.t, t.ts, t.r, t.strip(i))
			t.store(i)
		}
		for i := t.e; i < t.strips; i++ {
			for j := t.e; j <= i; j++ {
				pi, pj := at(t.strip(i), t.lo*nr), at(t.strip(j), t.lo*nr)
				c := &a.Data[(i*nr-t.pad)*ld+j*nr-t.pad]
				if i > j {
					k.sub(t.width()-t.lo, pi, pj, c, ld, nil)
					continue
				}
				copyLower(nr, tile, nr, c, ld)
				k.sub(t.width()-t.lo, pi, pj, tile, nr, nil)
				copyLower(nr, c, ld, tile, nr)
			}
		}
	}
	return nil
}

// store writes strip i left of the diagonal tile back to the matrix.
func (t *triangle[T]) store(i int) {
	row, line, m := t.rows(i)
	q0, q1 := t.s*t.k.nr, min(t.e, i)*t.k.nr
	c := max(q0-t.pad, 0)
	t.k.unpack(m, q1-t.pad-c, at(t.strip(i), (c+t.pad-q0)*t.k.nr+line), &t.l.Data[row*t.l.Stride+c], t.l.Stride)
}

// LogDet returns log|A| = 2 Σ log L_ii from the Cholesky factor L of A.
func LogDet[T Float](l Matrix[T]) float64 {
	l.checkSquare("l")
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
