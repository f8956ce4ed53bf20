package la

// kernels is the table of routines that are written once for each instruction
// set. Every entry computes the bits of its namesake in generic.go (NaNs are
// equal up to their payload), so an instruction set may start from a copy of
// the generic table and replace what it has. Entries neither allocate nor keep
// their arguments. A goroutine cannot be preempted in assembly, so that an entry returns
// to Go after little work: within 100 µs even on a slow core, to which latency_test.go
// holds every call. Vector lengths and k may be 0 where nothing else is said.
type kernels[T Float] struct {
	mr, nr int // register tile of gemm and dist: mr rows by nr columns of C

	// gemm multiplies a packed panel of mr rows by one of nr columns. With
	// s_ij = Σ_p a[p*mr+i]·b[p*nr+j], p = 0…k-1 in this order, k ≤ BlockK, by one
	// chain of fused multiply-adds that starts from +0, it stores
	// c[i*ldc+j] = alpha·s_ij or, if add, fma(alpha, s_ij, c[i*ldc+j]).
	// a and b are aligned to 64 bytes, c is not. The k elements from next on will be
	// wanted soon: a hint, of which nothing is read.
	gemm func(k int, alpha T, a, b, c *T, ldc int, add bool, next *T)

	// shared is gemm with rows of A as they lie in a panel of nr, a[p*nr+i], nr being a
	// multiple of mr. It is nil where a product with itself is computed like any other.
	shared func(k int, alpha T, a, b, c *T, ldc int, add bool, next *T)

	// narrow is gemm (as = mr) or shared (as = nr) for a tile of which only the first n
	// columns, 0 < n ≤ nr, are wanted; it leaves the others undefined. nil stands for gemm.
	narrow func(n, k int, alpha T, a *T, as int, b, c *T, ldc int, add bool)

	// dist is gemm with t = a-b, rounded, and fma(t, t, s) in place of
	// fma(a, b, s); it stores c[i*ldc+j] = s_ij or, if add, continues the chain
	// from s_ij = c[i*ldc+j].
	dist func(k int, a, b, c *T, ldc int, add bool)

	// small is gemm for matrices as they lie, s_ij = Σ_p a[i*ars+p*acs]·b[p*ldb+j],
	// 0 < k, and for m ≤ 4 rows of C of n + i·grow columns each, from 1 to nr. It is
	// nil where gemm does for all sizes.
	small func(m, n, grow, k int, alpha T, a *T, ars, acs int, b *T, ldb int, c *T, ldc int, add bool)

	// direct is small for mr rows; it is nil where mr is 4.
	direct func(n, grow, k int, alpha T, a *T, ars, acs int, b *T, ldb int, c *T, ldc int, add bool)

	// pack transposes r rows of k elements, dst[p*step+i] = src[i*ld+p], i < r, p < k,
	// where r is mr or nr and step at least r.
	pack func(r, k int, src *T, ld int, dst *T, step int)

	// gather is pack from rows of terms, into several panels that begin step
	// elements apart, dst[q*step+p*r+i] = src[p*ld+q*r+i], q < panels; panels, k > 0.
	gather func(r, panels, k int, src *T, ld int, dst *T, step int)

	// scalPiece computes x_i = alpha·x_i, and expPiece dst_i = e^src_i by the polynomial of
	// exp.go, for i < n ≤ piece; dst may be src.
	scalPiece, scalLong func(n int, alpha T, x *T)
	expPiece, expLong   func(n int, dst, src *T)

	// expInto is scal and then exp of n elements, a multiple of 8, with hints: 32 elements
	// at a time, the 32 elements from next on and those in four lines that begin at other,
	// step elements apart, will be written soon, and those after them with the next 32. It
	// is nil where there are no such hints.
	expInto func(n int, alpha T, x, next, other *T, step int)

	vectorKernels[T, T]
}

// vectorKernels are the parts of matrix-vector products, for matrices stored in
// S and arithmetic in T. An entry called …Piece takes a piece of its vectors. From
// it pieces.go makes the …Long entry, for longer ones, and the method without either.
type vectorKernels[S, T Float] struct {
	// dotPiece returns Σ a_i·x_i, i < n ≤ piece. Lane l of Lanes takes the elements
	// i ≡ l mod Lanes in order, by fused multiply-adds; the lanes are then folded in halves,
	// lane l += lane l+h for h = Lanes/2, …, 1; +0 is added at the end. Lanes start from +0
	// or, where lanes is not nil, from what it holds, and are left there before they are
	// folded. n is then a multiple of Lanes, except in the last call for a vector.
	dotPiece, dotLong func(n int, a *S, x *T, lanes *[Lanes]T) T

	// dotAxpyPiece is dotPiece and, reading a once, y_i = fma(alpha, a_i, y_i).
	dotAxpyPiece, dotAxpyLong func(n int, alpha T, a *S, x, y *T, lanes *[Lanes]T) T

	// dotsPiece continues the lanes of the dot products with x of four rows of a, which
	// lie lda apart, by n elements, a positive multiple of Lanes. The lanes of one row come
	// behind those of another. It is nil where the rows one by one do as well, and so is
	// dotAxpysPiece.
	dotsPiece func(n int, a *S, lda int, x *T, lanes *[4 * Lanes]T)

	// dotAxpysPiece is dotsPiece and y_i = fma(alpha_r, a[r*lda+i], y_i) for r = 0, …, 3 in
	// this order.
	dotAxpysPiece func(n int, alpha *[4]T, a *S, lda int, x, y *T, lanes *[4 * Lanes]T)

	// axpyPiece computes y_j = fma(alpha, a_j, y_j), j < n ≤ piece.
	axpyPiece, axpyLong func(n int, alpha T, a *S, y *T)

	// axpysPiece computes y_j = fma(x_i, a[i*lda+j], y_j), j < n ≤ rowsPiece, for
	// i = 0, …, axpysRows-1 in this order. It is nil where the rows one by one do as well.
	axpysPiece func(n int, x *T, a *S, lda int, y *T)
	axpysRows  int
}

// BlockK is the number of terms of a product's inner sum that one chain of
// fused multiply-adds takes; the next block is added to C by a new chain. It is
// part of the definition of the results and the same everywhere.
const BlockK = 256

// Lanes is the number of logical lanes of a dot product; part of the definition
// of the results and the same everywhere.
const Lanes = 32
