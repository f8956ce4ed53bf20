package bemkl

import (
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// This file names the states of the models for a [vi.Journal]: everything that an update reads
// before another one of the same sweep has written it, and what tells other data and settings.

// matrices names the entries of matrices.
func matrices(s *work.Snapshot, x ...la.Matrix[float64]) {
	for _, v := range x {
		s.Floats(v.Data)
	}
}

// gammas names factors and what they are made of.
func gammas(s *work.Snapshot, x ...*conjugate.Gammas) {
	for _, g := range x {
		s.Same(g.Prior.Shape, g.Prior.Scale, g.Shape)
		s.Floats(g.Scale)
	}
}

// gaussian names a factor.
func gaussian(s *work.Snapshot, g *conjugate.Gaussian) {
	s.Floats(g.Mean, g.Cov.Data)
	s.Float(&g.LogDet)
	s.Float(&g.Spread)
}

// Snapshot names the state of the rows.
func (l *latent) Snapshot(s *work.Snapshot) {
	for d := range l.D {
		s.Same(l.gram.At(d, d)) // every kernel of every sample is in it
	}
	gammas(s, &l.lambda)
	matrices(s, l.aMean, l.aVar, l.slope, l.response, l.h, l.gMean, l.gSum)
	s.Floats(l.aLogDet, l.aTrace, l.level, l.jitter, l.noise, l.gTrace, l.gLogDet, l.gDistance)
	for r := range l.R {
		matrices(s, l.gCov[r], l.gGram[r], l.pull[r])
	}
	s.Bool(&l.distanceStale)
	if l.plane != nil {
		matrices(s, l.plane.last, l.plane.hLast)
	}
}

// Snapshot names the state of kernel weights and biases.
func (c *commonWeights) Snapshot(s *work.Snapshot) {
	gammas(s, &c.gamma, &c.omega)
	gaussian(s, &c.be)
	matrices(s, c.ee)
}

// Snapshot names the state of a model of layers but for what it adds.
func (l *layers) Snapshot(s *work.Snapshot) {
	l.latent.Snapshot(s)
	l.commonWeights.Snapshot(s)
	matrices(s, l.gTarget)
}

// snapshot names how many sweeps there were, and which order they had.
func (u *schedule) snapshot(s *work.Snapshot) {
	order := 0.0
	if u.first != nil {
		order = 1
	}
	s.Same(order)
	s.Int(&u.done, math.MaxInt32)
}

// Snapshot names the state of a fit.
func (m *regression) Snapshot(s *work.Snapshot) {
	s.Same(m.y.Data...)
	m.layers.Snapshot(s)
	gammas(s, &m.upsilon)
	for o := range m.epsilon {
		gammas(s, &m.epsilon[o])
	}
	s.Floats(m.upsilonMean, m.epsilonMean)
	m.updates.snapshot(s)
	m.take(m.upsilonMean, m.epsilonMean, m.y)
}

// Snapshot names the state of a fit.
func (m *groupedRegression) Snapshot(s *work.Snapshot) {
	s.Same(m.y.Data...)
	m.latent.Snapshot(s)
	m.commonWeights.Snapshot(s)
	gammas(s, &m.upsilon)
	s.Floats(m.upsilonMean)
	for i := range m.parts {
		p := &m.parts[i]
		gammas(s, &p.epsilon)
		s.Floats(p.sum, p.target)
		matrices(s, p.cov, p.gram, p.h, p.g)
	}
	m.updates.snapshot(s)
	if m.rounds != nil {
		matrices(s, m.rounds.last, m.rounds.hLast)
	}
}

// Snapshot names the state of a fit.
func (m *classification) Snapshot(s *work.Snapshot) {
	s.Same(m.y.Data...)
	s.Same(m.margin, m.sigmaG)
	m.layers.Snapshot(s)
	matrices(s, m.f, m.location)
	s.Floats(m.logZ)
	m.updates.snapshot(s)
	s.List(&m.published, math.MaxInt32)
	m.take(m.precision, m.ones, m.f)
}

// Snapshot names the state of a fit.
func (m *shared) Snapshot(s *work.Snapshot) {
	m.sharedLayers.Snapshot(s)
	matrices(s, m.targets, m.gain)
}

// Snapshot names the state of outputs that share sample weights but for what a model adds.
func (m *sharedLayers) Snapshot(s *work.Snapshot) {
	s.Same(m.y.Data...)
	m.latent.Snapshot(s)
	gammas(s, &m.upsilonQ, &m.gamma, &m.omega)
	s.Floats(m.upsilonMean, m.epsilonMean)
	for o := range m.be {
		gammas(s, &m.epsilon[o])
		gaussian(s, &m.be[o])
	}
	matrices(s, m.ee...)
	m.updates.snapshot(s)
	m.latent.upsilon = m.upsilonMean
}

// Snapshot names the state of the tasks but for what a model adds.
func (m *taskLayers) Snapshot(s *work.Snapshot) {
	m.commonWeights.Snapshot(s)
	for _, l := range m.tasks {
		l.latent.Snapshot(s)
		s.Floats(l.upsilonMean, l.epsilonMean)
		matrices(s, l.gTarget)
	}
	m.updates.snapshot(s)
}

// Snapshot names the state of a fit.
func (m *taskRegression) Snapshot(s *work.Snapshot) {
	for t, l := range m.tasks {
		s.Same(l.target.Data...)
		gammas(s, &m.upsilon[t], &m.epsilon[t])
	}
	m.taskLayers.Snapshot(s)
}

// Snapshot names the state of a fit.
func (m *taskClassification) Snapshot(s *work.Snapshot) {
	s.Same(m.margin, m.sigmaG)
	for t, l := range m.tasks {
		s.Same(m.labels[t]...)
		matrices(s, l.target)
		s.Floats(m.location[t])
	}
	s.Floats(m.logZ)
	m.taskLayers.Snapshot(s)
}
