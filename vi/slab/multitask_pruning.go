package slab

import (
	"math"

	"github.com/bmkl/bmkl/la"
)

// pruneEvery is the number of sweeps after which latent functions are looked
// through: enough for those that start badly to find something to do.
const pruneEvery = 15

// offProbability is the inclusion probability up to which a weight counts as off.
const offProbability = 1e-3

// prune takes latent functions without which the bound is higher out of the
// model, the one that gains most first, and reports whether there were any. The
// bound of a model of fewer functions, the other factors being what they are,
// lacks the divergences and the variance of the one taken out.
func (m *multiTask) prune() bool {
	if m.keepAll {
		return false
	}
	pruned := false
	for {
		best, at := 0.0, -1
		for j, i := range m.active {
			if m.latents[i].cov.kind == zeroCovariance {
				continue
			}
			if gain := m.gainWithout(i); gain > best {
				best, at = gain, j
			}
		}
		if at < 0 {
			return pruned
		}
		m.remove(at)
		pruned = true
	}
}

// gainWithout returns by how much the bound rises when latent function i is taken
// out.
func (m *multiTask) gainWithout(i int) float64 {
	gain := m.latents[i].kl
	for q, s := range m.noise {
		slab, spike := m.at(q, i).bound(m.prior)
		gain -= slab + spike
		e := m.e.At(q, i)
		fit := float64(e * (2*la.Dot(m.residual.Row(q), m.a.Row(i)) + float64(e*m.power.At(q, i))))
		variance := float64(m.d.At(q, i)*m.spread.At(q, i)) + float64(m.within.At(q, i)*m.power.At(q, i))
		gain += 0.5 * (variance - fit) / s
	}
	return gain
}

// remove takes active[at] out of the model: its weights are off for certain.
func (m *multiTask) remove(at int) {
	i := m.active[at]
	m.active = append(m.active[:at], m.active[at+1:]...)
	for q := range m.Q {
		m.shift(q, m.e.At(q, i), m.a.Row(i))
		*m.at(q, i) = Pair{Logit: math.Inf(-1), Variance: m.prior.Variance}
		m.setMoments(q, i)
	}
}

// collapsed lists the tasks whose weights are all off.
func (m *multiTask) collapsed() (tasks []int) {
	for q := range m.Q {
		off := true
		for _, i := range m.active {
			off = off && m.at(q, i).Inclusion() <= offProbability
		}
		if off {
			tasks = append(tasks, q)
		}
	}
	return tasks
}
