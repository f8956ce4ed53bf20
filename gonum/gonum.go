// Package gonum makes gonum use the routines of package la. A program that uses gonum.org/v1/gonum
// imports it once, for its effect:
//
//	import _ "github.com/bmkl/bmkl/gonum"
//
// From then on, everything in gonum that calls its packages blas64, blas32 and lapack64, such as
// mat.Dense.Mul, mat.Cholesky and mat.SVD, uses la's routines if they are faster: products of
// matrices, products with and solutions of triangular and symmetric matrices, Cholesky factors and
// inverses, and singular values. gonum's own routines do all other calls, small ones, and calls with
// arguments that la does not accept. Bad arguments panic with gonum's messages.
//
// [Features], [Views] and [Target] convert matrices of gonum for package mkl.
//
// # What differs
//
//   - Results differ from gonum's by rounding: la uses fused multiply-adds and adds in another order.
//   - Zeros are multiplied like other numbers, so that 0·Inf and 0·NaN give NaN. gonum skips the zeros
//     of some operands.
//   - With β = 0, the old elements of C never enter the result. gonum's Syrk and Syr2k multiply them
//     by 0.
//   - The factorisation of a matrix with infinities fails. gonum reports success and returns NaN.
//
// # Where the import has no effect
//
// Without vector instructions la is slower than gonum. The import then changes nothing: on amd64
// without AVX2, on processors other than amd64 and arm64, and with the build tag purego. It changes
// nothing either if BMKL_KERNEL names an instruction set that this machine lacks.
package gonum

import (
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/bmkl/bmkl/la"
)

func init() {
	if set, err := la.InstructionSet(); err == nil && set != "generic" {
		blas64.Use(BLAS{})
		blas32.Use(BLAS{})
		lapack64.Use(LAPACK{})
	}
}
