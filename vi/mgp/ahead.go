package mgp

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/check"
)

// ahead moves the scales and the noise at which q(f) is computed ahead of the updates: by a
// Newton step, with the average information in place of the Hessian, of the bound with
// q(f), and q(γ) given its means g_p, at their best. In x_p = −log g_p and x_τ = −log τ its
// slopes are (D54)
//
//	½[(A_p − T_p)/g_p − 2ω − χ·E[1/γ_p] + φ·g_p]   and   ½(|α|² − tr B⁻¹)/τ,
//
// and with v_p = K_pα/g_p, v_τ = α/τ minus its second derivatives are about (D55)
//
//	½·v_pᵀB⁻¹v_q,   plus ½(χ·E[1/γ_p] + φ·g_p) on the diagonal.
//
// Source of the average information: A. R. Gilmour, R. Thompson and B. R. Cullis,
// "Average information REML", Biometrics 51 (1995).
type ahead struct {
	damping float64 // relative, of the diagonal; it grows where steps fail
	reach   float64 // by which steps are lengthened; it grows where they succeed

	v, u   la.Matrix[float64] // (P+1)×N: v, and ½B⁻¹v
	info   la.Matrix[float64] // (P+2)×(P+2)
	slope  []float64          // P+2, then the step
	moved  []float64          // P+1, by how much x was moved by the updates
	change []float64          // P+1
}

// maxStep is the most that log E[γ] and log τ are moved ahead.
const maxStep = 3

// newAhead returns room for the steps of m.
func newAhead(m *model) *ahead {
	n := m.P + 1
	return &ahead{
		reach: 1,
		v:     la.NewMatrix[float64](n, m.N), u: la.NewMatrix[float64](n, m.N),
		info: la.NewMatrix[float64](n+1, n+1), slope: make([]float64, n+1),
		moved: make([]float64, n), change: make([]float64, n),
	}
}

// step replaces the γ° and the τ° of m, whose q(f) is from the last sweep. Where the prior is
// learned and may follow, one more variable is the common scale of all γ. The prior goes along with
// it, so only log N contributes to its slope and second derivatives.
func (a *ahead) step(m *model) {
	P, n := m.P, m.P
	if m.learnTau && !m.labels {
		n++
	}
	v := a.v.Slice(0, n, 0, m.N)
	m.k.Project(&m.ws, a.row(m.alpha), a.v.Slice(0, P, 0, m.N))
	for p, g := range m.gamma0 {
		la.Scal(1/g, v.Row(p))
	}
	if n > P {
		copy(v.Row(P), m.alpha)
		la.Scal(1/m.tau0, v.Row(P))
	}
	m.b.MirrorLower()
	u, info, slope := a.u.Slice(0, n, 0, m.N), a.info.Slice(0, n, 0, n), a.slope[:n]
	la.Gemm(&m.ws, la.NoTrans, la.NoTrans, 0.5, v, m.b, 0, u)
	la.Gemm(&m.ws, la.NoTrans, la.Transpose, 1, u, v, 0, info)
	for p, g := range m.gamma0 {
		slope[p] = 0.5 * (m.quad[p] - m.trace[p]) / g
		a.moved[p] = special.Log(g / m.moments[p].mean)
	}
	if n > P {
		slope[P] = 0.5 * (la.SumSq(m.alpha) - m.left) / m.tau0
		a.moved[P] = special.Log(m.tau0 / m.tau)
	}
	// The step begins at the scales and the noise of the present q(γ) and τ, which the
	// updates have moved since: there the slopes are, to first order, less by info·(x − x°).
	for i := range slope {
		a.change[i] = la.Dot(info.Row(i), a.moved[:n])
	}
	la.Axpy(-1, a.change[:n], slope)
	common := m.learnPrior && m.held.scales(m.prior)
	if common {
		n++
		info, slope = a.info.Slice(0, n, 0, n), a.slope[:n]
		last := info.Row(n - 1)
		clear(last)
		slope[n-1] = 0
		for p := range P {
			la.Axpy(1, info.Row(p)[:n-1], last[:n-1])
			slope[n-1] += slope[p]
		}
		for p := range P {
			last[n-1] += last[p]
		}
	}
	for p, q := range m.moments {
		mixed, pull := float64(m.prior.Chi*q.inv), float64(m.prior.Phi*q.mean)
		slope[p] += float64(0.5 * (pull - float64(2*m.prior.Omega) - mixed))
		info.Row(p)[p] += float64(0.5 * (mixed + pull))
	}
	for i, s := range slope { // no step is longer than maxStep
		info.Row(i)[i] += float64((a.damping+1e-10)*info.At(i, i)) + math.Abs(s)/maxStep
	}
	if la.Cholesky(nil, info) != nil {
		clear(slope)
	} else if la.CholeskySolveVec(info, slope); check.NonFinite(slope) >= 0 {
		clear(slope)
	}
	scale := 0.0
	if common {
		scale = a.limited(slope[n-1])
		m.prior = GIG{m.prior.Omega, m.prior.Chi * special.Exp(-scale), m.prior.Phi * special.Exp(scale)}
	}
	for p, q := range m.moments {
		m.gamma0[p] = q.mean * special.Exp(-a.limited(slope[p]+scale))
	}
	m.tau0 = m.tau
	if m.learnTau && !m.labels {
		m.tau0 = min(m.tau*special.Exp(-a.limited(slope[P])), max(m.mostTau(), m.tau))
	}
}

// limited returns a step lengthened by reach, and no longer than maxStep.
func (a *ahead) limited(step float64) float64 {
	return min(max(a.reach*step, -maxStep), maxStep)
}

// row returns x as a matrix of one row.
func (a *ahead) row(x []float64) la.Matrix[float64] { return la.MatrixOf(1, len(x), x) }

// taken notes that the last step was good: the next one is longer, since where the updates
// and steps drift for long, as the prior and the scales may, each is too short. It is the
// shorter after a step that failed.
func (a *ahead) taken() {
	if a.damping *= 0.25; a.damping < 1e-3 {
		a.damping, a.reach = 0, min(2*a.reach, longestReach)
	}
}

// failed notes that the last step lowered the bound.
func (a *ahead) failed() {
	if a.reach > 1 {
		a.reach = 1
		return
	}
	a.damping = max(0.1, 4*a.damping)
}

// longestReach is the most by which steps are lengthened.
const longestReach = 16
