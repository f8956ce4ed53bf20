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
	gemvRowsWork = 256 * 256 // the same where x and the rows of A are read in order
	symvRows     = 64        // rows of the triangle
	trsvRows     = 96
	trsvOfTrsm   = 16  // the same for a system of one column, which gonum solves more slowly
	dotWork      = 128 // elements
	axpyWork     = 1024
	choleskyRows = 24
	inverseRows  = 16
	svdRows      = 100
)

// worth reports whether so much work is worth la's preparations.
func (b BLAS) worth(work, least int) bool { return b.eager || work >= least }

// worthGemm is worth for a product. One with few elements is left to gonum where that takes
// dot products of rows, or is not much else.
func (b BLAS) worthGemm(tA, tB blas.Transpose, m, n, k int) bool {
	few := m*n <= 4 || m*n <= 64 && min(m, n) > 1 && tA == blas.NoTrans && tB != blas.NoTrans
	return b.eager || m*n*k >= gemmWork && !few
}

// gemvLeast returns the least work of a product with a vector.
func gemvLeast(t blas.Transpose, incX, incY int) int {
	if t == blas.NoTrans && incX == 1 && incY == 1 {
		return gemvRowsWork
	}
	return gemvWork
}
