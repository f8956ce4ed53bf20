package mgp

import (
	"math"
	"sort"

	"github.com/bmkl/bmkl/internal/special"
)

// The predictive distribution of a count whose distribution is double Poisson given f.

// farCount is the count from which on the distribution of log y is taken to be normal, with the variance of f and 1/(νy). What this leaves out is as
// small as the rounding of log μ, which a count cannot be told from.
const farCount = 1e14

// narrowLogProbability returns log P(y) for any y ≥ 0.
func (d CountDistribution) narrowLogProbability(y float64) float64 {
	if y > farCount {
		s := d.narrowWidth(y)
		z := (special.Log(y) - d.Mean - special.Log(d.Exposure)) / s
		return -float64(0.5*z*z) - float64(0.5*special.Log(2*math.Pi)) - special.Log(s) - special.Log(y)
	}
	at := newNarrowCount(y, d.Exposure, d.Nu).at
	if narrowest(d.Mean, d.Variance, 1/d.Nu) {
		return at(d.Mean).log
	}
	m, _ := integrate(d.Mean, d.Variance, 1/d.Nu, at)
	return m.logZ
}

// leastWidth is the least width of the distribution of log y, which is nearly as narrow as the rounding of log y lets it be.
const leastWidth = 1e-11

// narrowWidth returns about the standard deviation of log y at a count y.
func (d CountDistribution) narrowWidth(y float64) float64 {
	return max(special.Hypot(1/math.Sqrt(float64(d.Nu*y)), math.Sqrt(d.Variance)), leastWidth)
}

// narrowMoments returns the mean and the variance of the count, given the mean o·E[exp f] of μ. Given f, the mean is μ + δ and the variance μ/ν + ε, with δ, ε
// and μ·δ bounded by about 1. Their expectations are sums over a grid of f.
func (d CountDistribution) narrowMoments() (mean, variance float64) {
	const digits, most = 24, 16 // −log of the error; the log μ from which on δ and ε are lost beside μ
	x0, s := d.Mean+special.Log(d.Exposure), math.Sqrt(d.Variance)
	var one, two, cross, square float64
	add := func(x, weight float64) {
		n := narrowSum(x, d.Nu, 0)
		off := n.first / d.Nu
		one += float64(weight * off)
		two += float64(weight * (n.second/(d.Nu*d.Nu) - n.mu/d.Nu))
		cross += float64(weight * off * n.mu)
		square += float64(weight * off * off)
	}
	if s == 0 {
		if x0 < most {
			add(x0, 1)
		}
	} else {
		step := 1 / (float64(digits*d.Nu)/(math.Pi*math.Pi) + math.Sqrt(0.5*digits)/(math.Pi*s))
		low, high := max(x0-float64(gridReach*s), -40), min(x0+float64(gridReach*s), most)
		step = max(step, (high-low)/mostNodes)
		for k := 0.0; low+float64(k*step) < high; k++ {
			x := low + float64(k*step)
			z := (x - x0) / s
			add(x, step/s*special.Exp(-0.5*z*z)/math.Sqrt(2*math.Pi))
		}
	}
	whole := min(special.Exp(x0+float64(0.5*d.Variance)), math.MaxFloat64) // E[μ]
	mean = max(whole+one, 0)
	variance = whole/d.Nu + two + square - float64(one*one)
	ofMean := float64(whole*whole*special.Expm1(d.Variance)) + float64(2*(cross-float64(whole*one))) // with the variance of μ
	if ofMean-ofMean != 0 {
		ofMean = special.Exp(2*x0 + 2*d.Variance + special.Log(-special.Expm1(-d.Variance)))
	}
	return mean, min(max(variance+ofMean, 0), math.MaxFloat64)
}

// narrowTable is the distribution function of a count. The probabilities of the first counts are known one by one. The probabilities of the others are
// smooth: they are polynomials of the logarithm of the count, in panels, and sums of them are integrals by the formula of Euler and Maclaurin.
type narrowTable struct {
	first  float64
	upTo   []float64 // P(count ≤ first), P(count ≤ first+1), …
	panels []narrowPanel
	slope  float64 // of the probability where the panels begin, over 24
}

// narrowPanel is Σ_l coefficients[l]·P_l, with the polynomials of Legendre, the density of t = log(count) for t within middle ± half.
type narrowPanel struct {
	middle, half float64
	below        float64 // the integral before the panel
	coefficients [2 * len(legendre)]float64
}

// smoothCount is the standard deviation of the counts beyond which their probabilities are smooth, and smoothFrom the least count.
const (
	smoothCount = 30
	smoothFrom  = 32
)

// newNarrowTable returns the distribution function of d. Outside of 8.5 standard deviations of f, and outside of Chernoff's bounds of a count given f, the
// probability is below rounding.
func (d CountDistribution) newNarrowTable() *narrowTable {
	x0, s := d.Mean+special.Log(d.Exposure), max(math.Sqrt(d.Variance), leastWidth)
	bound := func(way float64) float64 {
		mu := min(special.Exp(x0+float64(way*gridReach*s)), math.MaxFloat64)
		k := mu + float64(way*math.Sqrt(2*narrowTail*mu/d.Nu))
		if way > 0 {
			k += narrowTail/d.Nu + 1
		}
		return min(math.Floor(max(k, 0)), math.MaxFloat64)
	}
	low, high := bound(-1), bound(1)
	t := &narrowTable{first: low}
	sum, k := 0.0, low
	for ; k <= high && (k < smoothFrom || !(float64(k*d.narrowWidth(k)) >= smoothCount)); k++ {
		sum += special.Exp(d.narrowLogProbability(k))
		t.upTo = append(t.upTo, sum)
	}
	if k > high {
		return t
	}
	from, end := special.Log(k-0.5), special.Log(high)+float64(0.5/high)
	for from < end {
		to := min(from+min(d.narrowWidth(special.Exp(from)), 4), end)
		if !(to > from) {
			break
		}
		p := narrowPanel{middle: float64(0.5 * (from + to)), half: float64(0.5 * (to - from)), below: sum}
		overPanel(from, to, func(at, weight float64) {
			g := special.Exp(at + d.narrowLogProbability(special.Exp(at)))
			p.addNode((at-p.middle)/p.half, weight/p.half, g)
		})
		sum = p.below + p.integral(1)
		t.panels = append(t.panels, p)
		from = to
	}
	t.slope = t.panels[0].slope(-1) / 24
	return t
}

// addNode adds a value at a node of Gauss and Legendre: the coefficients are projections, (2l+1)/2·Σ weight·P_l·value.
func (p *narrowPanel) addNode(u, weight, value float64) {
	before, now := 0.0, 1.0
	for l := range p.coefficients {
		n := float64(l)
		p.coefficients[l] += float64((n + 0.5) * weight * now * value)
		before, now = now, (float64((2*n+1)*u*now)-float64(n*before))/(n+1)
	}
}

// integral returns the integral from the panel's beginning to u, in units of the panel: ∫P_l is (P_{l+1} − P_{l−1})/(2l+1).
func (p *narrowPanel) integral(u float64) (sum float64) {
	sum = float64(p.coefficients[0] * (u + 1))
	before, now := 1.0, u // P₀ and P₁
	for l := 1; l < len(p.coefficients); l++ {
		n := float64(l)
		next := (float64((2*n+1)*u*now) - float64(n*before)) / (n + 1)
		sum += float64(p.coefficients[l] * (next - before) / (2*n + 1))
		before, now = now, next
	}
	return float64(p.half * sum)
}

// slope returns the derivative of the probability of a count by the count at u: with the density g of t, it is (g′ − g)/count².
func (p *narrowPanel) slope(u float64) float64 {
	var value, slope float64
	before, now, steep, steeper := 0.0, 1.0, 0.0, 0.0 // P_{l−1}, P_l, and the derivatives P′_l and P′_{l−1}
	for l, c := range p.coefficients {
		n := float64(l)
		value += float64(c * now)
		slope += float64(c * steep)
		next := (float64((2*n+1)*u*now) - float64(n*before)) / (n + 1)
		rise := steeper + float64((2*n+1)*now) // P′_{l+1} = P′_{l−1} + (2l+1)·P_l
		before, now, steeper, steep = now, next, steep, rise
	}
	count := special.Exp(p.middle + float64(u*p.half))
	return (slope/p.half - value) / count / count
}

// at returns P(count ≤ y).
func (t *narrowTable) at(y float64) float64 {
	switch singles := float64(len(t.upTo)); {
	case y < t.first:
		return 0
	case y < t.first+singles:
		return min(t.upTo[int(y-t.first)], 1)
	case t.panels == nil:
		return 1
	}
	to := special.Log(y) + special.Log1p(0.5/y)
	i := sort.Search(len(t.panels), func(i int) bool { p := &t.panels[i]; return p.middle+p.half >= to })
	if i == len(t.panels) {
		return 1
	}
	p := &t.panels[i]
	u := max((to-p.middle)/p.half, -1)
	return max(0, min(p.below+p.integral(u)-p.slope(u)/24+t.slope, 1))
}
