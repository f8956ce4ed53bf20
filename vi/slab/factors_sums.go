package slab

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// slabSums is what the bound and the M step need of many weights.
type slabSums struct {
	pairSums
	excluded    float64 // Σ(1−γ)
	logVariance float64 // Σ γ log v
	entropy     float64 // −Σ γ log γ + (1−γ) log(1−γ)
}

// merge adds the sums of t.
func (s *slabSums) merge(t *slabSums) {
	s.pairSums.merge(t.pairSums)
	s.excluded += t.excluded
	s.logVariance += t.logVariance
	s.entropy += t.entropy
}

// gate returns γ, 1−γ and e^−|u| of the logit u; −γ log γ − (1−γ) log(1−γ) is
// log(1 + e^−|u|) + |u|·min(γ, 1−γ).
func (q Pair) gate() (g, h, e float64) {
	e = special.Exp(-math.Abs(q.Logit))
	g, h = 1/(1+e), e/(1+e)
	if q.Logit < 0 {
		g, h = h, g
	}
	return g, h, e
}

// gated returns E[w] and Var[w] given γ and 1−γ.
func (q Pair) gated(g, h float64) (mean, variance float64) {
	return g * q.Mean, g * (q.Variance + float64(h*float64(q.Mean*q.Mean)))
}

// add counts q, whose log v is given, but for the part log(1 + e^−|u|) of its
// entropy, which is left to be taken for several at once, and returns E[w], Var[w]
// and 1 + e^−|u|.
func (s *slabSums) add(q Pair, logVariance float64) (mean, variance, rest float64) {
	g, h, e := q.gate()
	s.count++
	s.included += g
	s.excluded += h
	if e > 0 {
		s.entropy += float64(min(g, h) * math.Abs(q.Logit))
	}
	s.slabPower += float64(g * (float64(q.Mean*q.Mean) + q.Variance))
	s.logVariance += float64(g * logVariance)
	mean, variance = q.gated(g, h)
	return mean, variance, 1 + e
}

// bound returns minus the divergence of the weights from their prior.
func (s *slabSums) bound(p Prior) float64 {
	sum := float64(0.5*(s.logVariance+float64(s.included*(1-special.Log(p.Variance)))-s.slabPower/p.Variance)) + s.entropy
	sum += float64(s.included * special.Log(p.Pi))
	if s.excluded > 0 {
		sum += float64(s.excluded * special.Log1p(-p.Pi))
	}
	return sum
}

// sums returns the sums over the weights of each prior. The next call overwrites them.
func (m *factors) sums() []slabSums {
	clear(m.total)
	for i := range m.taskSums {
		m.total[i%len(m.total)].merge(&m.taskSums[i])
	}
	return m.total
}
