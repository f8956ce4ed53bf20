package mgp

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// Counts are summed until they have the probability surely: the score of a further count is below (1 − surely)². Where the quantile of the
// probability mostly is beyond manyCounts they are not summed at all.
const (
	surely = 1 - 1e-7
	mostly = 0.999
)

// Score compares the distribution with a count y: below is P(count < y), upTo is P(count ≤ y), and crps is the continuous ranked
// probability score Σ_k (P(count ≤ k) − [k ≥ y])². It sums the probabilities of the counts from 0 on. Where the sum would go beyond 1e5
// it takes the logarithm of the count for normal, as [CountDistribution.Quantiles] does.
func (d CountDistribution) Score(y float64) (below, upTo, crps float64) {
	if d.isMany(mostly) {
		middle, spread := d.logMoments()
		sd := math.Sqrt(spread)
		at := func(y float64) float64 {
			if y < 0 {
				return 0
			}
			return special.NormalCDF((special.Log(y+1) - middle) / sd)
		}
		return at(y - 1), at(y), special.LogNormalCRPS(y, middle, sd)
	}
	nodes := d.grid()
	var sum float64
	for k := 0.0; k <= y || sum < surely && k <= 10*manyCounts; k++ {
		// Beyond the distribution each further count up to y adds one.
		if k > manyCounts && (sum >= surely || k > 10*manyCounts) {
			return 1, 1, crps + (y - k)
		}
		before := sum
		for i := range nodes {
			sum += nodes[i].step(k, d.R)
		}
		sum = min(sum, 1)
		step := sum
		if k >= y {
			step = 1 - sum
		}
		if crps += float64(step * step); k == y {
			below, upTo = before, sum
		}
	}
	return below, upTo, crps
}

// logMoments returns the mean and the variance of nearly the logarithm of a count whose upper quantiles are large. The distribution of a
// count given its mean adds 1/mean to the variance. Where the mean is below 1, the upper quantiles come from larger means.
func (d CountDistribution) logMoments() (middle, spread float64) {
	middle, spread = d.Mean+special.Log(d.Exposure), d.Variance
	if d.R > 0 {
		middle += special.Digamma(d.R) - special.Log(d.R)
		spread += special.Trigamma(d.R)
	}
	return middle, spread + min(1, special.Exp(-middle))
}
