// Code generated from blas_double.go by internal/single. DO NOT EDIT.

package gonum

import (
	"gonum.org/v1/gonum/blas"

	"github.com/bmkl/bmkl/la"
)

// Sgemm computes C ← α·op(A)·op(B) + β·C.
func (i BLAS) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	times := func(t blas.Transpose, rows, cols int, a []float32, lda int, x []float32, incX int, y []float32, incY int) {
		i.Sgemv(t, rows, cols, alpha, a, lda, x, incX, beta, y, incY)
	}
	if !i.worthGemm(tA, tB, m, n, k) || !gemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, times) {
		i.Implementation.Sgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Ssymm computes C ← α·A·B + β·C or C ← α·B·A + β·C for a symmetric A.
func (i BLAS) Ssymm(s blas.Side, ul blas.Uplo, m, n int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	if !i.worth(min(m, n), symmRows) || !symm(s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc) {
		i.Implementation.Ssymm(s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Ssyrk computes one triangle of C ← α·A·Aᵀ + β·C or C ← α·Aᵀ·A + β·C.
func (i BLAS) Ssyrk(ul blas.Uplo, t blas.Transpose, n, k int, alpha float32, a []float32, lda int, beta float32, c []float32, ldc int) {
	if !i.worth(min(n, k), syrkRows) || !syrk(ul, t, n, k, alpha, a, lda, beta, c, ldc) {
		i.Implementation.Ssyrk(ul, t, n, k, alpha, a, lda, beta, c, ldc)
	}
}

// Ssyr2k computes one triangle of C ← α·A·Bᵀ + α·B·Aᵀ + β·C or C ← α·Aᵀ·B + α·Bᵀ·A + β·C.
func (i BLAS) Ssyr2k(ul blas.Uplo, t blas.Transpose, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	if !i.worth(min(n, k), syrkRows) || !syr2k(ul, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc) {
		i.Implementation.Ssyr2k(ul, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Strmm computes B ← α·op(A)·B or B ← α·B·op(A) for a triangular A.
func (i BLAS) Strmm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float32, a []float32, lda int, b []float32, ldb int) {
	gonums := func(a, b la.Matrix[float32]) {
		i.Implementation.Strmm(s, ul, tA, d, b.Rows, b.Cols, alpha, a.Data, a.Stride, b.Data, b.Stride)
	}
	if !i.worth(min(m, n), trmmRows) || !trmm(triangular{s, ul, tA, d}, m, n, alpha, a, lda, b, ldb, gonums) {
		i.Implementation.Strmm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
	}
}

// Strsm solves op(A)·X = α·B or X·op(A) = α·B for a triangular A, and stores X in B.
func (i BLAS) Strsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float32, a []float32, lda int, b []float32, ldb int) {
	if s == blas.Left && n == 1 && alpha == 1 && i.worth(m, trsvOfTrsm) && trsv(ul, tA, d, m, a, lda, b, ldb) {
		return
	}
	if !i.worth(min(m, n), trsmRows) || !trsm(triangular{s, ul, tA, d}, m, n, alpha, a, lda, b, ldb) {
		i.Implementation.Strsm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
	}
}

// Sgemv computes y ← α·op(A)·x + β·y.
func (i BLAS) Sgemv(tA blas.Transpose, m, n int, alpha float32, a []float32, lda int, x []float32, incX int, beta float32, y []float32, incY int) {
	if !i.worth(m*n, gemvLeast(tA, incX, incY)) || !gemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY) {
		i.Implementation.Sgemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
	}
}

// Ssymv computes y ← α·A·x + β·y for a symmetric A.
func (i BLAS) Ssymv(ul blas.Uplo, n int, alpha float32, a []float32, lda int, x []float32, incX int, beta float32, y []float32, incY int) {
	if !i.worth(n, symvRows) || !symv(ul, n, alpha, a, lda, x, incX, beta, y, incY) {
		i.Implementation.Ssymv(ul, n, alpha, a, lda, x, incX, beta, y, incY)
	}
}

// Strsv solves op(A)·x = b for a triangular A. On entry x holds b, on return the solution.
func (i BLAS) Strsv(ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, a []float32, lda int, x []float32, incX int) {
	if !i.worth(n, trsvRows) || !trsv(ul, tA, d, n, a, lda, x, incX) {
		i.Implementation.Strsv(ul, tA, d, n, a, lda, x, incX)
	}
}

// Sdot returns Σ x_i·y_i.
func (i BLAS) Sdot(n int, x []float32, incX int, y []float32, incY int) float32 {
	if i.worth(n, dotWork) {
		if sum, ok := dot(n, x, incX, y, incY); ok {
			return sum
		}
	}
	return i.Implementation.Sdot(n, x, incX, y, incY)
}

// Saxpy computes y ← α·x + y.
func (i BLAS) Saxpy(n int, alpha float32, x []float32, incX int, y []float32, incY int) {
	if !i.worth(n, axpyWork) || !axpy(n, alpha, x, incX, y, incY) {
		i.Implementation.Saxpy(n, alpha, x, incX, y, incY)
	}
}
