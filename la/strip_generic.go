package la

import (
	"math"
	"unsafe"
)

// genericStrip is nr and mr of the portable strips.
const genericStrip = 4

func genericStripKernels[T Float]() stripKernels[T] {
	return withGenericTriangles(stripKernels[T]{
		nr: genericStrip, mr: genericStrip,
		add: genericStripAdd[T], sub: genericStripSub[T],
		solve: genericStripSolve[T], chol: genericStripChol[T], squares: genericStripSquares[T],
		copyRows: genericStripCopy[T],
		pack:     genericStripPack[T], unpack: genericStripUnpack[T],
	})
}

// withGenericTriangles returns k with portable loops for the entries that it lacks, of the entries
// that move, factor and invert triangles of one strip.
func withGenericTriangles[T Float](k stripKernels[T]) stripKernels[T] {
	nr, mr := k.nr, k.mr
	if k.loadCorner == nil {
		k.loadCorner = func(n int, src *T, ld int, dst *T) { genericLoadCorner(nr, mr, n, src, ld, dst) }
		k.storeCorner = func(n int, src, dst *T, ld int) { genericStoreCorner(nr, n, src, dst, ld) }
		k.copyLower = genericCopyLower[T]
	}
	if k.smallChol == nil {
		k.most, k.smallChol, k.smallInv = scalarRows, genericSmallChol[T], genericSmallInv[T]
	}
	return k
}

func genericStripAdd[T Float](k int, a, b, c *T, ldc int, next *T, mode int, soon uintptr, step int) {
	genericStripTile(k, 1, a, b, c, ldc, mode)
}

func genericStripSub[T Float](k int, a, b, c *T, ldc int, next *T, mode int, soon uintptr, step int) {
	genericStripTile(k, -1, a, b, c, ldc, mode)
}

// genericStripTile is add (sign 1) and sub (sign -1). Since mr = nr, mode never asks to
// leave anything out in front.
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

func genericLoadCorner[T Float](nr, mr, n int, src *T, ld int, dst *T) {
	end := roundUp(n, mr)
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

func genericStoreCorner[T Float](nr, n int, src, dst *T, ld int) {
	s := elems(src, (n-1)*nr+n)
	for i := range n {
		row, q := elems(at(dst, i*ld), i+1), i
		for p := range row {
			row[p] = s[q]
			q += nr
		}
	}
}

func genericCopyLower[T Float](n int, dst *T, ldd int, src *T, lds int) {
	for i := range n {
		copy(elems(at(dst, i*ldd), i+1), elems(at(src, i*lds), i+1))
	}
}
