// Package gonum puts package la under gonum. A program that uses gonum.org/v1/gonum imports it
// once, for its effect:
//
//	import _ "github.com/bmkl/bmkl/gonum"
//
// From then on mat.Dense.Mul, mat.Cholesky, mat.SVD and whatever else of gonum calls its
// packages blas64, blas32 and lapack64 uses la's routines where they are faster: products of
// matrices, products with and solutions of triangular and symmetric matrices, Cholesky
// factors and inverses. Other calls, small ones, and those with arguments that la does not
// take go to gonum's own routines: bad arguments panic with gonum's messages.
//
// [Features], [Views] and [Target] hand matrices of gonum to package mkl.
//
// # What differs
//
// Results differ from gonum's by rounding: la uses fused multiply-adds and adds in another
// order. Zeros are multiplied like other numbers, so that 0·Inf and 0·NaN give NaN; gonum
// skips the zeros of some operands. With β = 0, what was in C never shows; gonum's Syrk and
// Syr2k multiply it by 0. The Cholesky factor of a matrix with infinities does not
// exist; gonum calls it a success and returns NaNs.
//
// # Where it does nothing
//
// la is slower than gonum where it has no vector instructions: on amd64 without AVX2, on
// other processors than amd64 and arm64, and with the build tag purego. There the import
// leaves gonum as it is, as it does where BMKL_KERNEL names an instruction set that this
// machine lacks.
package gonum

import (
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/bmkl/bmkl/la"
)

func init() {
	if set := la.InstructionSet(); set != "" && set != "generic" {
		blas64.Use(BLAS{})
		blas32.Use(BLAS{})
		lapack64.Use(LAPACK{})
	}
}
