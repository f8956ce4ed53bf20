package slab

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/vi/internal/roots"
)

// scaleStep moves the scales of the factors against the scales of their weights, and σ_w² with
// them: the weights of factor m become e^{x/2} times what they are and its values at the objects
// e^{−x/2} times, which leaves the likelihood as it was. Coordinate ascent creeps along this ridge.
// The bound is, up to a constant,
//
//	Σ_m ½(Γ−N)·x − ½S·e^−x − ½P·e^x/σ_w² − ½Γ·log σ_w²,
//
// with Γ = Σ_q γ, P = Σ_q E[w²] and S = Σ_n E[φ²], concave in all x and log σ_w²
// together. Given σ_w², e^x is the positive root of (P/σ_w²)s² + (N−Γ)s − S, so that
// σ_w² alone has to be searched.
type scaleStep struct {
	all      []scaleSums // M
	byTask   []scaleSums // block by block, M each
	byObject []float64   // S likewise
	change   []float64   // M, e^{x/2}
	inverse  []float64
}

// scaleSums are Γ, P and S.
type scaleSums struct{ included, power, square float64 }

// scaleEvery is the number of sweeps from one scale step to the next.
const scaleEvery = 5

// newScaleStep returns room for a step.
func (m *factors) newScaleStep() *scaleStep {
	return &scaleStep{
		all: make([]scaleSums, m.M), byTask: make([]scaleSums, m.M*(len(m.taskBlocks)-1)),
		byObject: make([]float64, m.M*(len(m.objectBlocks)-1)),
		change:   make([]float64, m.M), inverse: make([]float64, m.M),
	}
}

// rescale makes the scale step.
func (m *factors) rescale() {
	s := m.scales
	m.scaleSums(s)
	if m.viewOf != nil {
		m.bestOfViews(s)
	} else {
		m.priors[0].Variance = s.best(float64(m.N), m.priors[0].Variance, m.held.Variance)
	}

	// The sums over blocks count in total only: the first takes the change of all.
	objects := &m.objectSums[0]
	for k, a := range s.all {
		square := float64(s.change[k] * s.change[k])
		x := special.Log(square)
		if m.viewOf != nil {
			m.rescaleViews(k, square, x)
		} else {
			m.taskSums[0].rescale(square, x, a.included, a.power)
		}
		if m.groups != nil {
			m.rescaleGroups(k, square)
		} else {
			*objects -= float64(0.5 * (float64(float64(m.N)*x) + float64((1/square-1)*a.square)))
		}
		s.inverse[k] = 1 / s.change[k]
	}
	m.crew.each(m.taskBlocks, func(_ *lineWorker, block int) {
		for q := m.taskBlocks[block]; q < m.taskBlocks[block+1]; q++ {
			e, v := m.task.mean.Row(q), m.task.variance.Row(q)
			for k, c := range s.change {
				w := &m.weights[q*m.M+k]
				w.Mean *= c
				w.Variance *= c * c
				g, h, _ := w.gate() // not scaled: a file has the weights and not their moments
				e[k], v[k] = w.gated(g, h)
			}
		}
	})
	m.crew.each(m.objectBlocks, func(_ *lineWorker, block int) {
		for n := m.objectBlocks[block]; n < m.objectBlocks[block+1]; n++ {
			m.object.scale(n, s.inverse)
		}
	})
}

// rescale changes the sums for weights that are multiplied by the root of square, whose logarithm is x. Σ γ of these weights is
// included, and Σ E[w²] is power.
func (s *slabSums) rescale(square, x, included, power float64) {
	s.logVariance += float64(x * included)
	s.slabPower += float64((square - 1) * power)
}

// scale multiplies the coordinates of line i.
func (l *lineMoments) scale(i int, c []float64) {
	mean, variance := l.mean.Row(i), l.variance.Row(i)
	for k, v := range c {
		mean[k] *= v
		variance[k] *= v * v
	}
}

// scaleSums computes Γ, P and S of all factors.
func (m *factors) scaleSums(s *scaleStep) {
	m.crew.each(m.taskBlocks, func(_ *lineWorker, block int) {
		sums := s.byTask[block*m.M:][:m.M]
		clear(sums)
		for q := m.taskBlocks[block]; q < m.taskBlocks[block+1]; q++ {
			e, variance := m.task.mean.Row(q), m.task.variance.Row(q)
			for k, w := range m.weights[q*m.M:][:m.M] {
				sums[k].included += expit(w.Logit)
				sums[k].power += float64(e[k]*e[k]) + variance[k]
			}
		}
	})
	m.crew.each(m.objectBlocks, func(_ *lineWorker, block int) {
		sums := s.byObject[block*m.M:][:m.M]
		clear(sums)
		for n := m.objectBlocks[block]; n < m.objectBlocks[block+1]; n++ {
			a, variance := m.object.mean.Row(n), m.object.variance.Row(n)
			for k, v := range variance {
				sums[k] += float64(a[k]*a[k]) + v
			}
		}
	})
	clear(s.all)
	for i, t := range s.byTask {
		a := &s.all[i%m.M]
		a.included += t.included
		a.power += t.power
	}
	for i, v := range s.byObject {
		s.all[i%m.M].square += v
	}
}

// best sets the changes that are best for factors at n objects and returns the σ_w²
// that goes with them.
func (s *scaleStep) best(n, variance float64, held bool) float64 {
	at := func(t float64) (value, slope float64, err error) {
		v := special.Exp(t)
		for k, a := range s.all {
			s.change[k] = 1
			square, ok := roots.Ridge(n-a.included, a.square, a.power/v)
			if !ok || a.power == 0 {
				continue
			}
			square = min(max(square, special.Exp(-maxScale)), special.Exp(maxScale))
			s.change[k] = math.Sqrt(square)
			power := square * a.power / v
			value += float64(0.5 * (float64((a.included-n)*special.Log(square)) - a.square/square - power - float64(a.included*t)))
			slope += float64(0.5 * (power - a.included))
		}
		return value, slope, nil
	}
	t := special.Log(variance)
	if !held {
		t, _ = uphill(at, t, t-maxScale, t+maxScale, lengthTolerance) // at has no errors
		variance = special.Exp(t)
	}
	at(t) // sets the changes
	return variance
}
