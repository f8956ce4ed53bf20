package slab

import (
	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// squared returns E Σ_n z_nq·(y_nq − f_nq)², a sum of parts that are not negative.
func (m *multiTask) squared(q int) float64 {
	sum := la.SumSq(m.residual.Row(q))
	d, within, spread, power := m.d.Row(q), m.within.Row(q), m.spread.Row(q), m.power.Row(q)
	for _, i := range m.active {
		sum += float64(d[i]*spread[i]) + float64(within[i]*power[i])
	}
	return sum
}

// boundTerms returns the parts of the bound: the expected log likelihood and minus
// the divergences of the slabs, the indicators and the latent functions.
func (m *multiTask) boundTerms() (likelihood, slabs, spikes, functions float64) {
	for q, s := range m.noise {
		likelihood -= float64(0.5 * (float64(m.count[q]*(conjugate.Log2Pi+special.Log(s))) + m.squared(q)/s))
		for _, i := range m.active {
			slab, spike := m.at(q, i).bound(m.prior)
			slabs += slab
			spikes += spike
		}
	}
	for _, i := range m.active {
		functions -= m.latents[i].kl
	}
	return likelihood, slabs, spikes, functions
}

// Bound implements [vi.Objective].
func (m *multiTask) Bound() float64 {
	likelihood, slabs, spikes, functions := m.boundTerms()
	return likelihood + slabs + spikes + functions
}

// Roundoff implements [vi.Objective], see [work.Roundoff]. It sums the round-off of the residuals,
// which are kept up to date by differences, and of the latent functions' divergences.
func (m *multiTask) Roundoff() float64 {
	var sum float64
	for q, s := range m.noise {
		size := la.SumSq(m.y.Row(q))
		for _, i := range m.active {
			e := m.e.At(q, i)
			size += float64(float64(e*e) * m.power.At(q, i))
		}
		sum += work.Difference(len(m.active)+1, 1/s, la.SumSq(m.residual.Row(q)), size)
	}
	for _, i := range m.active {
		sum += m.latents[i].roundoff(m.N)
	}
	return sum
}

// Allowance implements [vi.Objective].
func (m *multiTask) Allowance() float64 { return 0 }

// Jittered implements [vi.Objective].
func (m *multiTask) Jittered() float64 { return jitterOf(m.latents) }

// Observations implements [vi.Objective].
func (m *multiTask) Observations() float64 { return conjugate.Sum(m.count) }
