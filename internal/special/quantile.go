package special

import "math"

// LogNormalQuantile returns the x whose standard normal distribution function is
// e^l: the inverse of LogNormalCDF, with an error of a few ulp of max(1, |x|). It
// is −Inf for l = −Inf, +Inf for l = 0 and NaN for l > 0.
func LogNormalQuantile(l float64) float64 {
	switch {
	case !(l <= 0):
		return math.NaN()
	case l > -math.Ln2:
		return -lowerQuantile(Log(-Expm1(l)))
	}
	return lowerQuantile(l)
}

// NormalQuantile returns the x whose standard normal distribution function is p, with
// an error of a few ulp of max(1, |x|). It is −Inf for p = 0, +Inf for p = 1 and NaN
// outside [0, 1].
func NormalQuantile(p float64) float64 {
	if p > 0.5 {
		return -LogNormalQuantile(Log1p(-p))
	}
	return LogNormalQuantile(Log(p))
}

// lowerQuantile is LogNormalQuantile for l ≤ log ½: Halley's iteration on log Φ
// from an approximation whose error is below 5e-4 (Abramowitz and Stegun,
// 26.2.23), which two steps reduce to rounding.
func lowerQuantile(l float64) float64 {
	if math.IsInf(l, -1) {
		return l
	}
	t := math.Sqrt(-2 * l)
	x := (2.515517+float64(t*(0.802853+float64(t*0.010328))))/(1+float64(t*(1.432788+float64(t*(0.189269+float64(t*0.001308)))))) - t
	for range 3 {
		slope, f := Mills(x) // (log Φ)′ and log Φ
		newton := (f - l) / slope
		step := newton / (1 + float64(0.5*newton*(x+slope))) // f″/f′ = −(x + φ/Φ)
		x -= step
		if math.Abs(step) <= 1e-6*math.Abs(x) {
			break // the next step would be below rounding: the convergence is cubic
		}
	}
	return x
}
