package la

import "fmt"

// Trsm overwrites B with the solution X of op(L)·X = B (Left, B n×m) or
// X·op(L) = B (Right, B m×n), where L is n×n lower triangular. The strict upper
// triangle of L is not read; a zero on its diagonal gives Inf or NaN. B must not
// overlap L.
//
// Each unknown is its right-hand side less the terms of the unknowns before it,
// one chain of fused multiply-adds in the order of substitution, times the
// reciprocal of the diagonal element: the solution is that of a perturbed
// system, |ΔL| ≤ γ_{n+1}·|L| (Higham, 2nd ed., theorem 8.5, with one more rounding
// for the reciprocal). A diagonal element so small that its reciprocal overflows
// counts as zero.
func Trsm[T Float](w *Workspace, s Side, t Trans, l, b Matrix[T]) {
	l.checkSquare("l")
	b.check("b")
	n := b.Rows
	if s == Right {
		n = b.Cols
	}
	if n != l.Rows {
		panic(fmt.Sprintf("la: b: %d×%d does not fit a triangle of %d rows", b.Rows, b.Cols, l.Rows))
	}
	trsm(w, stripTable[T](), s, t, l, b)
}

func trsm[T Float](w *Workspace, k *stripKernels[T], s Side, t Trans, l, b Matrix[T]) {
	if b.Rows == 0 || b.Cols == 0 {
		return
	}
	nr := k.nr
	tri := newTriangle(w, k, l)
	tri.reverse = (s == Left) == (t == Transpose)
	m := b.Cols
	if s == Right {
		m = b.Rows
	}
	strips := (m + nr - 1) / nr
	ys := tri.strips * nr * nr
	group := min(max(rhsGroup/nr, 1), strips)
	y := scratch[T](w, group*ys)
	for c0 := 0; c0 < strips; c0 += group {
		c1 := min(c0+group, strips)
		for c := c0; c < c1; c++ {
			tri.loadRHS(s, b, c, at(y, (c-c0)*ys))
		}
		tri.solve(-1, c1-c0, y, ys)
		for c := c0; c < c1; c++ {
			tri.storeRHS(s, b, c, at(y, (c-c0)*ys))
		}
	}
}

// loadRHS fills the strip y with the columns (Left) or rows (Right) of B that
// strip c stands for.
func (t *triangle[T]) loadRHS(s Side, b Matrix[T], c int, y *T) {
	nr, n := t.k.nr, t.l.Rows
	clear(elems(y, t.pad*nr))
	y = at(y, t.pad*nr)
	j := c * nr
	if s == Left {
		m := min(nr, b.Cols-j)
		for p := range n {
			d := elems(at(y, p*nr), nr)
			copy(d, b.Row(t.order(p))[j:j+m])
			clear(d[m:])
		}
		return
	}
	m := min(nr, b.Rows-j)
	if m < nr {
		clear(elems(y, n*nr))
	}
	t.k.pack(m, n, &b.Data[j*b.Stride], b.Stride, y)
	t.flip(y)
}

// storeRHS is the inverse of loadRHS.
func (t *triangle[T]) storeRHS(s Side, b Matrix[T], c int, y *T) {
	nr, n := t.k.nr, t.l.Rows
	y = at(y, t.pad*nr)
	j := c * nr
	if s == Left {
		m := min(nr, b.Cols-j)
		for p := range n {
			copy(b.Row(t.order(p))[j:j+m], elems(at(y, p*nr), m))
		}
		return
	}
	t.flip(y)
	t.k.unpack(min(nr, b.Rows-j), n, y, &b.Data[j*b.Stride], b.Stride)
}

// order returns the unknown that is the p-th to be solved for.
func (t *triangle[T]) order(p int) int {
	if t.reverse {
		return t.l.Rows - 1 - p
	}
	return p
}

// flip brings the rows of y from the order of the unknowns into that of the
// substitution, or back.
func (t *triangle[T]) flip(y *T) {
	if !t.reverse {
		return
	}
	nr := t.k.nr
	for p, q := 0, t.l.Rows-1; p < q; p, q = p+1, q-1 {
		a, b := elems(at(y, p*nr), nr), elems(at(y, q*nr), nr)
		for i := range a {
			a[i], b[i] = b[i], a[i]
		}
	}
}
