package special

import "math"

// Trigamma returns ψ′(x) for x > 0, to a few ulp. For x ≤ 0 or NaN it returns
// NaN.
//
// Source: recurrence 5.15.5 and the derivative of asymptotic series 5.11.2 of the
// NIST Digital Library of Mathematical Functions (DLMF).
func Trigamma(x float64) float64 {
	if !(x > 0) {
		return math.NaN()
	}
	n := 0
	if x < 10 {
		n = int(math.Ceil(10 - x))
	}
	z := x + float64(n)
	var shift float64
	for k := n - 1; k >= 0; k-- {
		shift += 1 / ((x + float64(k)) * (x + float64(k)))
	}
	w := 1 / (z * z)
	series := 0.0
	for _, c := range [...]float64{ // B_2j, highest first
		-3617.0 / 510, 7.0 / 6, -691.0 / 2730, 5.0 / 66, -1.0 / 30, 1.0 / 42, -1.0 / 30, 1.0 / 6,
	} {
		series = (series + c) * w
	}
	return (1+series)/z + float64(w/2) + shift
}

// LogMinusDigamma returns log x − ψ(x) > 0 for x > 0, with full relative accuracy
// also for large x, where it is close to 1/(2x). For x ≤ 0 or NaN it returns NaN. For
// a gamma variable g of shape x it is log E[g] − E[log g].
//
// Source: as for [Digamma].
func LogMinusDigamma(x float64) float64 {
	if !(x > 0) {
		return math.NaN()
	}
	if x < 10 {
		return Log(x) - Digamma(x)
	}
	w := 1 / (x * x)
	series := 0.0
	for _, c := range [...]float64{ // B_2j/2j, highest first
		-3617.0 / 8160, 1.0 / 12, -691.0 / 32760, 1.0 / 132, -1.0 / 240, 1.0 / 252, -1.0 / 120, 1.0 / 12,
	} {
		series = (series + c) * w
	}
	return 0.5/x + series
}

// LogGammaRise returns log Γ(x+d) − log Γ(x) for x > 0 and d ≥ 0, without the digits
// that the difference itself loses when x is large.
//
// Source: Stirling's series, DLMF 5.11.1, term by term.
func LogGammaRise(x, d float64) float64 {
	if x < 10 {
		a := LogGamma(x + d)
		b := LogGamma(x)
		return a - b
	}
	// With y = x+d: (y−½)·log y − (x−½)·log x − d and the difference of the
	// corrections, in which log y = log x + log1p(d/x).
	y := x + d
	return float64((x-0.5)*Log1p(d/x)) + float64(d*Log(y)) - d + stirling(y) - stirling(x)
}

// Stirling returns the correction log Γ(x) − (x−½)·log x + x − ½·log 2π for x > 0, with full accuracy also for large x, where it is close
// to 1/(12x).
//
// Source: DLMF 5.11.1.
func Stirling(x float64) float64 {
	if x >= 10 {
		return stirling(x)
	}
	const half = 0.9189385332046727417803297 // ½·log 2π
	return LogGamma(x) - float64((x-0.5)*Log(x)) + x - half
}

// stirling returns log Γ(x) − (x−½)·log x + x − ½·log 2π for x ≥ 10.
func stirling(x float64) float64 {
	w := 1 / (x * x)
	series := 0.0
	for _, c := range [...]float64{ // B_2j/(2j(2j−1)), highest first
		-3617.0 / 122400, 1.0 / 156, -691.0 / 360360, 1.0 / 1188, -1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12,
	} {
		series = float64(series*w) + c
	}
	return series / x
}
