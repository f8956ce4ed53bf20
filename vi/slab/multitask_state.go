package slab

import (
	"fmt"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// multiTask is the state of a fit.
type multiTask struct {
	work.Stop
	Q, M, N  int
	y        la.Matrix[float64] // Q×N, 0 where missing
	observed la.Matrix[float64] // Q×N, 1 or 0; empty if nothing is missing
	count    []float64          // Q, observed values

	latents []latentGP
	formed  bool  // those that are uniform have their forms
	active  []int // latent functions that are in the model, ascending
	prior   Prior
	noise   []float64 // Q, σ_q²
	floor   []float64 // Q, least σ_q²
	shared  bool
	held    Held
	keepAll bool
	plain   bool

	lengthsEvery, sweeps int
	lengthTolerance      float64 // of log ℓ

	q      []Pair             // Q×M
	e      la.Matrix[float64] // Q×M, E[w]
	d      la.Matrix[float64] // Q×M, E[w²]
	within la.Matrix[float64] // Q×M, Var[w]
	a      la.Matrix[float64] // M×N, E[φ]

	residual la.Matrix[float64] // Q×N, y − Σ e·a, 0 where missing
	spread   la.Matrix[float64] // Q×M, Σ Var[φ_nm] over the observed
	power    la.Matrix[float64] // Q×M, Σ a_nm² over the observed

	crew    *work.Crew[*la.Workspace]
	scratch *latentScratch
	h, step []float64 // N: of the likelihood's term; by how much a moved
	square  []float64 // N, a²
	coef    [3][]float64
	now     int // the latent function of moveTask

	ahead *work.Anderson // of means and a; nil in the plain order
	means []float64      // Q×M, of the slabs
	next  func(done func(string)) error

	memory work.Memory
	kept   multiTaskKept

	moveTask, weightTask func(*la.Workspace, int) error
}

// resume continues from f.
func (m *multiTask) resume(f *MultiTaskFit) error {
	p := f.Posterior
	if p.dim.Q != m.Q || p.dim.M != m.M || p.dim.N != m.N {
		return fmt.Errorf("vi: From: %d tasks, %d latent functions and %d samples where there are %d, %d and %d", p.dim.Q, p.dim.M, p.dim.N, m.Q, m.M, m.N)
	}
	s := p.s
	m.prior, m.sweeps = s.Prior, len(f.Record.Trace)
	copy(m.noise, s.Noise)
	copy(m.q, s.Weights)
	m.active = append(m.active[:0], s.Active...)
	for i := range m.latents {
		l := &m.latents[i]
		if s.Dense[i] != l.dense() {
			return fmt.Errorf("vi: From: latent function %d has another covariance", i)
		}
		if l.cov.kind == decayCovariance {
			l.length = min(max(s.Lengths[i], l.cov.least), l.cov.most)
		}
	}
	for _, i := range m.active {
		l := &m.latents[i]
		copy(l.alpha, s.Alpha.Row(i))
		copy(l.mean, s.Phi.Row(i))
		copy(l.variance, s.PhiVariance.Row(i))
		for n, r := range s.Root.Row(i) {
			l.lambda[n] = r * r
		}
		if err := l.restore(&m.crew.All, m.scratch); err != nil {
			return fmt.Errorf("vi: From: latent function %d: %w", i, err)
		}
	}
	m.renew()
	return nil
}

// multiTaskKept is what of a state is not in slices of numbers.
type multiTaskKept struct {
	prior      Prior
	q          []Pair
	active     []int
	length, kl []float64
	total      []float64
	sweeps     int
}

// Keep implements [vi.Objective]. It copies O(M·(N + Q)) numbers.
func (m *multiTask) Keep() {
	m.memory.Keep()
	k := &m.kept
	k.prior, k.sweeps = m.prior, m.sweeps
	k.q, k.active = append(k.q[:0], m.q...), append(k.active[:0], m.active...)
	k.length, k.kl, k.total = k.length[:0], k.kl[:0], k.total[:0]
	for i := range m.latents {
		f := &m.latents[i]
		k.length, k.kl, k.total = append(k.length, f.length), append(k.kl, f.kl), append(k.total, f.total)
	}
}

// Restore implements [vi.Objective].
func (m *multiTask) Restore() {
	m.memory.Restore()
	k := &m.kept
	m.prior, m.sweeps = k.prior, k.sweeps
	copy(m.q, k.q)
	m.active = append(m.active[:0], k.active...)
	for i := range m.latents {
		f := &m.latents[i]
		f.length, f.kl, f.total = k.length[i], k.kl[i], k.total[i]
	}
	if m.ahead != nil {
		m.takeMeans()
	}
	m.renew()
}

// renew computes what follows from the weights and the latent functions.
func (m *multiTask) renew() {
	for q := range m.Q {
		for i := range m.M {
			m.setMoments(q, i)
		}
	}
	for i := range m.latents {
		m.tally(i)
	}
	for q := range m.Q {
		m.renewResidual(&m.crew.All, q)
	}
}

// at returns weight m of task q.
func (m *multiTask) at(q, i int) *Pair { return &m.q[q*m.M+i] }

// setMoments renews the moments of weight i of task q.
func (m *multiTask) setMoments(q, i int) {
	p := *m.at(q, i)
	e, d := p.Moments()
	m.e.Row(q)[i], m.d.Row(q)[i], m.within.Row(q)[i] = e, d, p.VarW()
}

// renewResidual computes the residual of task q afresh.
func (m *multiTask) renewResidual(ws *la.Workspace, q int) {
	r := m.residual.Row(q)
	copy(r, m.y.Row(q))
	la.Gemv(ws, la.Transpose, -1, m.a, m.e.Row(q), 1, r)
	if m.observed.Rows > 0 {
		for n, z := range m.observed.Row(q) {
			r[n] *= z
		}
	}
}

// tally renews the sums of latent function i's variances and squares.
func (m *multiTask) tally(i int) {
	f := &m.latents[i]
	for n, a := range f.mean {
		m.square[n] = a * a
	}
	if m.observed.Rows == 0 {
		var s float64
		for _, x := range m.square {
			s += x
		}
		for q := range m.Q {
			m.spread.Row(q)[i], m.power.Row(q)[i] = f.total, s
		}
		return
	}
	for q := range m.Q {
		z := m.observed.Row(q)
		m.spread.Row(q)[i], m.power.Row(q)[i] = la.Dot(z, f.variance), la.Dot(z, m.square)
	}
}
