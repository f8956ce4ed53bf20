package special

import "math"

// BesselK holds the logarithms, the derivative by the order and a ratio of the modified
// Bessel function of the second kind K_ν(x) at one point. Fields that would overflow
// are ±Inf.
type BesselK struct {
	// Log is log K_ν(x) and DLog its derivative with respect to the order ν.
	Log, DLog float64

	// LogScaled is log(x^ν·K_ν(x)), DLogScaled its derivative with respect to ν,
	// and Ratio is x·K_{ν+1}(x)/K_ν(x). They stay finite as x → 0 if ν > 0.
	LogScaled, DLogScaled, Ratio float64
}

// NewBesselK evaluates K_ν at x for ν ≥ −½ and x ≥ 0; at x = 0 the scaled fields
// are their limits. Other arguments give NaN. The order's derivative keeps its
// relative accuracy as ν → 0, where it vanishes.
//
// Errors are a few ulp: of max(1, |value|) for the logarithms, relative for the
// others.
//
// Sources: for x < ½ and ν < 8 the series of N. M. Temme, "On the numerical
// evaluation of the modified Bessel function of the third kind", J. Comput. Phys. 19
// (1975), and their derivatives; otherwise the trapezoidal rule, which converges
// geometrically, on K_ν(x) = ∫₀^∞ cosh(νt)·exp(−x·cosh t) dt (DLMF 10.32.9).
func NewBesselK(nu, x float64) BesselK {
	switch {
	case !(nu >= -0.5) || !(x >= 0) || math.IsInf(nu, 1) || math.IsInf(x, 1):
		nan := math.NaN()
		return BesselK{nan, nan, nan, nan, nan}
	case x == 0:
		return besselAtZero(nu)
	case x < 0.5 && nu < temmeOrder:
		return besselTemme(nu, x)
	case nu*nu < x:
		return besselCosh(nu, x)
	}
	return besselSaddle(nu, x)
}

// BesselKRatio returns K_{ν+1}(x)/K_ν(x) for any order ν and x > 0.
func BesselKRatio(nu, x float64) float64 {
	if nu < -0.5 {
		return x / NewBesselK(-nu-1, x).Ratio
	}
	return NewBesselK(nu, x).Ratio / x
}

// besselAtZero returns the limits as x → 0.
func besselAtZero(nu float64) BesselK {
	b := BesselK{Log: math.Inf(1), DLog: math.Inf(1)}
	if nu <= 0 {
		// x^ν·K_ν(x) → ∞, and the derivative of its logarithm by ν goes to −∞ like
		// log x.
		b.LogScaled, b.DLogScaled = math.Inf(1), math.Inf(-1)
		if nu == 0 {
			b.DLog = 0
		}
		return b
	}
	lg := LogGamma(nu)
	b.LogScaled = lg + float64((nu-1)*math.Ln2)
	b.DLogScaled = Digamma(nu) + math.Ln2
	b.Ratio = 2 * nu
	return b
}

const (
	// An integrand counts as zero where it is below e^−negligible of its maximum.
	negligible = 40

	// The step of the trapezoidal rule is stepWide, but at most stepGaussian standard
	// deviations where the integrand is nearly Gaussian. The error of the rule is then
	// below e^−40.
	stepWide, stepGaussian = 0.2, 0.5

	// A sum ends after mostTerms, whatever its terms are. All that converge need fewer
	// than a hundred.
	mostTerms = 1000

	// From besselLarge on the integrand is Gaussian to the last digit, as seen from the
	// size of the result.
	besselLarge = 1e40
)

// besselCosh applies the rule to the integral over t, whose integrand has its maximum
// at t = 0 for ν² < x. All terms of the sums are positive, the terms of the derivative
// too, so that nothing cancels however small ν is.
func besselCosh(nu, x float64) BesselK {
	h := min(stepWide, stepGaussian/math.Sqrt(x))
	sum, dsum, next := 0.5, 0.0, 0.5
	for k := 1; k < mostTerms; k++ {
		t := float64(k) * h
		m := Expm1(t)
		e := -x * m * m / (2 * (1 + m)) // −x(cosh t − 1)
		if e+float64((math.Abs(nu)+1)*t) < -negligible {
			break
		}
		w := Exp(e)
		p := Expm1(nu * t)
		q := float64((1 + p) * (1 + m)) // e^{(ν+1)t}
		sum += float64(w * (1 + p*p/(2*(1+p))))
		dsum += float64(w * t * (p + p/(1+p)) / 2)
		next += float64(w * (q + 1/q) / 2)
	}
	logX := Log(x)
	b := BesselK{
		Log:   Log(sum*h) - x,
		DLog:  dsum / sum,
		Ratio: x * next / sum,
	}
	b.LogScaled = b.Log + float64(nu*logX)
	b.DLogScaled = b.DLog + logX
	return b
}

// besselSaddle takes the integral over the whole line with t = t₀ + u, where u is the
// distance from the saddle point t₀ = asinh(ν/x). With s = √(ν²+x²), x·cosh t₀ = s and x·sinh t₀ = ν,
//
//	K_ν(x) = ½·e^{νt₀−s}·∫ e^{E(u)} du,  E(u) = −s(cosh u − 1) − ν(sinh u − u) ≤ 0,
//
// and the derivative and the ratio are expectations of u and e^u. For s ≥ besselLarge
// the integral is √(2π/s) and the expectations of u and e^u − 1 vanish.
func besselSaddle(nu, x float64) BesselK {
	s := Hypot(nu, x)
	sum := s + nu
	diff := x / sum * x // s − ν
	h := min(stepWide, stepGaussian/math.Sqrt(s))
	total, first, grow := 1.0, 0.0, 0.0 // Σ e^E, Σ u·e^E, Σ (e^u − 1)·e^E
	for k := 1; k < mostTerms && s < besselLarge; k++ {
		u := float64(k) * h
		m := Expm1(u)
		var right, left float64 // E(u) and E(−u), which is the larger
		if u < 0.5 {
			u2 := u * u
			cosh := s * m * m / (2 * (1 + m))
			sinh := float64(nu * u * u2 / 6 * (1 + float64(u2/20*(1+float64(u2/42*(1+float64(u2/72*(1+float64(u2/110*(1+u2/156))))))))))
			right, left = -cosh-sinh, sinh-cosh
		} else {
			right = s + float64(nu*u) - float64((float64((1+m)*sum)+diff/(1+m))/2)
			left = s - float64(nu*u) - float64((sum/(1+m)+float64((1+m)*diff))/2)
		}
		if left < -negligible {
			break
		}
		w := Exp(left)
		total += w
		first -= float64(w * u)
		grow -= w * m / (1 + m)
		if right > -negligible {
			w = Exp(right)
			total += w
			first += float64(w * u)
			grow += float64(w * m)
		}
	}
	mean := first / total
	logSum := Log(sum)
	integral := Log(total*h) - math.Ln2
	if s >= besselLarge {
		integral = float64(0.5*Log(math.Pi/s)) - 0.5*math.Ln2
	}
	t0 := Asinh(nu / x)
	if math.IsInf(t0, 1) {
		t0 = logSum - Log(x)
	}
	return BesselK{
		Log:        float64(nu*t0) - s + integral,
		DLog:       t0 + mean,
		LogScaled:  float64(nu*logSum) - s + integral,
		DLogScaled: logSum + mean,
		Ratio:      sum * (1 + grow/total),
	}
}
