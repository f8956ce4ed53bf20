package la

import (
	"math"
	"unsafe"
)

// The factorisations and triangular solves work on strips. A strip holds nr
// rows of a triangular factor, or nr columns of a right-hand side, transposed:
// element q of line i stands at [q*nr+i], so that one vector instruction
// advances nr lines. A strip of L is at the same time the panel of
// right-hand sides that a solve turns into it and both operands of the product
// L·Lᵀ, so what a solve leaves is used where it lies.
//
// Indices count from the front of a triangle that is padded, in front, to a
// multiple of nr lines: all strips but the first are then full and the updates
// of a matrix need no edges. Padding lines are those of the identity.
//
// Every element is one chain of fused multiply-adds over ascending indices that
// starts from the element itself, as in the textbook loops: blocking changes
// which elements advance together and never a chain, so that sizes of blocks
// and the number of workers can be chosen for speed.

// stripKernels is the part of the kernel table that works on strips.
type stripKernels[T Float] struct {
	nr int // lines of a strip
	mr int // divides nr; the padding in use is skipped in steps of mr

	// add computes the nr×nr tile c[i*ldc+j] = fma(a[p*nr+i], b[p*nr+j], c[i*ldc+j])
	// for p = 0…k-1 in this order, k a positive multiple of mr; sub takes -a for a.
	// a and b are aligned to 64 bytes, c is not, and overlaps neither.
	//
	// Two hints, of which an implementation makes what it can: the tile that will be
	// wanted next begins at next and has the same ldc; and k/4 lines of cache of each of
	// nr/4 rows of memory, step bytes apart, the first of them from soon on, will be
	// wanted later.
	//
	// mode is the sum of a number of columns to leave out in front, a multiple of
	// mr less than tileFresh, tileFresh if c is to be taken for zero, and tileLower if c lies on the
	// diagonal: the rows in front are then left out too, and so may be what
	// lies above the diagonal; if c is fresh as well, a[p*nr+i] is zero for p < i,
	// both counted from the first that is not left out, and such terms may be left
	// out. c points to the first element that is not left out.
	add func(k int, a, b, c *T, ldc int, next *T, mode int, soon uintptr, step int)
	sub func(k int, a, b, c *T, ldc int, next *T, mode int, soon uintptr, step int)

	// solve solves T·Y = B for one strip y of right-hand sides, rows lo ≤ j < hi:
	// y_j = (y_j - Σ_k t_jk·y_k)·r_j, k = lo…j-1 in this order. Strip s of the
	// triangle T begins at t[s*ts]; r holds the reciprocals of its diagonal.
	// lo and hi are multiples of mr, as is skip < nr, a number of lines in front whose
	// results are not wanted and may be left out.
	solve func(lo, hi int, t *T, ts int, r, y *T, skip int)

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

	// loadCorner transposes the lower triangle of n ≤ nr rows into a strip whose
	// lines and positions both begin with the first of them, n > 0:
	// dst[p*nr+i] = src[i*ld+p], p ≤ i < n. Up to a multiple of mr, lines behind n
	// become those of the identity; what is above the diagonal is left undefined.
	// storeCorner transposes the triangle back, and copyLower copies one that is not
	// in a strip, dst[i*ldd+j] = src[i*lds+j], j ≤ i < n. Where they are nil, portable
	// loops take their place.
	loadCorner  func(n int, src *T, ld int, dst *T)
	storeCorner func(n int, src, dst *T, ld int)
	copyLower   func(n int, dst *T, ldd int, src *T, lds int)

	// smallChol factors the lower triangle of n ≤ most rows of a where it lies, as chol
	// does, and returns the bad pivot too. It does not go on behind it.
	// smallInv stores X = L⁻¹ in the lower triangle of dst, or XᵀX (see inverseOf), or
	// the diagonal of XᵀX in dst itself; dst may be l.
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

const genericStrip = 4

func genericStripKernels[T Float]() stripKernels[T] {
	return stripKernels[T]{
		nr: genericStrip, mr: genericStrip,
		add: genericStripAdd[T], sub: genericStripSub[T],
		solve: genericStripSolve[T], chol: genericStripChol[T], squares: genericStripSquares[T],
		most: scalarRows, smallChol: genericSmallChol[T], smallInv: genericSmallInv[T],
		copyRows: genericStripCopy[T],
		pack:     genericStripPack[T], unpack: genericStripUnpack[T],
	}
}

// at returns the address of element i of the array that p points into.
func at[T Float](p *T, i int) *T {
	return (*T)(unsafe.Add(unsafe.Pointer(p), uintptr(i)*unsafe.Sizeof(*p)))
}

func genericStripAdd[T Float](k int, a, b, c *T, ldc int, next *T, mode int, soon uintptr, step int) {
	genericStripTile(k, 1, a, b, c, ldc, mode)
}

func genericStripSub[T Float](k int, a, b, c *T, ldc int, next *T, mode int, soon uintptr, step int) {
	genericStripTile(k, -1, a, b, c, ldc, mode)
}

// genericStripTile has mr = nr, so that nothing is left out in front.
func genericStripTile[T Float](k int, sign T, a, b, c *T, ldc int, mode int) {
	const nr = genericStrip
	as, bs := unsafe.Slice(a, k*nr), unsafe.Slice(b, k*nr)
	for i := range nr {
		ci := (*[nr]T)(unsafe.Pointer(at(c, i*ldc)))
		var s [nr]T
		if mode&tileFresh == 0 {
			s = *ci
		}
		for p := range k {
			x, y := sign*as[p*nr+i], (*[nr]T)(bs[p*nr:])
			s[0] = fma(x, y[0], s[0])
			s[1] = fma(x, y[1], s[1])
			s[2] = fma(x, y[2], s[2])
			s[3] = fma(x, y[3], s[3])
		}
		*ci = s
	}
}

func genericStripSquares[T Float](k int, y, d *T) {
	const nr = genericStrip
	ys, s := unsafe.Slice(y, k*nr), (*[nr]T)(unsafe.Pointer(d))
	for q := range k {
		for i, v := range (*[nr]T)(ys[q*nr:]) {
			s[i] = fma(v, v, s[i])
		}
	}
}

func genericStripSolve[T Float](lo, hi int, t *T, ts int, r, y *T, skip int) {
	const nr = genericStrip
	rs, ys := unsafe.Slice(r, hi), unsafe.Slice(y, hi*nr)
	for j := lo; j < hi; j++ {
		tj := at(t, j/nr*ts+j%nr)
		yj := (*[nr]T)(ys[j*nr:])
		subRow(unsafe.Slice(tj, j*nr+1), lo, j, ys, yj)
		for i := range yj {
			yj[i] *= rs[j]
		}
	}
}

// subRow continues the chains of row s with -t[k*nr]·y_k for lo ≤ k < hi.
func subRow[T Float](t []T, lo, hi int, y []T, row *[genericStrip]T) {
	const nr = genericStrip
	s := *row
	for k := lo; k < hi; k++ {
		x, v := -t[k*nr], (*[nr]T)(y[k*nr:])
		s[0] = fma(x, v[0], s[0])
		s[1] = fma(x, v[1], s[1])
		s[2] = fma(x, v[2], s[2])
		s[3] = fma(x, v[3], s[3])
	}
	*row = s
}

func genericStripChol[T Float](lo, j0, hi int, r, y *T) int {
	const nr = genericStrip
	rs, ys := unsafe.Slice(r, hi), unsafe.Slice(y, hi*nr)
	for j := j0; j < hi; j++ {
		yj := (*[nr]T)(ys[j*nr:])
		subRow(ys[j%nr:], lo, j, ys, yj)
		d := float64(yj[j%nr])
		if !(d > 0 && d <= math.MaxFloat64) {
			return j
		}
		root := T(math.Sqrt(d))
		rs[j] = 1 / root
		for i := range yj {
			yj[i] *= rs[j]
		}
		yj[j%nr] = root
	}
	return -1
}

func genericStripCopy[T Float](k int, src *T, lds int, dst *T, ldd int) {
	for p := range k {
		*(*[genericStrip]T)(unsafe.Pointer(at(dst, p*ldd))) = *(*[genericStrip]T)(unsafe.Pointer(at(src, p*lds)))
	}
}

func genericStripPack[T Float](m, k int, src *T, ld int, dst *T) {
	const nr = genericStrip
	if m == 0 || k == 0 {
		return
	}
	d := unsafe.Slice(dst, (k-1)*nr+m)
	for i := range m {
		for p, v := range unsafe.Slice(at(src, i*ld), k) {
			d[p*nr+i] = v
		}
	}
}

func genericStripUnpack[T Float](m, k int, src, dst *T, ld int) {
	const nr = genericStrip
	if m == 0 || k == 0 {
		return
	}
	s := unsafe.Slice(src, (k-1)*nr+m)
	for i := range m {
		d := unsafe.Slice(at(dst, i*ld), k)
		for p := range d {
			d[p] = s[p*nr+i]
		}
	}
}

// elems returns the n elements from p on as a slice.
func elems[T Float](p *T, n int) []T { return unsafe.Slice(p, n) }

// lowerIn is loadCorner.
func (k *stripKernels[T]) lowerIn(n int, src *T, ld int, dst *T) {
	if k.loadCorner != nil {
		k.loadCorner(n, src, ld, dst)
		return
	}
	nr, end := k.nr, (n+k.mr-1)/k.mr*k.mr
	d := elems(dst, (end-1)*nr+end)
	clear(d)
	for i := n; i < end; i++ {
		d[i*nr+i] = 1
	}
	for i := range n {
		q := i
		for _, v := range elems(at(src, i*ld), i+1) {
			d[q] = v
			q += nr
		}
	}
}

// lowerOut is storeCorner.
func (k *stripKernels[T]) lowerOut(n int, src, dst *T, ld int) {
	if k.storeCorner != nil {
		k.storeCorner(n, src, dst, ld)
		return
	}
	s := elems(src, (n-1)*k.nr+n)
	for i := range n {
		row, q := elems(at(dst, i*ld), i+1), i
		for p := range row {
			row[p] = s[q]
			q += k.nr
		}
	}
}

// lower is copyLower.
func (k *stripKernels[T]) lower(n int, dst *T, ldd int, src *T, lds int) {
	if k.copyLower != nil {
		k.copyLower(n, dst, ldd, src, lds)
		return
	}
	for i := range n {
		copy(elems(at(dst, i*ldd), i+1), elems(at(src, i*lds), i+1))
	}
}
