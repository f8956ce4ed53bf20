package mgp

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// shake is what the round-off of the bound depends on through q(f).
type shake struct {
	trace  float64 // Σ_i B_ii·(B⁻¹)_ii
	quad   float64 // Σ_i B_ii·α_i²
	jitter float64 // that B was given
}

// Roundoff implements [vi.Objective]. Where there is little noise B is nearly singular, and its
// computed factor is the exact factor of B + E with
//
//	|E_ij| ≤ u·√(N+P)·√(B_ii·B_jj),   u = 2⁻⁵³,
//
// from forming B, a sum of P, and from the inner products of Cholesky's factorisation,
// as rounding errors are of both signs (N. J. Higham and T. Mary, "A new approach to
// probabilistic rounding error analysis", SIAM J. Sci. Comput. 41, 2019). To first
// order log|B| is then wrong by tr(B⁻¹E), and the terms in α by αᵀEα. For independent
// E_ij the standard deviations of the two are at most u·√(N+P) times
//
//	‖D·B⁻¹·D‖ ≤ tr(D·B⁻¹·D) = Σ B_ii·(B⁻¹)_ii   and   Σ B_ii·α_i²,   D² = diag B.
//
// Traces tr(B⁻¹K_p) cancel from the bound where γ and τ are the values with which q(f) was
// computed; elsewhere what is left of them is at most as large as the error of log|B| times the
// spread of the ratios γ/γ° and τ/τ°. A jitter is such an E, of one sign. The value returned is two
// standard deviations of the sum; see docs/theory/mgp.md, section 7.
func (m *model) Roundoff() float64 {
	least := m.tau / m.tau0
	most := least
	for p, v := range m.moments {
		ratio := v.mean / m.gamma0[p]
		least, most = min(least, ratio), max(most, ratio)
	}
	sum := (work.Roundoff(m.N+m.P) + m.shake.jitter) * (float64((1+most-least)*m.shake.trace) + float64(2*most*m.shake.quad))
	if m.family != FamilyFlat {
		for p, v := range m.moments {
			sum += float64(work.Roundoff(64) * m.q[p].boundSize(v, m.prior))
		}
	}
	return sum
}

// boundSize returns the sum of the sizes of the terms of bound, which cancel at large
// orders and arguments.
func (q GIG) boundSize(m gigMoments, p GIG) float64 {
	if q.Chi == 0 && p.Chi == 0 {
		return math.Abs(p.Omega*special.Log1p((q.Phi-p.Phi)/p.Phi)) +
			float64(2*math.Abs((q.Omega-p.Omega)*(special.Log(q.Phi/2)+m.log))) + float64(0.5*math.Abs(q.Phi-p.Phi)*m.mean)
	}
	sum := math.Abs(m.logZ) + math.Abs(p.moments().logZ) + math.Abs((p.Omega-q.Omega)*m.log) + float64(0.5*math.Abs(q.Phi-p.Phi)*m.mean)
	if q.Chi != p.Chi {
		sum += float64(0.5 * math.Abs(q.Chi-p.Chi) * m.inv)
	}
	return sum
}
