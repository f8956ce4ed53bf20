package slab

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// This file names the states of the models for a [vi.Journal]: everything that an update reads
// before another one of the same sweep has written it, and the numbers by which it recognises other
// data and settings.

// snapshot names the hyperparameters.
func (p *Prior) snapshot(s *work.Snapshot) {
	s.Float(&p.Pi)
	s.Float(&p.Variance)
}

// same names what is held.
func (h Held) same(s *work.Snapshot) {
	for _, held := range [...]bool{h.Pi, h.Variance, h.Noise} {
		v := 0.0
		if held {
			v = 1
		}
		s.Same(v)
	}
}

// pairs names q(w̃, s) of weights.
func pairs(s *work.Snapshot, q []Pair) {
	for i := range q {
		s.Float(&q[i].Logit)
		s.Float(&q[i].Mean)
		s.Float(&q[i].Variance)
	}
}

// snapshot names what both mean fields share.
func (s *slabState) snapshot(v *work.Snapshot) {
	v.Same(s.y...)
	v.Same(s.power...)
	v.Same(s.cross...)
	s.held.same(v)
	s.prior.snapshot(v)
	v.Float(&s.noise)
	v.Floats(s.e)
}

// Snapshot names the state of a fit.
func (f *pairedField) Snapshot(s *work.Snapshot) {
	f.slabState.snapshot(s)
	pairs(s, f.q)
	s.Floats(f.residual)
	if f.ahead != nil {
		s.Floats(f.free)
		f.ahead.Snapshot(s)
	}
}

// Snapshot names the state of a fit.
func (f *standardField) Snapshot(s *work.Snapshot) {
	f.slabState.snapshot(s)
	s.Floats(f.logit, f.gamma, f.w.Mean, f.w.Cov.Data)
	s.Float(&f.w.LogDet)
	s.Float(&f.w.Spread)
}

// snapshot names q(φ).
func (f *latentGP) snapshot(s *work.Snapshot) {
	s.Same(f.prior...)
	s.Same(float64(f.cov.kind), f.cov.least, f.cov.most)
	for n := range f.cov.k.Rows {
		s.Same(la.SumSq(f.cov.k.Row(n)[:n+1]))
	}
	s.Floats(f.lambda, f.alpha, f.mean, f.variance)
	s.Float(&f.length)
	if !(f.length >= f.cov.least && f.length <= f.cov.most) {
		s.Refuse(fmt.Errorf("a length is %g, not between %g and %g", f.length, f.cov.least, f.cov.most))
	}
	s.Float(&f.total)
	s.Float(&f.kl)
	s.Float(&f.shake)
	s.Float(&f.jitter)
}

// Snapshot names the state of a fit.
func (m *multiTask) Snapshot(s *work.Snapshot) {
	s.Same(m.y.Data...)
	s.Same(m.count...)
	m.held.same(s)
	m.prior.snapshot(s)
	s.Int(&m.sweeps, math.MaxInt32)
	s.Floats(m.noise)
	pairs(s, m.q)
	active := make([]bool, m.M)
	for _, i := range m.active {
		active[i] = true
	}
	m.active = m.active[:0]
	for i := range active {
		if s.Bool(&active[i]); active[i] {
			m.active = append(m.active, i)
		}
	}
	for i := range m.latents {
		m.latents[i].snapshot(s)
	}
	for _, x := range []la.Matrix[float64]{m.e, m.d, m.within, m.residual, m.spread, m.power} {
		s.Floats(x.Data)
	}
	if m.ahead != nil {
		s.Floats(m.means)
		m.ahead.Snapshot(s)
	}
}

// Snapshot names the state of a fit.
func (m *factors) Snapshot(s *work.Snapshot) {
	s.Same(m.entries()...)
	s.Same(m.base, m.noiseWeight)
	for _, v := range m.viewOf {
		s.Same(float64(v))
	}
	for _, k := range m.kinds {
		s.Same(float64(k))
	}
	m.held.same(s)
	if b := m.groups; b != nil {
		for _, g := range b.Of {
			s.Same(float64(g))
		}
		s.Floats(b.Variance.Data, b.Noise.Data, b.Offset.Data, b.OffsetVariance.Data, b.error2.Data)
	}
	for i := range m.priors {
		m.priors[i].snapshot(s)
	}
	s.Int(&m.sweeps, math.MaxInt32)
	s.Floats(m.object.both.Data, m.task.both.Data, m.noise, m.offsetVar, m.error2, m.shake, m.objectSums)
	s.Float(&m.noiseScale)
	for i := range m.offsetPriors {
		s.Float(&m.offsetPriors[i].Mean)
		s.Float(&m.offsetPriors[i].Variance)
	}
	pairs(s, m.weights)
	for i := range m.taskSums {
		t := &m.taskSums[i]
		for _, x := range [...]*float64{&t.count, &t.included, &t.slabPower, &t.excluded, &t.logVariance, &t.entropy} {
			s.Float(x)
		}
	}
	for i := range m.functions {
		m.functions[i].snapshot(s)
	}
}

// entries returns numbers by which a table is recognised: the sum of the entries of each row and of
// each column, and how many entries a column has.
func (m *factors) entries() []float64 {
	if m.identity != nil {
		return m.identity
	}
	y := m.y
	if m.raw != nil {
		y = m.raw
	}
	rows, cols := make([]float64, m.N), make([]float64, m.Q)
	for n := range m.N {
		index, values := y.Object(n)
		for i, q := range index {
			rows[n] += values[i]
			cols[q] += float64(values[i] * (1 + float64(n))) // rows in another order are another table
		}
	}
	m.identity = append(append(rows, cols...), m.count...)
	return m.identity
}
