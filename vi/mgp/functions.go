package mgp

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/jitter"
	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
)

// updateFunctions is q(f): B, α = B⁻¹E[y] and from them what the other factors
// need (D3)–(D10):
//
//	E[f_pᵀK_p⁻¹f_p] = αᵀK_pα/γ_p² + (r_p − T_p/γ_p)/γ_p,   T_p = tr(B⁻¹K_p),
//	tr Cov[Σ f_p] = Σ_p T_p/(γ_p·τ).
func (m *model) updateFunctions() error {
	if m.goAhead {
		m.ahead.step(m)
	} else {
		m.tau0 = m.tau
		for p, v := range m.moments {
			m.gamma0[p] = v.mean
		}
	}
	for p, g := range m.gamma0 {
		m.weight[p] = 1 / g
	}
	var err error
	m.shake = shake{}
	if m.logDet, m.shake.jitter, err = m.factorise(m.weight, m.tau0, m.b); err != nil {
		return err
	}
	m.solve()
	m.measure()
	var all float64
	for p, w := range m.weight {
		t := float64(m.trace[p] * w)
		all += t
		m.s[p] = w * (float64(m.quad[p]*w) + (m.rank[p] - t))
		if !(m.s[p] > 0) {
			return fmt.Errorf("functions: E[f'K⁻¹f] of kernel %d is %g: it is not positive semidefinite or its rank exceeds %g", p, m.s[p], m.rank[p])
		}
	}
	m.spread = all / m.tau0
	for i := range m.nu {
		m.nu[i] = m.mean[i] - m.alpha[i]/m.tau0
	}
	m.error2 = m.variance + la.SumSq(m.alpha)/(m.tau0*m.tau0) + m.spread
	return nil
}

// measure makes the inverse of B of its factor, and computes what needs it.
func (m *model) measure() {
	la.CholeskyInv(&m.ws, m.b)
	m.left = 0
	for i, d := range m.diag {
		v := m.b.At(i, i)
		m.left += v
		m.shake.trace += float64(d * v)
		m.shake.quad += float64(d * float64(m.alpha[i]*m.alpha[i]))
	}
	m.passes.traces(&m.ws, m.b, m.alpha, m.trace, m.quad)
}

// labelRounds is the most times that the means of q(f) and q(y) take turns in a sweep.
const labelRounds = 20

// solve stores B⁻¹E[y] in alpha, given the Cholesky factor of B. Of labels, unless plain, the means
// of q(f) and q(y) are then updated in turn, until they move little. Each update costs N².
func (m *model) solve() {
	copy(m.alpha, m.mean)
	la.CholeskySolveVec(m.b, m.alpha)
	if !m.labels || m.plain {
		return
	}
	for range labelRounds {
		copy(m.before, m.mean)
		for n, a := range m.alpha {
			m.nu[n] = m.mean[n] - a/m.tau0
		}
		m.updateTargets()
		copy(m.alpha, m.mean)
		la.CholeskySolveVec(m.b, m.alpha)
		la.Axpy(-1, m.mean, m.before)
		if la.SumSq(m.before)*m.tau0 < 1e-6*float64(m.N) {
			return
		}
	}
}

// factorise stores the Cholesky factor of B = Σ weights_p·K_p + I/tau in the lower
// triangle of b and returns log|B|. Where rounding has made B indefinite its diagonal
// is enlarged by the relative amount that is added, see [jitter.More].
func (m *model) factorise(weights []float64, tau float64, b la.Matrix[float64]) (logDet, added float64, err error) {
	for {
		m.passes.sum(&m.ws, weights, b)
		for i := range b.Rows {
			row := b.Row(i)
			row[i] = float64((row[i] + 1/tau) * (1 + added))
			m.diag[i] = row[i]
		}
		if err = la.Cholesky(&m.ws, b); err == nil {
			return la.LogDet(b), added, nil
		}
		more, ok := jitter.More(b.Rows, added, err)
		if !ok {
			return 0, added, fmt.Errorf("functions: Σ K_p/γ_p + I/τ: %w", err)
		}
		added = more
	}
}

// updateTargets is q(y_n), N(ν_n, 1/τ) restricted to the side of the label,
// equations (20), (21), (D15) and (D16). Its place in the order ensures that τ is
// still the τ° of q(f).
func (m *model) updateTargets() {
	root := math.Sqrt(m.tau)
	m.variance, m.entropy = 0, 0
	var square float64
	for n, t := range m.y {
		x := -t * m.nu[n] * root
		h, v, logZ := special.NormalAbove(x)
		m.mean[n] = m.nu[n] + t*h/root
		m.variance += v
		q := 1 + float64(x*h) // E[(y − ν)²]·τ
		square += q
		m.entropy += logZ + float64(0.5*q)
	}
	m.variance /= m.tau
	m.entropy += float64(0.5 * float64(m.N) * (conjugate.Log2Pi - special.Log(m.tau)))
	m.error2 = square/m.tau + m.spread
}
