package mgp

import (
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
)

// distribution returns the function P(count ≤ y) of y ≥ 0, and the count from which on it is smooth.
func (d CountDistribution) distribution() (upTo func(y float64) float64, smooth float64) {
	if d.Nu > 0 {
		t := d.newNarrowTable()
		return t.at, t.first + float64(len(t.upTo)) + 1
	}
	return d.upTo, singly
}

// upTo returns P(count ≤ y) for any y ≥ 0, unless the distribution is double Poisson. A Poisson count of the mean M is at most y if M is at most a variable Γ with the density of
// Gamma(y+1, 1). The mean of a negative binomial count is exp(x)·G with G ~ Gamma(r, r), so that with x ~ N(m, s²) the logarithm of the mean
//
//	P(count ≤ y) = P(x ≤ U) = E[Φ((U − m)/s)],   U = log Γ − log G.
//
// With δ = U − log(y+1) the density of U is proportional to
//
//	exp((y+1)·δ − (y+1)·(eᵟ − 1))                             of a Poisson distribution,
//	exp((y+1)·δ − (y+1+r)·log(1 + (y+1)/(y+1+r)·(eᵟ − 1)))    of a negative binomial one,
//
// with the mode δ = 0. Both integrals, with Φ and without, are sums of Gauss and Legendre over panels.
func (d CountDistribution) upTo(y float64) float64 {
	g := newCountGap(y, d.R)
	c, s := d.Mean+special.Log(d.Exposure)-special.Log1p(y), math.Sqrt(d.Variance)
	low, high := g.ends()
	if low >= c+float64(cdfReach*s) {
		return 1
	}
	if high <= c-float64(cdfReach*s) {
		return 0
	}
	var above, all float64
	edges := g.panels(low, high, c, s)
	for i, b := range edges[1:] {
		overPanel(edges[i], b, func(u, weight float64) {
			w := float64(weight * special.Exp(g.log(u)))
			all += w
			switch {
			case u-c > float64(cdfReach*s):
				above += w
			case u-c > -float64(cdfReach*s):
				above += float64(w * special.NormalCDF((u-c)/s))
			}
		})
	}
	return min(above/all, 1)
}

// overPanel adds the terms of the sum of Gauss and Legendre for an integral from a to b: at each node, with its weight.
func overPanel(a, b float64, add func(at, weight float64)) {
	middle, half := float64(0.5*(a+b)), float64(0.5*(b-a))
	for _, p := range legendre {
		for _, x := range [...]float64{-p.node, p.node} {
			add(middle+float64(half*x), float64(p.weight*half))
		}
	}
}

// cdfReach is the number of standard deviations beyond which Φ is 0 or 1 but for rounding.
const cdfReach = 8.5

// countGap is the distribution of δ.
type countGap struct {
	shape float64 // y + 1, at most mostGapShape
	r     float64 // 0 of a Poisson distribution
	width float64 // 1/√curvature at the mode
}

// mostGapShape is the shape whose width of 1e-12 is as narrow as the rounding of m − log(y+1) lets a distribution be.
const mostGapShape = 1e24

func newCountGap(y, r float64) *countGap {
	g := &countGap{shape: min(y+1, mostGapShape), r: r}
	g.width = 1 / math.Sqrt(g.shape)
	if r > 0 {
		g.width = math.Sqrt(1/g.shape + 1/r)
	}
	return g
}

// log returns the logarithm of the density of δ = u, less that at the mode. It has its digits where u is small, and where one of y+1 and r is
// far larger than the other: with ε = r/(y+1+r), log(1 + (1−ε)·(eᵘ − 1)) is u + log(1 + ε·(e⁻ᵘ − 1)).
func (g *countGap) log(u float64) float64 {
	all := g.shape + g.r
	switch {
	case g.r == 0 && math.Abs(u) < 1e-3:
		return -float64(0.5 * g.shape * u * u * (1 + float64(u/3*(1+float64(u/4*(1+float64(u/5)))))))
	case g.r == 0:
		return float64(g.shape * (u - special.Expm1(u)))
	case g.r < g.shape:
		return -float64(g.r*u) - float64(all*special.Log1p(g.r/all*special.Expm1(-u)))
	default:
		return float64(g.shape*u) - float64(all*special.Log1p(g.shape/all*special.Expm1(u)))
	}
}

// ends returns where the density is below e⁻⁴⁰ of the mode's.
func (g *countGap) ends() (low, high float64) {
	end := func(way float64) float64 {
		step := float64(way * g.width)
		for g.log(step) > -40 {
			step *= 1.5
		}
		return step
	}
	return end(-1), end(1)
}

// panels returns the edges of panels between two ends. They are narrow where the density or Φ((u−c)/s) bends: at the mode, at c, and for a
// negative binomial distribution where its two tails meet. From there on the widths double.
func (g *countGap) panels(low, high, c, s float64) []float64 {
	edges := []float64{low, high}
	around := func(centre, width float64, most int) {
		edges = append(edges, centre)
		for reach, k := width, 0; k < most && reach > 0 && reach < high-low; reach, k = 2*reach, k+1 {
			edges = append(edges, centre-reach, centre+reach)
		}
	}
	around(0, g.width, 64)
	if g.r > 0 && g.r < 1 { // for larger r the mode's width says it
		around(special.Log(g.r)-special.Log(g.shape), 1, 64)
	}
	around(c, float64(1.5*s), 4)
	slices.Sort(edges)
	edges = slices.DeleteFunc(edges, func(u float64) bool { return !(u >= low && u <= high) })
	return slices.Compact(edges)
}

// quantile returns the least count y with upTo(y) = P(count ≤ y) ≥ p, for a p of at least P(count = 0), or nearly this count beyond 2⁵³. The normal
// quantile of P(count ≤ y) is nearly linear in log(y+1). So a secant is tried in every second step, and the others halve the interval.
func (d CountDistribution) quantile(upTo func(y float64) float64, p float64) float64 {
	goal := special.NormalQuantile(p)
	low, high := 0.0, math.Ceil(min(d.reach(max(p, 0.5)), math.MaxFloat64))
	below, above := special.NormalQuantile(upTo(0)), math.Inf(1)
	if below >= goal {
		return 0
	}
	for k := 0; high-low > max(1, 1e-12*high); k++ {
		share := (goal - below) / (above - below)
		if k%2 > 0 || !(share > 0 && share < 1) {
			share = 0.5
		}
		from := special.Log1p(low)
		y := math.Floor(special.Expm1(from + float64(share*(special.Log1p(high)-from))))
		y = min(max(y, low+1), high-1)
		if z := special.NormalQuantile(upTo(y)); z < goal {
			low, below = y, z
		} else {
			high, above = y, z
		}
	}
	return high
}
