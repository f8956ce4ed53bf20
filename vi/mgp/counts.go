package mgp

import (
	"errors"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// Names of the likelihoods of counts.
const (
	poisson          = "poisson"
	negativeBinomial = "negative-binomial"
	doublePoisson    = "double-poisson"
)

// Counts is the likelihood of counts y_n = 0, 1, 2, … of the mean μ_n = o_n·exp(f_n + b) with the exposure o_n, such as
// a time under observation:
//
//	Poisson            log p = y·log μ − μ − log y!
//	negative binomial  log p = log Γ(y+r) − log Γ(r) − log y! + y·log μ + r·log r − (y+r)·log(r+μ),
//	double Poisson     log p = −ν·(y·log(y/μ) − y + μ) + y·log y − y − log y! − log S(μ),
//
// of the variances μ, μ + μ²/r and about μ/ν, with ν > 1 and S the sum that makes the probabilities one. η is log r or log(ν − 1), and a Poisson
// distribution has none. The level has a weak prior about the logarithm of the mean rate, log r one about log 10, and log(ν − 1) one about 0, all of
// the standard deviation 2. Moments are by quadrature.
type Counts struct {
	Y         []float64 // the counts
	Exposure  []float64 // positive; nil means 1
	Dispersed bool      // the distribution is negative binomial, not Poisson
	Narrow    bool      // the distribution is double Poisson, not Poisson: see [Precision]
}

// firstShape is the r that the prior lies about.
const firstShape = 10

// Name implements [Likelihood].
func (c Counts) Name() string {
	switch {
	case c.Narrow:
		return doublePoisson
	case c.Dispersed:
		return negativeBinomial
	}
	return poisson
}

// Samples implements [Likelihood].
func (c Counts) Samples() int { return len(c.Y) }

// mostCount is the largest count: up to here a float64 has all integers.
const mostCount = 1 << 53

// mostPoisson is the largest count of a Poisson distribution. A count y leaves the function a standard deviation of 1/√y.
// Beyond, rounding is as large as what the moments need: see docs/lab/survival.md.
const mostPoisson = 1e12

// Some implements [Likelihood].
func (c Counts) Some(rows []int) Likelihood {
	return Counts{picked(c.Y, rows), picked(c.Exposure, rows), c.Dispersed, c.Narrow}
}

func (c Counts) check() error {
	if c.Narrow && c.Dispersed {
		return errors.New("counts: the distribution is either negative binomial or double Poisson")
	}
	if c.Exposure != nil && len(c.Exposure) != len(c.Y) {
		return fmt.Errorf("counts: %d exposures for %d counts", len(c.Exposure), len(c.Y))
	}
	for n, v := range c.Exposure {
		if !(v >= 1e-100 && v <= 1e100) {
			return fmt.Errorf("counts: the exposure of sample %d is %g: it must be positive, between 1e-100 and 1e100", n, v)
		}
	}
	some := false
	for n, v := range c.Y {
		if !(v >= 0 && v <= mostCount) || v != math.Floor(v) {
			return fmt.Errorf("counts: sample %d is %g, not one of 0, 1, 2, …", n, v)
		}
		if c.Narrow && v > MostNarrowCount {
			return fmt.Errorf("counts: sample %d is %g: a double Poisson distribution takes counts up to %g, a negative binomial one up to 2⁵³", n, v, MostNarrowCount)
		}
		if !c.Dispersed && v > mostPoisson {
			return fmt.Errorf("counts: sample %d is %g: a Poisson distribution takes counts up to %g, a negative binomial one up to 2⁵³", n, v, mostPoisson)
		}
		some = some || v > 0
	}
	if !some {
		return fmt.Errorf("counts: all %d counts are 0", len(c.Y))
	}
	return nil
}

func (c Counts) identity() []float64 {
	var all []float64
	for n, y := range c.Y {
		all = append(all, y, c.exposure(n))
	}
	return all
}

func (c Counts) exposure(n int) float64 {
	if c.Exposure == nil {
		return 1
	}
	return c.Exposure[n]
}

func (c Counts) prior() (mean, sd []float64) {
	var y, o float64
	for n, v := range c.Y {
		y += v
		o += c.exposure(n)
	}
	mean, sd = []float64{special.Log(y) - special.Log(o)}, []float64{noiseSpread}
	switch {
	case c.Narrow: // about ν = 2
		mean, sd = append(mean, 0), append(sd, noiseSpread)
	case c.Dispersed:
		mean, sd = append(mean, special.Log(firstShape)), append(sd, noiseSpread)
	}
	return mean, sd
}

func (c Counts) site(n int, mean, variance float64, eta []float64) (precision, shift float64) {
	return siteOfPrior(c, n, mean, variance, eta)
}

func (c Counts) logProbability(n int, mean, variance float64, eta []float64) float64 {
	return c.moments(n, mean, variance, eta, nil).logZ
}

func (c Counts) moments(n int, mean, variance float64, eta, slopes []float64) moments {
	if c.Narrow {
		m, shape := narrowMoments(c.Y[n], c.exposure(n), mean, variance, eta[0])
		if slopes != nil {
			slopes[0] = shape
		}
		return m
	}
	m, shape := integrate(mean, variance, 1, countOf(c.Y[n], c.exposure(n), eta))
	if slopes != nil && c.Dispersed {
		slopes[0] = shape
	}
	return m
}

// countOf returns the likelihood of one count, given f.
func countOf(y, exposure float64, eta []float64) func(f float64) logLikelihood {
	if y > largeCount {
		return newLargeCount(y, exposure, eta).at
	}
	return newCounter(y, exposure, eta).at
}

// counter is the likelihood of one count.
type counter struct {
	y, logExposure float64
	r              float64 // 0 of a Poisson distribution
	constant       float64
	digammas       float64 // ψ(y+r) − ψ(r) + log r + 1
}

func newCounter(y, exposure float64, eta []float64) *counter {
	c := &counter{y: y, logExposure: special.Log(exposure), constant: -special.LogGamma(y + 1)}
	if len(eta) > 0 {
		c.r = special.Exp(eta[0])
		c.constant += special.LogGammaRise(c.r, y)
		c.digammas = special.Digamma(y+c.r) - special.Digamma(c.r) + 1
	}
	return c
}

func (c *counter) at(f float64) logLikelihood {
	x := f + c.logExposure // log μ
	mu := special.Exp(x)
	if c.r == 0 {
		out := logLikelihood{log: c.constant - mu, first: c.y - mu, second: -mu}
		if c.y > 0 {
			out.log += float64(c.y * x)
		}
		return out
	}
	// log(r + μ) = log r + log(1 + μ/r), without overflow.
	ratio := mu / c.r
	over := special.Log1p(ratio)
	share := ratio / (1 + ratio)
	logRatio := x - special.Log(c.r)
	if math.IsInf(ratio, 1) {
		over, share = logRatio, 1
	}
	all := c.y + c.r
	out := logLikelihood{
		log:    c.constant - float64(all*over),
		first:  c.y - float64(all*share),
		second: -all * share * (1 - share),
		shape:  c.r * (c.digammas - over - float64(all/c.r*(1-share))),
	}
	if c.y > 0 {
		out.log += float64(c.y * logRatio)
	}
	return out
}

// CountDistribution is the predictive distribution of a count: of the mean o·exp(f), where f has the distribution
// N(Mean, Variance).
type CountDistribution struct {
	Mean, Variance float64
	Exposure       float64 // o
	R              float64 // r of the negative binomial distribution, or 0
	Nu             float64 // ν of the double Poisson distribution, or 0
}

// Moments returns the mean and the variance of the count. Beyond the largest float64 they are the largest float64.
func (d CountDistribution) Moments() (mean, variance float64) {
	if d.Nu > 0 {
		return d.narrowMoments()
	}
	log := d.Mean + special.Log(d.Exposure) + float64(0.5*d.Variance)
	mean = min(special.Exp(log), math.MaxFloat64)
	square := float64(mean * mean)
	variance = mean + float64(square*special.Expm1(d.Variance))
	if d.R > 0 {
		variance += float64(square * special.Exp(d.Variance) / d.R)
	}
	if variance-variance != 0 { // a factor has overflowed, and another may be 0
		variance = mean + special.Exp(2*log+d.Variance+special.Log(-special.Expm1(-d.Variance)))
		if d.R > 0 {
			variance += special.Exp(2*log + d.Variance - special.Log(d.R))
		}
		variance = min(variance, math.MaxFloat64)
	}
	return mean, variance
}

// LogProbability returns log P(y).
func (d CountDistribution) LogProbability(y float64) float64 {
	if d.Nu > 0 {
		return d.narrowLogProbability(y)
	}
	var eta []float64
	if d.R > 0 {
		eta = []float64{special.Log(d.R)}
	}
	at := countOf(y, d.Exposure, eta)
	if narrowest(d.Mean, d.Variance, 1) {
		return at(d.Mean).log
	}
	m, _ := integrate(d.Mean, d.Variance, 1, at)
	return m.logZ
}

// Quantiles returns for each probability, in ascending order between 0 and 1, the least count y with P(count ≤ y) no
// less. It sums the probabilities of the counts from 0 on, for each of a grid of values of f. If these are many terms, it
// finds the quantiles by [CountDistribution.distribution]. A count beyond the largest float64 is the largest float64.
func (d CountDistribution) Quantiles(probabilities []float64) []float64 {
	out := make([]float64, 0, len(probabilities))
	if d.isLong(d.reach(probabilities[len(probabilities)-1])) {
		upTo, _ := d.distribution()
		for _, p := range probabilities {
			out = append(out, d.quantile(upTo, p))
		}
		return out
	}
	nodes := d.grid()
	below := 0.0
	for y := 0.0; len(out) < len(probabilities); y++ {
		for i := range nodes {
			below += nodes[i].step(y, d)
		}
		for len(out) < len(probabilities) && (below >= probabilities[len(out)] || y > mostSummed) {
			out = append(out, y)
		}
	}
	return out
}

// A sum of the probabilities of counts has at most so many terms, and at most so many counts.
const (
	mostTerms  = 2e5
	mostSummed = 1e5
)

// isLong reports whether the sum of the probabilities of the counts up to y is too long.
func (d CountDistribution) isLong(y float64) bool {
	return !(float64((2*d.steps()+1)*(y+1)) <= mostTerms) || !(y <= mostSummed)
}

// reach returns a count that is no less than the quantile of the probability p ≥ ½. At the quantile of f the mean is μ. With t = −log(1−p),
// Chernoff's bounds of the quantiles are μ·(1 + √(2t/r) + t/r) for μ·G, and M + √(2tM) + t for a Poisson distribution of the mean M. The upper tail of a
// double Poisson distribution is below four times the tail of the Poisson distribution of the same μ, or begins at the next count.
func (d CountDistribution) reach(p float64) float64 {
	t := -special.Log1p(-p)
	if d.Nu > 0 {
		t += math.Ln2 + math.Ln2
	}
	mean := special.Exp(d.Mean + special.Log(d.Exposure) + float64(math.Sqrt(d.Variance)*max(0, special.NormalQuantile(p))))
	if d.R > 0 {
		mean *= 1 + math.Sqrt(2*t/d.R) + t/d.R
	}
	return mean + math.Sqrt(2*t*mean) + t
}

// countNode is a value of f: the probabilities of its counts follow one another. The probabilities of a large mean begin below the
// least number: scaled has them without the factor e^log.
type countNode struct {
	x            float64 // log of mean
	mean, weight float64
	scaled, log  float64
	factor       float64 // weight·e^log
	normal       narrowNormal
}

// step returns the weight times the probability of the count y, and goes on to y + 1.
func (c *countNode) step(y float64, d CountDistribution) float64 {
	if d.Nu > 0 {
		far, peak := c.normal.term(y, c.x, d.Nu)
		return float64(c.weight * special.Exp(peak-float64(d.Nu*far)-c.normal.log))
	}
	r := d.R
	const large, logLarge = 0x1p600, 600 * math.Ln2
	p := float64(c.factor * c.scaled)
	if r > 0 {
		c.scaled *= c.mean / (c.mean + r) * (y + r) / (y + 1)
	} else {
		c.scaled *= c.mean / (y + 1)
	}
	if c.scaled > large {
		c.scaled /= large
		c.log += logLarge
		c.factor = float64(c.weight * special.Exp(c.log))
	}
	return p
}

// gridReach is the reach of a grid of f in standard deviations.
const gridReach = 8.5

// steps returns the number of steps of a grid of f on either side.
func (d CountDistribution) steps() float64 {
	sd := math.Sqrt(d.Variance)
	if sd == 0 {
		return 0
	}
	root := math.Sqrt(special.Exp(min(d.Mean+special.Log(d.Exposure), 12)))
	if d.Nu > 0 { // a count takes the place of the next within 1/ν
		root = float64(root*math.Sqrt(d.Nu)) + float64(2*d.Nu)
	}
	return math.Ceil(gridReach * (3 + float64(4*sd) + float64(sd*root)))
}

// grid returns values of f over 8.5 standard deviations on either side, each with the probability of the count 0.
func (d CountDistribution) grid() (nodes []countNode) {
	sd, steps := math.Sqrt(d.Variance), d.steps()
	var sum float64
	for k := -steps; k <= steps; k++ {
		z := 0.0
		if steps > 0 {
			z = gridReach * k / steps
		}
		x := d.Mean + special.Log(d.Exposure) + float64(sd*z)
		n := countNode{x: x, mean: special.Exp(x), weight: special.Exp(-0.5 * z * z), scaled: 1}
		if d.Nu > 0 {
			n.normal = narrowSum(x, d.Nu, 0)
		}
		n.log = -n.mean
		if d.R > 0 {
			n.log = -float64(d.R * special.Log1p(n.mean/d.R))
		}
		sum += n.weight
		nodes = append(nodes, n)
	}
	for i := range nodes {
		nodes[i].weight /= sum
		nodes[i].factor = float64(nodes[i].weight * special.Exp(nodes[i].log))
	}
	return nodes
}
