//go:build !purego

package la

var avx512Strips64 = stripKernels[float64]{
	nr: 24, mr: 8,
	loadCorner: avx512LoadCorner64, storeCorner: avx512StoreCorner64, copyLower: avx512CopyLower64,
	add: avx512StripAdd64, sub: avx512StripSub64,
	solve: avx512StripSolve64, invert: avx512StripInvert64, chol: avx512StripChol64, squares: avx512StripSquares64,
	most: 8, smallChol: avx512SmallChol64, smallInv: avx512SmallInv64,
	copyRows: avx512StripCopy64,
	pack: func(m, k int, src *float64, ld int, dst *float64) {
		packBlocks(m, k, src, ld, dst, 24, 8, avx512StripPack64)
	},
	unpack: func(m, k int, src, dst *float64, ld int) {
		unpackBlocks(m, k, src, dst, ld, 24, 8, avx512StripUnpack64)
	},
}

var avx512Strips32 = withGenericTriangles(stripKernels[float32]{
	nr: 48, mr: 16,
	add: avx512StripAdd32, sub: avx512StripSub32,
	solve: avx512StripSolve32, invert: avx512StripInvert32, chol: avx512StripChol32, squares: avx512StripSquares32,
	copyRows: avx512StripCopy32,
	pack:     avx2StripPack32(48), unpack: avx2StripUnpack32(48),
})

var avx2Strips64 = withGenericTriangles(stripKernels[float64]{
	nr: 12, mr: 4,
	add: avx2StripAdd64, sub: avx2StripSub64,
	solve: avx2StripSolve64, chol: avx2StripChol64, squares: avx2StripSquares64,
	most: 8, smallChol: avx2SmallChol64, smallInv: avx2SmallInv64,
	copyRows: avx2StripCopy64,
	pack: func(m, k int, src *float64, ld int, dst *float64) {
		packBlocks(m, k, src, ld, dst, 12, 4, avx2StripPack64)
	},
	unpack: func(m, k int, src, dst *float64, ld int) {
		unpackBlocks(m, k, src, dst, ld, 12, 4, avx2StripUnpack64)
	},
})

var avx2Strips32 = withGenericTriangles(stripKernels[float32]{
	nr: 24, mr: 8,
	add: avx2StripAdd32, sub: avx2StripSub32,
	solve: avx2StripSolve32, chol: avx2StripChol32, squares: avx2StripSquares32,
	copyRows: avx2StripCopy32,
	pack:     avx2StripPack32(24), unpack: avx2StripUnpack32(24),
})

// avx2SmallChol64 is smallChol. Plain loops factor the smallest triangles.
func avx2SmallChol64(n int, a *float64, ld int) (bad int, pivot float64) {
	if n <= scalarRows {
		return genericSmallChol(n, a, ld)
	}
	return avx2SmallCholRows64(n, a, ld)
}

// avx2SmallInv64 is smallInv. Plain loops invert the smallest triangles.
func avx2SmallInv64(n int, l *float64, ld int, dst *float64, ldd int, what inverseOf) {
	if n <= scalarRows {
		genericSmallInv(n, l, ld, dst, ldd, what)
		return
	}
	avx2SmallInvRows64(n, l, ld, dst, ldd, what)
}

// avx2StripPack32 and avx2StripUnpack32 return pack and unpack for strips of nr lines, in
// blocks of 4×4.
func avx2StripPack32(nr int) func(m, k int, src *float32, ld int, dst *float32) {
	return func(m, k int, src *float32, ld int, dst *float32) {
		packBlocks(m, k, src, ld, dst, nr, 4, func(k int, src *float32, ld int, dst *float32) {
			avx2PackBlocks32(k/4, src, ld, dst, nr)
		})
	}
}

func avx2StripUnpack32(nr int) func(m, k int, src, dst *float32, ld int) {
	return func(m, k int, src, dst *float32, ld int) {
		unpackBlocks(m, k, src, dst, ld, nr, 4, func(k int, src, dst *float32, ld int) {
			for p := 0; p < k; p += 4 {
				avx2PackBlocks32(1, at(src, p*nr), nr, at(dst, p), ld)
			}
		})
	}
}

// packBlocks is pack. block transposes mr rows of a multiple of mr elements. The other elements, at
// the right and at the bottom, are moved one by one.
func packBlocks[T Float](m, k int, src *T, ld int, dst *T, nr, mr int, block func(k int, src *T, ld int, dst *T)) {
	mb, kb := m/mr*mr, k/mr*mr
	for i := 0; i < mb && kb > 0; i += mr {
		block(kb, at(src, i*ld), ld, at(dst, i))
	}
	for i := range m {
		p := kb
		if i >= mb {
			p = 0
		}
		for ; p < k; p++ {
			*at(dst, p*nr+i) = *at(src, i*ld+p)
		}
	}
}

// unpackBlocks is unpack, done like packBlocks.
func unpackBlocks[T Float](m, k int, src, dst *T, ld, nr, mr int, block func(k int, src, dst *T, ld int)) {
	mb, kb := m/mr*mr, k/mr*mr
	for i := 0; i < mb && kb > 0; i += mr {
		block(kb, at(src, i), at(dst, i*ld), ld)
	}
	for i := range m {
		p := kb
		if i >= mb {
			p = 0
		}
		for ; p < k; p++ {
			*at(dst, i*ld+p) = *at(src, p*nr+i)
		}
	}
}

//go:noescape
func avx512StripAdd64(k int, a, b, c *float64, ldc int, next *float64, mode int, soon uintptr, step int)

//go:noescape
func avx512StripSub64(k int, a, b, c *float64, ldc int, next *float64, mode int, soon uintptr, step int)

//go:noescape
func avx512StripSolve64(lo, hi int, t *float64, ts int, r, y *float64, skip int)

//go:noescape
func avx512StripInvert64(n int, t, y *float64)

//go:noescape
func avx512StripChol64(lo, j0, hi int, r, y *float64) int

//go:noescape
func avx512StripSquares64(k int, y, d *float64)

//go:noescape
func avx512StripCopy64(k int, src *float64, lds int, dst *float64, ldd int)

//go:noescape
func avx512StripPack64(k int, src *float64, ld int, dst *float64)

//go:noescape
func avx512StripUnpack64(k int, src, dst *float64, ld int)

//go:noescape
func avx512LoadCorner64(n int, src *float64, ld int, dst *float64)

//go:noescape
func avx512StoreCorner64(n int, src, dst *float64, ld int)

//go:noescape
func avx512CopyLower64(n int, dst *float64, ldd int, src *float64, lds int)

//go:noescape
func avx512SmallChol64(n int, a *float64, ld int) (bad int, pivot float64)

//go:noescape
func avx512SmallInv64(n int, l *float64, ld int, dst *float64, ldd int, what inverseOf)

//go:noescape
func avx512StripAdd32(k int, a, b, c *float32, ldc int, next *float32, mode int, soon uintptr, step int)

//go:noescape
func avx512StripSub32(k int, a, b, c *float32, ldc int, next *float32, mode int, soon uintptr, step int)

//go:noescape
func avx512StripSolve32(lo, hi int, t *float32, ts int, r, y *float32, skip int)

//go:noescape
func avx512StripInvert32(n int, t, y *float32)

//go:noescape
func avx512StripChol32(lo, j0, hi int, r, y *float32) int

//go:noescape
func avx512StripSquares32(k int, y, d *float32)

//go:noescape
func avx512StripCopy32(k int, src *float32, lds int, dst *float32, ldd int)

//go:noescape
func avx2StripAdd64(k int, a, b, c *float64, ldc int, next *float64, mode int, soon uintptr, step int)

//go:noescape
func avx2StripSub64(k int, a, b, c *float64, ldc int, next *float64, mode int, soon uintptr, step int)

//go:noescape
func avx2StripSolve64(lo, hi int, t *float64, ts int, r, y *float64, skip int)

//go:noescape
func avx2StripChol64(lo, j0, hi int, r, y *float64) int

//go:noescape
func avx2StripSquares64(k int, y, d *float64)

//go:noescape
func avx2StripCopy64(k int, src *float64, lds int, dst *float64, ldd int)

//go:noescape
func avx2StripPack64(k int, src *float64, ld int, dst *float64)

//go:noescape
func avx2StripUnpack64(k int, src, dst *float64, ld int)

//go:noescape
func avx2SmallCholRows64(n int, a *float64, ld int) (bad int, pivot float64)

//go:noescape
func avx2SmallInvRows64(n int, l *float64, ld int, dst *float64, ldd int, what inverseOf)

//go:noescape
func avx2StripAdd32(k int, a, b, c *float32, ldc int, next *float32, mode int, soon uintptr, step int)

//go:noescape
func avx2StripSub32(k int, a, b, c *float32, ldc int, next *float32, mode int, soon uintptr, step int)

//go:noescape
func avx2StripSolve32(lo, hi int, t *float32, ts int, r, y *float32, skip int)

//go:noescape
func avx2StripChol32(lo, j0, hi int, r, y *float32) int

//go:noescape
func avx2StripSquares32(k int, y, d *float32)

//go:noescape
func avx2StripCopy32(k int, src *float32, lds int, dst *float32, ldd int)
