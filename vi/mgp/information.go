package mgp

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// information approximates the second derivatives of the objective by its variables x
// at the point that was evaluated last. With C = Σ a_p·K_p + S⁻¹ the log evidence has
// minus the second derivatives ½αᵀC_iRC_jα twice less ½tr(RC_iRC_j), whose expectation
// over targets is ½tr(RC_iRC_j), C_i = ∂C/∂x_i. The mean of the two needs no product of
// matrices,
//
//	½·(C_iα)ᵀR(C_jα),
//
// the average information. It takes a triangular solve for each variable, which is
// little beside the inverse that the gradient needs. Logarithms add |∂L/∂x_i| to the
// diagonal, which keeps a step at which nothing else is known within one unit, and the
// priors their own curvature.
//
// For labels and noise with heavy tails R and α are computed with the sites, which count as
// constant.
//
// Source: A. R. Gilmour, R. Thompson and B. R. Cullis, "Average information REML: an
// efficient algorithm for variance parameter estimation in linear mixed models",
// Biometrics 51 (1995).
type information struct {
	vectors la.Matrix[float64] // C_iα, then L⁻¹ of them
	average la.Matrix[float64]
	factor  la.Matrix[float64] // the Cholesky factor of the whole
	next    la.Matrix[float64] // scratch
}

func newInformation(variables, samples int) *information {
	square := func() la.Matrix[float64] { return la.NewMatrix[float64](variables, variables) }
	i := &information{vectors: la.NewMatrix[float64](variables, samples), average: square(), factor: square(), next: square()}
	for v := range variables {
		i.factor.Set(v, v, 1)
	}
	return i
}

// precondition multiplies d by the inverse of the information.
func (i *information) precondition(d []float64) { la.CholeskySolveVec(i.factor, d) }

// measure computes αᵀK_pα and the average information of the evidence at x. It needs the Cholesky
// factor that functions has left.
func (m *evidence) measure(x []float64) {
	v := m.info.vectors
	m.passes.products(&m.ws, m.alpha, v.Slice(0, m.P, 0, m.N))
	for p, a := range m.weight {
		m.quad[p] = la.Dot(m.alpha, v.Row(p))
		if m.isKnown(p) {
			clear(v.Row(p)) // it is no variable
			continue
		}
		la.Scal(a, v.Row(p))
	}
	if m.kernels != nil {
		m.kernels.SlopeProducts(&m.ws, m.weight, m.alpha, v.Slice(m.P, m.P+len(m.priors), 0, m.N))
	}
	if m.sites != nil {
		// Noise with heavy tails has a scale, to which S⁻¹ is proportional, and a shape. The parameters of
		// likelihoods are measured by their scores: see likelihoodSlopes.
		for i := m.P + len(m.priors); i < v.Rows; i++ {
			row := v.Row(i)
			clear(row)
			switch first := i == m.P+len(m.priors); {
			case first && m.like != nil: // the level, which moves the mean by 1: the mean of the two has half its product
				for n := range row {
					row[n] = math.Sqrt2
				}
			case first:
				for n, a := range m.alpha {
					row[n] = a / m.sites.prec[n]
				}
			}
		}
		for i := range v.Rows {
			row := v.Row(i)
			for n, r := range m.sites.root {
				row[n] *= r
			}
		}
	} else {
		row, e := v.Row(v.Rows-1), special.Exp(x[v.Rows-1])
		if m.given > 0 {
			e = 0 // it is no variable
		}
		for n, a := range m.alpha {
			row[n] = e * m.shareOf(n) * a
		}
	}
	la.Trsm(&m.ws, la.Right, la.Transpose, m.factor, v)
	la.Syrk(&m.ws, la.NoTrans, 0.5, v, 0, m.info.average)
	if m.outside > 0 && m.given == 0 { // where C_α is e^x·α and R is I/σ²
		last, e := v.Rows-1, special.Exp(x[v.Rows-1])/m.noise
		m.info.average.Row(last)[last] += float64(0.5*e*e*m.outside) / m.noise
	}
}

// leastCurvature keeps the information positive definite.
const leastCurvature = 1e-6

// curve completes the information by what logarithms and priors add, given the gradient g of
// the objective and the curvature of every variable's prior.
func (i *information) curve(ws *la.Workspace, g []float64, prior func(v int) float64) {
	for v := range g {
		row := i.next.Row(v)
		copy(row, i.average.Row(v))
		row[v] = float64((1+leastCurvature)*row[v]) + math.Abs(g[v]) + leastCurvature
		row[v] += prior(v)
	}
	if la.Cholesky(ws, i.next) == nil { // or the last one serves
		i.factor, i.next = i.next, i.factor
	}
}

// curve completes the information at x, given the gradient g of the objective.
func (m *evidence) curve(x, g []float64) {
	m.info.curve(&m.ws, g, func(v int) float64 {
		switch {
		case v < m.P && m.isKnown(v):
			return 1 // of any size: its slope is 0
		case v < m.P:
			return m.curvature(v, x[v])
		case v < m.P+len(m.priors):
			_, _, curvature := m.priors[v-m.P].at(x[v])
			return curvature
		case m.likeMean != nil:
			sd := m.likeSD[v-m.P-len(m.priors)]
			return 1 / (sd * sd)
		case m.given > 0 && v == len(x)-1:
			return 1 // as for a known weight
		}
		return 1.0 / (noiseSpread * noiseSpread)
	})
}

// curvature returns the second derivative, by log a_p = x, of minus the log of the prior of
// scale p.
func (s *scalePrior) curvature(p int, x float64) float64 {
	if s.family == FamilyFlat {
		return 0
	}
	u := -x - special.Log(s.unit[p])
	return float64(0.5 * (float64(s.prior.Chi*special.Exp(-u)) + float64(s.prior.Phi*special.Exp(u))))
}
