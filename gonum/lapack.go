package gonum

import (
	"gonum.org/v1/gonum/blas"
	gonumlapack "gonum.org/v1/gonum/lapack/gonum"

	"github.com/bmkl/bmkl/la"
)

// LAPACK is gonum's LAPACK in double precision. It computes Cholesky factors and inverses with la, and
// singular values with less traffic to memory. Its other routines call the BLAS of package blas64. The
// import of this package makes it the LAPACK of gonum. The zero value is ready.
type LAPACK struct {
	gonumlapack.Implementation

	eager bool // use la for small matrices too, in tests
}

// Dpotrf computes the Cholesky factor L or U of a symmetric positive definite matrix, A = L·Lᵀ or
// A = Uᵀ·U, in place. ok is false if the matrix is not positive definite or not finite.
func (l LAPACK) Dpotrf(uplo blas.Uplo, n int, a []float64, lda int) (ok bool) {
	m := matrix(n, n, a, lda)
	if !isTriangle(uplo) || empty(m) || !l.eager && n < choleskyRows {
		return l.Implementation.Dpotrf(uplo, n, a, lda)
	}
	return inLower(uplo, m, func(ws *la.Workspace, a la.Matrix[float64]) bool { return la.Cholesky(ws, a) == nil })
}

// Dpotri computes the inverse of a symmetric positive definite matrix from its Cholesky factor, in
// place. ok is false if the factor is singular.
func (l LAPACK) Dpotri(uplo blas.Uplo, n int, a []float64, lda int) (ok bool) {
	m := matrix(n, n, a, lda)
	if !isTriangle(uplo) || empty(m) || !l.eager && n < inverseRows || !invertible(m) {
		return l.Implementation.Dpotri(uplo, n, a, lda)
	}
	return inLower(uplo, m, func(ws *la.Workspace, a la.Matrix[float64]) bool { la.CholeskyInv(ws, a); return true })
}

// Dtrtri computes the inverse of a triangular matrix, in place. ok is false if the matrix is singular.
func (l LAPACK) Dtrtri(uplo blas.Uplo, diag blas.Diag, n int, a []float64, lda int) (ok bool) {
	m := matrix(n, n, a, lda)
	if !isTriangle(uplo) || diag != blas.NonUnit || empty(m) || !l.eager && n < inverseRows || !invertible(m) {
		return l.Implementation.Dtrtri(uplo, diag, n, a, lda)
	}
	return inLower(uplo, m, func(ws *la.Workspace, a la.Matrix[float64]) bool { la.TriInv(ws, a); return true })
}

// inLower calls do with one triangle of A, as a lower triangle. If do succeeds, the result is stored in
// the same triangle of A. The other triangle of A does not change.
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
