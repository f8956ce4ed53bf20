package bemkl

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// commonWeights holds the kernel weights that L outputs have in common, and their biases:
//
//	γ_o, ω_m ~ Gamma, b_o | γ ~ N(0, 1/γ_o), e_m | ω ~ N(0, 1/ω_m)
//
// The sample weights and intermediate outputs of the outputs may be rows of one latent, or
// of one each.
type commonWeights struct {
	L int

	gamma conjugate.Gammas   // L
	omega conjugate.Gammas   // P
	be    conjugate.Gaussian // of (b_1 … b_L, e_1 … e_P)
	ee    la.Matrix[float64] // P×P, E[e·eᵀ]
	rhs   []float64          // L+P, scratch
	reads []readout          // L
}

// newCommonWeights returns the factors at their priors, b at 0 and e at 1.
func newCommonWeights(L, P int, gamma, omega vi.Gamma) *commonWeights {
	c := &commonWeights{
		L:     L,
		gamma: conjugate.NewGammas(gamma, gamma.Shape+0.5, L),
		omega: conjugate.NewGammas(omega, omega.Shape+0.5, P),
		be:    conjugate.NewGaussian(L + P),
		ee:    la.NewMatrix[float64](P, P),
		rhs:   make([]float64, L+P),
		reads: make([]readout, L),
	}
	for o := range c.reads {
		c.reads[o] = readout{be: &c.be, bias: o, weights: L, ee: c.ee}
	}
	for m := range P {
		c.be.Mean[L+m] = 1
	}
	c.updateEE()
	return c
}

// memorise adds what a posterior holds to m.
func (c *commonWeights) memorise(m *work.Memory) {
	m.Of(c.gamma.Scale, c.omega.Scale, c.be.Mean, c.be.Cov.Data)
}

// resume sets all factors to the factors of an earlier posterior.
func (c *commonWeights) resume(gamma, omega []vi.Gamma, beMean []float64, beCov la.Matrix[float64]) error {
	for o := range c.L {
		c.gamma.Resume(o, gamma[o])
	}
	for m := range omega {
		c.omega.Resume(m, omega[m])
	}
	if err := c.be.Resume(beMean, beCov); err != nil {
		return fmt.Errorf("vi: From: covariance of bias and kernel weights: %w", err)
	}
	c.updateEE()
	return nil
}

// updateGamma is q(γ_o) = Gamma(α_γ + ½, (1/β_γ + E[b_o²]/2)^-1).
func (c *commonWeights) updateGamma() {
	for o := range c.L {
		c.gamma.Observe(o, float64(0.5*c.be.Square(o)))
	}
}

// updateOmega is q(ω_m) = Gamma(α_ω + ½, (1/β_ω + E[e_m²]/2)^-1).
func (c *commonWeights) updateOmega() {
	for m := range c.omega.Scale {
		c.omega.Observe(m, float64(0.5*c.be.Square(c.L+m)))
	}
}

// The update of q(b, e) has the precision
//
//	[ diag(γ) + diag(n_o·ε_o)   ε_o·ΣE[g_o]ᵀ              ]
//	[ .                         diag(ω) + Σ_o ε_o·E[G_o G_oᵀ] ]
//
// and right side [ε_o·Σt_o ; Σ_o ε_o·ΣE[g_o]·t_o], sums over observed samples. It is
// begun, takes the part of every output, and is ended.

// beginCombination begins the update of q(b, e).
func (c *commonWeights) beginCombination() {
	c.be.Cov.Fill(0)
	for m := range c.omega.Scale {
		c.be.Cov.Set(c.L+m, c.L+m, c.omega.Mean(m))
		c.rhs[c.L+m] = 0
	}
}

// combine adds the part of output o, which reads row r of l: eps is E[ε_o], t the target, 0
// where it is missing, and gTarget is Σ_i E[g_i]·t_i.
func (c *commonWeights) combine(o int, l *latent, r int, eps float64, t, gTarget []float64) {
	L, prec := c.L, c.be.Cov
	prec.Set(o, o, c.gamma.Mean(o)+float64(l.Count[r]*eps))
	c.rhs[o] = eps * l.SumOver(t)
	la.Axpy(eps, gTarget, c.rhs[L:])
	for m := range l.P {
		row := prec.Row(L + m)
		row[o] = eps * l.GSum.At(r, m)
		la.Axpy(eps, l.GGram[r].Row(m), row[L:])
		la.Axpy(float64(eps*l.Count[r]), l.GCov[r].Row(m), row[L:])
	}
}

// endCombination ends the update of q(b, e).
func (c *commonWeights) endCombination(ws *la.Workspace) error {
	if err := c.be.SetPrecision(ws, c.rhs); err != nil {
		return fmt.Errorf("bias and kernel weights: %w", err)
	}
	c.updateEE()
	return nil
}

// updateEE forms E[e·eᵀ].
func (c *commonWeights) updateEE() {
	e := c.be.Mean[c.L:]
	for m := range e {
		row := c.ee.Row(m)
		copy(row, c.be.Cov.Row(c.L + m)[c.L:])
		la.Axpy(e[m], e, row)
	}
}

// rescale moves e ← e/c and ω ← c²·ω with s = c².
func (c *commonWeights) rescale(s float64) {
	la.Scal(s, c.omega.Scale)
	c.be.Rescale(1/math.Sqrt(s), c.L)
	la.Scal(1/s, c.ee.Data)
}

// roundoff returns the round-off of the bound from the precision of b and e.
func (c *commonWeights) roundoff() float64 {
	return float64(work.Roundoff(len(c.be.Mean)) * 2 * c.be.Spread)
}

// fitRoundoff returns the round-off of the fitted values eᵀg + b of output o, which reads
// row r of l; their residuals are of the size of the noise.
func (c *commonWeights) fitRoundoff(o int, l *latent, r int, eps float64) float64 {
	size := l.Count[r] * c.be.Mean[o] * c.be.Mean[o]
	for m := range l.P {
		e := c.be.Mean[c.L+m]
		size += float64(float64(e*e) * l.GGram[r].At(m, m))
	}
	return work.Difference(l.P+1, eps, l.Count[r]/eps, size)
}

// bound returns the terms of γ, ω, b and e.
func (c *commonWeights) bound() float64 {
	sum := c.gamma.Bound() + c.omega.Bound()
	for o := range c.L {
		sum += float64(0.5 * (c.gamma.MeanLog(o) - conjugate.Log2Pi - float64(c.gamma.Mean(o)*c.be.Square(o))))
	}
	for m := range c.omega.Scale {
		sum += float64(0.5 * (c.omega.MeanLog(m) - conjugate.Log2Pi - float64(c.omega.Mean(m)*c.be.Square(c.L+m))))
	}
	return sum + c.be.Entropy()
}
