package mgp

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// CDF returns P(count < y) and P(count ≤ y) for a count y. The second is not below the first.
func (d CountDistribution) CDF(y float64) (below, upTo float64) {
	if d.isLong(max(y, d.reach(0.5))) {
		at, _ := d.distribution()
		if y > 0 {
			below = at(y - 1)
		}
		return below, max(below, at(y)) // rounding may not let the probability of y be negative
	}
	nodes := d.grid()
	for k := 0.0; k <= y; k++ {
		below = upTo
		for i := range nodes {
			upTo += nodes[i].step(k, d)
		}
		upTo = min(upTo, 1)
	}
	return below, upTo
}

// surely is the probability up to which counts are summed: the score of a further count is below (1 − surely)².
const surely = 1 - 1e-7

// CRPS returns the continuous ranked probability score Σ_k (P(count ≤ k) − [k ≥ y])² of the distribution for a count y. It sums the probabilities of
// the counts from 0 on. If these are many terms, it integrates.
func (d CountDistribution) CRPS(y float64) (crps float64) {
	if d.isLong(max(y, d.reach(surely))) {
		return d.integral(y)
	}
	nodes := d.grid()
	var sum float64
	for k := 0.0; k <= y || sum < surely && k <= mostSummed; k++ {
		for i := range nodes {
			sum += nodes[i].step(k, d)
		}
		sum = min(sum, 1)
		step := sum
		if k >= y {
			step = 1 - sum
		}
		crps += float64(step * step)
	}
	return crps
}

// integral returns the sum Σ_k (P(count ≤ k) − [k ≥ y])². The probabilities of the counts below low and from high on are 0 and 1 but for
// what the sum does not see.
func (d CountDistribution) integral(y float64) float64 {
	const lowest, highest = 1e-9, 1 - 1e-13
	upTo, smooth := d.distribution()
	low, high := d.quantile(upTo, lowest), d.quantile(upTo, highest)
	middle := min(max(y, low), high)
	sum := max(0, low-y) + max(0, y-high)
	sum += d.over(low, middle, smooth, func(k float64) float64 { p := upTo(k); return float64(p * p) })
	return sum + d.over(middle, high, smooth, func(k float64) float64 { p := 1 - upTo(k); return float64(p * p) })
}

// singly is the number of the first counts whose terms are summed one by one.
const singly = 32

// over returns the sum of g(k) over the counts a ≤ k < b. From a count on where g is smooth it is by the formula of Euler and Maclaurin,
//
//	Σ g(k) ≈ ∫_{a−½}^{b−½} g(k) dk − (g′(b−½) − g′(a−½))/24,
//
// with sums of Gauss and Legendre over log(k+1), in panels of the distribution's width there.
func (d CountDistribution) over(a, b, smooth float64, g func(k float64) float64) (sum float64) {
	for ; a < b && a < smooth; a++ {
		sum += g(a)
	}
	if a >= b {
		return sum
	}
	sum += (g(a) - g(a-1) - (g(b) - g(b-1))) / 24
	from, end := special.Log(a+0.5), special.Log(b+0.5)
	for from < end {
		to := min(from+min(4, d.width(special.Expm1(from))), end)
		overPanel(from, to, func(t, weight float64) { sum += float64(weight * special.Exp(t) * g(special.Expm1(t))) })
		from = to
	}
	return sum
}

// width returns about the standard deviation of log(count + 1) at a count y.
func (d CountDistribution) width(y float64) float64 {
	if d.Nu > 0 {
		return d.narrowWidth(y + 1)
	}
	return special.Hypot(newCountGap(y, d.R).width, math.Sqrt(d.Variance))
}
