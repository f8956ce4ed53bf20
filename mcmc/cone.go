package mcmc

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// mostProposals ends a search for a draw in which rounding leaves none to be accepted;
// the last proposal is then as good as any other.
const mostProposals = 1_000_000

// drawCone stores in y a draw from N(m, I) restricted to the cone in which y_i is
// the largest: first u = y_i − m_i, whose density is proportional to
//
//	e^h(u),   h(u) = −u²/2 + Σ_{j≠i} log Φ(u + m_i − m_j),
//
// by rejection; then the other y_j, which given y_i are independent N(m_j, 1)
// restricted to values below y_i. cone is scratch memory.
//
// As h″ ≤ −1, h(u) ≤ h(u*) − (u−u*)²/2 with u* the mode of h, and a proposal from
// N(u*, 1) is accepted with probability exp(h(u) − h(u*) + (u−u*)²/2). As h″ ≥ −C
// for C classes, at least about one proposal in √C is accepted, wherever the means
// are. A mean that is not a number, or so large that their differences overflow, is
// an error.
func drawCone(r random, cone *special.Cone, i int, m, y []float64) error {
	cone.SetUnit(i, m)
	mode := cone.Mode()
	top := cone.LogDensity(mode)
	if top-top != 0 {
		return fmt.Errorf("the functions' values %.3g are outside the range of the sampler", m)
	}
	var z float64
	for range mostProposals {
		z = r.NormFloat64()
		if special.Log(uniform(r)) < cone.LogDensity(mode+z)-top+float64(0.5*z*z) {
			break
		}
	}
	y[i] = m[i] + (mode + z)
	for j := range y {
		if j != i {
			y[j] = below(y[i], m[j], uniform(r))
		}
	}
	return nil
}

// coneProbabilities stores in p, for each of the C independent y_c ~ N(f_c, 1), the
// probability that it is the largest (equation 1.3 of Damoulas and Girolami). With z
// the value of the largest,
//
//	P(y_c is the largest) = ∫ φ(z−f_c) Π_{j≠c} Φ(z−f_j) dz.
//
// All C integrals are computed by one trapezoidal rule in z − max f, so that nothing
// depends on where f lies, and divided by their sum. No integrand is narrower than
// C^-½; the step is ¾ of that. The absolute error is below 1e-15, so that a probability
// of this size may have no correct digit. Where an f_c is not finite, the
// probabilities are NaN. ratio is scratch of length C.
func coneProbabilities(f, p, ratio []float64) {
	const reach = 8.5 // on either side of max f: Φ(−8.5) is below 1e-17
	step := 0.75 / math.Sqrt(float64(len(f)))
	top := f[0]
	for _, v := range f {
		top = max(top, v)
	}
	clear(p)
	for k := range int(math.Ceil(2 * reach / step)) {
		z := float64(float64(k)*step) - reach
		var log float64
		for c, v := range f {
			l, logCDF := special.Mills(z - (v - top))
			ratio[c] = l
			log += logCDF
		}
		all := special.Exp(log)
		for c, l := range ratio {
			p[c] += float64(all * l)
		}
	}
	la.Scal(1/sum(p), p)
}

func sum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}
