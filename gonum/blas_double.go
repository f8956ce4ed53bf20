package gonum

import (
	"gonum.org/v1/gonum/blas"

	"github.com/bmkl/bmkl/la"
)

// Dgemm computes C ← α·op(A)·op(B) + β·C.
func (i BLAS) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	times := func(t blas.Transpose, rows, cols int, a []float64, lda int, x []float64, incX int, y []float64, incY int) {
		i.Dgemv(t, rows, cols, alpha, a, lda, x, incX, beta, y, incY)
	}
	if !i.worthGemm(tA, tB, m, n, k) || !gemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, times) {
		i.Implementation.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Dsymm computes C ← α·A·B + β·C or C ← α·B·A + β·C for a symmetric A.
func (i BLAS) Dsymm(s blas.Side, ul blas.Uplo, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if !i.worth(min(m, n), symmRows) || !symm(s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc) {
		i.Implementation.Dsymm(s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Dsyrk computes one triangle of C ← α·A·Aᵀ + β·C or C ← α·Aᵀ·A + β·C.
func (i BLAS) Dsyrk(ul blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	if !i.worth(min(n, k), syrkRows) || !syrk(ul, t, n, k, alpha, a, lda, beta, c, ldc) {
		i.Implementation.Dsyrk(ul, t, n, k, alpha, a, lda, beta, c, ldc)
	}
}

// Dsyr2k computes one triangle of C ← α·A·Bᵀ + α·B·Aᵀ + β·C or C ← α·Aᵀ·B + α·Bᵀ·A + β·C.
func (i BLAS) Dsyr2k(ul blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if !i.worth(min(n, k), syrkRows) || !syr2k(ul, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc) {
		i.Implementation.Dsyr2k(ul, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Dtrmm computes B ← α·op(A)·B or B ← α·B·op(A) for a triangular A.
func (i BLAS) Dtrmm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	gonums := func(a, b la.Matrix[float64]) {
		i.Implementation.Dtrmm(s, ul, tA, d, b.Rows, b.Cols, alpha, a.Data, a.Stride, b.Data, b.Stride)
	}
	if !i.worth(min(m, n), trmmRows) || !trmm(triangular{s, ul, tA, d}, m, n, alpha, a, lda, b, ldb, gonums) {
		i.Implementation.Dtrmm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
	}
}

// Dtrsm solves op(A)·X = α·B or X·op(A) = α·B for a triangular A, and stores X in B.
func (i BLAS) Dtrsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	if s == blas.Left && n == 1 && alpha == 1 && i.worth(m, trsvOfTrsm) && trsv(ul, tA, d, m, a, lda, b, ldb) {
		return
	}
	if !i.worth(min(m, n), trsmRows) || !trsm(triangular{s, ul, tA, d}, m, n, alpha, a, lda, b, ldb) {
		i.Implementation.Dtrsm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
	}
}

// Dgemv computes y ← α·op(A)·x + β·y.
func (i BLAS) Dgemv(tA blas.Transpose, m, n int, alpha float64, a []float64, lda int, x []float64, incX int, beta float64, y []float64, incY int) {
	if !i.worth(m*n, gemvLeast(tA, incX, incY)) || !gemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY) {
		i.Implementation.Dgemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
	}
}

// Dsymv computes y ← α·A·x + β·y for a symmetric A.
func (i BLAS) Dsymv(ul blas.Uplo, n int, alpha float64, a []float64, lda int, x []float64, incX int, beta float64, y []float64, incY int) {
	if !i.worth(n, symvRows) || !symv(ul, n, alpha, a, lda, x, incX, beta, y, incY) {
		i.Implementation.Dsymv(ul, n, alpha, a, lda, x, incX, beta, y, incY)
	}
}

// Dtrsv solves op(A)·x = b for a triangular A. On entry x holds b, on return the solution.
func (i BLAS) Dtrsv(ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, a []float64, lda int, x []float64, incX int) {
	if !i.worth(n, trsvRows) || !trsv(ul, tA, d, n, a, lda, x, incX) {
		i.Implementation.Dtrsv(ul, tA, d, n, a, lda, x, incX)
	}
}

// Ddot returns Σ x_i·y_i.
func (i BLAS) Ddot(n int, x []float64, incX int, y []float64, incY int) float64 {
	if i.worth(n, dotWork) {
		if sum, ok := dot(n, x, incX, y, incY); ok {
			return sum
		}
	}
	return i.Implementation.Ddot(n, x, incX, y, incY)
}

// Daxpy computes y ← α·x + y.
func (i BLAS) Daxpy(n int, alpha float64, x []float64, incX int, y []float64, incY int) {
	if !i.worth(n, axpyWork) || !axpy(n, alpha, x, incX, y, incY) {
		i.Implementation.Daxpy(n, alpha, x, incX, y, incY)
	}
}
