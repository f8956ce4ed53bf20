package special

import "math"

// LogOdds returns log Φ(x) − log Φ(−x), where Φ is the standard normal distribution function, with an error of a few units in the last place of
// the larger logarithm. It takes one of Mills' ratios where two calls of [LogNormalCDF] take two. It is ±∞ where x² overflows.
func LogOdds(x float64) float64 {
	size := math.Abs(x)
	if size > mostSquared {
		return math.Inf(int(math.Copysign(1, x)))
	}
	ratio := millsRatio(size)
	var above, log float64 // Φ(−|x|)
	if size > tail {
		log = float64(-0.5*size*size) - logSqrt2Pi + Log(ratio)
		above = Exp(log)
	} else {
		above = bell(size) * ratio
		log = Log(above)
	}
	return math.Copysign(Log1p(-above)-log, x)
}
