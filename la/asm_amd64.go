//go:build !purego

package la

import (
	"math"
	"unsafe"

	"github.com/klauspost/cpuid/v2"
)

// machineSets returns the instruction sets with assembly that this CPU can run, best first. The
// operating system must save their registers.
func machineSets() []*instructionSet {
	var sets []*instructionSet
	cpu := &cpuid.CPU
	if cpu.Supports(cpuid.AVX512F, cpuid.AVX512DQ, cpuid.AVX512BW, cpuid.AVX512VL) {
		sets = append(sets, avx512Set())
	}
	if cpu.Supports(cpuid.AVX2, cpuid.FMA3) {
		sets = append(sets, avx2Set())
	}
	return sets
}

func avx512Set() *instructionSet {
	s := newSet("avx512")
	s.f64 = kernels[float64]{
		mr: 8, nr: 24,
		gemm: avx512Gemm64, shared: avx512Shared64, narrow: avx512NarrowOrGemm64, dist: avx512Dist64, small: avx512Small64, direct: avx512Direct64,
		pack: avx512Pack64, gather: avx512Gather64,
		scalPiece: avx512Scal64, expPiece: avx512Exp64, expInto: avx512ExpInto64,
		negRootPiece: avx512NegRoot64, restTimesPiece: avx512RestTimes64,
		vectorKernels: vectorKernels[float64, float64]{
			dotPiece: avx512Dot64, dotAxpyPiece: avx512DotAxpy64,
			axpyPiece: avx512Axpy64, axpysPiece: avx512Axpys64, axpysRows: 8,
			dotsPiece: avx512Dots64, dotAxpysPiece: avx512DotAxpys64,
		},
	}
	s.f32 = kernels[float32]{
		mr: 8, nr: 48,
		gemm: avx512Gemm32, shared: avx512Shared32, narrow: avx512NarrowOrGemm32, dist: avx512Dist32, small: avx512Small32, direct: avx512Direct32,
		pack: avx512Pack32, gather: avx512Gather32,
		scalPiece: avx512Scal32, expPiece: avx512Exp32,
		negRootPiece: avx512NegRoot32, restTimesPiece: avx512RestTimes32,
		vectorKernels: vectorKernels[float32, float32]{
			dotPiece: avx512Dot32, dotAxpyPiece: avx512DotAxpy32,
			axpyPiece: avx512Axpy32, axpysPiece: avx512Axpys32, axpysRows: 8,
			dotsPiece: avx512Dots32, dotAxpysPiece: avx512DotAxpys32,
		},
	}
	s.strips64, s.strips32 = avx512Strips64, avx512Strips32
	s.exp2Sum, s.mulBytes, s.words = avx512Exp2Sum, avx512MulBytes, avx512Words
	if cpuid.CPU.Supports(cpuid.AVX512VNNI) {
		s.mulBytes, s.mulBytesRows = avx512MulBytesVNNI, avx512MulBytesRows
	}
	s.panels64 = panelKernels[float64]{
		mul: avx512PanelMul64, sqDist: avx512PanelSqDist64, absDist: avx512PanelAbsDist64, sqParts: avx512PanelSqParts64, absParts: avx512PanelAbsParts64,
		addProducts: avx512PanelAddProducts64,
	}
	s.panels32 = panelKernels[float32]{
		mul: avx512PanelMul32, sqDist: avx512PanelSqDist32, absDist: avx512PanelAbsDist32, sqParts: avx512PanelSqParts32, absParts: avx512PanelAbsParts32,
		addProducts: avx512PanelAddProducts32,
	}
	s.mixed = vectorKernels[float32, float64]{
		dotPiece: avx512DotMixed, dotAxpyPiece: avx512DotAxpyMixed,
		axpyPiece: avx512AxpyMixed, axpysPiece: avx512AxpysMixed, axpysRows: 8,
		dotsPiece: avx512DotsMixed, dotAxpysPiece: avx512DotAxpysMixed,
	}
	return s
}

func avx2Set() *instructionSet {
	s := newSet("avx2")
	s.f64 = kernels[float64]{
		mr: 4, nr: 12,
		gemm: avx2Gemm64, dist: avx2Dist64, small: avx2Small64,
		pack: avx2Pack64, gather: avx2Gather64,
		scalPiece: avx2Scal64, expPiece: avx2Exp64,
		negRootPiece: avx2NegRoot64, restTimesPiece: avx2RestTimes64,
		vectorKernels: vectorKernels[float64, float64]{
			dotPiece: avx2Dot64, dotAxpyPiece: avx2DotAxpy64,
			axpyPiece: avx2Axpy64, axpysPiece: avx2Axpys64, axpysRows: 4,
		},
	}
	s.f32 = kernels[float32]{
		mr: 4, nr: 24,
		gemm: avx2Gemm32, dist: avx2Dist32, small: avx2Small32,
		pack: avx2Pack32, gather: avx2Gather32,
		scalPiece: avx2Scal32, expPiece: avx2Exp32,
		negRootPiece: avx2NegRoot32, restTimesPiece: avx2RestTimes32,
		vectorKernels: vectorKernels[float32, float32]{
			dotPiece: avx2Dot32, dotAxpyPiece: avx2DotAxpy32,
			axpyPiece: avx2Axpy32, axpysPiece: avx2Axpys32, axpysRows: 4,
		},
	}
	s.strips64, s.strips32 = avx2Strips64, avx2Strips32
	s.exp2Sum, s.mulBytes, s.words = avx2Exp2Sum, avx2MulBytes, avx2Words
	s.panels64 = panelKernels[float64]{
		mul: avx2PanelMul64, sqDist: avx2PanelSqDist64, absDist: avx2PanelAbsDist64, sqParts: avx2PanelSqParts64, absParts: avx2PanelAbsParts64,
		addProducts: avx2PanelAddProducts64,
	}
	s.panels32 = panelKernels[float32]{
		mul: avx2PanelMul32, sqDist: avx2PanelSqDist32, absDist: avx2PanelAbsDist32, sqParts: avx2PanelSqParts32, absParts: avx2PanelAbsParts32,
		addProducts: avx2PanelAddProducts32,
	}
	s.mixed = vectorKernels[float32, float64]{
		dotPiece: avx2DotMixed, dotAxpyPiece: avx2DotAxpyMixed,
		axpyPiece: avx2AxpyMixed, axpysPiece: avx2AxpysMixed, axpysRows: 4,
	}
	return s
}

// expTable64 holds the constants of exp.go for the assembly.
//
//lint:ignore U1000 exp_amd64.s reads it
var expTable64 = [...]float64{expMax, expMin, log2e, round64, ln2High, ln2Low,
	expCoef[0], expCoef[1], expCoef[2], expCoef[3], expCoef[4], expCoef[5],
	expCoef[6], expCoef[7], expCoef[8], expCoef[9], expCoef[10], expCoef[11]}

// expTable32 is expTable64 for float32.
//
//lint:ignore U1000 exp_amd64.s reads it
var expTable32 = [...]float32{expMax32, expMin32, log2e32, round32, ln2High32, ln2Low32,
	expCoef32[0], expCoef32[1], expCoef32[2], expCoef32[3], expCoef32[4], expCoef32[5], expCoef32[6]}

// exp64Vectors holds the same constants and the exponent's bias. Each fills a vector of 256 bits.
//
//lint:ignore U1000 exp_amd64.s reads it
var exp64Vectors = func() (v [4 * (len(expTable64) + 1)]uint64) {
	for i := range v {
		if j := i / 4; j < len(expTable64) {
			v[i] = math.Float64bits(expTable64[j])
		} else {
			v[i] = 1023
		}
	}
	return
}()

// exp32Vectors is exp64Vectors for float32.
//
//lint:ignore U1000 exp_amd64.s reads it
var exp32Vectors = func() (v [8 * (len(expTable32) + 1)]uint32) {
	for i := range v {
		if j := i / 8; j < len(expTable32) {
			v[i] = math.Float32bits(expTable32[j])
		} else {
			v[i] = 127
		}
	}
	return
}()

// packInBlocks returns a pack that transposes blocks of rows×terms elements. The routine blocks
// transposes n of them side by side. The remaining terms are transposed by one more block, which ends
// with the last term. If only one or two terms remain, or no whole block exists, the routine rest
// transposes them, which is faster.
func packInBlocks[T Float](rows, terms int, blocks func(n int, src *T, ld int, dst *T, step int),
	rest func(r, k int, src *T, ld int, dst *T, step int)) func(r, k int, src *T, ld int, dst *T, step int) {
	return func(r, k int, src *T, ld int, dst *T, step int) {
		n, left := k/terms, k%terms
		for i := 0; i < r && n > 0; i += rows {
			blocks(n, at(src, i*ld), ld, at(dst, i), step)
			if left > 2 {
				blocks(1, at(src, i*ld+k-terms), ld, at(dst, i+(k-terms)*step), step)
			}
		}
		if left > 0 && (left <= 2 || n == 0) {
			rest(r, left, at(src, k-left), ld, at(dst, (k-left)*step), step)
		}
	}
}

var (
	avx2Pack64   = packInBlocks(4, 4, avx2PackBlocks64, genericPack[float64])
	avx2Pack32   = packInBlocks(4, 4, avx2PackBlocks32, genericPack[float32])
	avx512Pack64 = packInBlocks(8, 8, avx512PackBlocks64, genericPack[float64])
	avx512Pack32 = packInBlocks(8, 16, avx512PackBlocks32, avx2Pack32)
)

// avx512NarrowOrGemm64 is narrow. It calls the routine for up to two vectors of columns, or the
// routine for a whole tile.
func avx512NarrowOrGemm64(n, k int, alpha float64, a *float64, as int, b, c *float64, ldc int, add bool) {
	switch {
	case n <= 16 && k > 0:
		avx512Narrow64(n, k, alpha, a, as, b, c, ldc, add)
	case as == 8:
		avx512Gemm64(k, alpha, a, b, c, ldc, add, a)
	default:
		avx512Shared64(k, alpha, a, b, c, ldc, add, a)
	}
}

// avx512NarrowOrGemm32 is avx512NarrowOrGemm64 for float32.
func avx512NarrowOrGemm32(n, k int, alpha float32, a *float32, as int, b, c *float32, ldc int, add bool) {
	switch {
	case n <= 32 && k > 0:
		avx512Narrow32(n, k, alpha, a, as, b, c, ldc, add)
	case as == 8:
		avx512Gemm32(k, alpha, a, b, c, ldc, add, a)
	default:
		avx512Shared32(k, alpha, a, b, c, ldc, add, a)
	}
}

// The assembly gathers rows of whole vectors and counts strides in bytes.

func avx512Gather64(r, panels, k int, src *float64, ld int, dst *float64, step int) {
	avx512Gather(r/8, panels, k, unsafe.Pointer(src), 8*ld, unsafe.Pointer(dst), 8*step)
}

func avx512Gather32(r, panels, k int, src *float32, ld int, dst *float32, step int) {
	if r%16 != 0 {
		avx2Gather32(r, panels, k, src, ld, dst, step)
		return
	}
	avx512Gather(r/16, panels, k, unsafe.Pointer(src), 4*ld, unsafe.Pointer(dst), 4*step)
}

func avx2Gather64(r, panels, k int, src *float64, ld int, dst *float64, step int) {
	avx2Gather(r/4, panels, k, unsafe.Pointer(src), 8*ld, unsafe.Pointer(dst), 8*step)
}

func avx2Gather32(r, panels, k int, src *float32, ld int, dst *float32, step int) {
	if r%8 != 0 {
		genericGather(r, panels, k, src, ld, dst, step)
		return
	}
	avx2Gather(r/8, panels, k, unsafe.Pointer(src), 4*ld, unsafe.Pointer(dst), 4*step)
}

//go:noescape
func avx512Gemm64(k int, alpha float64, a, b, c *float64, ldc int, add bool, next *float64)

//go:noescape
func avx512Shared64(k int, alpha float64, a, b, c *float64, ldc int, add bool, next *float64)

//go:noescape
func avx512Narrow64(n, k int, alpha float64, a *float64, as int, b, c *float64, ldc int, add bool)

//go:noescape
func avx512Dist64(k int, a, b, c *float64, ldc int, add bool)

//go:noescape
func avx512Small64(m, n, grow, k int, alpha float64, a *float64, ars, acs int, b *float64, ldb int, c *float64, ldc int, add bool)

//go:noescape
func avx512Direct64(n, grow, k int, alpha float64, a *float64, ars, acs int, b *float64, ldb int, c *float64, ldc int, add bool)

//go:noescape
func avx512PackBlocks64(blocks int, src *float64, ld int, dst *float64, step int)

//go:noescape
func avx512Dot64(n int, a, x *float64, lanes *[dotLanes]float64) float64

//go:noescape
func avx512DotAxpy64(n int, alpha float64, a, x, y *float64, lanes *[dotLanes]float64) float64

//go:noescape
func avx512Dots64(n int, a *float64, lda int, x *float64, lanes *[4 * dotLanes]float64)

//go:noescape
func avx512DotAxpys64(n int, alpha *[4]float64, a *float64, lda int, x, y *float64, lanes *[4 * dotLanes]float64)

//go:noescape
func avx512Axpy64(n int, alpha float64, a, y *float64)

//go:noescape
func avx512Axpys64(n int, x, a *float64, lda int, y *float64)

//go:noescape
func avx512Scal64(n int, alpha float64, x *float64)

//go:noescape
func avx512Exp64(n int, dst, src *float64)

//go:noescape
func avx512NegRoot64(n int, x *float64)

//go:noescape
func avx512RestTimes64(n int, e, x *float64)

//go:noescape
func avx512ExpInto64(n int, alpha float64, x, next, other *float64, step int)

//go:noescape
func avx512Gemm32(k int, alpha float32, a, b, c *float32, ldc int, add bool, next *float32)

//go:noescape
func avx512Shared32(k int, alpha float32, a, b, c *float32, ldc int, add bool, next *float32)

//go:noescape
func avx512Narrow32(n, k int, alpha float32, a *float32, as int, b, c *float32, ldc int, add bool)

//go:noescape
func avx512Dist32(k int, a, b, c *float32, ldc int, add bool)

//go:noescape
func avx512Small32(m, n, grow, k int, alpha float32, a *float32, ars, acs int, b *float32, ldb int, c *float32, ldc int, add bool)

//go:noescape
func avx512Direct32(n, grow, k int, alpha float32, a *float32, ars, acs int, b *float32, ldb int, c *float32, ldc int, add bool)

//go:noescape
func avx512PackBlocks32(blocks int, src *float32, ld int, dst *float32, step int)

//go:noescape
func avx512Dot32(n int, a, x *float32, lanes *[dotLanes]float32) float32

//go:noescape
func avx512DotAxpy32(n int, alpha float32, a, x, y *float32, lanes *[dotLanes]float32) float32

//go:noescape
func avx512Dots32(n int, a *float32, lda int, x *float32, lanes *[4 * dotLanes]float32)

//go:noescape
func avx512DotAxpys32(n int, alpha *[4]float32, a *float32, lda int, x, y *float32, lanes *[4 * dotLanes]float32)

//go:noescape
func avx512Axpy32(n int, alpha float32, a, y *float32)

//go:noescape
func avx512Axpys32(n int, x, a *float32, lda int, y *float32)

//go:noescape
func avx512Scal32(n int, alpha float32, x *float32)

//go:noescape
func avx512Exp32(n int, dst, src *float32)

//go:noescape
func avx512NegRoot32(n int, x *float32)

//go:noescape
func avx512RestTimes32(n int, e, x *float32)

//go:noescape
func avx512DotMixed(n int, a *float32, x *float64, lanes *[dotLanes]float64) float64

//go:noescape
func avx512DotAxpyMixed(n int, alpha float64, a *float32, x, y *float64, lanes *[dotLanes]float64) float64

//go:noescape
func avx512DotsMixed(n int, a *float32, lda int, x *float64, lanes *[4 * dotLanes]float64)

//go:noescape
func avx512DotAxpysMixed(n int, alpha *[4]float64, a *float32, lda int, x, y *float64, lanes *[4 * dotLanes]float64)

//go:noescape
func avx512AxpyMixed(n int, alpha float64, a *float32, y *float64)

//go:noescape
func avx512AxpysMixed(n int, x *float64, a *float32, lda int, y *float64)

//go:noescape
func avx512Gather(vectors, panels, k int, src unsafe.Pointer, ld int, dst unsafe.Pointer, step int)

//go:noescape
func avx2Gemm64(k int, alpha float64, a, b, c *float64, ldc int, add bool, next *float64)

//go:noescape
func avx2Dist64(k int, a, b, c *float64, ldc int, add bool)

//go:noescape
func avx2Small64(m, n, grow, k int, alpha float64, a *float64, ars, acs int, b *float64, ldb int, c *float64, ldc int, add bool)

//go:noescape
func avx2PackBlocks64(blocks int, src *float64, ld int, dst *float64, step int)

//go:noescape
func avx2Dot64(n int, a, x *float64, lanes *[dotLanes]float64) float64

//go:noescape
func avx2DotAxpy64(n int, alpha float64, a, x, y *float64, lanes *[dotLanes]float64) float64

//go:noescape
func avx2Axpy64(n int, alpha float64, a, y *float64)

//go:noescape
func avx2Axpys64(n int, x, a *float64, lda int, y *float64)

//go:noescape
func avx2Scal64(n int, alpha float64, x *float64)

//go:noescape
func avx2Exp64(n int, dst, src *float64)

//go:noescape
func avx2NegRoot64(n int, x *float64)

//go:noescape
func avx2RestTimes64(n int, e, x *float64)

//go:noescape
func avx2Gemm32(k int, alpha float32, a, b, c *float32, ldc int, add bool, next *float32)

//go:noescape
func avx2Dist32(k int, a, b, c *float32, ldc int, add bool)

//go:noescape
func avx2Small32(m, n, grow, k int, alpha float32, a *float32, ars, acs int, b *float32, ldb int, c *float32, ldc int, add bool)

//go:noescape
func avx2PackBlocks32(blocks int, src *float32, ld int, dst *float32, step int)

//go:noescape
func avx2Dot32(n int, a, x *float32, lanes *[dotLanes]float32) float32

//go:noescape
func avx2DotAxpy32(n int, alpha float32, a, x, y *float32, lanes *[dotLanes]float32) float32

//go:noescape
func avx2Axpy32(n int, alpha float32, a, y *float32)

//go:noescape
func avx2Axpys32(n int, x, a *float32, lda int, y *float32)

//go:noescape
func avx2Scal32(n int, alpha float32, x *float32)

//go:noescape
func avx2Exp32(n int, dst, src *float32)

//go:noescape
func avx2NegRoot32(n int, x *float32)

//go:noescape
func avx2RestTimes32(n int, e, x *float32)

//go:noescape
func avx2DotMixed(n int, a *float32, x *float64, lanes *[dotLanes]float64) float64

//go:noescape
func avx2DotAxpyMixed(n int, alpha float64, a *float32, x, y *float64, lanes *[dotLanes]float64) float64

//go:noescape
func avx2AxpyMixed(n int, alpha float64, a *float32, y *float64)

//go:noescape
func avx2AxpysMixed(n int, x *float64, a *float32, lda int, y *float64)

//go:noescape
func avx2Gather(vectors, panels, k int, src unsafe.Pointer, ld int, dst unsafe.Pointer, step int)
