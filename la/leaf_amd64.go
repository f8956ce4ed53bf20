//go:build !purego

package la

//go:noescape
func addAVX512(k int, a, b, c *float64, ldc int, next *float64, mode int, soon uintptr, step int)

//go:noescape
func subAVX512(k int, a, b, c *float64, ldc int, next *float64, mode int, soon uintptr, step int)

//go:noescape
func solveAVX512(lo, hi int, t *float64, ts int, r, y *float64, skip int)

//go:noescape
func cholAVX512(lo, j0, hi int, r, y *float64) int

//go:noescape
func squaresAVX512(k int, y, d *float64)

//go:noescape
func copyRowsAVX512(k int, src *float64, lds int, dst *float64, ldd int)

//go:noescape
func pack8AVX512(k int, src *float64, ld int, dst *float64)

//go:noescape
func unpack8AVX512(k int, src, dst *float64, ld int)

//go:noescape
func addAVX2(k int, a, b, c *float64, ldc int, next *float64, mode int, soon uintptr, step int)

//go:noescape
func subAVX2(k int, a, b, c *float64, ldc int, next *float64, mode int, soon uintptr, step int)

//go:noescape
func solveAVX2(lo, hi int, t *float64, ts int, r, y *float64, skip int)

//go:noescape
func cholAVX2(lo, j0, hi int, r, y *float64) int

//go:noescape
func squaresAVX2(k int, y, d *float64)

//go:noescape
func copyRowsAVX2(k int, src *float64, lds int, dst *float64, ldd int)

//go:noescape
func pack4AVX2(k int, src *float64, ld int, dst *float64)

//go:noescape
func unpack4AVX2(k int, src, dst *float64, ld int)

//go:noescape
func add32AVX2(k int, a, b, c *float32, ldc int, next *float32, mode int, soon uintptr, step int)

//go:noescape
func sub32AVX2(k int, a, b, c *float32, ldc int, next *float32, mode int, soon uintptr, step int)

//go:noescape
func solve32AVX2(lo, hi int, t *float32, ts int, r, y *float32, skip int)

//go:noescape
func chol32AVX2(lo, j0, hi int, r, y *float32) int

//go:noescape
func squares32AVX2(k int, y, d *float32)

//go:noescape
func copyRows32AVX2(k int, src *float32, lds int, dst *float32, ldd int)

//go:noescape
func smallCholRowsAVX2(n int, a *float64, ld int) (bad int, pivot float64)

//go:noescape
func smallInvRowsAVX2(n int, l *float64, ld int, dst *float64, ldd int, what inverseOf)

//go:noescape
func loadCornerAVX512(n int, src *float64, ld int, dst *float64)

//go:noescape
func storeCornerAVX512(n int, src, dst *float64, ld int)

//go:noescape
func copyLowerAVX512(n int, dst *float64, ldd int, src *float64, lds int)

//go:noescape
func smallCholAVX512(n int, a *float64, ld int) (bad int, pivot float64)

//go:noescape
func smallInvAVX512(n int, l *float64, ld int, dst *float64, ldd int, what inverseOf)

//go:noescape
func add32AVX512(k int, a, b, c *float32, ldc int, next *float32, mode int, soon uintptr, step int)

//go:noescape
func sub32AVX512(k int, a, b, c *float32, ldc int, next *float32, mode int, soon uintptr, step int)

//go:noescape
func solve32AVX512(lo, hi int, t *float32, ts int, r, y *float32, skip int)

//go:noescape
func chol32AVX512(lo, j0, hi int, r, y *float32) int

//go:noescape
func squares32AVX512(k int, y, d *float32)

//go:noescape
func copyRows32AVX512(k int, src *float32, lds int, dst *float32, ldd int)

var stripsAVX512 = stripKernels[float64]{
	nr: 24, mr: 8,
	loadCorner: loadCornerAVX512, storeCorner: storeCornerAVX512, copyLower: copyLowerAVX512,
	add: addAVX512, sub: subAVX512,
	solve: solveAVX512, chol: cholAVX512, squares: squaresAVX512,
	most: 8, smallChol: smallCholAVX512, smallInv: smallInvAVX512,
	copyRows: copyRowsAVX512,
	pack: func(m, k int, src *float64, ld int, dst *float64) {
		packBlocks(m, k, src, ld, dst, 24, 8, pack8AVX512)
	},
	unpack: func(m, k int, src, dst *float64, ld int) {
		unpackBlocks(m, k, src, dst, ld, 24, 8, unpack8AVX512)
	},
}

var strips32AVX512 = stripKernels[float32]{
	nr: 48, mr: 16,
	add: add32AVX512, sub: sub32AVX512,
	solve: solve32AVX512, chol: chol32AVX512, squares: squares32AVX512,
	most: scalarRows, smallChol: smallCholGeneric[float32], smallInv: smallInvGeneric[float32],
	copyRows: copyRows32AVX512,
	pack:     pack32(48), unpack: unpack32(48),
}

var stripsAVX2 = stripKernels[float64]{
	nr: 12, mr: 4,
	add: addAVX2, sub: subAVX2,
	solve: solveAVX2, chol: cholAVX2, squares: squaresAVX2,
	most: 8, smallChol: smallCholAVX2, smallInv: smallInvAVX2,
	copyRows: copyRowsAVX2,
	pack: func(m, k int, src *float64, ld int, dst *float64) {
		packBlocks(m, k, src, ld, dst, 12, 4, pack4AVX2)
	},
	unpack: func(m, k int, src, dst *float64, ld int) {
		unpackBlocks(m, k, src, dst, ld, 12, 4, unpack4AVX2)
	},
}

var strips32AVX2 = stripKernels[float32]{
	nr: 24, mr: 8,
	add: add32AVX2, sub: sub32AVX2,
	solve: solve32AVX2, chol: chol32AVX2, squares: squares32AVX2,
	most: scalarRows, smallChol: smallCholGeneric[float32], smallInv: smallInvGeneric[float32],
	copyRows: copyRows32AVX2,
	pack:     pack32(24), unpack: unpack32(24),
}

func smallCholAVX2(n int, a *float64, ld int) (bad int, pivot float64) {
	if n <= scalarRows {
		return smallCholGeneric(n, a, ld)
	}
	return smallCholRowsAVX2(n, a, ld)
}

func smallInvAVX2(n int, l *float64, ld int, dst *float64, ldd int, what inverseOf) {
	if n <= scalarRows {
		smallInvGeneric(n, l, ld, dst, ldd, what)
		return
	}
	smallInvRowsAVX2(n, l, ld, dst, ldd, what)
}

// pack32 and unpack32 transpose by blocks of 4×4.
func pack32(nr int) func(m, k int, src *float32, ld int, dst *float32) {
	return func(m, k int, src *float32, ld int, dst *float32) {
		packBlocks(m, k, src, ld, dst, nr, 4, func(k int, src *float32, ld int, dst *float32) {
			avx2Pack32(k/4, src, ld, dst, nr)
		})
	}
}

func unpack32(nr int) func(m, k int, src, dst *float32, ld int) {
	return func(m, k int, src, dst *float32, ld int) {
		unpackBlocks(m, k, src, dst, ld, nr, 4, func(k int, src, dst *float32, ld int) {
			for p := 0; p < k; p += 4 {
				avx2Pack32(1, at(src, p*nr), nr, at(dst, p), ld)
			}
		})
	}
}

// packBlocks transposes m rows of k elements into lines of a strip of nr, whole
// blocks of mr rows and columns by block and what is left, at the right and at
// the bottom, here.
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

// unpackBlocks is the inverse of packBlocks.
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
