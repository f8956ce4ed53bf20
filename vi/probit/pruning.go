package probit

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// kept counts the regressors that are not pruned.
func (m *model) kept() (n int) {
	for _, a := range m.active {
		n += len(a)
	}
	return n
}

// pruneRegressors takes the regressors with E[α] above the threshold out of the
// systems of equations. They keep a variance of their own: the posterior is one
// of a smaller family, whose bound may be lower. A mode is one of fewer variables,
// and where the density is lower without them it falls.
func (m *model) pruneRegressors() error {
	first := !m.refreshed
	m.refreshed = true
	before, last := m.kept(), 0.0
	if !first {
		last = m.Bound()
	}
	for c, active := range m.active {
		kept := active[:0]
		for _, d := range active {
			if m.superfluous(c, d) {
				m.w.Set(c, d, 0)
			} else {
				kept = append(kept, d)
			}
		}
		m.active[c] = kept
	}
	if first || m.kept() == before {
		return nil
	}
	if m.ahead != nil {
		m.ahead.Forget()
	}
	// The smaller family's best W, or the density without them, and what it costs.
	settle := m.updates[0].Step
	if m.point {
		settle = m.settleMode
	}
	if err := settle(); err != nil {
		return err
	}
	m.pruning = max(0, last-m.Bound())
	return nil
}

// superfluous reports whether E[α] of regressor d of class c, at a mode of all classes, is above
// the threshold.
func (m *model) superfluous(c, d int) bool {
	if !m.point {
		return m.alpha[c].Mean(d) > m.prune
	}
	for c := range m.alpha {
		if !(m.alpha[c].Mean(d) > m.prune) {
			return false
		}
	}
	return true
}

// settleMode updates Y and α given the present W.
func (m *model) settleMode() error {
	la.Gemm(&m.ws, la.NoTrans, la.NoTrans, 1, m.w, m.kernel, 0, m.f)
	m.updateAlpha()
	return m.updateY()
}

// settlePruned gives the pruned regressors of class c mean 0 and the variance that is best for them
// alone, and returns their part of the spread. Their entropies are added to the entropy of q(w_c).
func (m *model) settlePruned(c int) (spread float64) {
	active := m.active[c]
	if len(active) == m.D {
		return 0
	}
	mean, variance := m.w.Row(c), m.variance.Row(c)
	i := 0
	for d := range m.D {
		if i < len(active) && active[i] == d {
			i++
			continue
		}
		g := m.gram.At(d, d)
		mean[d] = 0
		variance[d] = 1 / (m.alpha[c].Mean(d) + g)
		m.logDet[c] += special.Log(variance[d])
		spread += float64(g * variance[d])
	}
	return spread
}

// prunedPrecision returns the E[α] at which a regressor that is out of the equations, of the
// variance 1/(α + gram), rests: the solution of α·(ν + ½/(α + gram)) = τ + ½.
func prunedPrecision(prior vi.Gamma, gram float64) float64 {
	tau, nu := prior.Shape, 1/prior.Scale
	b := tau - float64(nu*gram)
	root := math.Sqrt(float64(b*b) + float64(4*nu*(tau+0.5)*gram))
	if b < 0 { // without their difference
		return 2 * (tau + 0.5) * gram / (root - b)
	}
	return (b + root) / (2 * nu)
}
