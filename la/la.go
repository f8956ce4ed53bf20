// Package la is the dense linear algebra under bmkl: row-major matrices of
// float64 and float32, symmetric positive definite systems, and a few
// element-wise functions, at the speed of the machine and without cgo.
//
// # Same bits everywhere
//
// Every routine fixes the order of its floating-point operations: the inner
// dimension of a product is summed in blocks of [BlockK] with a chain of fused
// multiply-adds, dot products use [Lanes] logical lanes and one reduction tree,
// and exp is one polynomial. Factorisations, triangular solves and inverses run
// one chain for each element, that of the textbook loop, from its first term to
// its last: their block sizes are chosen for speed and leave no trace. The
// instruction sets differ in how many of these independent chains they advance
// at a time, never in the chains. Results are therefore identical, bit for bit,
// on every instruction set and for every number of workers (NaNs are equal up to
// their payload).
//
// # Instruction sets
//
// Kernels in assembly exist for AVX-512, AVX2 and NEON, and portable ones in Go for
// everything else. The best set that the processor has is in use unless the
// environment variable BMKL_KERNEL names another; see [InstructionSet].
//
// # Errors and panics
//
// Data that cannot be factorised is an error. Shapes that do not fit, strides
// smaller than the width, short slices and output that overlaps input are
// programming errors and panic with a message that names the argument.
package la

// Float is the set of element types.
type Float interface{ float32 | float64 }

// Trans says whether an operand enters a product as it is or transposed.
type Trans bool

// Operand orientations.
const (
	NoTrans   Trans = false
	Transpose Trans = true
)

// Side says on which side of the unknown a triangular matrix stands.
type Side bool

// Sides of a triangular system: T·X = B and X·T = B.
const (
	Left  Side = false
	Right Side = true
)
