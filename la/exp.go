package la

import (
	"math"
	"unsafe"
)

// All instruction sets compute e^x by these steps:
//
//	x is clamped to the range outside which e^x is 0 or +Inf (NaN stays NaN)
//	t = fma(x, log₂e, 1.5·2^52)      its low bits are n = rint(x·log₂e)
//	n = t - 1.5·2^52
//	r = fma(-n, ln2 low, fma(-n, ln2 high, x))      |r| ≤ ln2/2, inner step exact
//	p = 1 + r + r²(c₂ + c₃r + … )      Horner's rule, one fma for each coefficient
//	e^x = p·2^⌊n/2⌋·2^(n-⌊n/2⌋)      the first product is exact
//
// The coefficients are minimax for the relative error of p (Remez exchange in
// 60 digits, then rounded): the rounded polynomials are within 1.11e-17 (float64,
// degree 11) and 3.83e-9 (float32, degree 6) of e^r, a tenth of half an ulp.
// Two factors reach the subnormal numbers and 2^1024 with one rounding, as
// VSCALEFPD does. For float32 the constant is 1.5·2^23 instead of 1.5·2^52.
const (
	log2e   = 0x1.71547652b82fep+0
	ln2High = 0x1.62e42fefa39efp-1
	ln2Low  = 0x1.abc9e3b39803fp-56
	round64 = 0x1.8p52
	expMax  = 710  // e^x = +Inf from here
	expMin  = -746 // e^x = 0 down from here

	log2e32   = 0x1.715476p+0
	ln2High32 = 0x1.62e43p-1
	ln2Low32  = -0x1.05c61p-29
	round32   = 0x1.8p23
	expMax32  = 89
	expMin32  = -105
)

// expCoef are c₁₁, …, c₂, 1, 1 in Horner's order.
var expCoef = [...]float64{
	0x1.ad7f754cee86ap-26,
	0x1.28ad68af958e1p-22,
	0x1.71df253d8f312p-19,
	0x1.a0199a16d5e8ep-16,
	0x1.a01a012a684f4p-13,
	0x1.6c16c18426709p-10,
	0x1.1111111127b9fp-7,
	0x1.555555555088cp-5,
	0x1.55555555554fap-3,
	0x1.000000000000ap-1,
	1,
	1,
}

// expCoef32 are c₆, …, c₂, 1, 1 in Horner's order.
var expCoef32 = [...]float32{
	0x1.6a244ep-10,
	0x1.1239d4p-7,
	0x1.5558f2p-5,
	0x1.555492p-3,
	0x1.fffffcp-2,
	1,
	1,
}

// Exp computes dst_i ← e^src_i. The slices have equal length. dst may be src, but must not overlap it
// in part.
//
// The result is within 1 ulp of the exact value over the whole range, subnormal results included.
// It is exact for 0, ±Inf and NaN.
func Exp[T Float](dst, src []T) {
	checkLen("dst", dst, len(src))
	checkVectors("dst", dst, "src", src)
	raceRead(src)
	raceWrite(dst)
	table[T]().exp(len(src), first(dst), first(src))
}

func genericExp[T Float](n int, dst, src *T) {
	d, s := unsafe.Slice(dst, n), unsafe.Slice(src, n)
	if is64[T]() {
		for i, x := range s {
			d[i] = T(exp64(float64(x)))
		}
		return
	}
	for i, x := range s {
		d[i] = T(exp32(float32(x)))
	}
}

func exp64(x float64) float64 {
	if x > expMax {
		x = expMax
	}
	if x < expMin {
		x = expMin
	}
	t := math.FMA(x, log2e, round64)
	n := t - round64
	r := math.FMA(-n, ln2Low, math.FMA(-n, ln2High, x))
	p := expCoef[0]
	for _, c := range expCoef[1:] {
		p = math.FMA(p, r, c)
	}
	m := int32(math.Float64bits(t))
	h := m >> 1
	p *= math.Float64frombits(uint64(1023+h) << 52)
	return p * math.Float64frombits(uint64(1023+m-h)<<52)
}

func exp32(x float32) float32 {
	if x > expMax32 {
		x = expMax32
	}
	if x < expMin32 {
		x = expMin32
	}
	t := fma32(x, log2e32, round32)
	n := t - round32
	r := fma32(-n, ln2Low32, fma32(-n, ln2High32, x))
	p := expCoef32[0]
	for _, c := range expCoef32[1:] {
		p = fma32(p, r, c)
	}
	m := int32(math.Float32bits(t) - math.Float32bits(round32))
	h := m >> 1
	p *= math.Float32frombits(uint32(127+h) << 23)
	return p * math.Float32frombits(uint32(127+m-h)<<23)
}
