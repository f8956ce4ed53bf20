package slab

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// updateObjects is q(φ_nm) = N(a, A) for the factors from ≤ m < to, one after the
// other for each object: with E_q|n the weights of the tasks observed in n,
//
//	λ_nm = Σ_q E[w_qm²]/σ_q²,   h_nm = Σ_q E[w_qm]·(y_nq − c_q − Σ_{k≠m} E[w_qk]·a_nk)/σ_q²,
//	A = 1/(1+λ),   a = A·h.
//
// All of an object's h follow from G = Σ_q E[w_q]E[w_q]ᵀ/σ_q² and b = Σ_q E[w_q](y_nq − c_q)/σ_q².
func (m *factors) updateObjects(from, to int) error {
	if m.groups != nil {
		m.updateGroupedObjects(from, to)
		return nil
	}
	side := half{
		lines: &m.y.byObject, blocks: m.objectBlocks, other: &m.task, means: m.M, shifted: m.K > m.M,
		base: m.base, weight: 1 / m.noise[0],
	}
	if m.perTask || m.kinds != nil {
		for q, v := range m.noise {
			m.scale[q] = 1 / math.Sqrt(v)
		}
		m.scaled.scaleFrom(&m.task, m.scale)
		side.other, side.scale, side.weight = &m.scaled, m.scale, 1
	}
	var all *lineStats
	if m.y.complete() {
		all = m.crew.shared(m.M)
		m.completeObjects(&side, all)
	}
	if m.functions != nil {
		return m.updateFunctions(&side, all, from, to)
	}
	m.crew.each(side.blocks, func(c *lineWorker, block int) {
		var sum float64
		for n := side.blocks[block]; n < side.blocks[block+1]; n++ {
			s := all
			if s == nil {
				s = c.stats(&side, n)
			} else {
				s = s.with(&c.own, m.cross.Row(n)[:m.M])
			}
			a, variance := m.object.mean.Row(n)[:m.M], m.object.variance.Row(n)
			for k := from; k < to; k++ {
				g := s.gram.Row(k)[:m.M]
				cross := s.cross[k] - la.Dot(g, a) + float64(g[k]*a[k])
				variance[k] = 1 / (1 + float64(side.weight*(g[k]+s.variance[k])))
				a[k] = side.weight * cross * variance[k]
			}
			for k, v := range variance {
				sum += float64(0.5 * (special.Log(v) + 1 - v - float64(a[k]*a[k])))
			}
		}
		m.objectSums[block] = sum
	})
	return nil
}

// updateFunctions is q(φ_m) = N(a, A) for factors with a covariance over the
// objects, after their length where its turn has come: λ and h of updateObjects
// for all objects, and [latentGP.update].
func (m *factors) updateFunctions(side *half, all *lineStats, from, to int) error {
	at := func(n int) *lineStats { return &m.lineStats[n] }
	if all != nil {
		var s lineStats
		at = func(n int) *lineStats { return all.with(&s, m.cross.Row(n)[:m.M]) }
	} else {
		m.crew.each(side.blocks, func(c *lineWorker, block int) {
			for n := side.blocks[block]; n < side.blocks[block+1]; n++ {
				s, own := &m.lineStats[n], c.stats(side, n)
				s.gram.CopyFrom(own.gram)
				copy(s.cross, own.cross)
				copy(s.variance, own.variance)
			}
		})
	}
	ws := &m.crew.All
	for k := from; k < to; k++ {
		if err := m.Ended(); err != nil {
			return err
		}
		f := &m.functions[k]
		for n := range m.N {
			s, a := at(n), m.object.mean.Row(n)[:m.M]
			g := s.gram.Row(k)
			f.lambda[n] = side.weight * (g[k] + s.variance[k])
			m.h[n] = side.weight * (s.cross[k] - la.Dot(g, a) + float64(g[k]*a[k]))
		}
		if f.cov.learned() && m.sweeps > 0 && m.sweeps%m.lengthsEvery == 0 {
			if err := f.climb(ws, m.scratch, m.h, lengthTolerance); err != nil {
				return fmt.Errorf("factor %d: %w", k, err)
			}
		}
		if err := f.update(ws, m.scratch, m.h); err != nil {
			return fmt.Errorf("factor %d: %w", k, err)
		}
		for n := range m.N {
			m.object.mean.Row(n)[k], m.object.variance.Row(n)[k] = f.mean[n], f.variance[n]
		}
	}
	return nil
}

// lengthTolerance is how closely the logarithm of a length is sought; it changes
// from sweep to sweep.
const lengthTolerance = 1e-3
