package special

import "math"

// Mills returns λ(x) = φ(x)/Φ(x), the inverse Mills ratio at −x, and log Φ(x),
// both to nearly full relative accuracy for every x (log Φ(x) for x > 5 as far
// as x² ulp allow). It is several times faster than [NormalAbove].
func Mills(x float64) (lambda, logCDF float64) {
	p := normalPart(x)
	if x > 0 {
		return p.lambda, math.Log1p(-p.below)
	}
	return p.lambda, math.Log(p.factor) - p.exponent
}

// normal is Φ(x) as factor·e^−exponent, neither of which underflows, λ(x), and for
// x ≥ 0 also Φ(−x).
type normal struct {
	lambda, factor, exponent, below float64
}

func normalPart(x float64) normal {
	if x < 0 {
		// Φ(x) = φ(x)·R(−x), R Mills' ratio.
		r := millsRatio(-x)
		return normal{lambda: 1 / r, factor: r * invSqrt2Pi, exponent: 0.5 * x * x}
	}
	if x > 40 {
		return normal{factor: 1}
	}
	density := invSqrt2Pi * math.Exp(-0.5*x*x)
	below := density * millsRatio(x)
	return normal{lambda: density / (1 - below), factor: 1 - below, below: below}
}

const (
	millsStep   = 1.0 / 16
	millsEnd    = 16
	millsDegree = 8
)

// millsTable holds the Taylor coefficients of R(z) = Φ(−z)/φ(z) at the multiples
// of millsStep. From R' = zR − 1 they follow one from the other,
// (n+1)·a_{n+1} = a_{n−1} + z·a_n for n ≥ 1. What rounding there is in a_n grows
// no faster than zⁿ/n!, which the powers of half a step outweigh.
var millsTable = func() (t [millsEnd/millsStep + 1][millsDegree + 1]float64) {
	for i := range t {
		z := float64(i) * millsStep
		mean, _, _ := NormalAbove(z)
		a := &t[i]
		a[0] = 1 / mean
		if z > tail {
			delta, _ := millsTail(z)
			a[1] = -delta / mean // zR − 1 without cancellation
		} else {
			a[1] = z*a[0] - 1
		}
		for n := 1; n < millsDegree; n++ {
			a[n+1] = (a[n-1] + z*a[n]) / float64(n+1)
		}
	}
	return t
}()

// millsRatio returns R(z) for z ≥ 0. The remainder of the Taylor series is below
// 1e-16 of R; far out the continued fraction takes few terms.
func millsRatio(z float64) float64 {
	if z >= millsEnd {
		if z > 1e8 {
			return 1 / z
		}
		f := z
		for k := 14.0; k >= 1; k-- {
			f = z + k/f
		}
		return 1 / f
	}
	i := int(z/millsStep + 0.5)
	t := z - float64(i)*millsStep
	a := &millsTable[i]
	s := a[millsDegree]
	for n := millsDegree - 1; n >= 0; n-- {
		s = float64(s*t) + a[n]
	}
	return s
}
