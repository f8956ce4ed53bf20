package slab

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/vi/internal/random"
)

// begin sets the start.
func (f Factors) begin(m *factors) error {
	switch {
	case f.Like != nil:
		return m.like(f.Like)
	case f.Start != nil:
		if err := f.Start.into(m); err != nil {
			return err
		}
	case f.Principal:
		m.beginPrincipal(f.Seed)
		return nil
	case m.N <= m.Q:
		m.drawFactors(f.Seed)
		return nil
	default:
		m.drawWeights(f.Seed)
	}
	if m.beginAtWeights() {
		return nil
	}
	return fmt.Errorf("vi: Start.Weights: every weight is zero, where the bound is stationary")
}

// into copies the start to m, whose shapes it must have.
func (s *FactorStart) into(m *factors) error {
	if len(s.Weights) != len(m.weights) {
		return fmt.Errorf("vi: Start.Weights: %d where %d×%d are needed", len(s.Weights), m.Q, m.M)
	}
	if i := firstBadPair(s.Weights); i >= 0 {
		return fmt.Errorf("vi: Start.Weights[%d] is %+v", i, s.Weights[i])
	}
	copy(m.weights, s.Weights)
	if s.Noise == nil {
		return nil
	}
	if len(s.Noise) != m.Q {
		return fmt.Errorf("vi: Start.Noise: %d values for %d tasks", len(s.Noise), m.Q)
	}
	for q, v := range s.Noise {
		if !(v > 0) || math.IsInf(v, 1) {
			return fmt.Errorf("vi: Start.Noise[%d] is %g", q, v)
		}
	}
	for q, v := range s.Noise {
		if !m.hasSites(q) {
			m.noise[q] = v
		}
	}
	return nil
}

// drawWeights draws weights from their prior, all of them from the slab.
func (m *factors) drawWeights(seed uint64) {
	mean := make([]float64, len(m.weights))
	random.Normal(random.Source(seed), mean)
	prior := m.priors[0] // all are alike at the start
	sd := math.Sqrt(prior.Variance)
	for i, v := range mean {
		m.weights[i] = Pair{Mean: sd * v, Variance: prior.Variance}
	}
}

// beginAtWeights computes the moments of the weights, with q(φ) the prior, and reports whether
// any weight can be other than zero.
func (m *factors) beginAtWeights() (some bool) {
	for n := range m.N {
		variance := m.object.variance.Row(n)
		for k := range variance {
			variance[k] = 1
			if m.functions != nil {
				variance[k] = m.functions[k].variance[n]
			}
		}
	}
	for q := range m.Q {
		e, v := m.task.mean.Row(q), m.task.variance.Row(q)
		for k, w := range m.weights[q*m.M:][:m.M] {
			var square float64
			e[k], square = w.Moments()
			v[k] = w.VarW()
			some = some || square != 0
		}
	}
	return some
}

// drawFactors starts from random factors and the weights that are best for them.
// Each factor has its prior's covariance, and for mean white noise z smoothed by it,
// a = c·Kz, c such that a has the prior's power. If it were the weights of many tasks
// that are drawn, the factors would all begin as the data's leading directions, and
// more of them would end unused.
func (m *factors) drawFactors(seed uint64) {
	src := random.Source(seed)
	z := make([]float64, m.N)
	for k := range m.M {
		random.Normal(src, z)
		a := z
		if m.functions != nil {
			f := &m.functions[k]
			f.draw(&m.crew.All, m.scratch, z)
			a = f.mean
		}
		for n, v := range a {
			m.object.mean.Row(n)[k], m.object.variance.Row(n)[k] = v, 1
			if m.functions != nil {
				m.object.variance.Row(n)[k] = m.functions[k].variance[n]
			}
		}
	}
	m.firstWeights()
}

// firstWeights sets the offsets and then, from none, the weights to what is best
// for the factors.
func (m *factors) firstWeights() {
	for i := range m.weights {
		m.weights[i] = Pair{Logit: math.Inf(-1), Variance: m.priors[0].Variance}
	}
	m.updateTasks(m.M, m.K)
	m.updateTasks(0, m.K)
}

// like starts from the factors and hyperparameters of p, a model of other tasks.
func (m *factors) like(p *FactorPosterior) error {
	s := &p.s
	switch {
	case p.dim.N != m.N || p.dim.M != m.M:
		return fmt.Errorf("vi: Like: %d objects and %d factors where there are %d and %d", p.dim.N, p.dim.M, m.N, m.M)
	case s.Views != nil || m.viewOf != nil:
		return fmt.Errorf("vi: Like: fits with views have no such start")
	case (s.Lengths != nil) != m.lengths():
		return fmt.Errorf("vi: Like: a covariance with lengths in one and not in the other")
	}
	m.object.mean.Slice(0, m.N, 0, m.M).CopyFrom(s.Mean)
	m.object.variance.CopyFrom(s.Variance)
	for k, l := range s.Lengths {
		m.functions[k].length = l
	}
	m.priors[0] = s.Prior
	var noise float64
	for _, v := range s.Noise {
		noise += v / float64(p.dim.Q)
	}
	for q := range m.noise {
		m.noise[q] = max(noise, m.floor)
	}
	m.firstWeights()
	return nil
}
