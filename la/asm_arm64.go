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
	s.f64.negRootPiece, s.f64.restTimesPiece = neonNegRoot64, neonRestTimes64
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
	s.f32.negRootPiece, s.f32.restTimesPiece = neonNegRoot32, neonRestTimes32
	s.f32.vectorKernels = vectorKernels[float32, float32]{
		dotPiece: neonDot32, dotAxpyPiece: neonDotAxpy32,
		axpyPiece: neonAxpy32, axpysPiece: neonAxpys32, axpysRows: 4,
	}
	s.strips32 = stripsOf(stripKernels[float32]{nr: 24, mr: 4,
		add: neonStripAdd32, sub: neonStripSub32, chol: neonStripChol32,
	}, 4, neonPack32, neonUnpack32, neonStripSolve32, neonStripSquares32)

	s.exp2Sum = neonExp2Sum
	s.panels64 = panelKernels[float64]{
		mul: neonPanelMul64, sqDist: neonPanelSqDist64, absDist: neonPanelAbsDist64, sqParts: neonPanelSqParts64, absParts: neonPanelAbsParts64,
		addProducts: neonPanelAddProducts64,
	}
	s.panels32 = panelKernels[float32]{
		mul: neonPanelMul32, sqDist: neonPanelSqDist32, absDist: neonPanelAbsDist32, sqParts: neonPanelSqParts32, absParts: neonPanelAbsParts32,
		addProducts: neonPanelAddProducts32,
	}

	s.mixed = vectorKernels[float32, float64]{
		dotPiece: neonDotMixed, dotAxpyPiece: neonDotAxpyMixed,
		axpyPiece: neonAxpyMixed, axpysPiece: neonAxpysMixed, axpysRows: 4,
	}
	return s
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
func neonScal64(n int, alpha float64, x *float64)

//go:noescape
func neonNegRoot64(n int, x *float64)

//go:noescape
func neonRestTimes64(n int, e, x *float64)

//go:noescape
func neonExp64(n int, dst, src *float64)

//go:noescape
func neonDot64(n int, a, x *float64, lanes *[dotLanes]float64) float64

//go:noescape
func neonDotAxpy64(n int, alpha float64, a, x, y *float64, lanes *[dotLanes]float64) float64

//go:noescape
func neonAxpy64(n int, alpha float64, a, y *float64)

//go:noescape
func neonAxpys64(n int, x, a *float64, lda int, y *float64)

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
func neonNegRoot32(n int, x *float32)

//go:noescape
func neonRestTimes32(n int, e, x *float32)

//go:noescape
func neonExp32(n int, dst, src *float32)

//go:noescape
func neonDot32(n int, a, x *float32, lanes *[dotLanes]float32) float32

//go:noescape
func neonDotAxpy32(n int, alpha float32, a, x, y *float32, lanes *[dotLanes]float32) float32

//go:noescape
func neonAxpy32(n int, alpha float32, a, y *float32)

//go:noescape
func neonAxpys32(n int, x, a *float32, lda int, y *float32)

//go:noescape
func neonDotMixed(n int, a *float32, x *float64, lanes *[dotLanes]float64) float64

//go:noescape
func neonDotAxpyMixed(n int, alpha float64, a *float32, x, y *float64, lanes *[dotLanes]float64) float64

//go:noescape
func neonAxpyMixed(n int, alpha float64, a *float32, y *float64)

//go:noescape
func neonAxpysMixed(n int, x *float64, a *float32, lda int, y *float64)
