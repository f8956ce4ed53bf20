package bemkl

import (
	"math"

	"github.com/bmkl/bmkl/vi/internal/work"
)

// This file names the states of the models for a [vi.Journal]: everything that an update reads
// before another one of the same sweep has written it, and the numbers by which it recognises other
// data and settings.

// Snapshot names the state of kernel weights and biases.
func (c *commonWeights) Snapshot(s *work.Snapshot) {
	c.gamma.Snapshot(s)
	c.omega.Snapshot(s)
	c.be.Snapshot(s)
	s.Matrices(c.ee)
}

// Snapshot names the state of a model of layers but for what it adds.
func (l *layers) Snapshot(s *work.Snapshot) {
	l.latent.Snapshot(s)
	l.commonWeights.Snapshot(s)
	s.Matrices(l.gTarget)
}

// Snapshot names the state of a fit.
func (m *groupedRegression) Snapshot(s *work.Snapshot) {
	s.Same(m.y.Data...)
	m.latent.Snapshot(s)
	m.commonWeights.Snapshot(s)
	m.upsilon.Snapshot(s)
	s.Floats(m.upsilonMean)
	for i := range m.parts {
		p := &m.parts[i]
		p.epsilon.Snapshot(s)
		s.Floats(p.sum, p.target)
		s.Matrices(p.cov, p.gram, p.h, p.g)
	}
	m.updates.Snapshot(s)
	if m.rounds != nil {
		s.Matrices(m.rounds.last, m.rounds.hLast)
	}
}

// Snapshot names the state of a fit.
func (m *classification) Snapshot(s *work.Snapshot) {
	m.outputs.Snapshot(s)
	s.List(&m.published, math.MaxInt32)
}

// Snapshot names the state of a fit.
func (m *shared) Snapshot(s *work.Snapshot) {
	m.sharedLayers.Snapshot(s)
	s.Matrices(m.targets, m.gain)
}

// Snapshot names the state of outputs that share sample weights but for what a model adds.
func (m *sharedLayers) Snapshot(s *work.Snapshot) {
	s.Same(m.y.Data...)
	m.latent.Snapshot(s)
	m.upsilonQ.Snapshot(s)
	m.gamma.Snapshot(s)
	m.omega.Snapshot(s)
	s.Floats(m.upsilonMean, m.epsilonMean)
	for o := range m.be {
		m.epsilon[o].Snapshot(s)
		m.be[o].Snapshot(s)
	}
	s.Matrices(m.ee...)
	m.updates.Snapshot(s)
	m.latent.Upsilon = m.upsilonMean
}

// Snapshot names the state of the tasks but for what a model adds.
func (m *taskLayers) Snapshot(s *work.Snapshot) {
	for _, l := range m.tasks {
		s.Same(l.y.Data...)
		l.like.Snapshot(s)
	}
	m.commonWeights.Snapshot(s)
	for _, l := range m.tasks {
		l.latent.Snapshot(s)
		s.Floats(l.upsilonMean, l.epsilonMean)
		s.Matrices(l.gTarget)
	}
	if m.upsilon == nil {
		for _, l := range m.tasks {
			s.Same(l.upsilonMean...)
		}
	}
	for t := range m.upsilon {
		m.upsilon[t].Snapshot(s)
	}
	m.updates.Snapshot(s)
}
