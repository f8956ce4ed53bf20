package gonum

import (
	"math"

	"gonum.org/v1/gonum/blas"

	"github.com/bmkl/bmkl/la"
)

// The functions of this file and of vectors.go are the BLAS routines of the same names, for arguments
// that la accepts. They report whether they have done the work. If not, they have changed nothing.

// leaf is the largest number of rows of a triangle that is not cut in halves.
const leaf = 128

// gemm computes C ← α·op(A)·op(B) + β·C. If C has one row or one column, it calls times, which computes
// y ← α·op(A)·x + β·y.
func gemm[T la.Float](tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int,
	times func(t blas.Transpose, rows, cols int, a []T, lda int, x []T, incX int, y []T, incY int)) bool {
	ta, okA := transpose(tA)
	tb, okB := transpose(tB)
	am, bm, cm := operand(ta, m, k, a, lda), operand(tb, k, n, b, ldb), matrix(m, n, c, ldc)
	if !okA || !okB || alpha == 0 || empty(am, bm, cm) || la.Overlap(cm, am) || la.Overlap(cm, bm) {
		return false
	}
	switch {
	case k > 1 && n == 1:
		times(tA, am.Rows, am.Cols, a, lda, b, step(tb, ldb), c, ldc)
		return true
	case k > 1 && m == 1:
		t := blas.Trans
		if tb {
			t = blas.NoTrans
		}
		times(t, bm.Rows, bm.Cols, b, ldb, a, step(!ta, lda), c, 1)
		return true
	}
	s := borrow()
	defer pool.Put(s)
	la.Gemm(&s.ws, ta, tb, alpha, am, bm, beta, cm)
	return true
}

// step returns the distance between elements of a matrix with one row (if row) or one column.
func step(row la.Trans, stride int) int {
	if row {
		return 1
	}
	return stride
}

func symm[T la.Float](side blas.Side, uplo blas.Uplo, m, n int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int) bool {
	order := m
	if side == blas.Right {
		order = n
	}
	am, bm, cm := matrix(order, order, a, lda), matrix(m, n, b, ldb), matrix(m, n, c, ldc)
	if !isSide(side) || !isTriangle(uplo) || alpha == 0 || empty(am, bm, cm) || la.Overlap(cm, am) || la.Overlap(cm, bm) {
		return false
	}
	s := borrow()
	defer pool.Put(s)
	whole := square[T](s, order)
	lower(whole, am, uplo)
	whole.MirrorLower()
	if side == blas.Left {
		la.Gemm(&s.ws, la.NoTrans, la.NoTrans, alpha, whole, bm, beta, cm)
	} else {
		la.Gemm(&s.ws, la.NoTrans, la.NoTrans, alpha, bm, whole, beta, cm)
	}
	return true
}

func syrk[T la.Float](uplo blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int, beta T, c []T, ldc int) bool {
	tr, ok := transpose(t)
	am, cm := operand(tr, n, k, a, lda), matrix(n, n, c, ldc)
	if !ok || !isTriangle(uplo) || alpha == 0 || empty(am, cm) || la.Overlap(cm, am) {
		return false
	}
	s := borrow()
	defer pool.Put(s)
	if uplo == blas.Lower {
		la.Syrk(&s.ws, tr, alpha, am, beta, cm)
	} else {
		syrkUpper(s, tr, alpha, am, beta, cm)
	}
	return true
}

func syrkUpper[T la.Float](s *scratch, t la.Trans, alpha T, a la.Matrix[T], beta T, c la.Matrix[T]) {
	n := c.Rows
	if n <= leaf {
		d := square[T](s, n)
		la.Syrk(&s.ws, t, alpha, a, 0, d)
		addTriangle(blas.Upper, beta, c, func(i, j int) T { return d.Data[j*n+i] })
		return
	}
	h := n / 2
	a1, a2 := rowsOf(t, a, 0, h), rowsOf(t, a, h, n)
	syrkUpper(s, t, alpha, a1, beta, c.Slice(0, h, 0, h))
	la.Gemm(&s.ws, t, !t, alpha, a1, a2, beta, c.Slice(0, h, h, n))
	syrkUpper(s, t, alpha, a2, beta, c.Slice(h, n, h, n))
}

func syr2k[T la.Float](uplo blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int) bool {
	tr, ok := transpose(t)
	am, bm, cm := operand(tr, n, k, a, lda), operand(tr, n, k, b, ldb), matrix(n, n, c, ldc)
	if !ok || !isTriangle(uplo) || alpha == 0 || empty(am, bm, cm) || la.Overlap(cm, am) || la.Overlap(cm, bm) {
		return false
	}
	s := borrow()
	defer pool.Put(s)
	syr2kHalves(s, uplo, tr, alpha, am, bm, beta, cm)
	return true
}

func syr2kHalves[T la.Float](s *scratch, uplo blas.Uplo, t la.Trans, alpha T, a, b la.Matrix[T], beta T, c la.Matrix[T]) {
	n := c.Rows
	if n <= leaf {
		d := square[T](s, n)
		la.Gemm(&s.ws, t, !t, alpha, a, b, 0, d)
		addTriangle(uplo, beta, c, func(i, j int) T { return d.Data[i*n+j] + d.Data[j*n+i] })
		return
	}
	h := n / 2
	a1, a2, b1, b2 := rowsOf(t, a, 0, h), rowsOf(t, a, h, n), rowsOf(t, b, 0, h), rowsOf(t, b, h, n)
	syr2kHalves(s, uplo, t, alpha, a1, b1, beta, c.Slice(0, h, 0, h))
	syr2kHalves(s, uplo, t, alpha, a2, b2, beta, c.Slice(h, n, h, n))
	off := c.Slice(0, h, h, n)
	if uplo == blas.Lower {
		off = c.Slice(h, n, 0, h)
		a1, a2, b1, b2 = a2, a1, b2, b1
	}
	la.Gemm(&s.ws, t, !t, alpha, a1, b2, beta, off)
	la.Gemm(&s.ws, t, !t, alpha, b1, a2, 1, off)
}

// addTriangle computes C ← β·C + D in one triangle. With β = 0, C is not read.
func addTriangle[T la.Float](uplo blas.Uplo, beta T, c la.Matrix[T], d func(i, j int) T) {
	for i := range c.Rows {
		j0, row := 0, c.Row(i)[:i+1]
		if uplo == blas.Upper {
			j0, row = i, c.Row(i)[i:]
		}
		for j := range row {
			if beta == 0 {
				row[j] = d(i, j0+j)
			} else {
				row[j] = beta*row[j] + d(i, j0+j)
			}
		}
	}
}

// triangular is a product with or a system of a triangular matrix A.
type triangular struct {
	side blas.Side
	uplo blas.Uplo
	t    blas.Transpose
	diag blas.Diag
}

// fits reports whether all settings are known.
func (p triangular) fits() bool {
	_, ok := transpose(p.t)
	return ok && isSide(p.side) && isTriangle(p.uplo) && isDiag(p.diag)
}

// order returns the number of rows of A, and the number of vectors that A is applied to.
func (p triangular) order(m, n int) (order, vectors int) {
	if p.side == blas.Right {
		return n, m
	}
	return m, n
}

// trmm cuts A in halves, and calls product, which is gonum's, for triangles of few rows.
func trmm[T la.Float](p triangular, m, n int, alpha T, a []T, lda int, b []T, ldb int, product func(a, b la.Matrix[T])) bool {
	order, _ := p.order(m, n)
	am, bm := matrix(order, order, a, lda), matrix(m, n, b, ldb)
	if !p.fits() || alpha == 0 || empty(am, bm) || la.Overlap(bm, am) {
		return false
	}
	s := borrow()
	defer pool.Put(s)
	trmmHalves(s, p, alpha, am, bm, product)
	return true
}

func trmmHalves[T la.Float](s *scratch, p triangular, alpha T, a, b la.Matrix[T], product func(a, b la.Matrix[T])) {
	const leaf = 16
	n := a.Rows
	if n <= leaf {
		product(a, b)
		return
	}
	h := (n/2 + leaf - 1) / leaf * leaf
	off := a.Slice(h, n, 0, h)
	if p.uplo == blas.Upper {
		off = a.Slice(0, h, h, n)
	}
	a1, a2 := a.Slice(0, h, 0, h), a.Slice(h, n, h, n)
	t, _ := transpose(p.t)
	below := (p.uplo == blas.Lower) != bool(t) // op(A) is a lower triangle
	left := p.side == blas.Left
	b1, b2 := rowsOf(la.Trans(!left), b, 0, h), rowsOf(la.Trans(!left), b, h, n)
	if below == left { // the second half of B needs the old values of the first
		a1, a2, b1, b2 = a2, a1, b2, b1
	}
	trmmHalves(s, p, alpha, a1, b1, product)
	if left {
		la.Gemm(&s.ws, t, la.NoTrans, alpha, off, b2, 1, b1)
	} else {
		la.Gemm(&s.ws, la.NoTrans, t, alpha, b2, off, 1, b1)
	}
	trmmHalves(s, p, alpha, a2, b2, product)
}

func trsm[T la.Float](p triangular, m, n int, alpha T, a []T, lda int, b []T, ldb int) bool {
	order, _ := p.order(m, n)
	am, bm := matrix(order, order, a, lda), matrix(m, n, b, ldb)
	if !p.fits() || alpha == 0 || empty(am, bm) || la.Overlap(bm, am) || p.diag == blas.NonUnit && !invertible(am) {
		return false
	}
	t, _ := transpose(p.t)
	s := borrow()
	defer pool.Put(s)
	l := am
	if p.uplo == blas.Upper || p.diag == blas.Unit {
		l = square[T](s, order)
		lower(l, am, p.uplo)
		t = t != (p.uplo == blas.Upper)
	}
	if p.diag == blas.Unit {
		for i := range order {
			l.Set(i, i, 1)
		}
	}
	if alpha != 1 {
		for i := range m {
			la.Scal(alpha, bm.Row(i))
		}
	}
	la.Trsm(&s.ws, p.side == blas.Right, t, l, bm)
	return true
}

// invertible reports whether all diagonal elements have finite reciprocals. gonum divides by diagonal
// elements, and la multiplies by their reciprocals.
func invertible[T la.Float](a la.Matrix[T]) bool {
	for i := range a.Rows {
		if r := 1 / a.Data[i*a.Stride+i]; math.IsInf(float64(r), 0) {
			return false
		}
	}
	return true
}
