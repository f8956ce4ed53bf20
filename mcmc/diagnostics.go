package mcmc

import (
	"cmp"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// Summary describes the distribution of a scalar by its draws, and how far they
// are to be trusted.
//
// Source: A. Vehtari, A. Gelman, D. Simpson, B. Carpenter and P.-C. Bürkner,
// "Rank-normalization, folding, and localization: an improved R̂ for assessing
// convergence of MCMC", Bayesian Analysis 16 (2021), 667–718.
type Summary struct {
	// Mean and SD are the mean and the standard deviation of all draws.
	Mean, SD float64

	// MCSE is the Monte Carlo standard error of Mean: SD divided by the square root
	// of the effective sample size for the mean.
	MCSE float64

	// RHat is the rank-normalised split R̂, the larger of two: R̂ of the draws, which
	// compares the chains' locations, and R̂ of their distances from the median,
	// which compares their scales. Above 1.01 the chains have not mixed.
	RHat float64

	// BulkESS and TailESS are effective sample sizes, of the centre of the
	// distribution and of its 5 % and 95 % quantiles, whichever is less. Below 100
	// for each chain, neither they nor RHat are reliable.
	BulkESS, TailESS float64
}

// Summarise summarises the draws of a scalar: a row for each chain, all rows of the
// same length. RHat, the effective sample sizes and MCSE are NaN if the chains have
// fewer than four draws, if a draw is not finite, or if all draws are the same.
func Summarise(chains [][]float64) Summary {
	s := Summary{RHat: math.NaN(), BulkESS: math.NaN(), TailESS: math.NaN(), MCSE: math.NaN()}
	var n float64
	for _, c := range chains {
		for _, x := range c {
			n++
			s.Mean += (x - s.Mean) / n
		}
	}
	all := slices.Concat(chains...)
	s.SD = math.Sqrt(squares(all, s.Mean) / (n - 1))
	if len(chains) == 0 || len(chains[0]) < 4 || !(s.SD > 0) || math.IsInf(s.SD, 1) {
		return s
	}
	halves := split(chains)
	ranked := normalRanks(halves)
	s.RHat = rHat(ranked)
	if scale := rHat(normalRanks(folded(halves))); scale > s.RHat { // NaN for two values
		s.RHat = scale
	}
	s.BulkESS = effective(ranked)
	s.TailESS = math.Inf(1)
	slices.Sort(all)
	for _, p := range []float64{0.05, 0.95} {
		// No draw is beyond a quantile that is the largest draw, as happens for
		// variables of two values. Such a quantile says nothing.
		if e := effective(indicators(halves, quantile(all, p))); !math.IsNaN(e) {
			s.TailESS = min(s.TailESS, e)
		}
	}
	if math.IsInf(s.TailESS, 1) {
		s.TailESS = math.NaN()
	}
	s.MCSE = s.SD / math.Sqrt(effective(halves))
	return s
}

// squares returns Σ(x − mean)².
func squares(x []float64, mean float64) float64 {
	var sum float64
	for _, v := range x {
		sum += float64((v - mean) * (v - mean))
	}
	return sum
}

// mean returns the arithmetic mean.
func mean(x []float64) float64 {
	var sum float64
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// split cuts every chain into its first and its last half, without the middle draw
// where their number is odd.
func split(chains [][]float64) [][]float64 {
	var out [][]float64
	for _, c := range chains {
		out = append(out, c[:len(c)/2], c[(len(c)+1)/2:])
	}
	return out
}

// normalRanks replaces every draw by the standard normal quantile of
// (rank − 3/8)/(number + 1/4), its rank being that among the draws of all chains.
// Draws that are equal share the mean of their ranks.
func normalRanks(chains [][]float64) [][]float64 {
	type place struct {
		value       float64
		chain, draw int
	}
	var all []place
	out := make([][]float64, len(chains))
	for c, chain := range chains {
		out[c] = make([]float64, len(chain))
		for t, x := range chain {
			all = append(all, place{x, c, t})
		}
	}
	slices.SortFunc(all, func(a, b place) int { return cmp.Compare(a.value, b.value) })
	for i := 0; i < len(all); {
		j := i + 1
		for j < len(all) && all[j].value == all[i].value {
			j++
		}
		rank := float64(float64(i+j+1) / 2) // the mean of the ranks i+1 … j
		z := special.NormalQuantile((rank - 0.375) / (float64(len(all)) + 0.25))
		for ; i < j; i++ {
			out[all[i].chain][all[i].draw] = z
		}
	}
	return out
}

// folded replaces every draw by its distance from the median of all draws.
func folded(chains [][]float64) [][]float64 {
	all := slices.Concat(chains...)
	slices.Sort(all)
	median := quantile(all, 0.5)
	out := make([][]float64, len(chains))
	for c, chain := range chains {
		for _, x := range chain {
			out[c] = append(out[c], math.Abs(x-median))
		}
	}
	return out
}

// quantile returns the p-quantile of sorted values, with linear interpolation.
func quantile(sorted []float64, p float64) float64 {
	at := float64(p * float64(len(sorted)-1))
	i := min(int(at), len(sorted)-2)
	return sorted[i] + float64((at-float64(i))*(sorted[i+1]-sorted[i]))
}

// indicators returns 1 where a draw is at most q, 0 elsewhere.
func indicators(chains [][]float64, q float64) [][]float64 {
	out := make([][]float64, len(chains))
	for c, chain := range chains {
		out[c] = make([]float64, len(chain))
		for t, x := range chain {
			if x <= q {
				out[c][t] = 1
			}
		}
	}
	return out
}

// variances returns the mean W of the variances within the n draws of each chain, and
// the estimate (n−1)/n·W + B/n of the variance of the target, where B/n is the
// variance of the chains' means.
func variances(chains [][]float64) (within, total float64) {
	n := float64(len(chains[0]))
	means := make([]float64, len(chains))
	for c, chain := range chains {
		means[c] = mean(chain)
		within += squares(chain, means[c]) / (n - 1) / float64(len(chains))
	}
	total = float64((n - 1) / n * within)
	if len(chains) > 1 {
		total += squares(means, mean(means)) / float64(len(chains)-1)
	}
	return within, total
}

// rHat returns R̂, the square root of the ratio of the two estimates of the target's
// variance: from all chains together and from within the chains.
func rHat(chains [][]float64) float64 {
	within, total := variances(chains)
	return math.Sqrt(total / within)
}

// effective returns the effective sample size for the mean of the target: the number
// of draws divided by the autocorrelation time. That is the sum over all lags, positive
// and negative, of the autocorrelation estimated from all chains together, cut off by
// Geyer's initial monotone sequence: lags are added in pairs as long as the sum of a
// pair is positive, and no pair counts for more than the one before it. The result is
// NaN if all draws are the same.
func effective(chains [][]float64) float64 {
	within, total := variances(chains)
	if !(total > 0) {
		return math.NaN()
	}
	n := len(chains[0])
	draws := float64(n * len(chains))
	centred := make([][]float64, len(chains))
	for c, chain := range chains {
		m := mean(chain)
		centred[c] = make([]float64, n)
		for t, x := range chain {
			centred[c][t] = x - m
		}
	}
	correlation := func(lag int) float64 {
		var sum float64
		for _, x := range centred {
			sum += la.Dot(x[:n-lag], x[lag:])
		}
		return 1 - (within-sum/draws)/total
	}
	// Pairs of the lags (0, 1), (2, 3), …; the sum of a pair is positive and falls
	// with the lag in every reversible chain.
	even, odd := 1.0, correlation(1)
	time, smallest := 0.0, math.Inf(1)
	lag := 0
	for even+odd > 0 {
		smallest = min(smallest, even+odd)
		time += 2 * smallest
		lag += 2
		if lag+1 >= n-2 {
			even = 0
			break
		}
		even, odd = correlation(lag), correlation(lag+1)
	}
	// The sum of pairs counts every lag twice, for both signs; lag 0 counts once. Of
	// the pair that ended the sum its even lag is added if it is positive, which
	// corrects chains whose successive draws are negatively correlated.
	time += max(even, 0) - 1
	// Such chains may have more effective draws than draws, by the factor log10(draws) at most.
	return draws / max(time, math.Ln10/special.Log(draws))
}
