//go:build !purego

package la

import "unsafe"

// machineSets returns the instruction sets with assembly: every arm64 CPU that
// Go runs on has NEON.
func machineSets() []*instructionSet { return []*instructionSet{neonSet()} }

func neonSet() *instructionSet {
	s := newSet("neon")

	s.f64.mr, s.f64.nr = 6, 8
	s.f64.gemm, s.f64.dist = neonGemm64, neonDist64
	s.f64.pack = neonPack64
	s.f64.gather = func(r, panels, k int, src *float64, ld int, dst *float64, step int) {
		neonGather(8*r, panels, k, unsafe.Pointer(src), 8*ld, unsafe.Pointer(dst), 8*step)
	}
	s.f64.scalPiece, s.f64.expPiece = neonScal64, neonExp64
	s.f64.vectorKernels = vectorKernels[float64, float64]{
		dotPiece: neonDot64, dotAxpyPiece: neonDotAxpy64,
		axpyPiece: neonAxpy64, axpysPiece: neonAxpys64, axpysRows: 4,
	}
	s.strips64 = stripsOf(stripKernels[float64]{nr: 12, mr: 4,
		add: neonStripAdd64, sub: neonStripSub64, chol: neonStripChol64,
	}, 2, neonPack64, neonUnpack64, neonStripSolve64, neonStripSquares64)

	s.f32.mr, s.f32.nr = 8, 12
	s.f32.gemm, s.f32.dist = neonGemm32, neonDist32
	s.f32.pack = neonPack32
	s.f32.gather = func(r, panels, k int, src *float32, ld int, dst *float32, step int) {
		neonGather(4*r, panels, k, unsafe.Pointer(src), 4*ld, unsafe.Pointer(dst), 4*step)
	}
	s.f32.scalPiece, s.f32.expPiece = neonScal32, neonExp32
	s.f32.vectorKernels = vectorKernels[float32, float32]{
		dotPiece: neonDot32, dotAxpyPiece: neonDotAxpy32,
		axpyPiece: neonAxpy32, axpysPiece: neonAxpys32, axpysRows: 4,
	}
	s.strips32 = stripsOf(stripKernels[float32]{nr: 24, mr: 4,
		add: neonStripAdd32, sub: neonStripSub32, chol: neonStripChol32,
	}, 4, neonPack32, neonUnpack32, neonStripSolve32, neonStripSquares32)

	s.mixed = vectorKernels[float32, float64]{
		dotPiece: neonDotMixed, dotAxpyPiece: neonDotAxpyMixed,
		axpyPiece: neonAxpyMixed, axpysPiece: neonAxpysMixed, axpysRows: 4,
	}
	return s
}

// stripsOf completes the strip kernels k, whose calls are short as they are, by
// those that are to be called with pieces; pack and unpack want multiples of so
// many rows besides.
func stripsOf[T Float](k stripKernels[T], rows int,
	pack func(m, k int, src *T, ld int, dst *T, r int),
	unpack func(m, k int, src *T, r int, dst *T, ld int),
	solve func(lo, j0, hi int, t *T, ts int, r, y *T),
	squares func(k int, y, d *T),
) stripKernels[T] {
	const most = 512 // rows of a strip, 48 KiB
	nr, size := k.nr, int(unsafe.Sizeof(*new(T)))
	k.most, k.smallChol, k.smallInv = scalarRows, genericSmallChol[T], genericSmallInv[T]
	k.solve = func(lo, hi int, t *T, ts int, r, y *T, skip int) {
		const most = 64 // rows, each of which takes up to hi-lo terms
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
	return k
}

//go:noescape
func neonGather(size, panels, k int, src unsafe.Pointer, ld int, dst unsafe.Pointer, step int)

//go:noescape
func neonStripCopy(k int, src unsafe.Pointer, lds int, dst unsafe.Pointer, ldd int)

//go:noescape
func neonGemm64(k int, alpha float64, a, b, c *float64, ldc int, add bool, next *float64)

//go:noescape
func neonDist64(k int, a, b, c *float64, ldc int, add bool)

//go:noescape
func neonPack64(m, k int, src *float64, ld int, dst *float64, r int)

//go:noescape
func neonUnpack64(m, k int, src *float64, r int, dst *float64, ld int)

//go:noescape
func neonScal64(n int, alpha float64, x *float64)

//go:noescape
func neonExp64(n int, dst, src *float64)

//go:noescape
func neonDot64(n int, a *float64, x *float64, lanes *[Lanes]float64) float64

//go:noescape
func neonDotAxpy64(n int, alpha float64, a *float64, x, y *float64, lanes *[Lanes]float64) float64

//go:noescape
func neonAxpy64(n int, alpha float64, a *float64, y *float64)

//go:noescape
func neonAxpys64(n int, x *float64, a *float64, lda int, y *float64)

//go:noescape
func neonGemm32(k int, alpha float32, a, b, c *float32, ldc int, add bool, next *float32)

//go:noescape
func neonDist32(k int, a, b, c *float32, ldc int, add bool)

//go:noescape
func neonPack32(m, k int, src *float32, ld int, dst *float32, r int)

//go:noescape
func neonUnpack32(m, k int, src *float32, r int, dst *float32, ld int)

//go:noescape
func neonScal32(n int, alpha float32, x *float32)

//go:noescape
func neonExp32(n int, dst, src *float32)

//go:noescape
func neonDot32(n int, a *float32, x *float32, lanes *[Lanes]float32) float32

//go:noescape
func neonDotAxpy32(n int, alpha float32, a *float32, x, y *float32, lanes *[Lanes]float32) float32

//go:noescape
func neonAxpy32(n int, alpha float32, a *float32, y *float32)

//go:noescape
func neonAxpys32(n int, x *float32, a *float32, lda int, y *float32)

//go:noescape
func neonDotMixed(n int, a *float32, x *float64, lanes *[Lanes]float64) float64

//go:noescape
func neonDotAxpyMixed(n int, alpha float64, a *float32, x, y *float64, lanes *[Lanes]float64) float64

//go:noescape
func neonAxpyMixed(n int, alpha float64, a *float32, y *float64)

//go:noescape
func neonAxpysMixed(n int, x *float64, a *float32, lda int, y *float64)

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
