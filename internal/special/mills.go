package special

// Mills returns λ(x) = φ(x)/Φ(x), the inverse of Mills' ratio at −x, and log Φ(x), φ
// and Φ being the density and the distribution function of the standard normal. Both
// have nearly full relative accuracy for every x; for x > 5 the rounding of x² costs
// an error of about x² ulp. It is several times faster than [NormalAbove].
func Mills(x float64) (lambda, logCDF float64) {
	if x < 0 {
		// Φ(x) = φ(x)·R(−x) with Mills' ratio R.
		r := millsRatio(-x)
		return 1 / r, Log(r) - float64(0.5*x*x) - logSqrt2Pi
	}
	density := invSqrt2Pi * Exp(-0.5*x*x)
	below := float64(density * millsRatio(x))
	return density / (1 - below), Log1p(-below)
}

const (
	millsStep   = 1.0 / 16 // distance of the points of expansion
	millsEnd    = 16       // the last of them, the first being 0
	millsDegree = 8        // degree of the Taylor polynomials
)

// millsStart are R(z) = √(π/2)·e^{z²/2}·erfc(z/√2) at the multiples of millsStep up to
// tail, which mpmath computed in 60 digits.
var millsStart = [tail/millsStep + 1]float64{
	1.2533141373155002512, 1.1931829647319153118, 1.1374909212036045148, 1.0858270274680036376, 1.0378245758537268123,
	0.99315579048815721827, 0.95152719207120671528, 0.91267556708321216768, 0.87636445645369234673, 0.84238109145212999979,
	0.8105337152790304152, 0.78064923787086337117, 0.75257117906340805146, 0.72615786171399191039, 0.70128082185443005821,
	0.67782340759117753293, 0.65567954241879847154, 0.63475263197692627111, 0.61495459615092972928, 0.59620501086902130648,
	0.57843034604763107663, 0.56156328793629141565, 0.54554213565821691861, 0.53031026307125267, 0.51581563821796335503,
}

// millsTable holds the Taylor coefficients a_n of R(z) = Φ(−z)/φ(z) at the multiples
// of millsStep. As R′ = zR − 1, each follows from the two before it:
// (n+1)·a_{n+1} = a_{n−1} + z·a_n for n ≥ 1. The rounding errors of a_n grow no faster
// than zⁿ/n!; the series multiplies them by powers of half a step at most, which fall
// faster.
var millsTable = func() (t [millsEnd/millsStep + 1][millsDegree + 1]float64) {
	for i := range t {
		z := float64(float64(i) * millsStep)
		a := &t[i]
		if z > tail {
			delta, _ := millsTail(z)
			a[0] = 1 / (z + delta)
			a[1] = -delta * a[0] // zR − 1 without cancellation
		} else {
			a[0] = millsStart[i]
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
			s := float64(x * l[n])
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
