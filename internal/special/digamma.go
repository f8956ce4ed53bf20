package special

import "math"

// Digamma returns ψ(x) = d/dx log Γ(x) for x > 0, to a few ulp of
// max(1, |ψ(x)|). For x ≤ 0 or NaN it returns NaN.
//
// Source: recurrence 5.5.2 and asymptotic series 5.11.2 of the NIST Digital
// Library of Mathematical Functions.
func Digamma(x float64) float64 {
	if !(x > 0) {
		return math.NaN()
	}
	// ψ(x) = ψ(x+n) − Σ_{k<n} 1/(x+k) leads to an argument of at least 10, where
	// eight terms of the series suffice. The sum begins with its smallest term, so
	// that 1/x, which dominates for small x, is rounded last.
	n := 0
	if x < 10 {
		n = int(math.Ceil(10 - x))
	}
	var shift float64
	for k := n - 1; k >= 0; k-- {
		shift += 1 / (x + float64(k))
	}
	z := x + float64(n)
	// B_2j/2j of the Bernoulli numbers, highest j first.
	w := 1 / (z * z)
	series := 0.0
	for _, c := range [...]float64{
		-3617.0 / 8160, 1.0 / 12, -691.0 / 32760, 1.0 / 132,
		-1.0 / 240, 1.0 / 252, -1.0 / 120, 1.0 / 12,
	} {
		series = (series + c) * w
	}
	return Log(z) - 0.5/z - series - shift
}
