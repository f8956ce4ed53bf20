package slab

import (
	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// updateTasks is q(w̃_qm, s_qm) for the weights from ≤ m < to, one after the other
// for each task, and q(c_q) if to = M+1; see [Prior.Posterior]. The same
// matrices as for the objects, without the noise, give what each needs; and E_q.
func (m *factors) updateTasks(from, to int) {
	side := half{
		lines: &m.y.byTask, blocks: m.taskBlocks, other: &m.object, means: m.K, base: m.base, weight: 1,
	}
	for i, p := range m.priors {
		m.odds[i], m.logVar[i] = p.logit(), special.Log(p.Variance)
	}
	var all *lineStats
	var alike []float64 // the gains, if all tasks have the same
	if m.y.complete() {
		all = m.crew.shared(m.K)
		m.completeTasks(all)
		if !m.perTask && m.viewOf == nil {
			alike = m.crew.gain
			m.gains(all, 0, alike)
		}
	}
	m.crew.each(side.blocks, func(c *lineWorker, block int) {
		sums := m.taskSums[block*len(m.priors):][:len(m.priors)]
		clear(sums)
		for q := side.blocks[block]; q < side.blocks[block+1]; q++ {
			s := all
			if s == nil {
				s = c.stats(&side, q)
			} else {
				s = s.with(&c.own, m.cross.Row(q))
				s.total = m.square[q]
			}
			gain := alike
			if gain == nil {
				gain = c.gain
				m.gains(s, q, gain)
			}
			m.updateTask(s, q, from, to, gain, sums)
		}
	})
}

// gains computes log(σ_w²/v_qm) for the weights of task q.
func (m *factors) gains(s *lineStats, q int, gain []float64) {
	noise := m.noise[q]
	first, step := m.priorsOf(q)
	for k := range gain {
		gain[k] = special.Log1p((s.gram.At(k, k) + s.variance[k]) * m.priors[first+k*step].Variance / noise)
	}
}

// updateTask is updateTasks for task q, whose statistics are s: the weights from ≤ m < to,
// and q(c_q) if to is beyond them. Its weights are added to the sums of their priors.
func (m *factors) updateTask(s *lineStats, q, from, to int, gain []float64, sums []slabSums) {
	e, variance := m.task.mean.Row(q), m.task.variance.Row(q)
	weights := m.weights[q*m.M:][:m.M]
	noise := m.noise[q]
	first, step := m.priorsOf(q)
	rest := 1.0
	for k := range weights {
		var logVariance float64
		i := first + k*step
		if k >= from && k < to {
			g := s.gram.Row(k)[:m.K]
			cross := s.cross[k] - la.Dot(g, e) + float64(g[k]*e[k])
			weights[k] = m.priors[i].posterior(m.odds[i], gain[k], cross, g[k]+s.variance[k], noise)
			logVariance = m.logVar[i] - gain[k]
		} else {
			logVariance = special.Log(weights[k].Variance)
		}
		var r float64
		e[k], variance[k], r = sums[i].add(weights[k], logVariance)
		if rest *= r; rest > 1e300 {
			sums[first].entropy += special.Log(rest)
			rest = 1
		}
	}
	sums[first].entropy += special.Log(rest)
	if to > m.M {
		g := s.gram.Row(m.M)[:m.K]
		cross := s.cross[m.M] - la.Dot(g, e) + float64(g[m.M]*e[m.M])
		p := m.offsetPriorOf(q)
		v := 1 / (g[m.M]/noise + 1/p.Variance) // g is the number of entries or, with sites, the sum of their precisions
		m.offsetVar[q] = v
		e[m.M] = v * (cross/noise + p.Mean/p.Variance)
	}
	// E_q = Σ(y − Σ e·a)² + Σ_m E[w²]ΣA + Var[w]Σa² + (entries)·Var[c].
	sum, shake := s.total, s.total
	for k, v := range e {
		shake += float64(float64(v*v) * s.gram.At(k, k))
		sum -= float64(v * (float64(2*s.cross[k]) - la.Dot(s.gram.Row(k)[:m.K], e)))
	}
	sum = max(0, sum)
	for k, v := range variance {
		sum += float64((float64(e[k]*e[k])+v)*s.variance[k]) + float64(v*s.gram.At(k, k))
	}
	if m.K > m.M {
		sum += float64(s.gram.At(m.M, m.M) * m.offsetVar[q])
	}
	m.error2[q], m.shake[q] = sum, shake
}
