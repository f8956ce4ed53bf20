// Package la is dense linear algebra in Go without cgo: products of matrices, Cholesky factors,
// triangular solves and inverses of symmetric positive definite matrices, squared distances and
// exponentials. Matrices are row-major, of float64 or float32.
//
// A call with a [Workspace] allocates nothing once the workspace has grown, and uses all cores for
// large matrices.
//
// # Same bits everywhere
//
// Results are identical, bit for bit, on every processor, for every instruction set and for every
// number of workers. Only the payload of a NaN may differ. Each routine therefore fixes the order
// of its floating-point operations:
//
//   - A product sums its inner dimension in blocks of [BlockK] terms, each a chain of fused
//     multiply-adds.
//   - A dot product has 32 lanes. Lane l sums the elements i with i mod 32 = l, and the lanes are
//     added in halves.
//   - Factorisations, triangular solves and inverses run one chain for each element, as the
//     textbook loops do. Their block sizes do not enter the results.
//   - The exponential is one polynomial.
//
// Instruction sets differ in the number of chains that they advance at a time, never in the chains.
//
// # Instruction sets
//
// There are routines in assembly for AVX-512, AVX2 and NEON, and portable ones in Go for other
// processors. The package uses the best set that the processor has, unless the environment variable
// BMKL_KERNEL names another one; see [InstructionSet].
//
// # Errors and panics
//
// A matrix that cannot be factorised is an error, a [*PivotError]. Shapes that do not fit, strides
// smaller than the width, slices that are too short, and output that overlaps input are mistakes of
// the program: the routine panics with a message that names the argument.
package la

// Float is the constraint of the element types.
type Float interface{ float32 | float64 }

// Trans is the operation op on an operand: op(A) = A or op(A) = Aᵀ.
type Trans bool

// The values of [Trans].
const (
	NoTrans   Trans = false // op(A) = A
	Transpose Trans = true  // op(A) = Aᵀ
)

// Side is the side of the unknown on which a triangular matrix stands, in [Trsm].
type Side bool

// The values of [Side].
const (
	Left  Side = false // op(L)·X = B
	Right Side = true  // X·op(L) = B
)
