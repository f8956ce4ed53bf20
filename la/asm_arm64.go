//go:build !purego

package la

import "unsafe"

// machineSets returns the instruction sets with assembly: every arm64 CPU that
// Go runs on has NEON.
func machineSets() []*instructionSet { return []*instructionSet{neonSet()} }

func neonSet() *instructionSet {
	s := newSet("neon")

	s.f64.mr, s.f64.nr = 6, 8
	s.f64.gemm, s.f64.dist = gemmNeon64, distNeon64
	s.f64.pack = packNeon64
	s.f64.gather = func(r, panels, k int, src *float64, ld int, dst *float64, step int) {
		gatherNeon(8*r, panels, k, unsafe.Pointer(src), 8*ld, unsafe.Pointer(dst), 8*step)
	}
	s.f64.axpy, s.f64.scal, s.f64.exp = inPieces(axpyNeon64, scalNeon64, expNeon64)
	s.f64.vectorKernels = productsInPieces(dotNeon64, dotLanesNeon64, dotAxpyNeon64, axpyNeon64, axpy4Neon64)
	s.strips64 = stripsOf(stripKernels[float64]{nr: 12, mr: 4,
		add: stripAddNeon64, sub: stripSubNeon64, chol: stripCholNeon64,
	}, 2, packNeon64, unpackNeon64, stripSolveNeon64, stripSquaresNeon64)

	s.f32.mr, s.f32.nr = 8, 12
	s.f32.gemm, s.f32.dist = gemmNeon32, distNeon32
	s.f32.pack = packNeon32
	s.f32.gather = func(r, panels, k int, src *float32, ld int, dst *float32, step int) {
		gatherNeon(4*r, panels, k, unsafe.Pointer(src), 4*ld, unsafe.Pointer(dst), 4*step)
	}
	s.f32.axpy, s.f32.scal, s.f32.exp = inPieces(axpyNeon32, scalNeon32, expNeon32)
	s.f32.vectorKernels = productsInPieces(dotNeon32, dotLanesNeon32, dotAxpyNeon32, axpyNeon32, axpy4Neon32)
	s.strips32 = stripsOf(stripKernels[float32]{nr: 24, mr: 4,
		add: stripAddNeon32, sub: stripSubNeon32, chol: stripCholNeon32,
	}, 4, packNeon32, unpackNeon32, stripSolveNeon32, stripSquaresNeon32)

	s.mixed = productsInPieces(dotNeonMixed, dotLanesNeonMixed, dotAxpyNeonMixed, axpyNeonMixed, axpy4NeonMixed)
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
	k.most, k.smallChol, k.smallInv = scalarRows, smallCholGeneric[T], smallInvGeneric[T]
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
			stripCopyNeon(min(most, k-p), unsafe.Pointer(at(src, p*lds)), lds*size, unsafe.Pointer(at(dst, p*ldd)), ldd*size)
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
func gatherNeon(size, panels, k int, src unsafe.Pointer, ld int, dst unsafe.Pointer, step int)

//go:noescape
func stripCopyNeon(k int, src unsafe.Pointer, lds int, dst unsafe.Pointer, ldd int)

//go:noescape
func gemmNeon64(k int, alpha float64, a, b, c *float64, ldc int, add bool, next *float64)

//go:noescape
func distNeon64(k int, a, b, c *float64, ldc int, add bool)

//go:noescape
func packNeon64(m, k int, src *float64, ld int, dst *float64, r int)

//go:noescape
func unpackNeon64(m, k int, src *float64, r int, dst *float64, ld int)

//go:noescape
func scalNeon64(alpha float64, x []float64)

//go:noescape
func expNeon64(dst, src []float64)

//go:noescape
func dotNeon64(a []float64, x []float64) float64

//go:noescape
func dotLanesNeon64(s *[Lanes]float64, a []float64, x []float64)

//go:noescape
func dotAxpyNeon64(alpha float64, a []float64, x, y []float64) float64

//go:noescape
func axpyNeon64(alpha float64, a []float64, y []float64)

//go:noescape
func axpy4Neon64(x *[4]float64, a *float64, lda int, y []float64)

//go:noescape
func gemmNeon32(k int, alpha float32, a, b, c *float32, ldc int, add bool, next *float32)

//go:noescape
func distNeon32(k int, a, b, c *float32, ldc int, add bool)

//go:noescape
func packNeon32(m, k int, src *float32, ld int, dst *float32, r int)

//go:noescape
func unpackNeon32(m, k int, src *float32, r int, dst *float32, ld int)

//go:noescape
func scalNeon32(alpha float32, x []float32)

//go:noescape
func expNeon32(dst, src []float32)

//go:noescape
func dotNeon32(a []float32, x []float32) float32

//go:noescape
func dotLanesNeon32(s *[Lanes]float32, a []float32, x []float32)

//go:noescape
func dotAxpyNeon32(alpha float32, a []float32, x, y []float32) float32

//go:noescape
func axpyNeon32(alpha float32, a []float32, y []float32)

//go:noescape
func axpy4Neon32(x *[4]float32, a *float32, lda int, y []float32)

//go:noescape
func dotNeonMixed(a []float32, x []float64) float64

//go:noescape
func dotLanesNeonMixed(s *[Lanes]float64, a []float32, x []float64)

//go:noescape
func dotAxpyNeonMixed(alpha float64, a []float32, x, y []float64) float64

//go:noescape
func axpyNeonMixed(alpha float64, a []float32, y []float64)

//go:noescape
func axpy4NeonMixed(x *[4]float64, a *float32, lda int, y []float64)

//go:noescape
func stripAddNeon64(k int, a, b, c *float64, ldc int, next *float64, mode int, soon uintptr, step int)

//go:noescape
func stripSubNeon64(k int, a, b, c *float64, ldc int, next *float64, mode int, soon uintptr, step int)

//go:noescape
func stripSolveNeon64(lo, j0, hi int, t *float64, ts int, r, y *float64)

//go:noescape
func stripCholNeon64(lo, j0, hi int, r, y *float64) int

//go:noescape
func stripSquaresNeon64(k int, y, d *float64)

//go:noescape
func stripAddNeon32(k int, a, b, c *float32, ldc int, next *float32, mode int, soon uintptr, step int)

//go:noescape
func stripSubNeon32(k int, a, b, c *float32, ldc int, next *float32, mode int, soon uintptr, step int)

//go:noescape
func stripSolveNeon32(lo, j0, hi int, t *float32, ts int, r, y *float32)

//go:noescape
func stripCholNeon32(lo, j0, hi int, r, y *float32) int

//go:noescape
func stripSquaresNeon32(k int, y, d *float32)
