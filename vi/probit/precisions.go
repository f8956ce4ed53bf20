package probit

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/vi"
)

// updateAlpha is q(α_{c,d}), to whose rate E[w²]/2 is added.
func (m *model) updateAlpha() {
	for c := range m.C {
		mean, variance := m.w.Row(c), m.variance.Row(c)
		for d, w := range mean {
			square := float64(w * w)
			if !m.published {
				square += variance[d]
			}
			m.alpha[c].Observe(d, float64(0.5*square))
		}
	}
}

// setPrior gives all α the prior that is learned, if one is.
func (m *model) setPrior() {
	if m.prior == nil {
		return
	}
	prior := vi.Gamma{Shape: m.prior[0], Scale: m.prior[1]}
	for c := range m.alpha {
		m.alpha[c].SetPrior(prior, prior.Shape+0.5)
	}
}

// updatePrior puts the prior of α where the bound is highest, and then q(α). What depends on
// the prior is Σ E[log Gamma(α | τ, ν)] over the CD precisions, highest at
//
//	ν = τ/mean E[α],   log τ − ψ(τ) = log mean E[α] − mean E[log α].
func (m *model) updatePrior() {
	var mean, logs float64
	for c := range m.alpha {
		g := &m.alpha[c]
		for d := range g.Scale {
			mean += g.Mean(d)
			logs += g.MeanLog(d)
		}
	}
	n := float64(m.C * m.D)
	mean /= n
	shape := gammaShape(special.Log(mean) - logs/n)
	m.prior[0], m.prior[1] = shape, mean/shape
	m.setPrior()
	m.updateAlpha()
}

// gammaShape solves log τ − ψ(τ) = s for τ, by Newton's iteration in log τ, within 1e-6 and 1e4.
func gammaShape(s float64) float64 {
	const least, most = 1e-6, 1e4
	switch {
	case !(s > special.LogMinusDigamma(most)):
		return most
	case s >= special.LogMinusDigamma(least):
		return least
	}
	t := (3 - s + math.Sqrt(float64((s-3)*(s-3))+float64(24*s))) / (12 * s) // T. P. Minka's start
	for range 20 {
		t = min(max(t, least), most)
		step := (special.LogMinusDigamma(t) - s) / (float64(t*special.Trigamma(t)) - 1)
		t *= special.Exp(min(max(step, -1), 1))
		if math.Abs(step) < 1e-12 {
			break
		}
	}
	return min(max(t, least), most)
}
