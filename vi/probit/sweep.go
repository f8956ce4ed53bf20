package probit

import (
	"math"
	"slices"

	"github.com/bmkl/bmkl/vi/internal/work"
)

// Sweep implements [vi.Objective].
func (m *model) Sweep(done func(string)) error {
	m.pruning = 0
	if m.prune > 0 {
		if err := m.pruneRegressors(); err != nil {
			return err
		}
		if done != nil && m.pruning > 0 {
			done("pruning")
		}
	}
	sweep := func(done func(string)) error {
		m.setPrior()
		return work.Sweep(&m.Stop, m.updates, done)
	}
	if m.ahead == nil {
		return sweep(done)
	}
	return m.ahead.Sweep(m, sweep, done)
}

// Keep implements [vi.Objective]. It copies O(C·(N + D)) numbers and the parameters of q(β): the
// posterior solves for the regressors again.
func (m *model) Keep() {
	m.memory.Keep()
	for c, active := range m.active {
		m.keptActive[c] = append(m.keptActive[c][:0], active...)
	}
}

// Restore implements [vi.Objective], as far as posteriors go.
func (m *model) Restore() {
	m.memory.Restore()
	for c, active := range m.keptActive {
		m.active[c] = append(m.active[c][:0], active...)
	}
	m.setPrior()
	m.restoreKernel()
}

// restoreKernel computes E[K] and E[KKᵀ] from q(β) and q(Θ).
func (m *model) restoreKernel() {
	if m.theta != nil {
		for p := range m.theta.base {
			m.theta.set(m, p)
		}
	}
	switch {
	case m.beta != nil:
		m.beta.restored(m)
	case m.theta != nil:
		m.setKernel()
	}
}

// Roundoff implements [vi.Objective], see [work.Roundoff]: of the log determinants and
// of the quadratic forms that follow from the systems that were solved.
func (m *model) Roundoff() float64 {
	var sum float64
	for c, v := range m.shake {
		sum += float64((work.Roundoff(m.D) + m.jitter[c]) * v)
	}
	return sum
}

// Allowance implements [vi.Objective]: steps that are not ascent may take the bound
// anywhere, new importance samples among them.
func (m *model) Allowance() float64 {
	if s, ok := m.beta.(interface{ drew() bool }); !m.monotone || ok && s.drew() {
		return math.Inf(1)
	}
	return max(0, m.pruning)
}

// Jittered implements [vi.Objective].
func (m *model) Jittered() float64 { return slices.Max(m.jitter) }

// Observations implements [vi.Objective].
func (m *model) Observations() float64 { return float64(m.N) }
