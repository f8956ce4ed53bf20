package special

import "math"

// Mills returns λ(x) = φ(x)/Φ(x), the inverse of Mills' ratio at −x, and log Φ(x), φ
// and Φ being the density and the distribution function of the standard normal. Both
// have nearly full relative accuracy for every x; for x > 5 the rounding of x² costs
// an error of about x² ulp. It is several times faster than [NormalAbove].
func Mills(x float64) (lambda, logCDF float64) {
	if x < 0 {
		// Φ(x) = φ(x)·R(−x) with Mills' ratio R.
		r := millsRatio(-x)
		return 1 / r, math.Log(r) - float64(0.5*x*x) - logSqrt2Pi
	}
	density := invSqrt2Pi * math.Exp(-0.5*x*x)
	below := float64(density * millsRatio(x))
	return density / (1 - below), math.Log1p(-below)
}

const (
	millsStep   = 1.0 / 16 // distance of the points of expansion
	millsEnd    = 16       // the last of them, the first being 0
	millsDegree = 8        // degree of the Taylor polynomials
)

// millsTable holds the Taylor coefficients a_n of R(z) = Φ(−z)/φ(z) at the multiples
// of millsStep. As R′ = zR − 1, each follows from the two before it:
// (n+1)·a_{n+1} = a_{n−1} + z·a_n for n ≥ 1. The rounding errors of a_n grow no faster
// than zⁿ/n!; the series multiplies them by powers of half a step at most, which fall
// faster.
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
			a[1] = float64(z*a[0]) - 1
		}
		for n := 1; n < millsDegree; n++ {
			a[n+1] = (a[n-1] + float64(z*a[n])) / float64(n+1)
		}
	}
	return t
}()

// millsRatio returns R(z) for z ≥ 0, NaN for NaN. The remainder of the Taylor series
// is below 1e-16 of R; far out the continued fraction takes few terms.
func millsRatio(z float64) float64 {
	if !(z < millsEnd) {
		if z > 1e8 {
			return 1 / z
		}
		f := z
		for k := 14.0; k >= 1; k-- {
			f = z + k/f
		}
		return 1 / f
	}
	i := int(float64(z/millsStep) + 0.5)
	t := z - float64(float64(i)*millsStep)
	a := &millsTable[i]
	s := a[millsDegree]
	for n := millsDegree - 1; n >= 0; n-- {
		s = float64(s*t) + a[n]
	}
	return s
}

// logCDFTable holds the Taylor coefficients of log Φ(x) at the multiples of
// millsStep from logCDFStart to logCDFEnd. They follow one from the other by
// λ′ = −λ(x + λ), where λ is the derivative of log Φ. The series converge quickly: the
// nearest singularities, the complex zeros of Φ, are more than 2.4 away.
var logCDFTable = func() (t [(logCDFEnd-logCDFStart)/millsStep + 1][millsDegree + 1]float64) {
	for i := range t {
		x := logCDFStart + float64(float64(i)*millsStep)
		var l [millsDegree]float64 // the coefficients of λ
		l[0], t[i][0] = Mills(x)
		t[i][1] = l[0]
		for n := range millsDegree - 1 {
			s := x * l[n]
			if n > 0 {
				s += l[n-1]
			}
			for k := range n + 1 {
				s += float64(l[k] * l[n-k])
			}
			l[n+1] = -s / float64(n+1)
			t[i][n+2] = l[n+1] / float64(n+2)
		}
	}
	return t
}()

const (
	logCDFStart = -16
	logCDFEnd   = 9
)

// millsNear returns what Mills does, faster and with an absolute error of a few times
// 1e-16·max(1, |x|). Where λ and log Φ are small their relative error is larger.
func millsNear(x float64) (lambda, logCDF float64) {
	if !(x > logCDFStart && x < logCDFEnd) {
		if x >= logCDFEnd {
			return 0, 0
		}
		return Mills(x)
	}
	i := int(float64((x-logCDFStart)/millsStep) + 0.5)
	t := x - (logCDFStart + float64(float64(i)*millsStep))
	a := &logCDFTable[i]
	p := float64(a[8]*t) + a[7]
	q := float64(a[8]*t) + p
	p = float64(p*t) + a[6]
	q = float64(q*t) + p
	p = float64(p*t) + a[5]
	q = float64(q*t) + p
	p = float64(p*t) + a[4]
	q = float64(q*t) + p
	p = float64(p*t) + a[3]
	q = float64(q*t) + p
	p = float64(p*t) + a[2]
	q = float64(q*t) + p
	p = float64(p*t) + a[1]
	return float64(q*t) + p, float64(p*t) + a[0]
}
