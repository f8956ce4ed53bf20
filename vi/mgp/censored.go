package mgp

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// Law is the distribution of the error e in y = f + σ·e of a [Censored] target y, such as the logarithm of a time.
type Law int

// Laws of errors, by the distribution that the exponential of the target then has.
const (
	LogNormal Law = iota // e is standard normal
	Weibull              // e is the logarithm of an exponential variable of mean 1
)

// String returns log-normal or weibull, the name of the likelihood.
func (l Law) String() string {
	if l == Weibull {
		return "weibull"
	}
	return "log-normal"
}

// Censored is the likelihood of targets, some of them known only to lie in an interval. Sample n has the target
// Lower[n] if Upper[n] is equal, and else one between them: Upper is +Inf if the target is censored on the right, as
// the logarithm of the time of a patient who still lives, and Lower is −Inf if it is censored on the left, as a
// concentration below the limit of detection. With y = f + b + σ·e
//
//	p(y | f) = p_e((y−f−b)/σ)/σ,   P(l < y < u | f) = S((l−f−b)/σ) − S((u−f−b)/σ),
//
// S being one less the distribution function of e. η is log σ². For targets of mean 0 and variance 1 the priors of b
// and log σ² are weak: standard deviations of 2 about 0 and log .1, as for the noise of [Evidence.Fit].
//
// Moments are exact for [LogNormal], and by quadrature for [Weibull].
type Censored struct {
	Lower, Upper []float64
	Law          Law
}

// Name implements [Likelihood].
func (c Censored) Name() string { return c.Law.String() }

// Samples implements [Likelihood].
func (c Censored) Samples() int { return len(c.Lower) }

// Some implements [Likelihood].
func (c Censored) Some(rows []int) Likelihood {
	return Censored{picked(c.Lower, rows), picked(c.Upper, rows), c.Law}
}

func (c Censored) check() error {
	if c.Law != LogNormal && c.Law != Weibull {
		return fmt.Errorf("censored targets: Law is %d", c.Law)
	}
	if len(c.Upper) != len(c.Lower) {
		return fmt.Errorf("censored targets: %d lower bounds and %d upper bounds", len(c.Lower), len(c.Upper))
	}
	for n, l := range c.Lower {
		u := c.Upper[n]
		switch {
		case !(l <= u):
			return fmt.Errorf("censored targets: sample %d: the bounds %g and %g are not in order", n, l, u)
		case l == u && math.IsInf(l, 0), math.IsInf(l, 1), math.IsInf(u, -1), math.IsInf(l, -1) && math.IsInf(u, 1):
			return fmt.Errorf("censored targets: sample %d: the bounds %g and %g tell nothing", n, l, u)
		}
	}
	return nil
}

func (c Censored) identity() []float64 {
	var all []float64
	for n, l := range c.Lower {
		all = append(all, max(l, -math.MaxFloat64), min(c.Upper[n], math.MaxFloat64))
	}
	return append(all, float64(c.Law))
}

func (Censored) prior() (mean, sd []float64) {
	return []float64{0, special.Log(firstNoise)}, []float64{noiseSpread, noiseSpread}
}

func (c Censored) site(n int, mean, variance float64, eta []float64) (precision, shift float64) {
	return siteOfPrior(c, n, mean, variance, eta)
}

func (c Censored) logProbability(n int, mean, variance float64, eta []float64) float64 {
	return c.moments(n, mean, variance, eta, nil).logZ
}

func (c Censored) moments(n int, mean, variance float64, eta, slopes []float64) moments {
	noise := special.Exp(eta[0])
	if c.Law == Weibull {
		sigma := math.Sqrt(noise)
		m, shape := weibullMoments(c.Lower[n], c.Upper[n], mean, variance, sigma)
		if slopes != nil {
			slopes[0] = shape
		}
		return m
	}
	m := normalBetween(c.Lower[n], c.Upper[n], mean, noise+variance)
	if slopes != nil {
		// Z depends on σ² + v alone, and by it as ½·d²/dm².
		slopes[0] = 0.5 * noise * (float64(m.slope*m.slope) - m.bend)
	}
	return m
}

// normalBetween returns the moments of a target between l and u, of the distribution N(mean, variance). If l = u they
// belong to its density.
func normalBetween(l, u, mean, variance float64) moments {
	s := math.Sqrt(variance)
	a, b := (l-mean)/s, (u-mean)/s
	switch {
	case l == u:
		return moments{-float64(0.5*a*a) - float64(0.5*special.Log(2*math.Pi*variance)), a / s, 1 / variance}
	case math.IsInf(u, 1):
		h, log := special.Mills(-a)
		return moments{log, h / s, bend(-a, h) / variance}
	case math.IsInf(l, -1):
		h, log := special.Mills(b)
		return moments{log, -h / s, bend(b, h) / variance}
	}
	sign := 1.0
	if a+b > 0 { // Φ has its digits on the left
		a, b, sign = -b, -a, -1
	}
	if (b-a)*max(1, -a) < 1 {
		log, first, left := narrow(a, b)
		return moments{log, sign * first / s, (1 - left) / variance}
	}
	ha, logA := special.Mills(a)
	hb, logB := special.Mills(b)
	ratio := special.Exp(logA - logB)
	fa, fb := ha*ratio/(1-ratio), hb/(1-ratio) // φ(a)/Z, φ(b)/Z
	first := fa - fb                           // E[z]
	curve := float64(first*first) - float64(a*fa) + float64(b*fb)
	if ratio < 1e-20 {
		curve = bend(b, hb)
	}
	return moments{logB + special.Log1p(-ratio), sign * first / s, curve / variance}
}

// legendre are the nodes of Gauss and Legendre on the right half of (−1, 1), and their weights.
var legendre = [...]struct{ node, weight float64 }{
	{0.1488743389816312, 0.2955242247147529},
	{0.4333953941292472, 0.2692667193099963},
	{0.6794095682990244, 0.2190863625159820},
	{0.8650633666889845, 0.1494513491505806},
	{0.9739065285171717, 0.0666713443086881},
}

// narrow returns the logarithm of the probability that a standard normal variable z lies between a and b, and its
// mean and variance there, where the density changes little between them.
func narrow(a, b float64) (log, mean, variance float64) {
	middle, half := float64(0.5*(a+b)), float64(0.5*(b-a))
	var sum, first, second float64
	for _, p := range legendre {
		for _, x := range [...]float64{-p.node, p.node} {
			d := half * x
			w := float64(p.weight * special.Exp(-float64(d*middle)-float64(0.5*d*d))) // φ(middle+d)/φ(middle)
			sum += w
			first += float64(w * d)
			second += float64(w * d * d)
		}
	}
	first, second = first/sum, second/sum
	log = special.Log(sum*half) - float64(0.5*middle*middle) - float64(0.5*special.Log(2*math.Pi))
	return log, middle + first, second - float64(first*first)
}

// gumbel returns the logarithm of the likelihood of a target between l and u where e is the logarithm of an
// exponential variable, with w = (y−f)/σ and E = eʷ:
//
//	log p(y | f) = w − E − log σ,   log P(l < y < u | f) = log(exp(−E_l) − exp(−E_u)).
func gumbel(l, u, f, sigma float64) logLikelihood {
	below := min((l-f)/sigma, math.MaxFloat64) // a finite number less ∞ is −∞, but ∞ − ∞ is no number
	low := special.Exp(below)                  // E_l, 0 at −Inf
	if l == u {
		return logLikelihood{
			log:    below - low - special.Log(sigma),
			first:  (low - 1) / sigma,
			second: -low / (sigma * sigma),
			shape:  0.5 * (float64(below*(low-1)) - 1),
		}
	}
	lowSlope := 0.0 // w_l·E_l
	if low > 0 {
		lowSlope = below * low
	}
	if math.IsInf(u, 1) {
		return logLikelihood{-low, low / sigma, -low / (sigma * sigma), 0.5 * lowSlope}
	}
	above := (u - f) / sigma
	high := special.Exp(above)
	if above < leastExponent { // E_u and E_l are 0, and P is their difference
		ratio := special.Expm1(above - below) // E_u/E_l − 1, ∞ if there is no lower bound
		out := logLikelihood{log: above, first: -1 / sigma, shape: float64(-0.5 * above)}
		if !math.IsInf(ratio, 1) {
			out.log = below + special.Log(ratio)
			out.shape -= float64(0.5 * (above - below) / ratio)
		}
		return out
	}
	d := high - low
	less := special.Expm1(-d) // −(1 − e^(−D))
	out := logLikelihood{log: special.Log(-less) - low}
	if d > 700 || math.IsInf(low, 1) { // the upper bound changes nothing
		out.log, out.first, out.second, out.shape = -low, low/sigma, -low/(sigma*sigma), 0.5*lowSlope
		return out
	}
	q := -(less + 1) / less // 1/(e^D − 1)
	out.first = (low - float64(q*d)) / sigma
	out.second = (float64(q*d*(1-float64(d*(1+q)))) - low) / (sigma * sigma)
	out.shape = 0.5 * (lowSlope - float64(q*(float64(above*high)-lowSlope)))
	return out
}

// leastExponent is where an exponential has lost its last digits, nearly.
const leastExponent = -700

// narrowest reports whether f equals its mean up to rounding: its standard deviation is below the rounding errors of the mean
// and of the unit by which the likelihood changes, so that quadrature has no distinct points.
func narrowest(mean, variance, unit float64) bool {
	const digits = 1e-12
	return math.Sqrt(variance) <= digits*max(math.Abs(mean), unit)
}

// wide reports whether the error is next to nothing beside what f + b varies by: its law is then of no matter.
func wide(variance, sigma float64) bool { return variance > 1e10*sigma*sigma }

// beyondSquares is how many standard deviations have a square that is no number, nearly.
const beyondSquares = 1e150

// LogSurvival returns log P(y > at) where f + b has the distribution N(mean, variance), and log P(y ≤ at).
func (l Law) LogSurvival(mean, variance, sigma, at float64) (above, below float64) {
	if l == LogNormal || wide(variance, sigma) {
		z := (mean - at) / math.Sqrt(variance+float64(sigma*sigma))
		return special.LogNormalCDF(z), special.LogNormalCDF(-z)
	}
	if narrowest(mean, variance, sigma) {
		x := (at - mean) / sigma
		w := special.Exp(x)
		if x < leastExponent { // w is 0, nearly
			return -w, x
		}
		return -w, special.Log(-special.Expm1(-w))
	}
	switch z := (at - mean) / math.Sqrt(variance); {
	case z > beyondSquares:
		return math.Inf(-1), 0
	case z < -beyondSquares: // P(y ≤ at) is the mean of E
		return 0, (at-mean)/sigma + float64(0.5*variance/(sigma*sigma))
	}
	up, _ := weibullMoments(at, math.Inf(1), mean, variance, sigma)
	down, _ := weibullMoments(math.Inf(-1), at, mean, variance, sigma)
	return min(0, up.logZ), min(0, down.logZ)
}

// LogDensity returns the logarithm of the density of y where f + b has the distribution N(mean, variance).
func (l Law) LogDensity(mean, variance, sigma, at float64) float64 {
	if l == LogNormal || wide(variance, sigma) {
		return normalBetween(at, at, mean, variance+float64(sigma*sigma)).logZ
	}
	if narrowest(mean, variance, sigma) {
		return gumbel(at, at, mean, sigma).log
	}
	m, _ := integrate(mean, variance, sigma, func(f float64) logLikelihood { return gumbel(at, at, f, sigma) })
	return m.logZ
}

// Quantile returns the value below which y lies with probability p, between 0 and 1, where f + b has the distribution
// N(mean, variance).
func (l Law) Quantile(mean, variance, sigma, p float64) float64 {
	if l == LogNormal || wide(variance, sigma) {
		return mean + float64(math.Sqrt(variance+float64(sigma*sigma))*special.NormalQuantile(p))
	}
	// P(y > at) falls in at. It is bracketed by the quantiles at f's own, and then halved.
	error0 := float64(sigma * special.Log(-special.Log1p(-p)))
	spread := math.Sqrt(variance)
	if spread == 0 {
		return mean + error0
	}
	excess := func(at float64) float64 { // P(y ≤ at) − p, by the smaller side
		above, below := l.LogSurvival(mean, variance, sigma, at)
		if p > 0.5 {
			return special.Log1p(-p) - above
		}
		return below - special.Log(p)
	}
	low, high := mean+error0, mean+error0
	for width := spread + sigma; excess(low) > 0; width *= 2 {
		low -= width
	}
	for width := spread + sigma; excess(high) < 0; width *= 2 {
		high += width
	}
	for range 60 {
		middle := low + float64(0.5*(high-low))
		if middle <= low || middle >= high || high-low <= 1e-13*(spread+sigma) {
			break
		}
		if excess(middle) < 0 {
			low = middle
		} else {
			high = middle
		}
	}
	return low + float64(0.5*(high-low))
}
