package mcmc

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

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
// are.
func drawCone(r random, cone *special.Cone, i int, m, y []float64) {
	cone.SetUnit(i, m)
	mode := cone.Mode()
	top := cone.LogDensity(mode)
	var z float64
	for {
		z = r.NormFloat64()
		if math.Log(uniform(r)) < cone.LogDensity(mode+z)-top+0.5*z*z {
			break
		}
	}
	y[i] = m[i] + (mode + z)
	for j := range y {
		if j != i {
			y[j] = below(y[i], m[j], uniform(r))
		}
	}
}

// coneProbabilities stores in p, for each of the C independent y_c ~ N(f_c, 1), the
// probability that it is the largest (equation 1.3 of Damoulas and Girolami). With z
// the value of the largest,
//
//	P(y_c is the largest) = ∫ φ(z−f_c) Π_{j≠c} Φ(z−f_j) dz.
//
// All C integrals are computed by one trapezoidal rule in z. No integrand is narrower
// than C^-½; the step is ¾ of that. The absolute error is below 1e-15, so that a
// probability of this size may have no correct digit. ratio is scratch of length C.
func coneProbabilities(f, p, ratio []float64) {
	step := 0.75 / math.Sqrt(float64(len(f)))
	top := f[0]
	for _, v := range f {
		top = max(top, v)
	}
	clear(p)
	for z := top - 8.5; z < top+8.5; z += step {
		var log float64
		for c, v := range f {
			l, logCDF := special.Mills(z - v)
			ratio[c] = l
			log += logCDF
		}
		all := math.Exp(log) * step
		for c, l := range ratio {
			p[c] += float64(all * l)
		}
	}
}
