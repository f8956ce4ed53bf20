package la

import "unsafe"

// Factorisations and triangular solves work on strips. A strip holds nr rows of a triangular factor,
// or nr columns of a right-hand side, transposed: element q of line i is at [q*nr+i]. A few vector
// instructions then advance all nr lines by one element. A strip of L has three uses without a copy:
// it holds the right-hand sides that a solve turns into L, and it is either operand of the product
// L·Lᵀ.
//
// A triangle is padded in front, with lines of the identity, to a multiple of nr lines. Positions
// count from the first line of the padding. So only the first strip has padding, and updates of a
// matrix need no code for edges.
//
// Every element is one chain of fused multiply-adds over ascending indices that starts from the
// element itself, as in the textbook loops. Blocks decide which elements advance together, never the
// order of a chain. Their sizes and the number of workers therefore do not enter the results.

// stripKernels is the part of the kernel table that works on strips.
type stripKernels[T Float] struct {
	nr int // lines of a strip
	mr int // divides nr; padding is left out in steps of mr lines

	// add computes the nr×nr tile c[i*ldc+j] = fma(a[p*nr+i], b[p*nr+j], c[i*ldc+j]) for
	// p = 0…k-1 in this order, k a positive multiple of mr. sub computes the same with -a. a and b
	// are aligned to 64 bytes. c need not be aligned, and overlaps neither. c points to the first
	// element that is not left out. mode is a sum of
	//   - the number of columns to leave out in front, a multiple of mr less than tileFresh;
	//   - tileFresh if c counts as zero;
	//   - tileLower if c is on the diagonal. The same number of rows in front is then left out, and
	//     elements above the diagonal may be left out. With tileFresh as well, a[p*nr+i] is zero
	//     for p < i, both counted from the first row that is not left out, and such terms may be
	//     left out. If invert is not nil, terms with p below i rounded down to a multiple of mr
	//     are left out, and need not be zero.
	//
	// The other arguments are hints for prefetching, which change no result. The next call's tile
	// begins at next and has the same ldc. k/4 cache lines in each of nr/4 rows of memory will be
	// read later; the first row begins at soon, and rows are step bytes apart.
	add func(k int, a, b, c *T, ldc int, next *T, mode int, soon uintptr, step int)
	sub func(k int, a, b, c *T, ldc int, next *T, mode int, soon uintptr, step int)

	// solve solves T·Y = B for one strip y of right-hand sides, rows lo ≤ j < hi:
	// y_j = (y_j - Σ_k t_jk·y_k)·r_j, k = lo…j-1 in this order. Strip s of the
	// triangle T begins at t[s*ts]; r holds the reciprocals of its diagonal.
	// lo, hi and skip are multiples of mr. The results of the first skip < nr lines are not wanted
	// and may be left out.
	solve func(lo, hi int, t *T, ts int, r, y *T, skip int)

	// invert computes X = T⁻¹ for the first n lines of a triangle of one strip, n a multiple of mr:
	// the solution of T·X = I without the terms that are zero. Row j of X is at y[j*nr]. After the
	// diagonal it is zero up to a multiple of mr, and unchanged from there on. If invert is nil,
	// solve is as fast.
	invert func(n int, t, y *T)

	// chol factors rows j0 ≤ j < hi of the strip y, which are the strip's own lines:
	// y_j = y_j - Σ_k y_k[j]·y_k, k = lo…j-1 in this order; d = y_j[j], r_j = 1/√d, y_j = y_j·r_j,
	// y_j[j] = √d, where [j] is line j mod nr. It returns the first j whose d is not positive and
	// finite, and leaves d in y_j[j]; or it returns -1. Lines before j of row j are undefined
	// afterwards. lo, j0 and hi are multiples of mr.
	chol func(lo, j0, hi int, r, y *T) int

	// squares adds the squares of each line i to d_i, d_i = fma(y_q[i], y_q[i], d_i) for q = 0…k-1
	// in this order, k > 0.
	squares func(k int, y, d *T)

	// copyRows copies k > 0 rows of nr elements, dst[p*ldd+i] = src[p*lds+i].
	copyRows func(k int, src *T, lds int, dst *T, ldd int)

	// loadCorner transposes the lower triangle of 0 < n ≤ nr rows into a strip,
	// dst[p*nr+i] = src[i*ld+p], p ≤ i < n, where dst is the first line and position in use. Lines
	// from n up to a multiple of mr become lines of the identity. Elements above the diagonal are
	// undefined afterwards. storeCorner transposes the triangle back.
	loadCorner  func(n int, src *T, ld int, dst *T)
	storeCorner func(n int, src, dst *T, ld int)

	// copyLower copies a lower triangle of 0 < n ≤ nr rows, dst[i*ldd+j] = src[i*lds+j], j ≤ i < n.
	copyLower func(n int, dst *T, ldd int, src *T, lds int)

	// smallChol factors the lower triangle of 0 < n ≤ most rows of a in place, with the chains of
	// chol. It stops at the first bad pivot and returns its row and value, or returns -1.
	//
	// smallInv computes X = L⁻¹ for 0 < n ≤ most rows. It stores X or Xᵀ·X in the lower triangle of
	// dst, or the diagonal of Xᵀ·X in the n elements from dst on; see inverseOf. dst may be l.
	most      int
	smallChol func(n int, a *T, ld int) (bad int, pivot T)
	smallInv  func(n int, l *T, ld int, dst *T, ldd int, what inverseOf)

	// pack transposes m ≤ nr rows of k elements into lines of a strip, dst[p*nr+i] = src[i*ld+p].
	// unpack transposes them back.
	pack   func(m, k int, src *T, ld int, dst *T)
	unpack func(m, k int, src, dst *T, ld int)
}

// Parts of the mode of add and sub. The number of columns to leave out is less than tileFresh.
const (
	tileFresh = 32
	tileLower = 64
)

// at returns the address of element i of the array that p points into.
func at[T Float](p *T, i int) *T {
	return (*T)(unsafe.Add(unsafe.Pointer(p), uintptr(i)*unsafe.Sizeof(*p)))
}

// elems returns the n elements from p on as a slice.
func elems[T Float](p *T, n int) []T { return unsafe.Slice(p, n) }
