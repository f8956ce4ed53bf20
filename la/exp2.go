package la

import (
	"math"
	"unsafe"
)

// All instruction sets compute 2^x in float32 by these steps, for x ≤ 127:
//
//	x = max(x, -125)
//	t = x + (1.5·2^23 + 127)         rounded: its low bits are n + 127, n = rint(x)
//	r = x - (t - (1.5·2^23 + 127))   |r| ≤ ½, exact
//	p = 1 + r(c₁ + c₂r + … )         Horner's rule, one fma for each coefficient
//	2^x = p·2^n                      the bits of 2^n are the bits of t, shifted by 23
//
// The coefficients are minimax for the relative error of p, rounded one after the other: p is within
// 2.99e-9 of 2^r, a twentieth of an ulp, but for the roundings of Horner's rule.
const (
	exp2Min   = -125
	exp2Round = 0x1.8p23 + 127
)

// exp2Coef are c₆, …, c₁, 1 in Horner's order.
var exp2Coef = [...]float32{
	0x1.417b5ep-13,
	0x1.5f0932p-10,
	0x1.3b2ddp-7,
	0x1.c6af7ap-5,
	0x1.ebfbdcp-3,
	0x1.62e43p-1,
	1,
}

// Exp2Sum computes dst_i = Σ_p amp_p·2^(coef_p·src_i), a mixture of kernels at the distances in src. If
// add, the sums are added to dst. dst and src have equal length, coef and amp have equal length, and dst
// must not overlap the others.
//
// A power less than 2^-125 counts as 2^-125. Powers above 2^127 are undefined.
//
// Roundings: x = coef_p·src_i is rounded, 2^x is as in exp2.go, and dst_i = fma(amp_p, 2^x, dst_i) for p
// in order, from +0 or from what dst holds. A power is within (0.7·|x| + 1.7)·2^-24 of its exact value,
// relatively.
func Exp2Sum(coef, amp, src, dst []float32, add bool) {
	checkLen("amp", amp, len(coef))
	checkLen("dst", dst, len(src))
	checkApart("dst", dst, "src", src)
	checkApart("dst", dst, "coef", coef)
	checkApart("dst", dst, "amp", amp)
	raceRead(coef)
	raceRead(amp)
	raceRead(src)
	raceWrite(dst)
	if table[float32](); len(src) == 0 {
		return
	}
	f := active.exp2Sum
	n := len(src) &^ (exp2SumStep - 1)
	most := max(exp2SumStep, exp2SumPiece/max(len(coef), 1)&^(exp2SumStep-1))
	for i := 0; i < n; i += most {
		f(min(most, n-i), len(coef), first(coef), first(amp), &src[i], &dst[i], add)
	}
	if n < len(src) {
		var s, d [exp2SumStep]float32
		copy(s[:], src[n:])
		copy(d[:], dst[n:])
		f(exp2SumStep, len(coef), first(coef), first(amp), noescape(&s[0]), noescape(&d[0]), add)
		copy(dst[n:], d[:])
	}
}

// An exp2SumEntry computes dst_i = fma(amp_p, 2^(coef_p·src_i), dst_i) for p = 0…terms-1 in this order,
// from +0, or, if add, from what dst holds. n is a positive multiple of exp2SumStep, terms may be 0.
type exp2SumEntry func(n, terms int, coef, amp, src, dst *float32, add bool)

// exp2SumStep divides the number of elements of a call of an exp2SumEntry. exp2SumPiece is the most
// powers of a call, unless exp2SumStep elements have more. Both are powers of two.
const exp2SumStep, exp2SumPiece = 64, 16 << 10

func genericExp2Sum(n, terms int, coef, amp, src, dst *float32, add bool) {
	c, a, d := unsafe.Slice(coef, terms), unsafe.Slice(amp, terms), unsafe.Slice(dst, n)
	for i, x := range unsafe.Slice(src, n) {
		var s float32
		if add {
			s = d[i]
		}
		for p, v := range c {
			s = fma32(a[p], exp2(v*x), s)
		}
		d[i] = s
	}
}

func exp2(x float32) float32 {
	if x < exp2Min {
		x = exp2Min
	}
	t := x + exp2Round
	r := x - (t - exp2Round)
	p := exp2Coef[0]
	for _, c := range exp2Coef[1:] {
		p = fma32(p, r, c)
	}
	return p * math.Float32frombits(math.Float32bits(t)<<23)
}
