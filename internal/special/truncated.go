package special

import "math"

const (
	logSqrt2Pi = 0.918938533204672741780329736405617639861
	invSqrt2Pi = 0.398942280401432677939946059934381868476
)

// LogNormalCDF returns log Φ(x), where Φ is the standard normal distribution function,
// to full relative accuracy in both tails. It is −∞ where x² overflows.
func LogNormalCDF(x float64) float64 {
	switch {
	case x < -mostSquared:
		return math.Inf(-1)
	case x > mostSquared:
		return 0
	case x < -tail:
		// Φ(x) = φ(x)·R(−x) with Mills' ratio R.
		delta, _ := millsTail(-x)
		return float64(-0.5*x*x) - logSqrt2Pi - Log(delta-x)
	case x < 0:
		return Log(bell(x) * millsRatio(-x))
	default:
		return Log1p(-bell(x) * millsRatio(x))
	}
}

// mostSquared has a square, and what is larger has none.
const mostSquared = 1.3e154

// bell returns the density φ(x) of the standard normal distribution, to an ulp or two.
func bell(x float64) float64 {
	if math.Abs(x) > 40 {
		return 0
	}
	square := x * x
	lost := math.FMA(x, x, -square)
	return invSqrt2Pi * Exp(-0.5*square) * (1 - float64(0.5*lost))
}

// NormalAbove returns the moments of a standard normal variable z restricted to
// z > x: its mean h(x) = φ(x)/Φ(−x), its variance 1 − h(h − x), and the logarithm
// log Φ(−x) of its normaliser, each to full relative accuracy for every x.
func NormalAbove(x float64) (mean, variance, logZ float64) {
	if x > tail {
		delta, tau := millsTail(x)
		return x + delta, delta * (tau - delta), float64(-0.5*x*x) - logSqrt2Pi - Log(x+delta)
	}
	density := bell(x)
	above := float64(density * millsRatio(math.Abs(x)))
	if x < 0 {
		above = 1 - above
	}
	h := density / above
	return h, 1 - float64(h*(h-x)), LogNormalCDF(-x)
}

// tail is the argument beyond which the direct formulas lose digits to cancellation.
const tail = 1.5

// millsTail returns δ = h − x and τ = 1/δ − x for x > 0 with h = φ(x)/Φ(−x), from
// Laplace's continued fraction (DLMF 7.9.3)
//
//	h(x) = x + 1/(x + 2/(x + 3/(x + …))),   δ = 1/(x + τ),   τ = 2/(x + 3/(x + …)),
//
// with which the variance 1 − h·δ is δ(τ − δ), free of cancellation.
func millsTail(x float64) (delta, tau float64) {
	n := 12 + int(300/(x*x))
	// The rest of the fraction is close to the root of f = (n+1)/(x + f).
	f := 0.5 * (math.Sqrt(float64(x*x)+float64(4*float64(n+1))) - x)
	for k := n; k >= 2; k-- {
		f = float64(k) / (x + f)
	}
	return 1 / (x + f), f
}
