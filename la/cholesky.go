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
	a.checkSquare("A")
	if a.Rows == 0 {
		return nil
	}
	raceWriteLower(0, a)
	if s, ok := smallOf[T](w, a.Rows); ok {
		return s.cholesky(a)
	}
	t, w := triangularOf(w, a, false, 0)
	t.pivot.Index = -1
	t.run(w, factorise)
	if t.pivot.Index < 0 {
		return nil
	}
	e := t.pivot
	return &e
}

// factorise is one worker's part of a Cholesky factorisation. Block column by
// block column, the rows below the block are solved for, which leaves them
// packed, and their product is subtracted from the triangle to the right. The
// next block is factored as soon as its own tiles are up to date.
func (t *triangular[T]) factorise(worker int) {
	if worker == 0 {
		t.tilesEnd.Store(0)
		t.factorBlock(t.seek(0))
	}
	t.team.wait()
	for b := range t.blocks - 1 {
		if t.pivot.Index >= 0 {
			return
		}
		p := t.panel(b)
		for i := p.e + t.team.task(); i < t.strips; i = p.e + t.team.task() {
			t.load(p, i)
			t.k.solve(p.lo, p.hi, p.t, t.ts, p.r, t.strip(p, i, 0))
			t.store(p, i)
		}
		t.team.wait()
		next := (b + 2) * t.strips / t.blocks // end of the next block
		corner := next - p.e
		rest := span{top: next, bottom: t.strips, left: p.e, right: t.strips, lower: true}
		for {
			task := t.team.task()
			if task < corner {
				t.subtract(p, p.e+task, next, p.e+task, t.tile(worker))
				if int(t.tilesEnd.Add(1)) == corner {
					t.tilesEnd.Store(0)
					t.factorBlock(t.seek(b + 1))
				}
				continue
			}
			top, bottom, j, none := rest.task(task-corner, t.chunk)
			if none >= 0 {
				break
			}
			t.subtract(p, top, bottom, j, t.tile(worker))
		}
		t.team.wait()
	}
}

// factorBlock factors the block on the diagonal, strip by strip: a strip is
// solved for with those above it, then its corner is factored.
func (t *triangular[T]) factorBlock(p *panel[T]) {
	nr := t.k.nr
	for i := p.s; i < p.e; i++ {
		t.load(p, i)
		y, q := t.strip(p, i, 0), (i-p.s)*nr
		if q > 0 {
			t.k.solve(p.lo, q, p.t, t.ts, p.r, y)
		}
		if j := t.k.chol(p.lo, max(q, p.lo), q+nr, p.r, y); j >= 0 {
			t.pivot = PivotError{Index: p.s*nr + j - t.pad, Value: float64(*at(y, j*nr+j%nr))}
			return
		}
		t.store(p, i)
	}
}

// subtract subtracts the products of strips top ≤ i < bottom with strip j from
// the tiles of the matrix where they belong.
func (t *triangular[T]) subtract(p *panel[T], top, bottom, j int, tile *T) {
	nr, ld, k := t.k.nr, t.l.Stride, p.hi-p.lo
	b := t.strip(p, j, p.lo)
	c := &t.l.Data[(top*nr-t.pad)*ld+j*nr-t.pad]
	for i := top; i < bottom; i++ {
		a, next := t.strip(p, i, p.lo), c
		if i+1 < bottom {
			next = at(c, nr*ld)
		}
		if i > j {
			t.k.sub(k, a, b, c, ld, next, 0)
		} else {
			t.k.lower(nr, tile, nr, c, ld)
			t.k.sub(k, a, b, tile, nr, tile, tileLower)
			t.k.lower(nr, c, ld, tile, nr)
		}
		c = next
	}
}

// LogDet returns log|A| = 2 Σ log L_ii from the Cholesky factor L of A.
func LogDet[T Float](l Matrix[T]) float64 {
	l.checkSquare("L")
	var s float64
	for i := range l.Rows {
		s += log(float64(l.At(i, i)))
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
