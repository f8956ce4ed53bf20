package mgp

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/roots"
)

// updateScales is q(γ_p) = GIG(ω + r_p/2, χ, φ + E[f_pᵀK_p⁻¹f_p]) (D11), or
// γ_p = r_p/E[f_pᵀK_p⁻¹f_p] if there is no prior.
func (m *model) updateScales() error {
	for p, s := range m.s {
		if m.family == FamilyFlat {
			g := m.rank[p] / s
			m.moments[p] = gigMoments{mean: g, inv: 1 / g, log: special.Log(g)}
			continue
		}
		m.q[p] = GIG{m.prior.Omega + float64(m.rank[p]/2), m.prior.Chi, m.prior.Phi + s}
		m.moments[p] = m.q[p].moments()
		if v := m.moments[p].mean; !(v > 0) || math.IsInf(v, 1) {
			return fmt.Errorf("scales: E[γ] of kernel %d is %g", p, v)
		}
	}
	return nil
}

// updateCommonScale moves all γ and their prior along (γ, χ, φ) → (cγ, cχ, φ/c),
// which leaves their divergence alone. The bound changes by ½ Σ r_p·log c −
// ½(c−1)·Σ E[γ_p]·s_p, which is highest at c = Σ r_p/Σ E[γ_p]·s_p. Without it a
// narrow prior and the posteriors that it ties down hold each other in place.
func (m *model) updateCommonScale() {
	if !m.learnPrior || !m.held.scales(m.prior) {
		return
	}
	var rank, square float64
	for p, v := range m.moments {
		rank += m.rank[p]
		square += float64(v.mean * m.s[p])
	}
	c := rank / square
	scaled := func(g GIG) GIG { return GIG{g.Omega, c * g.Chi, g.Phi / c} }
	m.prior = scaled(m.prior)
	for p, v := range m.moments {
		m.q[p] = scaled(m.q[p])
		m.moments[p] = gigMoments{v.logZ + float64(m.q[p].Omega*special.Log(c)), v.mean * c, v.inv / c, v.log + special.Log(c)}
	}
}

// leastNoise is the smallest noise variance that is learned, as a share of the
// targets' mean square: far below it B is singular in double precision.
const leastNoise = 1e-12

// updateTau is the maximum likelihood τ = N/E|y − Σ f_p|² (D14), kept away from
// infinity on data without noise.
func (m *model) updateTau() {
	if !m.learnTau {
		return
	}
	m.tau = min(float64(m.N)/m.error2, max(m.mostTau(), m.tau))
}

// mostTau is the largest τ that is learned.
func (m *model) mostTau() float64 { return float64(m.N) / (leastNoise * la.SumSq(m.mean)) }

// updatePrior learns ω, χ and φ.
func (m *model) updatePrior() {
	if !m.learnPrior {
		return
	}
	if m.held == m.family.held() && m.family == FamilyStudentT && !m.plain {
		m.updateGammaPrior()
		return
	}
	m.prior = m.family.learn(m.prior, m.family.meanMoments(m.q, m.moments), m.held, m.joint)
}

// updateGammaPrior maximises the bound over a gamma prior and the shapes of q(γ), the
// means g_p of q(γ) as they are (D53). With q(γ_p) of the shape n_p = ω + r_p/2 the best φ is
// 2ω/mean g, and the slope in ω is zero where
//
//	log ω − ψ(ω) − mean[log n_p − ψ(n_p)] = log mean g − mean log g.
//
// The left side falls with ω, to zero. With q(γ) held, as the update of the prior alone
// has it, ω grows by r/2 at most, and where the scales are alike goes up for ever.
func (m *model) updateGammaPrior() {
	var mean, gap float64
	for _, v := range m.moments {
		mean += v.mean / float64(m.P)
	}
	for _, v := range m.moments {
		gap += logGap(v.mean, mean) / float64(m.P)
	}
	slope := func(t float64) float64 {
		omega := special.Exp(t)
		left := special.LogMinusDigamma(omega)
		for _, r := range m.rank {
			left -= special.LogMinusDigamma(omega+float64(r/2)) / float64(m.P)
		}
		return gap - left
	}
	most := max(maxOmega, m.prior.Omega)
	lo, hi := bracket(slope, special.Log(m.prior.Omega), special.Log(1e-300), special.Log(most))
	m.prior.Omega = min(special.Exp(roots.Find(slope, lo, hi)), most)
	m.prior.Phi = 2 * m.prior.Omega / mean
	for p, v := range m.moments {
		n := m.prior.Omega + float64(m.rank[p]/2)
		m.q[p] = GIG{n, 0, 2 * n / v.mean}
		m.moments[p] = m.q[p].moments()
	}
}
