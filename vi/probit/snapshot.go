package probit

import (
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// This file names the states of the models for a [vi.Journal]: everything that an update reads
// before another one of the same sweep has written it, and the numbers by which it recognises other
// data and settings.

// identityOf returns numbers by which kernels are recognised: the squared length of each row of Σ
// (p+1)·K_p.
func identityOf(ws *la.Workspace, k vi.Kernels) []float64 {
	P, D, N := k.Dims()
	weights, sum := make([]float64, P), la.NewMatrix[float64](D, N)
	for p := range weights {
		weights[p] = float64(1 + p)
	}
	k.Sum(ws, weights, sum)
	identity := make([]float64, D)
	for d := range identity {
		identity[d] = la.SumSq(sum.Row(d))
	}
	return identity
}

// sameLabels names the labels.
func sameLabels(s *work.Snapshot, labels []int) {
	for _, c := range labels {
		s.Same(float64(c))
	}
}

// Snapshot names the state of a fit.
func (m *model) Snapshot(s *work.Snapshot) {
	sameLabels(s, m.labels)
	s.Same(m.identity...)
	s.Same(m.ridge...)
	s.Same(float64(m.composite.rule), float64(m.update), m.prune)
	for c := range m.alpha {
		a := &m.alpha[c]
		if m.prior == nil {
			s.Same(a.Prior.Shape, a.Prior.Scale, a.Shape)
		}
		s.Floats(a.Scale)
	}
	s.Floats(m.prior)
	s.Floats(m.mean, m.y.Data, m.location.Data, m.logZ)
	if m.prune > 0 {
		for c := range m.active {
			m.snapshotActive(s, c)
		}
		s.Bool(&m.refreshed)
	}
	if m.ahead != nil {
		m.ahead.Snapshot(s)
	}
	if m.theta != nil {
		m.theta.snapshot(s)
	}
	if m.beta != nil {
		m.beta.snapshot(s)
	}
	if s.Back() {
		m.setPrior()
		m.restoreKernel()
	}
	// What the kernel's restoration may compute of other factors that are not restored yet.
	s.Floats(m.w.Data, m.variance.Data, m.logDet, m.f.Data, m.spread, m.shake, m.jitter)
}

// snapshotActive names the regressors of class c that are not pruned.
func (m *model) snapshotActive(s *work.Snapshot, c int) {
	active := make([]bool, m.D)
	for _, d := range m.active[c] {
		active[d] = true
	}
	m.active[c] = m.active[c][:0]
	for d := range active {
		if s.Bool(&active[d]); active[d] {
			m.active[c] = append(m.active[c], d)
		}
	}
}

// snapshot names a weighted sample.
func (s *importance) snapshot(v *work.Snapshot) {
	v.Floats(s.points.Data, s.logs.Data, s.proposal, s.target, s.weight, s.mean, s.meanLog)
	v.Float(&s.logNorm)
	v.Float(&s.meanLogQ)
	v.Float(&s.effective)
}

// snapshot implements weights.
func (q *quadratic) snapshot(s *work.Snapshot) { s.Floats(q.b, q.a.Data, q.cov.Data) }

// snapshot names q(β) of switches.
func (s *states) snapshot(v *work.Snapshot) {
	v.Same(s.prior...)
	v.Floats(s.prob)
	v.Float(&s.entropy)
	v.Float(&s.expect)
}

// snapshot implements weights.
func (s *switches) snapshot(v *work.Snapshot) {
	s.quadratic.snapshot(v)
	s.states.snapshot(v)
}

// snapshot implements weights.
func (s *structured) snapshot(v *work.Snapshot) {
	s.states.snapshot(v)
	v.Floats(s.cov.Data)
	v.Bool(&s.started)
}

// snapshot implements weights.
func (s *simplexSample) snapshot(v *work.Snapshot) {
	s.quadratic.snapshot(v)
	v.Same(s.prior.Shape, s.prior.Scale)
	s.beta.snapshot(v)
	s.rho.snapshot(v)
	v.Floats(s.meanRho)
	v.Float(&s.norm)
	v.Int(&s.sweeps, math.MaxInt32)
	v.Bool(&s.fixed)
	v.Bool(&s.fresh)
	v.Random(s.stream)
}

// snapshot implements weights.
func (q *powers) snapshot(s *work.Snapshot) {
	p := &q.priors
	s.Same(p.kappa, p.xi)
	s.Floats(p.pi, p.lgammaPi, p.logQ, p.chi, p.logChi, p.shape, p.scale, q.eta)
	if q.sample == nil {
		return
	}
	q.sample.snapshot(s)
	s.Int(&q.sweeps, math.MaxInt32)
	s.Bool(&q.fixed)
	s.Bool(&q.fresh)
	s.Random(q.stream)
}

// snapshot names q(Θ).
func (q *parameters) snapshot(s *work.Snapshot) {
	s.Same(q.prior.Shape, q.prior.Scale)
	s.Floats(q.theta, q.step)
	if q.sample != nil {
		q.sample.snapshot(s)
	}
}

// Snapshot names the state of a fit. What follows from α, β and E[Y] is found anew.
func (m *relevance) Snapshot(s *work.Snapshot) {
	sameLabels(s, m.labels)
	s.Same(m.identity...)
	s.Same(float64(m.composite.rule))
	s.Floats(m.beta, m.alpha, m.y.Data, m.location.Data, m.logZ)
	s.Float(&m.stride)
	if s.Back() {
		m.setKernel()
		_ = m.settle() // the next sweep begins with it, and sees its error
		m.stale = true
	}
}
