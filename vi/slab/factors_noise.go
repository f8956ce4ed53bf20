package slab

import (
	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/vi/internal/roots"
)

// noiseStep updates the noise with the variances A of the factors at their best for every
// noise. The update of σ² alone holds A, which the σ² of the sweep before has made: where
// the factors explain a task nearly, E_q is mostly A, and σ_q² falls by a little in a sweep.
// Of complete data A_nm = 1/λ_m, λ_m = 1 + Σ_q s_q·E[w_qm²], s = 1/σ², and the terms of s and
// A in the bound are, up to a constant,
//
//	Σ_q ½(N·log s_q − s_q·R_q) − ½N·Σ_m log λ_m,   R_q = E_q − Σ_m E[w_qm²]·Σ_n A_nm.
//
// Twice the derivative by log s_q is N(1 − Σ_m s_q·E[w_qm²]/λ_m) − s_q·R_q. It falls with s_q:
// where it is zero the bound is highest over s_q. With the prior of the noise N and R_q
// have ν and ν times its scale added. Derived in docs/theory/acceleration.md.
type noiseStep struct {
	lambda, own []float64 // M, λ and what a task has of it at s = 1
	rest        []float64 // Q, R
}

// noiseCycles is how often the step goes through the tasks, which have λ in common.
const noiseCycles = 3

// newNoiseStep returns room for a step.
func (m *factors) newNoiseStep() *noiseStep {
	return &noiseStep{lambda: make([]float64, m.M), own: make([]float64, m.M), rest: make([]float64, m.Q)}
}

// followNoise makes the step, after an update of σ².
func (m *factors) followNoise() {
	s := m.noises
	before := m.object.variance.Row(0)
	for k := range s.lambda {
		s.lambda[k] = 1
	}
	for q, noise := range m.noise {
		s.rest[q] = m.error2[q]
		for k, v := range before {
			d := m.task.square(q, k)
			s.lambda[k] += d / noise
			s.rest[q] -= float64(float64(d*v) * float64(m.N))
		}
		s.rest[q] = max(0, s.rest[q])
	}
	if m.perTask {
		for range noiseCycles {
			for q := range m.noise {
				for k := range s.own {
					s.own[k] = m.task.square(q, k)
				}
				v := s.best(m.noise[q], m.floor, float64(m.N), m.count[q]+m.noiseWeight, s.rest[q]+float64(m.noiseWeight*m.noiseScale))
				s.renew(m.noise[q], v)
				m.noise[q] = v
			}
			m.updateNoiseScale()
		}
	} else {
		var rest float64
		clear(s.own)
		for q, v := range s.rest {
			rest += v
			for k := range s.own {
				s.own[k] += m.task.square(q, k)
			}
		}
		v := s.best(m.noise[0], m.floor, float64(m.N), float64(m.N)*float64(m.Q), rest)
		s.renew(m.noise[0], v)
		for q := range m.noise {
			m.noise[q] = v
		}
	}
	for k, v := range before {
		a := 1 / s.lambda[k]
		s.own[k] = a
		m.objectSums[0] += float64(0.5 * float64(m.N) * (special.Log(a/v) - (a - v))) // of all blocks
	}
	for n := range m.N {
		copy(m.object.variance.Row(n), s.own)
	}
	for q, v := range s.rest {
		for k, a := range s.own {
			v += float64(float64(m.task.square(q, k)*a) * float64(m.N))
		}
		m.error2[q] = v
	}
}

// square returns E[x²] of entry k of line i.
func (l *lineMoments) square(i, k int) float64 {
	e := l.mean.At(i, k)
	return l.variance.At(i, k) + float64(e*e)
}

// best returns the σ² ≥ floor that is best for tasks with n objects, count entries and R = rest,
// whose part of λ is own/σ².
func (s *noiseStep) best(noise, floor, n, count, rest float64) float64 {
	downhill := func(t float64) float64 { // minus twice the derivative by log s, at log σ² = −t
		p := special.Exp(t)
		sum := float64(p*rest) - count
		for k, d := range s.own {
			others := max(1, s.lambda[k]-d/noise)
			sum += float64(n * (p * d / (others + float64(p*d))))
		}
		return sum
	}
	from, to := -special.Log(noise), -special.Log(floor)
	if downhill(to) <= 0 {
		return floor
	}
	least := from - 1
	for downhill(least) > 0 {
		if least -= 5; least < from-100 {
			return noise
		}
	}
	return max(floor, special.Exp(-roots.FindWithin(downhill, least, to, 1e-10)))
}

// renew updates λ after a change of σ² from one value to another.
func (s *noiseStep) renew(from, to float64) {
	for k, d := range s.own {
		s.lambda[k] = max(1, s.lambda[k]-d/from) + d/to
	}
}
