package la

//go:generate go run ./internal/asmgen

// kernels is the table of routines that are written once for each instruction set. Every entry
// computes the bits of its namesake in generic.go; only the payload of a NaN may differ. An
// instruction set may therefore start from a copy of the generic table and replace some entries.
//
// Entries neither allocate nor keep their arguments. A goroutine cannot be preempted in assembly, so
// an entry returns to Go after little work: within 100 µs even on a slow core. latency_test.go holds
// every call to that. Vector lengths and k may be 0 unless an entry says otherwise.
type kernels[T Float] struct {
	mr, nr int // register tile of gemm and dist: mr rows by nr columns of C

	// gemm multiplies a packed panel of mr rows by one of nr columns. With
	// s_ij = Σ_p a[p*mr+i]·b[p*nr+j], p = 0…k-1 in this order, k ≤ BlockK, by one chain of fused
	// multiply-adds from +0, it stores c[i*ldc+j] = alpha·s_ij or, if add,
	// fma(alpha, s_ij, c[i*ldc+j]). a and b are aligned to 64 bytes, c need not be. next is a hint:
	// the k elements from next on will be read soon. gemm may prefetch them, but reads nothing there.
	gemm func(k int, alpha T, a, b, c *T, ldc int, add bool, next *T)

	// shared is gemm with rows of A in a panel of nr rows, a[p*nr+i], where nr is a multiple of mr.
	// If shared is nil, a product of a matrix with itself is computed like other products.
	shared func(k int, alpha T, a, b, c *T, ldc int, add bool, next *T)

	// narrow is gemm (as = mr) or shared (as = nr) for a tile whose first n columns are wanted,
	// 0 < n ≤ nr. It leaves the other columns undefined. If narrow is nil, gemm is called.
	narrow func(n, k int, alpha T, a *T, as int, b, c *T, ldc int, add bool)

	// dist is gemm with squared differences: t = a-b, rounded, and s_ij = fma(t, t, s_ij). It stores
	// c[i*ldc+j] = s_ij. If add, the chain starts from c[i*ldc+j].
	dist func(k int, a, b, c *T, ldc int, add bool)

	// small is gemm for matrices that are not packed, s_ij = Σ_p a[i*ars+p*acs]·b[p*ldb+j], with
	// 0 < k and m ≤ 4 rows of C. Row i has n + i·grow columns, from 1 to nr. If small is nil, gemm
	// computes products of all sizes.
	small func(m, n, grow, k int, alpha T, a *T, ars, acs int, b *T, ldb int, c *T, ldc int, add bool)

	// direct is small for mr rows. It is nil if mr is 4.
	direct func(n, grow, k int, alpha T, a *T, ars, acs int, b *T, ldb int, c *T, ldc int, add bool)

	// pack transposes r rows of k elements, dst[p*step+i] = src[i*ld+p], i < r, p < k, where r is mr
	// or nr and step is at least r.
	pack func(r, k int, src *T, ld int, dst *T, step int)

	// gather is pack from rows of terms, into several panels that begin step elements apart:
	// dst[q*step+p*r+i] = src[p*ld+q*r+i], q < panels. panels and k are positive.
	gather func(r, panels, k int, src *T, ld int, dst *T, step int)

	// scalPiece computes x_i = alpha·x_i, and expPiece dst_i = e^src_i by the polynomial of exp.go,
	// for i < n ≤ piece. dst may be src.
	scalPiece, scalLong func(n int, alpha T, x *T)
	expPiece, expLong   func(n int, dst, src *T)

	// negRootPiece computes x_i = −√x_i, and restTimesPiece x_i = (1 − x_i)·e_i, for i < n ≤ piece.
	negRootPiece   func(n int, x *T)
	restTimesPiece func(n int, e, x *T)

	// expInto is scal and then exp of n elements, a multiple of 8, with hints. With each 32
	// elements it prefetches for writing the next 32 elements, from next on, and the next four cache
	// lines, which are step elements apart, from other on. If expInto is nil, the instruction set
	// has no such hints.
	expInto func(n int, alpha T, x, next, other *T, step int)

	vectorKernels[T, T]
}

// vectorKernels are the parts of matrix-vector products, for matrices stored in S and arithmetic in
// T. An entry called …Piece takes a piece of its vectors. From it, pieces.go makes the …Long entry
// for longer vectors, and the method that chooses between the two.
type vectorKernels[S, T Float] struct {
	// dotPiece returns Σ a_i·x_i, i < n ≤ piece. Lane l of dotLanes sums the elements with
	// i mod dotLanes = l in order, by fused multiply-adds. The lanes are then folded in halves,
	// lane l += lane l+h for h = dotLanes/2, …, 1, and +0 is added at the end.
	//
	// If lanes is nil, the lanes start from +0. Otherwise they start from the values in lanes, and
	// are stored there before they are folded. n is then a multiple of dotLanes, except in the last
	// call for a vector.
	dotPiece, dotLong func(n int, a *S, x *T, lanes *[dotLanes]T) T

	// dotAxpyPiece is dotPiece and, reading a once, y_i = fma(alpha, a_i, y_i).
	dotAxpyPiece, dotAxpyLong func(n int, alpha T, a *S, x, y *T, lanes *[dotLanes]T) T

	// dotsPiece continues the lanes of the dot products with x of four rows of a, which are lda
	// elements apart, by n elements, a positive multiple of dotLanes. lanes holds the lanes of row
	// 0, then of row 1, and so on. If dotsPiece and dotAxpysPiece are nil, calls for one row at a
	// time are as fast.
	dotsPiece func(n int, a *S, lda int, x *T, lanes *[4 * dotLanes]T)

	// dotAxpysPiece is dotsPiece and y_i = fma(alpha_r, a[r*lda+i], y_i) for r = 0, …, 3 in this
	// order.
	dotAxpysPiece func(n int, alpha *[4]T, a *S, lda int, x, y *T, lanes *[4 * dotLanes]T)

	// axpyPiece computes y_j = fma(alpha, a_j, y_j), j < n ≤ piece.
	axpyPiece, axpyLong func(n int, alpha T, a *S, y *T)

	// axpysPiece computes y_j = fma(x_i, a[i*lda+j], y_j), j < n ≤ rowsPiece, for
	// i = 0, …, axpysRows-1 in this order. If it is nil, calls for one row at a time are as fast.
	axpysPiece func(n int, x *T, a *S, lda int, y *T)
	axpysRows  int
}

// BlockK is the number of terms of a product's inner sum in one chain of fused multiply-adds. The
// next block starts a new chain, which is then added to C. BlockK is part of the definition of the
// results and the same on every machine. A sum over k that is cut into several products at
// multiples of BlockK has the bits of one product.
const BlockK = 256

// dotLanes is the number of lanes of a dot product. It is part of the definition of the results and
// the same on every machine.
const dotLanes = 32
