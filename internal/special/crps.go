package special

import "math"

// NormalCDF returns Φ(x).
func NormalCDF(x float64) float64 { return Exp(LogNormalCDF(x)) }

// The continuous ranked probability score of a distribution function F and an outcome y is ∫ (F(x) − [x ≥ y])² dx.

// NormalCRPS returns the score of the normal distribution with a mean and a standard deviation above 0.
//
// Source: T. Gneiting and A. E. Raftery, "Strictly proper scoring rules, prediction, and estimation", 2007, equation 21.
func NormalCRPS(y, mean, sd float64) float64 {
	z := (y - mean) / sd
	density := Exp(-0.5*float64(z*z)) / math.Sqrt(2*math.Pi)
	inside := float64(2*NormalCDF(z)) - 1
	return float64(sd * (float64(z*inside) + float64(2*density) - 1/math.Sqrt(math.Pi)))
}

// LogNormalCRPS returns the score of exp(Z) for a normal Z with a mean and a standard deviation s above 0. With ω = (log y − mean)/s:
//
//	y·(2Φ(ω) − 1) − 2·exp(mean + s²/2)·(Φ(ω − s) + Φ(s/√2) − 1).
//
// For y ≤ 0 both Φ of ω are 0.
//
// Source: S. Baran and S. Lerch, "Log-normal distribution based EMOS models for probabilistic wind speed forecasting", 2015.
func LogNormalCRPS(y, mean, s float64) float64 {
	below, shifted := 0.0, 0.0
	if y > 0 {
		omega := (Log(y) - mean) / s
		below, shifted = NormalCDF(omega), NormalCDF(omega-s)
	}
	above := NormalCDF(-s * math.Sqrt2 / 2)
	return float64(y*(float64(2*below)-1)) - float64(2*Exp(mean+float64(0.5*s*s))*(shifted-above))
}

// SquareCRPS returns the score of max(Z, 0)² for a normal Z with a mean and a standard deviation s above 0. Over t = (z − mean)/s, from
// t₀ = −mean/s on, and with ω = (√y − mean)/s it is
//
//	∫_t₀^ω Φ(t)² 2s(mean + s·t) dt + ∫_ω^∞ (1 − Φ(t))² 2s(mean + s·t) dt,
//
// and ∫Φ² = tΦ² + 2φΦ − Φ(√2·t)/√π, ∫tΦ² = ½(t² − 1)Φ² + tφΦ + ½φ². For y < 0 the outcome is −y below 0.
func SquareCRPS(y, mean, s float64) float64 {
	least := -mean / s
	omega := least
	if y > 0 {
		omega = (math.Sqrt(y) - mean) / s
	}
	zero, one := squaredCDF(omega)
	zeroFrom, oneFrom := squaredCDF(least)
	zeroTo, oneTo := squaredCDF(-omega)
	lower := float64(mean*(zero-zeroFrom)) + float64(s*(one-oneFrom))
	upper := float64(mean*zeroTo) - float64(s*oneTo)
	return max(-y, 0) + float64(2*s*(lower+upper))
}

// squaredCDF returns ∫Φ(τ)² dτ and ∫τΦ(τ)² dτ from −∞ to t.
func squaredCDF(t float64) (zero, one float64) {
	cdf, density := NormalCDF(t), bell(t)
	zero = float64(t*cdf*cdf) + float64(2*density*cdf) - NormalCDF(math.Sqrt2*t)/math.Sqrt(math.Pi)
	one = float64(0.5*(float64(t*t)-1)*cdf*cdf) + float64(t*density*cdf) + float64(0.5*density*density)
	return zero, one
}
