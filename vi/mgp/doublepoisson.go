package mgp

import (
	"math"
	"sync"

	"github.com/bmkl/bmkl/internal/special"
)

// narrowCount is the likelihood of one count y under Efron's double Poisson distribution of the precision ν > 1,
//
//	p(k) = exp(−ν·D(k, μ))·g(k)/S(μ),   D(k, μ) = k·log(k/μ) − k + μ,   g(k) = kᵏ·e⁻ᵏ/k!,
//
// with S the sum that makes the probabilities one. It is an exponential family with the natural parameter ν·log μ: log p is concave in log μ. The mean is
// nearly μ and the variance nearly μ/ν.
//
// Source: B. Efron, "Double exponential families and their use in generalized linear regression", JASA 81, 1986.
// docs/theory/likelihoods.md derives the series of S.
type narrowCount struct {
	y, logExposure float64
	nu             float64
	logY           float64
	own            float64 // log g(y)
	off            float64 // y less a whole number: S is then a sum over the numbers k + off, so that log p is smooth in y
}

// mostNarrow is the largest ν − 1. At the means at which one count takes the place of the next, the likelihood bends within 1/ν, which the
// quadrature has to resolve.
const mostNarrow = 1e4

// MostNarrowCount is the largest count of a double Poisson distribution that a fit takes: a count leaves the function the standard deviation 1/√(νy), as
// small as the largest count of a Poisson distribution does.
const MostNarrowCount = mostPoisson / mostNarrow

// Precision returns the precision ν of a double Poisson distribution from its parameter log(ν − 1).
func Precision(eta float64) float64 {
	nu, _ := narrowOf(eta)
	return nu
}

// narrowOf returns ν of the parameter log(ν − 1), and its derivative.
func narrowOf(eta float64) (nu, slope float64) {
	if e := special.Exp(eta); e < mostNarrow {
		return 1 + e, e
	}
	return 1 + mostNarrow, 0
}

func newNarrowCount(y, exposure, nu float64) *narrowCount {
	c := &narrowCount{y: y, logExposure: special.Log(exposure), nu: nu, own: logPeak(y), off: y - math.Trunc(y)}
	if y > 0 {
		c.logY = special.Log(y)
	}
	return c
}

// at returns log p and its derivatives by f. The derivative of the last place is by ν.
func (c *narrowCount) at(f float64) logLikelihood {
	x := f + c.logExposure
	s := narrowSum(x, c.nu, c.off)
	far, first := s.mu, -s.mu // D(y, μ), and y − μ, which is −dD/dx
	if c.y > 0 {
		d := x - c.logY
		far, first = float64(c.y*expGap(d)), -float64(c.y*special.Expm1(d))
	}
	return logLikelihood{
		log:    c.own - float64(c.nu*far) - s.log,
		first:  float64(c.nu*first) - s.first,
		second: -s.second,
		shape:  s.far - far,
	}
}

// narrowMoments returns the moments of a count, and the derivative of log Z by the parameter log(ν − 1). S has zeros at a distance of π/ν from the real
// axis.
func narrowMoments(y, exposure, mean, variance, eta float64) (moments, float64) {
	nu, slope := narrowOf(eta)
	m, shape := integrate(mean, variance, 1/nu, newNarrowCount(y, exposure, nu).at)
	return m, float64(slope * shape)
}

// expGap returns eᵈ − 1 − d.
func expGap(d float64) float64 {
	if math.Abs(d) < 1e-3 {
		return float64(0.5*d*d) * (1 + float64(d/3*(1+float64(d/4*(1+float64(d/5))))))
	}
	return special.Expm1(d) - d
}

// narrowNormal is log S at log μ = x.
type narrowNormal struct {
	mu, log float64
	first   float64 // ν·(E[k] − μ), the derivative of log S by x
	second  float64 // ν²·Var[k], minus the second derivative of log p by x
	far     float64 // E[D(k, μ)], minus the derivative of log S by ν
}

const (
	fewNarrow  = 300 // the mean from which on S is a series: its error falls as 1/μ⁴
	leastSpan  = 4   // the least variance μ/ν for the series: what it leaves out falls as exp(−2π²·μ/ν)
	narrowTail = 40  // −log of a term that is left out, in units of the largest term
	crossOver  = 1e4 // the νμ up to which D may be a difference of terms of the size of μ·log μ
)

// narrowSum returns log S and its derivatives. Σ_k exp(−ν·D(k, μ))·g(k) is summed from the mode on to both sides, or is a series. The sum is over the
// numbers k + off, which is the same unless the variance is small.
func narrowSum(x, nu, off float64) narrowNormal {
	s := narrowNormal{mu: special.Exp(x)}
	if s.mu >= float64(leastSpan*nu) {
		if s.mu >= fewNarrow {
			s.series(nu)
			return s
		}
		off = 0
	}
	log := func(k float64) (far, log float64) {
		far, peak := s.term(k, x, nu)
		return far, peak - float64(nu*far)
	}
	middle := max(math.Round(s.mu-off), 0) + off
	_, top := log(middle)
	for _, way := range []float64{1, -1} { // the mean rounded is not always the mode
		for middle+way >= 0 {
			_, next := log(middle + way)
			if !(next > top) {
				break
			}
			middle, top = middle+way, next
		}
	}
	var sum, one, two, far float64
	add := func(k float64) bool {
		d, l := log(k)
		if l -= top; !(l >= -narrowTail) {
			return false
		}
		w := special.Exp(l)
		sum += w
		one += float64(w * (k - middle))
		two += float64(w * (k - middle) * (k - middle))
		far += float64(w * d)
		return true
	}
	for k := middle; add(k); k++ {
	}
	for k := middle - 1; k >= 0 && add(k); k-- {
	}
	one /= sum
	s.log = top + special.Log(sum)
	s.first = float64(nu * (middle - s.mu + one))
	s.second = float64(nu * nu * (two/sum - float64(one*one)))
	s.far = far / sum
	return s
}

// term returns D(k, μ) and log g(k) of a count k.
func (s *narrowNormal) term(k, x, nu float64) (far, peak float64) {
	t := peaks()
	if k >= float64(len(t)) || k != math.Trunc(k) {
		return float64(k * expGap(x-special.Log(k))), logPeak(k)
	}
	p := &t[int(k)]
	if float64(nu*s.mu) <= crossOver || k == 0 {
		return s.mu + (p.entropy - float64(k*x)), p.log
	}
	return float64(k * expGap(x-p.logCount)), p.log
}

// series stores the value for large μ. With j = νk and the Stirling series of g(k) over g(j), √ν·S is the mean of exp(−(ν−1)/12j + (ν³−1)/360j³) where j
// has a Poisson distribution of the mean νμ. The mean is a series in u = 1/(νμ), which ends here after u³.
func (s *narrowNormal) series(nu float64) {
	e, u := nu-1, 1/(nu*s.mu)
	e2 := float64(e * e)
	a1, a2, a3 := -e/12, e2/288, (float64(nu*nu*nu)-1)/360-float64(e2*e)/10368
	b1, b2, b3 := -1.0/12, e/144, float64(nu*nu)/120-e2/3456 // derivatives by ν
	c := [3]float64{a1, a1 + a2, float64(2*a1) + float64(3*a2) + a3}
	d := [3]float64{b1, b1 + b2, float64(2*b1) + float64(3*b2) + b3}
	q, first, second, of := 1.0, 0.0, 0.0, 0.0
	power := 1.0
	for i := range c {
		power *= u
		j := float64(i + 1)
		q += float64(c[i] * power)
		first -= float64(j * c[i] * power)
		second += float64(j * j * c[i] * power)
		of += float64(power * (d[i] - float64(j*c[i]/nu)))
	}
	first /= q
	s.log = special.Log(q) - float64(0.5*special.Log(nu))
	s.first = first
	s.second = float64(nu*s.mu) + second/q - float64(first*first)
	s.far = 0.5/nu - of/q
}

// peakOf is what the probabilities need of a count k.
type peakOf struct {
	log      float64 // log g(k)
	entropy  float64 // k·log k − k
	logCount float64
}

// peaks returns the first counts.
var peaks = sync.OnceValue(func() []peakOf {
	all := make([]peakOf, 2048)
	for k := 1; k < len(all); k++ {
		y := float64(k)
		l := special.Log(y)
		all[k] = peakOf{smoothPeak(y), float64(y*l) - y, l}
	}
	return all
})

// logPeak returns log g(k) = k·log k − k − log Γ(k + 1), for any k ≥ 0.
func logPeak(k float64) float64 {
	if t := peaks(); k < float64(len(t)) && k == math.Trunc(k) {
		return t[int(k)].log
	}
	return smoothPeak(k)
}

func smoothPeak(k float64) float64 {
	return -float64(0.5*special.Log(2*math.Pi*k)) - special.Stirling(k)
}
