//go:build !purego

package la

import "unsafe"

// stripsOf returns k with the entries for which one call would take too long. The entries call the
// given routines for some rows of a strip at a time. pack and unpack take multiples of rows rows.
func stripsOf[T Float](k stripKernels[T], rows int,
	pack func(m, k int, src *T, ld int, dst *T, r int),
	unpack func(m, k int, src *T, r int, dst *T, ld int),
	solve func(lo, j0, hi int, t *T, ts int, r, y *T),
	squares func(k int, y, d *T),
) stripKernels[T] {
	const most = 512 // rows of a strip, 48 KiB
	nr, size := k.nr, int(unsafe.Sizeof(*new(T)))
	k.solve = func(lo, hi int, t *T, ts int, r, y *T, skip int) {
		const most = 64 // rows, of up to hi-lo terms each
		for j := lo; j < hi; j += most {
			solve(lo, j, min(j+most, hi), t, ts, r, y)
		}
	}
	k.squares = func(k int, y, d *T) {
		for p := 0; p < k; p += most {
			squares(min(most, k-p), at(y, p*nr), d)
		}
	}
	k.copyRows = func(k int, src *T, lds int, dst *T, ldd int) {
		for p := 0; p < k; p += most {
			neonStripCopy(min(most, k-p), unsafe.Pointer(at(src, p*lds)), lds*size, unsafe.Pointer(at(dst, p*ldd)), ldd*size)
		}
	}
	k.pack = func(m, k int, src *T, ld int, dst *T) {
		whole := m / rows * rows
		for p := 0; p < k; p += most {
			pack(whole, min(most, k-p), at(src, p), ld, at(dst, p*nr), nr)
		}
		for i := whole; i < m; i++ {
			for p := range k {
				*at(dst, p*nr+i) = *at(src, i*ld+p)
			}
		}
	}
	k.unpack = func(m, k int, src, dst *T, ld int) {
		whole := m / rows * rows
		for p := 0; p < k; p += most {
			unpack(whole, min(most, k-p), at(src, p*nr), nr, at(dst, p), ld)
		}
		for i := whole; i < m; i++ {
			for p := range k {
				*at(dst, i*ld+p) = *at(src, p*nr+i)
			}
		}
	}
	return withGenericTriangles(k)
}

//go:noescape
func neonStripCopy(k int, src unsafe.Pointer, lds int, dst unsafe.Pointer, ldd int)

//go:noescape
func neonStripAdd64(k int, a, b, c *float64, ldc int, next *float64, mode int, soon uintptr, step int)

//go:noescape
func neonStripSub64(k int, a, b, c *float64, ldc int, next *float64, mode int, soon uintptr, step int)

//go:noescape
func neonStripSolve64(lo, j0, hi int, t *float64, ts int, r, y *float64)

//go:noescape
func neonStripChol64(lo, j0, hi int, r, y *float64) int

//go:noescape
func neonStripSquares64(k int, y, d *float64)

//go:noescape
func neonStripAdd32(k int, a, b, c *float32, ldc int, next *float32, mode int, soon uintptr, step int)

//go:noescape
func neonStripSub32(k int, a, b, c *float32, ldc int, next *float32, mode int, soon uintptr, step int)

//go:noescape
func neonStripSolve32(lo, j0, hi int, t *float32, ts int, r, y *float32)

//go:noescape
func neonStripChol32(lo, j0, hi int, r, y *float32) int

//go:noescape
func neonStripSquares32(k int, y, d *float32)
