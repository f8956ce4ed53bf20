package la

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// PivotError is the error of a Cholesky factorisation that met a pivot without a square root.
type PivotError struct {
	Index int     // row of the pivot, from 0
	Value float64 // the pivot: ≤ 0, NaN or ±Inf
}

// Indefinite reports whether the pivot is finite. The matrix is then not positive definite.
// Otherwise the matrix holds NaN or Inf, or its elements are so large that the arithmetic overflows.
func (e *PivotError) Indefinite() bool {
	return !math.IsNaN(e.Value) && !math.IsInf(e.Value, 0)
}

// Error returns a message with the row and the value of the pivot.
func (e *PivotError) Error() string {
	if e.Indefinite() {
		return fmt.Sprintf("la: matrix is not positive definite: pivot %d is %g", e.Index, e.Value)
	}
	return fmt.Sprintf("la: matrix is not finite: pivot %d is %g", e.Index, e.Value)
}

// Cholesky computes the lower triangular factor L of a symmetric positive definite n×n matrix,
//
//	A = L·Lᵀ,
//
// and stores it in the lower triangle of A. The strict upper triangle is neither read nor written. A
// nil w stands for a new [Workspace].
//
// The error is a [*PivotError] if A is not positive definite or not finite. The lower triangle is
// then partly overwritten. A NaN or an infinity in the lower triangle always gives an error.
//
// Roundings: l_ij is a_ij − Σ_k l_ik·l_jk, one chain of fused multiply-adds with k ascending, times
// 1/l_jj. The computed factor satisfies |A − L·Lᵀ| ≤ γ_{n+2}·|L|·|Lᵀ| element by element, with
// γ_m = m·u/(1 − m·u) and the unit round-off u.
//
// Source: N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., theorem 10.3, with
// one more rounding for the reciprocal.
func Cholesky[T Float](w *Workspace, a Matrix[T]) error {
	a.checkSquare("A")
	if a.Rows == 0 {
		return nil
	}
	raceWriteLower(0, a)
	if ok, err := smallCholesky(w, &a); ok {
		return err
	}
	t, w := triangularOf(w, a, false, 0)
	t.t = &elements[T](&t.mem, t.strips*t.ts)[0]
	t.pivot.Index = -1
	t.team.reset(t.blocks, 0)
	t.team.addGrid(factoring, false)
	t.run(w, 1)
	if t.pivot.Index < 0 {
		return nil
	}
	e := t.pivot
	return &e
}

// factor carries out the steps x.next ≤ k < to of tile x of L. It first copies the tile into strips.
// There it subtracts the terms and solves for the tile, and there later tiles read it. factor
// returns false if a pivot is not positive and finite.
func (t *triangular[T]) factor(x *tile, to int, scratch *T, h *ahead) bool {
	i, j := x.i, x.j
	s, e := t.block(i)
	h.clear()
	if min(to, j) > x.next {
		t.subtract(x, min(to, j), h)
	} else if x.next == 0 && i != j {
		for i := s; i < e; i++ {
			t.load(i, j)
		}
	}
	if to <= j {
		return true
	}
	if i == j {
		return t.factorBlock(i, scratch)
	}
	lo, hi := t.positions(j, j+1)
	top, _ := t.block(j)
	base := top * t.k.nr
	for i := s; i < e; i++ {
		t.k.solve(lo-base, hi-base, t.strip(top, base), t.ts, at(t.r, base), t.strip(i, base), 0)
		t.store(i, j)
	}
	return true
}

// subtract subtracts from tile x the products of blocks x.next ≤ k < to of L's rows. In a tile on
// the diagonal it updates only the lower triangle.
func (t *triangular[T]) subtract(x *tile, to int, h *ahead) {
	nr := t.k.nr
	is, ie := t.block(x.i)
	js, je := t.block(x.j)
	lo, hi := t.positions(x.next, to)
	for q := lo; q < hi; q += t.chunk {
		k := min(t.chunk, hi-q)
		h.clear()
		if left := hi - q - k; left > 0 {
			addStrips(h, ie-is, t.strip(is, q+k), t.ts, nr, min(t.chunk, left))
			if x.i != x.j {
				addStrips(h, je-js, t.strip(js, q+k), t.ts, nr, min(t.chunk, left))
			}
		}
		for i := is; i < ie; i++ {
			if x.next == 0 && q == lo {
				t.begin(i, x.j)
				t.fetchBegin(i+1, x.j, h)
			}
			t.subtractRow(i, js, je, q, k, h)
		}
	}
}

// begin loads the part of strip i that is in block j, before the first terms are subtracted. It
// copies the tile on the diagonal, and transposes the others.
func (t *triangular[T]) begin(i, j int) {
	t.load(i, j)
	if _, e := t.block(j); i < e {
		row, _, m := t.rows(i)
		t.k.copyLower(m, t.strip(i, i*t.k.nr), t.k.nr, &t.l.Data[row*t.l.Stride+row], t.l.Stride)
	}
}

// fetchBegin adds the memory that begin will read to the queue h.
func (t *triangular[T]) fetchBegin(i, j int, h *ahead) {
	if i == t.strips {
		return
	}
	row, _, m := t.rows(i)
	if _, column, k := t.left(i, j); k > 0 {
		addRows(h, m, &t.l.Data[row*t.l.Stride+column], t.l.Stride, t.k.nr)
	}
}

// subtractRow subtracts from the tiles of strip i and strips js ≤ j < je their products of k terms
// from position q on. It is a separate function so that the goroutine often enters a Go function,
// where it can be preempted; in assembly it cannot.
func (t *triangular[T]) subtractRow(i, js, je, q, k int, h *ahead) {
	nr := t.k.nr
	b := t.strip(i, q)
	for j := js; j < min(je, i); j++ {
		c := t.strip(i, j*nr)
		soon, step := h.take(address(b))
		t.k.sub(k, t.strip(j, q), b, c, nr, at(c, nr*nr), 0, soon, step)
	}
	if i < je {
		c := t.strip(i, i*nr)
		t.k.sub(k, b, b, c, nr, c, tileLower, address(b), 0)
	}
}

// factorBlock factors a block on the diagonal, strip by strip. It first solves for a strip with the
// strips above it, then factors the strip's corner, which is its tile on the diagonal. In all blocks
// but the first, subtract has left the corner in the order of the matrix, so that factorBlock
// transposes the corner first.
func (t *triangular[T]) factorBlock(block int, scratch *T) bool {
	nr, ld := t.k.nr, t.l.Stride
	lo, _ := t.positions(block, block+1)
	s, e := t.block(block)
	base, later := s*nr, block > 0
	top, r := t.strip(s, base), at(t.r, base)
	for i := s; i < e; i++ {
		if !later {
			t.load(i, block)
		}
		row, line, m := t.rows(i)
		corner := t.strip(i, i*nr)
		if later {
			t.k.loadCorner(nr, corner, nr, scratch)
			t.k.copyRows(nr, scratch, nr, corner, nr)
		} else {
			t.loadCorner(i)
		}
		y := t.strip(i, base)
		if i > s {
			t.k.solve(lo-base, i*nr-base, top, t.ts, r, y, 0)
		}
		if j := t.k.chol(lo-base, max(lo, i*nr)-base, (i+1)*nr-base, r, y); j >= 0 {
			t.pivot = PivotError{Index: base + j - t.pad, Value: float64(*at(y, j*nr+j%nr))}
			return false
		}
		t.k.storeCorner(m, at(corner, line*nr+line), &t.l.Data[row*ld+row], ld)
		t.store(i, block)
	}
	return true
}

// LogDet returns log|A| = 2·Σ_i log l_ii from the Cholesky factor L of A.
func LogDet[T Float](l Matrix[T]) float64 {
	l.checkSquare("L")
	var s float64
	for i := range l.Rows {
		s += special.Log(float64(l.At(i, i)))
	}
	return 2 * s
}

// CholeskySolve computes B ← A⁻¹·B for an n×m matrix B, where L is the n×n Cholesky factor of A. B
// must not overlap L. A nil w stands for a new [Workspace]. It calls [Trsm] twice.
func CholeskySolve[T Float](w *Workspace, l, b Matrix[T]) {
	Trsm(w, Left, NoTrans, l, b)
	Trsm(w, Left, Transpose, l, b)
}

// CholeskySolveVec computes x ← A⁻¹·x for a vector of n elements, where L is the n×n Cholesky factor
// of A. x must not overlap L. It calls [Trsv] twice.
func CholeskySolveVec[T Float](l Matrix[T], x []T) {
	Trsv(NoTrans, l, x)
	Trsv(Transpose, l, x)
}
