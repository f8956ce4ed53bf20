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
	s.f64.axpy, s.f64.scal, s.f64.exp = inPieces(neonAxpy64, neonScal64, neonExp64)
	s.f64.vectorKernels = productsInPieces(neonDot64, neonDotLanes64, neonDotAxpy64, neonAxpy64, neonAxpys64)
	s.strips64 = stripsOf(stripKernels[float64]{nr: 12, mr: 4,
		add: neonStripAdd64, sub: neonStripSub64, chol: neonStripChol64,
	}, 2, neonPack64, neonUnpack64, neonStripSolve64, neonStripSquares64)

	s.f32.mr, s.f32.nr = 8, 12
	s.f32.gemm, s.f32.dist = neonGemm32, neonDist32
	s.f32.pack = neonPack32
	s.f32.gather = func(r, panels, k int, src *float32, ld int, dst *float32, step int) {
		neonGather(4*r, panels, k, unsafe.Pointer(src), 4*ld, unsafe.Pointer(dst), 4*step)
	}
	s.f32.axpy, s.f32.scal, s.f32.exp = inPieces(neonAxpy32, neonScal32, neonExp32)
	s.f32.vectorKernels = productsInPieces(neonDot32, neonDotLanes32, neonDotAxpy32, neonAxpy32, neonAxpys32)
	s.strips32 = stripsOf(stripKernels[float32]{nr: 24, mr: 4,
		add: neonStripAdd32, sub: neonStripSub32, chol: neonStripChol32,
	}, 4, neonPack32, neonUnpack32, neonStripSolve32, neonStripSquares32)

	s.mixed = productsInPieces(neonDotMixed, neonDotLanesMixed, neonDotAxpyMixed, neonAxpyMixed, neonAxpysMixed)
	return s
}

// grain is the most elements of a vector that one assembly call takes, a
// multiple of Lanes: well under 50 µs even when all of them come from memory.
const grain = 1 << 13

// piece returns the elements of x from the i-th on that one call takes.
func piece[T Float](x []T, i int) []T { return x[i:min(i+grain, len(x))] }

// inPieces makes table entries of routines that are to be called with pieces.
func inPieces[T Float](axpy func(alpha T, x, y []T), scal func(alpha T, x []T), exp func(dst, src []T)) (
	func(alpha T, x, y []T), func(alpha T, x []T), func(dst, src []T)) {
	return func(alpha T, x, y []T) {
			for i := 0; i < len(x); i += grain {
				axpy(alpha, piece(x, i), y[i:])
			}
		}, func(alpha T, x []T) {
			for i := 0; i < len(x); i += grain {
				scal(alpha, piece(x, i))
			}
		}, func(dst, src []T) {
			for i := 0; i < len(src); i += grain {
				exp(dst[i:], piece(src, i))
			}
		}
}

// productsInPieces does so for the parts of matrix-vector products.
func productsInPieces[S, T Float](
	dot func(a []S, x []T) T,
	dotLanes func(s *[Lanes]T, a []S, x []T),
	dotAxpy func(alpha T, a []S, x, y []T) T,
	axpy func(alpha T, a []S, y []T),
	axpy4 func(x *[4]T, a *S, lda int, y []T),
) vectorKernels[S, T] {
	// The pieces of a long dot product hand on the lanes.
	longDot := func(a []S, x []T) T {
		var s [Lanes]T
		whole := len(a) / Lanes * Lanes
		for i := 0; i < whole; i += grain {
			dotLanes(&s, piece(a[:whole], i), x[i:])
		}
		for i := whole; i < len(a); i++ {
			s[i-whole] = fma(T(a[i]), x[i], s[i-whole])
		}
		return foldLanes(&s)
	}
	return vectorKernels[S, T]{
		dot: func(a []S, x []T) T {
			if len(a) <= grain {
				return dot(a, x)
			}
			return longDot(a, x)
		},
		axpys: func(x []T, a *S, lda int, y []T) {
			if len(x) == 0 {
				return
			}
			rows := unsafe.Slice(a, (len(x)-1)*lda+len(y))
			for j := 0; j < len(y); j += grain {
				y, i := piece(y, j), 0
				for ; i+4 <= len(x); i += 4 {
					axpy4((*[4]T)(x[i:]), &rows[i*lda+j], lda, y)
				}
				for ; i < len(x); i++ {
					axpy(x[i], rows[i*lda+j:][:len(y)], y)
				}
			}
		},
		dotAxpy: func(alpha T, a []S, x, y []T) T {
			if len(a) <= grain {
				return dotAxpy(alpha, a, x, y)
			}
			for i := 0; i < len(a); i += grain {
				axpy(alpha, piece(a, i), y[i:])
			}
			return longDot(a, x)
		},
	}
}

//go:noescape
func neonGather(size, panels, k int, src unsafe.Pointer, ld int, dst unsafe.Pointer, step int)

//go:noescape
func neonGemm64(k int, alpha float64, a, b, c *float64, ldc int, add bool, next *float64)

//go:noescape
func neonDist64(k int, a, b, c *float64, ldc int, add bool)

//go:noescape
func neonPack64(m, k int, src *float64, ld int, dst *float64, r int)

//go:noescape
func neonUnpack64(m, k int, src *float64, r int, dst *float64, ld int)

//go:noescape
func neonScal64(alpha float64, x []float64)

//go:noescape
func neonExp64(dst, src []float64)

//go:noescape
func neonDot64(a []float64, x []float64) float64

//go:noescape
func neonDotLanes64(s *[Lanes]float64, a []float64, x []float64)

//go:noescape
func neonDotAxpy64(alpha float64, a []float64, x, y []float64) float64

//go:noescape
func neonAxpy64(alpha float64, a []float64, y []float64)

//go:noescape
func neonAxpys64(x *[4]float64, a *float64, lda int, y []float64)

//go:noescape
func neonGemm32(k int, alpha float32, a, b, c *float32, ldc int, add bool, next *float32)

//go:noescape
func neonDist32(k int, a, b, c *float32, ldc int, add bool)

//go:noescape
func neonPack32(m, k int, src *float32, ld int, dst *float32, r int)

//go:noescape
func neonUnpack32(m, k int, src *float32, r int, dst *float32, ld int)

//go:noescape
func neonScal32(alpha float32, x []float32)

//go:noescape
func neonExp32(dst, src []float32)

//go:noescape
func neonDot32(a []float32, x []float32) float32

//go:noescape
func neonDotLanes32(s *[Lanes]float32, a []float32, x []float32)

//go:noescape
func neonDotAxpy32(alpha float32, a []float32, x, y []float32) float32

//go:noescape
func neonAxpy32(alpha float32, a []float32, y []float32)

//go:noescape
func neonAxpys32(x *[4]float32, a *float32, lda int, y []float32)

//go:noescape
func neonDotMixed(a []float32, x []float64) float64

//go:noescape
func neonDotLanesMixed(s *[Lanes]float64, a []float32, x []float64)

//go:noescape
func neonDotAxpyMixed(alpha float64, a []float32, x, y []float64) float64

//go:noescape
func neonAxpyMixed(alpha float64, a []float32, y []float64)

//go:noescape
func neonAxpysMixed(x *[4]float64, a *float32, lda int, y []float64)
