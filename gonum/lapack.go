package gonum

import (
	"gonum.org/v1/gonum/blas"
	gonumlapack "gonum.org/v1/gonum/lapack/gonum"

	"github.com/bmkl/bmkl/la"
)

// LAPACK is gonum's LAPACK with la's Cholesky factors, inverses of them and inverses of
// triangles, and a faster order of work for singular values. The zero value is ready. Its other routines call the BLAS that package blas64 has
// been told to use.
type LAPACK struct {
	gonumlapack.Implementation

	eager bool // la has small matrices too: for tests
}

// Dpotrf computes the Cholesky factor of a symmetric positive definite matrix, in place.
func (l LAPACK) Dpotrf(uplo blas.Uplo, n int, a []float64, lda int) (ok bool) {
	m := matrix(n, n, a, lda)
	if !isTriangle(uplo) || empty(m) || !l.eager && n < choleskyRows {
		return l.Implementation.Dpotrf(uplo, n, a, lda)
	}
	return inLower(uplo, m, func(ws *la.Workspace, a la.Matrix[float64]) bool { return la.Cholesky(ws, a) == nil })
}

// Dpotri computes the inverse of a symmetric positive definite matrix from its Cholesky
// factor, in place.
func (l LAPACK) Dpotri(uplo blas.Uplo, n int, a []float64, lda int) (ok bool) {
	m := matrix(n, n, a, lda)
	if !isTriangle(uplo) || empty(m) || !l.eager && n < inverseRows || !invertible(m) {
		return l.Implementation.Dpotri(uplo, n, a, lda)
	}
	return inLower(uplo, m, func(ws *la.Workspace, a la.Matrix[float64]) bool { la.CholeskyInv(ws, a); return true })
}

// Dtrtri computes the inverse of a triangular matrix, in place.
func (l LAPACK) Dtrtri(uplo blas.Uplo, diag blas.Diag, n int, a []float64, lda int) (ok bool) {
	m := matrix(n, n, a, lda)
	if !isTriangle(uplo) || diag != blas.NonUnit || empty(m) || !l.eager && n < inverseRows || !invertible(m) {
		return l.Implementation.Dtrtri(uplo, diag, n, a, lda)
	}
	return inLower(uplo, m, func(ws *la.Workspace, a la.Matrix[float64]) bool { la.TriInv(ws, a); return true })
}

// inLower calls do with one triangle of A as a lower triangle and, if do succeeds, has the
// result in A. The other triangle of A is left alone.
func inLower(uplo blas.Uplo, a la.Matrix[float64], do func(*la.Workspace, la.Matrix[float64]) bool) bool {
	s := borrow()
	defer pool.Put(s)
	if uplo == blas.Lower {
		return do(&s.ws, a)
	}
	l := square[float64](s, a.Rows)
	lower(l, a, uplo)
	if !do(&s.ws, l) {
		return false
	}
	backToUpper(a, l)
	return true
}
