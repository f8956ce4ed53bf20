package mgp

import (
	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// Sweep implements [vi.Objective]. Unless plain, q(f) is computed at scales and noise
// ahead of the present ones. Any q(f) gives a lower bound; if that one is below
// the last, the step is taken back.
func (m *model) Sweep(done func(string)) error {
	if m.goAhead {
		last := m.Bound()
		m.Keep()
		if err := work.Sweep(&m.Stop, m.updates, nil); err == nil && m.Bound() >= last {
			m.ahead.taken()
			if done != nil {
				done("ahead")
			}
			return nil
		}
		m.ahead.failed()
		m.Restore()
	}
	if err := work.Sweep(&m.Stop, m.updates, done); err != nil {
		return err
	}
	m.goAhead = !m.plain
	return nil
}

// Keep implements [vi.Objective]. It copies O(P + N) numbers.
func (m *model) Keep() { m.kept.copyFrom(&m.state) }

// Restore implements [vi.Objective]. The next sweep is one of plain updates: what a
// step ahead would start from is not kept.
func (m *model) Restore() {
	m.state.copyFrom(&m.kept)
	m.goAhead = false
}

// Allowance implements [vi.Objective].
func (m *model) Allowance() float64 { return 0 }

// Jittered implements [vi.Objective].
func (m *model) Jittered() float64 { return m.shake.jitter }

// Observations implements [vi.Objective].
func (m *model) Observations() float64 { return float64(m.N) }

// Snapshot names the state of a fit for a [vi.Journal]: everything that an update reads before
// another one of the same sweep has written it, and the numbers by which it recognises other data
// and settings.
func (m *model) Snapshot(s *work.Snapshot) {
	s.Same(m.y...)
	s.Same(m.identity...)
	s.Same(m.rank...)
	s.Same(float64(m.family))
	gig := func(g *GIG) {
		s.Float(&g.Omega)
		s.Float(&g.Chi)
		s.Float(&g.Phi)
	}
	gig(&m.prior)
	for p := range m.q {
		gig(&m.q[p])
		v := &m.moments[p]
		for _, x := range [...]*float64{&v.logZ, &v.mean, &v.inv, &v.log} {
			s.Float(x)
		}
	}
	s.Floats(m.gamma0, m.alpha, m.s, m.nu, m.mean)
	for _, x := range [...]*float64{&m.tau, &m.tau0, &m.logDet, &m.spread, &m.error2, &m.variance, &m.entropy} {
		s.Float(x)
	}
	s.Bool(&m.goAhead)
	if m.ahead != nil {
		s.Float(&m.ahead.damping)
		s.Float(&m.ahead.reach)
	}
	if !s.Back() {
		return
	}
	for p, g := range m.gamma0 {
		m.weight[p] = 1 / g
	}
	m.shake = shake{}
	var err error
	if _, m.shake.jitter, err = m.factorise(m.weight, m.tau0, m.b); err != nil {
		m.goAhead = false // the next sweep says what is wrong
		return
	}
	m.measure()
}

// Bound implements [vi.Objective]. It is (D18), valid at every state: q(f) need not be
// optimal for the present γ and τ.
func (m *model) Bound() float64 {
	N := float64(m.N)
	sum := float64(0.5*N*(special.Log(m.tau)-conjugate.Log2Pi)) - float64(0.5*m.tau*m.error2) // E[log p(y|f)]
	sum += m.entropy                                                                          // of q(y)
	sum -= float64(0.5 * (float64(N*special.Log(m.tau0)) + m.logDet))                         // f | γ and the entropy of q(f)
	for p, v := range m.moments {
		sum += float64(0.5 * (float64(m.rank[p]*(1+v.log-special.Log(m.gamma0[p]))) - float64(v.mean*m.s[p])))
		if m.family != FamilyFlat {
			sum += m.q[p].bound(v, m.prior)
		}
	}
	return sum
}
