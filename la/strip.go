package la

import "unsafe"

// The factorisations and triangular solves work on strips. A strip holds nr rows of a
// triangular factor, or nr columns of a right-hand side, transposed: element q of line i
// is at [q*nr+i], so that a few vector instructions advance all nr lines by one element.
// A strip of L serves three times without being copied: as the right-hand sides that a
// solve turns into L, and as either operand of the product L·Lᵀ.
//
// Triangles are padded in front, with lines of the identity, to a multiple of nr lines, and
// positions count from the first of these: only the first strip has padding, and the
// updates of a matrix need no edges.
//
// Every element is one chain of fused multiply-adds over ascending indices that starts
// from the element itself, as in the textbook loops. Blocks only choose which elements
// advance together, never the order of a chain, so that their sizes and the number of
// workers do not enter the results.

// stripKernels is the part of the kernel table that works on strips.
type stripKernels[T Float] struct {
	nr int // lines of a strip
	mr int // divides nr; padding is left out in steps of mr lines

	// add computes the nr×nr tile c[i*ldc+j] = fma(a[p*nr+i], b[p*nr+j], c[i*ldc+j])
	// for p = 0…k-1 in this order, k a positive multiple of mr; sub takes -a for a.
	// a and b are aligned to 64 bytes; c need not be, and overlaps neither. c points to
	// the first element that is not left out. mode is a sum of
	//   - the number of columns to leave out in front, a multiple of mr less than tileFresh;
	//   - tileFresh if c counts as zero;
	//   - tileLower if c lies on the diagonal: as many rows in front are left out too, and
	//     what lies above the diagonal may be. If c is fresh as well, a[p*nr+i] is zero for
	//     p < i, both counted from the first that is not left out, and such terms may be
	//     left out. Where invert is not nil, terms of p below the multiple of mr up to i are
	//     left out: they need not be zero.
	//
	// The other arguments are hints for prefetching, which change no result: the tile that
	// will be wanted next begins at next and has the same ldc; and k/4 cache lines of each
	// of nr/4 rows of memory, the first of them at soon and step bytes apart, will be
	// wanted later.
	add func(k int, a, b, c *T, ldc int, next *T, mode int, soon uintptr, step int)
	sub func(k int, a, b, c *T, ldc int, next *T, mode int, soon uintptr, step int)

	// solve solves T·Y = B for one strip y of right-hand sides, rows lo ≤ j < hi:
	// y_j = (y_j - Σ_k t_jk·y_k)·r_j, k = lo…j-1 in this order. Strip s of the
	// triangle T begins at t[s*ts]; r holds the reciprocals of its diagonal.
	// lo and hi are multiples of mr, as is skip < nr, a number of lines in front whose
	// results are not wanted and may be left out.
	solve func(lo, hi int, t *T, ts int, r, y *T, skip int)

	// invert computes X = T⁻¹ for a triangle of one strip, its first n lines, n a multiple of
	// mr: the solution of T·X = I, of which terms that are zero are left out. Row j of X is
	// at y[j*nr]; behind the diagonal it is zero up to a multiple of mr, and from there on what
	// it was. invert is nil where solve does as well.
	invert func(n int, t, y *T)

	// chol factors rows j0 ≤ j < hi of the strip y whose lines they are:
	// d = y_j[j]; r_j = 1/√d, y_j = (y_j - Σ_k y_k[j]·y_k)·r_j, k = lo…j-1 in this
	// order, y_j[j] = √d, where [j] is line j mod nr. It returns the first j
	// whose d, left in y_j[j], is not positive and finite, or -1. Lines before j
	// of row j are left undefined. lo, j0 and hi are multiples of mr.
	chol func(lo, j0, hi int, r, y *T) int

	// squares adds to d, for each line, its squares, d_i = fma(y_q[i], y_q[i], d_i)
	// for q = 0…k-1 in this order, k > 0.
	squares func(k int, y, d *T)

	// copyRows copies k > 0 rows of nr elements, dst[p*ldd+i] = src[p*lds+i].
	copyRows func(k int, src *T, lds int, dst *T, ldd int)

	// loadCorner transposes the lower triangle of 0 < n ≤ nr rows into a strip, of which
	// dst is the first line and position in use: dst[p*nr+i] = src[i*ld+p], p ≤ i < n. Up
	// to a multiple of mr, lines behind n become those of the identity; what is above the
	// diagonal is left undefined. storeCorner transposes the triangle back.
	loadCorner  func(n int, src *T, ld int, dst *T)
	storeCorner func(n int, src, dst *T, ld int)

	// copyLower copies a lower triangle of 0 < n ≤ nr rows as it lies,
	// dst[i*ldd+j] = src[i*lds+j], j ≤ i < n.
	copyLower func(n int, dst *T, ldd int, src *T, lds int)

	// smallChol factors the lower triangle of 0 < n ≤ most rows of a where it lies, as chol
	// does, and returns the row and the value of the first bad pivot, at which it stops,
	// or -1.
	// smallInv computes X = L⁻¹ and stores X or Xᵀ·X in the lower triangle of dst, or the
	// diagonal of Xᵀ·X in the n elements from dst on; see inverseOf. dst may be l.
	most      int
	smallChol func(n int, a *T, ld int) (bad int, pivot T)
	smallInv  func(n int, l *T, ld int, dst *T, ldd int, what inverseOf)

	// pack transposes m ≤ nr rows of k elements into lines of a strip,
	// dst[p*nr+i] = src[i*ld+p], and unpack transposes them back.
	pack   func(m, k int, src *T, ld int, dst *T)
	unpack func(m, k int, src, dst *T, ld int)
}

// Parts of the mode of add and sub; the rest is less than tileFresh.
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
