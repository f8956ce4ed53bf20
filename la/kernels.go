package la

// kernels is the table of routines that are written once for each instruction
// set. It is filled once, from cpuid. Every entry computes the bits of its
// namesake in generic.go.
type kernels[T Float] struct {
	name   string
	mr, nr int // register tile of gemm and dist: mr rows by nr columns of C

	// gemm multiplies a packed panel of mr rows by one of nr columns. With
	// s_ij = Σ_p a[p*mr+i]·b[p*nr+j], p = 0…k-1 in this order, by one chain of
	// fused multiply-adds that starts from +0, it stores
	// c[i*ldc+j] = alpha·s_ij or, if add, fma(alpha, s_ij, c[i*ldc+j]).
	gemm func(k int, alpha T, a, b, c *T, ldc int, add bool)

	// dist is gemm with fma(a-b, a-b, s) in place of fma(a, b, s), the
	// difference rounded; it stores c[i*ldc+j] = s_ij or, if add, continues the
	// chain from s_ij = c[i*ldc+j].
	dist func(k int, a, b, c *T, ldc int, add bool)

	// dot returns Σ x_i·y_i. Lane l of Lanes takes the elements i ≡ l mod Lanes
	// in order, by fused multiply-adds from +0; the lanes are then folded in
	// halves, lane l += lane l+h for h = Lanes/2, …, 1; +0 is added at the end.
	dot func(x, y []T) T

	axpy func(alpha T, x, y []T) // y_i = fma(alpha, x_i, y_i)
	scal func(alpha T, x []T)    // x_i = alpha·x_i
	exp  func(dst, src []T)      // dst_i = e^src_i by the polynomial of exp.go
}

// BlockK is the number of terms of a product's inner sum that one chain of
// fused multiply-adds takes; the next block is added to C by a new chain. It is
// part of the definition of the results and the same everywhere.
const BlockK = 256

// Lanes is the number of logical lanes of a dot product; part of the definition
// of the results and the same everywhere.
const Lanes = 32
