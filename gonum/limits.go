package gonum

import "gonum.org/v1/gonum/blas"

// The least work for which la is faster than gonum, measured on a Zen 4 with AVX-512.
const (
	gemmWork     = 12 * 12 * 12 // multiplications
	symmRows     = 16           // the smaller side of the matrices
	syrkRows     = 24
	trmmRows     = 32
	trsmRows     = 24
	gemvWork     = 96 * 96   // elements of the matrix
	gemvRowsWork = 256 * 256 // the same if x and the rows of A are read in order
	symvRows     = 64        // rows of the triangle
	trsvRows     = 96
	trsvOfTrsm   = 16  // the same for Dtrsm with one column, which gonum solves more slowly
	dotWork      = 128 // elements
	axpyWork     = 1024
	choleskyRows = 24
	inverseRows  = 16
	svdRows      = 100
)

// worth reports whether work is enough for la: at least least.
func (b BLAS) worth(work, least int) bool { return b.eager || work >= least }

// worthGemm is worth for a product of matrices. gonum computes a product with few elements if the
// product consists of dot products of rows, or of few dot products.
func (b BLAS) worthGemm(tA, tB blas.Transpose, m, n, k int) bool {
	few := m*n <= 4 || m*n <= 64 && min(m, n) > 1 && tA == blas.NoTrans && tB != blas.NoTrans
	return b.eager || m*n*k >= gemmWork && !few
}

// gemvLeast returns the least work for which la multiplies a matrix and a vector.
func gemvLeast(t blas.Transpose, incX, incY int) int {
	if t == blas.NoTrans && incX == 1 && incY == 1 {
		return gemvRowsWork
	}
	return gemvWork
}
