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
// by rejection, then the others, which given y_i are independent and below it.
//
// As h″ ≤ −1, h(u) ≤ h(u*) − (u−u*)²/2 around the mode u*, and a proposal from
// N(u*, 1) is accepted with probability exp(h(u) − h(u*) + (u−u*)²/2). As
// h″ ≥ −C, at least about one in √C is, wherever the means are.
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

// coneProbabilities stores in p the probability of each y_c ~ N(f_c, 1) to be the
// largest, equation 1.3. With z the largest,
//
//	P(y_c is the largest) = ∫ φ(z−f_c) Π_{j≠c} Φ(z−f_j) dz,
//
// and all of them take one trapezoidal rule in z, whose step is ¾ of the least width
// C^-½ of the integrands. The error is below 1e-15, which for a very small
// probability may be all of it.
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
