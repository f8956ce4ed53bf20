package amplitude

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// logFactor returns log λ of the half-Cauchy variable λ = tan(½π·Φ(u)), where u is standard normal,
// and its derivative by u.
//
// With p = Φ(u), log λ = log sin(½πp) − log sin(½π(1 − p)), and its derivative is π·φ(u)/sin(πp). The
// smaller of p and 1 − p keeps its digits, so that both hold for every u.
func logFactor(u float64) (value, slope float64) {
	below, above := special.LogNormalCDF(u), special.LogNormalCDF(-u)
	value = logSine(below) - logSine(above)
	// φ(u)/sin(πp) by logarithms: both are 0 in double precision for |u| > 39.
	least := min(below, above)
	p := special.Exp(least)
	ratio := math.Pi // sin(πp)/p
	if p > tinyShare {
		sin, _ := special.Sincos(math.Pi * p)
		ratio = sin / p
	}
	logDensity := float64(-0.5*float64(u*u)) - logSqrt2Pi
	return value, math.Pi * special.Exp(logDensity-least) / ratio
}

const (
	logSqrt2Pi = 0.91893853320467274178

	// tinyShare is the probability below which sin(½πp) is ½πp in double precision.
	tinyShare = 1e-9
)

// logSine returns log sin(½πp), given log p.
func logSine(logP float64) float64 {
	p := special.Exp(logP)
	if p < tinyShare {
		return special.Log(math.Pi/2) + logP
	}
	sin, _ := special.Sincos(math.Pi / 2 * p)
	return special.Log(sin)
}
