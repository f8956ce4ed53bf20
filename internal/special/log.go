package special

import "math"

// logCore returns k·ln 2 + log(1+f) + c for √½ ≤ 1+f < √2 and a small c: with s = f/(2+f),
//
//	log(1+f) = log(1+s) − log(1−s) = 2s + ⅔s³ + ⅖s⁵ + … = f − (f²/2 − s·(f²/2 + R(s²))).
//
// R is the minimax polynomial of fdlibm's e_log.c (Sun Microsystems, 1993), whose
// error is below 2^-58.
func logCore(f, k, c float64) float64 {
	s := f / (2 + f)
	z := s * s
	w := z * z
	even := float64(w * (0x1.999999997fa04p-2 + float64(w*(0x1.c71c51d8e78afp-3+float64(w*0x1.39a09d078c69fp-3)))))
	odd := float64(z * (0x1.5555555555593p-1 + float64(w*(0x1.2492494229359p-2+float64(w*(0x1.7466496cb03dep-3+float64(w*0x1.2f112df3e5244p-3)))))))
	half := float64(0.5 * f * f)
	low := float64(s*(half+(even+odd))) + (float64(k*ln2Low) + c)
	return float64(k*ln2High) - ((half - low) - f)
}

// split returns m and k with x = m·2^k and √½ ≤ m < √2, for normal x > 0.
func split(x float64) (m, k float64) {
	const sqrtHalf = 0x3fe6a09e667f3bcd // its bits
	bits := math.Float64bits(x)
	e := int64(bits-sqrtHalf) >> 52
	return math.Float64frombits(bits - uint64(e)<<52), float64(e)
}

// Log returns the natural logarithm of x, with an error below 1 ulp and with the same
// bits on every machine.
func Log(x float64) float64 {
	if !(x >= 0x1p-1022 && x <= math.MaxFloat64) {
		switch {
		case x == 0:
			return math.Inf(-1)
		case x < 0:
			return math.NaN()
		case x < 1:
			m, k := split(x * 0x1p54)
			return logCore(m-1, k-54, 0)
		}
		return x
	}
	m, k := split(x)
	return logCore(m-1, k, 0)
}

// Log1p returns log(1+x) without the digits that the sum loses near 0, with an error
// below 1 ulp and with the same bits on every machine.
func Log1p(x float64) float64 {
	switch {
	case x > -0.29 && x < 0.41:
		if math.Abs(x) < 0x1p-54 {
			return x
		}
		return logCore(x, 0, 0)
	case !(x > -1 && x <= math.MaxFloat64):
		if x == -1 {
			return math.Inf(-1)
		}
		if x < -1 {
			return math.NaN()
		}
		return x
	}
	u := 1 + x
	lost := x - (u - 1)
	if x > 1 {
		lost = 1 - (u - x)
	}
	m, k := split(u)
	return logCore(m-1, k, lost/u)
}

// Asinh returns the inverse hyperbolic sine to a few ulp.
func Asinh(x float64) float64 {
	a := math.Abs(x)
	v := Log1p(a + a*a/(1+math.Sqrt(1+float64(a*a))))
	if a > 1e9 {
		v = Log(a) + math.Ln2
	}
	return math.Copysign(v, x)
}

// Hypot returns √(x²+y²) to an ulp, without overflow or underflow on the way, and
// with the same bits on every machine. It is +Inf if x or y is infinite.
func Hypot(x, y float64) float64 {
	x, y = math.Abs(x), math.Abs(y)
	if math.IsInf(x, 1) || math.IsInf(y, 1) {
		return math.Inf(1)
	}
	switch largest := max(x, y); {
	case largest > 0x1p500:
		x, y = x*0x1p-600, y*0x1p-600
		return math.Sqrt(float64(x*x)+float64(y*y)) * 0x1p600
	case largest < 0x1p-400:
		x, y = x*0x1p600, y*0x1p600
		return math.Sqrt(float64(x*x)+float64(y*y)) * 0x1p-600
	}
	return math.Sqrt(float64(x*x) + float64(y*y))
}
