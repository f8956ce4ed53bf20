package mgp

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// Where f varies much more than σ, the likelihood of a censored Weibull target is a narrow step in f, and quadrature over f needs a number
// of points that grows with √v/σ. The order of the integrals can be changed: with the density exp(e − exp(e)) of the error e,
//
//	Z(m) = ∫ exp(e − exp(e))·P(l < f + σ·e < u) de,   f ~ N(m, v),
//
// whose probability of a normal variable is wide in e. The trapezoidal rule then takes some 200 points for every v. docs/theory/likelihoods.md,
// section 5, has the derivatives.

// Settings of throughErrors.
const (
	leastWide    = 20.0 // √v/σ
	leastOpen    = 0.1  // width of an interval in √v: narrower ones leave a small variance, whose digits the bend loses
	mostDeviates = 30.0 // from m to the bounds, in √v, for the same reason
	mostPull     = 0.5  // slope of the probability by e: the integrand then has its mode near 0
	leastError   = -120 // where the density of e is e⁻¹²⁰

	// errorStep is the step h of the trapezoidal rule. Its relative error is exp(−π²/h), as the integrand is analytic in |Im e| < π/2. 1.4
	// more points for each unit of e are a margin.
	errorStep = 1 / (quadratureDigit/(math.Pi*math.Pi) + 1.4)
)

// weibullMoments returns the moments of a target between l and u where e is the logarithm of an exponential variable, and the derivative of
// logZ by η = log σ².
func weibullMoments(l, u, mean, variance, sigma float64) (m moments, shape float64) {
	if m, shape, ok := throughErrors(l, u, mean, variance, sigma); ok {
		return m, shape
	}
	return integrate(mean, variance, sigma, func(f float64) logLikelihood { return gumbel(l, u, f, sigma) })
}

// throughErrors is weibullMoments by the integral over e. It is not ok where that loses digits, or saves no points.
func throughErrors(l, u, mean, variance, sigma float64) (m moments, shape float64, ok bool) {
	s := math.Sqrt(variance)
	if !(s > leastWide*sigma) || !(u-l > leastOpen*s) || !nearEnough(l, mean, s) || !nearEnough(u, mean, s) {
		return m, 0, false
	}
	at := func(e float64) (moments, float64) {
		m := normalBetween(l, u, mean+float64(sigma*e), variance)
		return m, m.logZ + e - special.Exp(e)
	}
	middle, top := at(0)
	if !(math.Abs(middle.slope)*sigma < mostPull) {
		return m, 0, false
	}
	var weight, first, second float64
	add := func(e float64) bool {
		p, log := at(e)
		if !(log >= top-quadratureDigit) {
			return false
		}
		w := special.Exp(log - top)
		weight += w
		first += float64(w * p.slope)
		second += float64(w * (float64(p.slope*p.slope) - p.bend))
		shape += float64(w * p.slope * e)
		return true
	}
	for k := 0; add(float64(errorStep * float64(k))); k++ {
	}
	for k := -1; errorStep*float64(k) > leastError && add(float64(errorStep*float64(k))); k-- {
	}
	m.logZ = top + special.Log(weight*errorStep)
	m.slope = first / weight
	m.bend = float64(m.slope*m.slope) - second/weight
	return m, 0.5 * sigma * shape / weight, true
}

// nearEnough reports whether a bound is infinite, or few standard deviations from the mean.
func nearEnough(bound, mean, sd float64) bool {
	return math.IsInf(bound, 0) || math.Abs(bound-mean) < mostDeviates*sd
}
