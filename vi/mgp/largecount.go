package mgp

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// largeCount is the count y above which log p is computed as a difference to its maximum. Its terms are as large as y·log y, and their
// sum would lose digits that the moments need.
const largeCount = 1e6

// largeCounter is the likelihood of a large count. With d = log μ − log y and s = y/(y+r)
//
//	Poisson            log p = c − y·(eᵈ − 1 − d)
//	negative binomial  log p = c − y·log(1 + (1−s)·(e⁻ᵈ − 1)) − r·log(1 + s·(eᵈ − 1))
//
// Near the maximum the terms are of the size √y at most. Stirling's series gives c.
type largeCounter struct {
	y, middle float64 // middle is f where d = 0
	r         float64 // 0 of a Poisson distribution
	constant  float64
	digammas  float64 // ψ(y+r) − log(y+r) − ψ(r) + log r
}

func newLargeCount(y, exposure float64, eta []float64) *largeCounter {
	c := &largeCounter{y: y, middle: special.Log(y) - special.Log(exposure)}
	c.constant = -float64(0.5*special.Log(2*math.Pi*y)) - special.Stirling(y)
	if len(eta) > 0 {
		c.r = special.Exp(eta[0])
		c.constant += special.Stirling(y+c.r) - special.Stirling(c.r) - float64(0.5*special.Log1p(y/c.r))
		c.digammas = special.LogMinusDigamma(c.r) - special.LogMinusDigamma(y+c.r)
	}
	return c
}

func (c *largeCounter) at(f float64) logLikelihood {
	d := f - c.middle
	rise := special.Expm1(d)
	if c.r == 0 {
		return logLikelihood{log: c.constant - float64(c.y*(rise-d)), first: -c.y * rise, second: -c.y * (1 + rise)}
	}
	s, rest := c.y/(c.y+c.r), c.r/(c.y+c.r)
	above, moved, bend := logMixed(s, d), 1.0, 0.0 // moved is (μ−y)/(r+μ), bend is y(r+μ)⁻²μ(y+r)
	if !math.IsInf(rise, 1) {
		scale := 1 + float64(s*rise)
		moved, bend = s*rise/scale, s*(1+rise)/(scale*scale)
	}
	return logLikelihood{
		log:    c.constant - float64(c.y*logMixed(rest, -d)) - float64(c.r*above),
		first:  -c.r * moved,
		second: -c.r * bend,
		shape:  c.r * (c.digammas - above + moved),
	}
}

// logMixed returns log(1 + s·(eᵈ − 1)).
func logMixed(s, d float64) float64 {
	rise := special.Expm1(d)
	if math.IsInf(rise, 1) {
		return special.Log(s) + d
	}
	return special.Log1p(s * rise)
}
