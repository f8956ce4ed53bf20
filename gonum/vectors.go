package gonum

import (
	"gonum.org/v1/gonum/blas"

	"github.com/bmkl/bmkl/la"
)

func gemv[T la.Float](tA blas.Transpose, m, n int, alpha T, a []T, lda int, x []T, incX int, beta T, y []T, incY int) bool {
	t, ok := transpose(tA)
	am := matrix(m, n, a, lda)
	xv, yv := vector[T]{x, n, incX}, vector[T]{y, m, incY}
	if t {
		xv.n, yv.n = m, n
	}
	if !ok || !linear(alpha, am, xv, yv) {
		return false
	}
	s := borrow()
	defer pool.Put(s)
	tmp := room[T](s, m+n)
	xs, ys := xv.gather(tmp), yv.gather(tmp[xv.n:])
	la.Gemv(&s.ws, t, alpha, am, xs, beta, ys)
	yv.scatter(ys)
	return true
}

// linear reports whether y ← α·A·x + β·y is a product that la takes.
func linear[T la.Float](alpha T, a la.Matrix[T], x, y vector[T]) bool {
	return alpha != 0 && !empty(a) && x.fits() && y.fits() &&
		!la.Overlap(y.column(), a) && !la.Overlap(y.column(), x.column())
}

func symv[T la.Float](uplo blas.Uplo, n int, alpha T, a []T, lda int, x []T, incX int, beta T, y []T, incY int) bool {
	am := matrix(n, n, a, lda)
	xv, yv := vector[T]{x, n, incX}, vector[T]{y, n, incY}
	if !isTriangle(uplo) || !linear(alpha, am, xv, yv) {
		return false
	}
	s := borrow()
	defer pool.Put(s)
	tmp := room[T](s, 2*n)
	xs, ys := xv.gather(tmp), yv.gather(tmp[n:])
	if uplo == blas.Lower {
		la.Symv(&s.ws, alpha, am, xs, beta, ys)
	} else {
		symvUpper(alpha, am, xs, beta, ys)
	}
	yv.scatter(ys)
	return true
}

// symvUpper reads the upper triangle once, row by row.
func symvUpper[T la.Float](alpha T, a la.Matrix[T], x []T, beta T, y []T) {
	if beta == 0 {
		clear(y)
	} else if beta != 1 {
		la.Scal(beta, y)
	}
	for i, v := range x {
		row := a.Row(i)[i:]
		y[i] += alpha * (row[0]*v + la.Dot(row[1:], x[i+1:]))
		la.Axpy(alpha*v, row[1:], y[i+1:])
	}
}

func trsv[T la.Float](uplo blas.Uplo, tA blas.Transpose, diag blas.Diag, n int, a []T, lda int, x []T, incX int) bool {
	t, ok := transpose(tA)
	am, xv := matrix(n, n, a, lda), vector[T]{x, n, incX}
	if !ok || !isTriangle(uplo) || diag != blas.NonUnit || empty(am) || !xv.fits() || la.Overlap(xv.column(), am) {
		return false
	}
	s := borrow()
	defer pool.Put(s)
	xs := xv.gather(room[T](s, n))
	if uplo == blas.Lower {
		la.Trsv(t, am, xs)
	} else {
		trsvUpper(t, am, xs)
	}
	xv.scatter(xs)
	return true
}

// trsvUpper reads the upper triangle once, row by row.
func trsvUpper[T la.Float](t la.Trans, u la.Matrix[T], x []T) {
	n := u.Rows
	if t {
		for i := range n {
			row := u.Row(i)[i:]
			x[i] /= row[0]
			la.Axpy(-x[i], row[1:], x[i+1:])
		}
		return
	}
	for i := n - 1; i >= 0; i-- {
		row := u.Row(i)[i:]
		x[i] = (x[i] - la.Dot(row[1:], x[i+1:])) / row[0]
	}
}

func dot[T la.Float](n int, x []T, incX int, y []T, incY int) (sum T, ok bool) {
	if n <= 0 || incX != 1 || incY != 1 || len(x) < n || len(y) < n {
		return 0, false
	}
	return la.Dot(x[:n], y[:n]), true
}

func axpy[T la.Float](n int, alpha T, x []T, incX int, y []T, incY int) bool {
	if n <= 0 || alpha == 0 || incX != 1 || incY != 1 || len(x) < n || len(y) < n {
		return false
	}
	if &x[0] != &y[0] && la.Overlap(la.MatrixOf(1, n, y[:n]), la.MatrixOf(1, n, x[:n])) {
		return false
	}
	la.Axpy(alpha, x[:n], y[:n])
	return true
}
