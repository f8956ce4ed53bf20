package special

import "math"

// The functions of this file and of log.go compute the functions of package math from
// operations that IEEE 754 defines to the last bit: additions, products, divisions
// and square roots, each rounded by itself. Package math has assembly for some
// machines, and its Go code is compiled to fused operations on others.

// ln 2 in two parts. The first ends in 21 zero bits, so that its product with a whole
// number below 2²¹ is exact.
const (
	ln2High = 0x1.62e42fee00000p-1
	ln2Low  = 0x1.a39ef35793c76p-33
)

const (
	expMost  = 709.782712893384   // e^x = +Inf above
	expLeast = -745.1332191019412 // e^x = 0 below
)

// expParts returns a whole k, and r and rest with e^{x−k·ln 2} = 1 + r + rest, where
// |r| ≤ ½·ln 2 is x − k·ln 2 but for its rounding, and |rest| < 0.07. It wants
// expLeast ≤ x ≤ expMost.
func expParts(x float64) (k int, r, rest float64) {
	// Adding 1.5·2^52 rounds to the nearest whole number.
	whole := float64(x*math.Log2E) + 0x1.8p52 - 0x1.8p52
	high := x - float64(whole*ln2High) // exact
	low := float64(whole * ln2Low)
	r = high - low
	lost := (high - r) - low

	// Taylor's polynomial (e^r − 1 − r)/r² of degree 11, in pairs of pairs; what
	// follows is below 3e-18 of e^r.
	r2 := r * r
	r4 := r2 * r2
	a := (1.0/2 + float64(r*(1.0/6))) + float64(r2*(1.0/24+float64(r*(1.0/120))))
	b := (1.0/720 + float64(r*(1.0/5040))) + float64(r2*(1.0/40320+float64(r*(1.0/362880))))
	c := (1.0/3628800 + float64(r*(1.0/39916800))) + float64(r2*(1.0/479001600+float64(r*(1.0/6227020800))))
	p := a + float64(r4*(b+float64(r4*c)))
	return int(whole), r, float64(r2*p) + (lost + float64(lost*r))
}

// Exp returns e^x, with an error below 0.6 ulp, or 1 ulp where the result is subnormal, and
// with the same bits on every machine.
func Exp(x float64) float64 {
	switch {
	case x > expMost:
		return math.Inf(1)
	case x < expLeast:
		return 0
	case x != x:
		return x
	}
	k, r, rest := expParts(x)
	s := 1 + r
	s += (r - (s - 1)) + rest
	return scale(s, k)
}

// scale returns x·2^k for 0.5 ≤ x < 4 and −1100 ≤ k ≤ 1024.
func scale(x float64, k int) float64 {
	if k > -1022 && k < 1022 {
		return math.Float64frombits(math.Float64bits(x) + uint64(k)<<52)
	}
	h := k >> 1 // the first product is exact
	x *= math.Float64frombits(uint64(1023+h) << 52)
	return x * math.Float64frombits(uint64(1023+k-h)<<52)
}

// Expm1 returns e^x − 1 without the digits that the difference loses near 0, with an
// error below 1 ulp and with the same bits on every machine.
func Expm1(x float64) float64 {
	switch {
	case x > expMost:
		return math.Inf(1)
	case x != x:
		return x
	case x < -40:
		return -1
	case math.Abs(x) < 0x1p-54:
		return x
	}
	k, r, rest := expParts(x)
	if k == 0 {
		return r + rest
	}
	if k > 60 {
		return Exp(x)
	}
	// 2^k·(1 − 2^−k + r + rest); the sum with r is kept in two parts.
	one := 1 - scale(1, -k)
	s := one + r
	s += (r - (s - one)) + rest
	return s * scale(1, k)
}

// Tanh returns the hyperbolic tangent to 3 ulp, with the same bits on every machine.
func Tanh(x float64) float64 {
	if math.Abs(x) > 20 {
		return math.Copysign(1, x)
	}
	e := Expm1(2 * math.Abs(x))
	return math.Copysign(e/(e+2), x)
}
