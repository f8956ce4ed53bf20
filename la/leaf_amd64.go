//go:build !purego

package la

//go:noescape
func addAVX512(k int, a, b, c *float64, ldc int, next *float64, mode int)

//go:noescape
func subAVX512(k int, a, b, c *float64, ldc int, next *float64, mode int)

//go:noescape
func solveAVX512(lo, hi int, t *float64, ts int, r, y *float64)

//go:noescape
func cholAVX512(lo, j0, hi int, r, y *float64) int

//go:noescape
func squaresAVX512(k int, y, d *float64)

//go:noescape
func pack8AVX512(k int, src *float64, ld int, dst *float64)

//go:noescape
func unpack8AVX512(k int, src, dst *float64, ld int)

//go:noescape
func copyRowsAVX512(k int, src *float64, lds int, dst *float64, ldd int)

var stripsAVX512 = stripKernels[float64]{
	nr: 24, mr: 8,
	add: addAVX512, sub: subAVX512,
	solve: solveAVX512, chol: cholAVX512, squares: squaresAVX512,
	copyRows: copyRowsAVX512,
	pack:     packLinesAVX512, unpack: unpackLinesAVX512,
}

// packLinesAVX512 and unpackLinesAVX512 transpose whole 8×8 blocks in assembly
// and what is left, at the right and at the bottom, here.

func packLinesAVX512(m, k int, src *float64, ld int, dst *float64) {
	mb, kb := m&^7, k&^7
	if kb > 0 {
		for i := 0; i < mb; i += 8 {
			pack8AVX512(kb, at(src, i*ld), ld, at(dst, i))
		}
	} else {
		mb = 0
	}
	for i := range m {
		p := kb
		if i >= mb {
			p = 0
		}
		for ; p < k; p++ {
			*at(dst, p*24+i) = *at(src, i*ld+p)
		}
	}
}

func unpackLinesAVX512(m, k int, src, dst *float64, ld int) {
	mb, kb := m&^7, k&^7
	if kb > 0 {
		for i := 0; i < mb; i += 8 {
			unpack8AVX512(kb, at(src, i), at(dst, i*ld), ld)
		}
	} else {
		mb = 0
	}
	for i := range m {
		p := kb
		if i >= mb {
			p = 0
		}
		for ; p < k; p++ {
			*at(dst, i*ld+p) = *at(src, p*24+i)
		}
	}
}
