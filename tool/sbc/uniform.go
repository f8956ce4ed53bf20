package main

import (
	"math"
	"slices"
)

// grid is how many intervals of [0, 1] the test looks at.
const grid = 50

// band is a region for the counts of n uniform numbers: at most k/grid of them, for each k, are from low[k] to
// high[k].
type band struct {
	n         int
	low, high []int
}

// newBand returns, for each k, the counts whose two-sided tail probability is above gamma.
func newBand(n int, gamma float64) band {
	b := band{n, make([]int, grid+1), make([]int, grid+1)}
	b.low[grid], b.high[grid] = n, n
	for k := 1; k < grid; k++ {
		tails := twoTails(n, float64(k)/grid)
		b.low[k] = slices.IndexFunc(tails, func(p float64) bool { return p > gamma })
		b.high[k] = n
		for b.high[k] >= 0 && !(tails[b.high[k]] > gamma) {
			b.high[k]--
		}
	}
	return b
}

// chance returns the probability that n independent uniform numbers stay inside of the band. Given c numbers below
// k/grid, the number of those below (k+1)/grid is c plus a binomial variable, so that the probabilities of the
// counts follow from one k to the next.
//
// Source: T. Säilynoja, P.-C. Bürkner and A. Vehtari, "Graphical test for discrete uniformity and its applications in
// goodness-of-fit evaluation and multiple sample comparison", Statistics and Computing 32 (2022), section 2.2.
func (b band) chance() float64 {
	now := make([]float64, b.n+1)
	now[0] = 1
	for k := range grid {
		if b.low[k+1] < 0 {
			return 0
		}
		next := make([]float64, b.n+1)
		for from := b.low[k]; from <= b.high[k]; from++ {
			for to := max(from, b.low[k+1]); to <= b.high[k+1]; to++ {
				next[to] += now[from] * binomial(b.n-from, to-from, 1/float64(grid-k))
			}
		}
		now = next
	}
	return now[b.n]
}

// twoTails returns, for each count c of n numbers, twice the lesser of the probabilities of at most c and of at
// least c numbers below z.
func twoTails(n int, z float64) []float64 {
	tails := make([]float64, n+1)
	var below float64
	for c := range tails {
		at := binomial(n, c, z)
		tails[c] = 2 * min(below+at, 1-below)
		below += at
	}
	return tails
}

// binomial returns the probability of c successes in n trials.
func binomial(n, c int, p float64) float64 {
	if p >= 1 {
		if c == n {
			return 1
		}
		return 0
	}
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(c + 1))
	d, _ := math.Lgamma(float64(n - c + 1))
	return math.Exp(a - b - d + float64(c)*math.Log(p) + float64(n-c)*math.Log1p(-p))
}

// counts returns how many of the numbers are at most k/grid, for each k.
func counts(u []float64) []int {
	c := make([]int, grid+1)
	for _, v := range u {
		for k := int(math.Ceil(v * grid)); k <= grid; k++ {
			c[k]++
		}
	}
	return c
}

// pValue returns the probability that independent uniform numbers deviate as far from uniformity as u do. The deviation is
// the least two-sided tail probability of a count. The probability is exact but for rounding.
func pValue(u []float64) float64 {
	least := 1.0
	for k, c := range counts(u) {
		if k > 0 && k < grid {
			least = min(least, twoTails(len(u), float64(k)/grid)[c])
		}
	}
	return min(1, max(0, 1-newBand(len(u), least*(1+1e-9)).chance()))
}

// bandOf returns the narrowest band that holds n uniform numbers with at least the probability given.
func bandOf(n int, chance float64) band {
	lo, hi := 0.0, 1.0
	for range 30 {
		if mid := (lo + hi) / 2; newBand(n, mid).chance() < chance {
			hi = mid
		} else {
			lo = mid
		}
	}
	return newBand(n, lo)
}
