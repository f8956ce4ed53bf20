package slab

import (
	"fmt"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// firstTaskSweeps is how many sweeps there are before means are extrapolated.
const firstTaskSweeps = 10

// Sweep implements [vi.Objective]. In the order that is not plain it begins at extrapolated means: where
// tasks and functions are many, both turn slowly together.
func (m *multiTask) Sweep(done func(string)) error {
	if m.ahead == nil || m.sweeps < firstTaskSweeps {
		return m.sweep(done)
	}
	m.takeMeans()
	return m.ahead.Sweep(m, m.next, done)
}

// takeMeans notes the means of the slabs where they are extrapolated.
func (m *multiTask) takeMeans() {
	for i, q := range m.q {
		m.means[i] = q.Mean
	}
}

// setMeans takes them back, and computes what follows from them and from the functions.
func (m *multiTask) setMeans() {
	for i, v := range m.means {
		m.q[i].Mean = v
	}
	m.renew()
}

// sweep makes the published updates, and the steps of lengths and scales where they are due.
func (m *multiTask) sweep(done func(string)) error {
	if err := m.form(); err != nil {
		return err
	}
	m.sweeps++
	report := func(name string) {
		if done != nil {
			done(name)
		}
	}
	for _, i := range m.active {
		if err := m.Ended(); err != nil {
			return err
		}
		f := &m.latents[i]
		if f.cov.kind == zeroCovariance {
			continue
		}
		if err := m.updateLatent(i); err != nil {
			return fmt.Errorf("latent function %d: %w", i, err)
		}
		report("φ")
	}
	if err := m.crew.Each(m.weightTask); err != nil {
		return err
	}
	report("(w̃,s)")
	m.updateNoise()
	report("σ²")
	var sums pairSums
	for q := range m.Q {
		for _, i := range m.active {
			sums.add(*m.at(q, i))
		}
	}
	if !m.held.Variance {
		m.prior.learnVariance(sums)
	}
	report("σ_w²")
	if !m.held.Pi {
		m.prior.learnPi(sums)
	}
	report("π")
	if m.sweeps%pruneEvery == 0 && m.prune() {
		report("pruning")
	}
	return nil
}

// form gives the uniform latent functions in the model the forms of their matrices. It makes
// several forms at the same time.
func (m *multiTask) form() error {
	if m.formed {
		return nil
	}
	var uniform []*latentGP
	var different []Covariance
	seen := map[*sharedForm]bool{}
	for _, i := range m.active {
		f := &m.latents[i]
		if !f.uniform {
			continue
		}
		uniform = append(uniform, f)
		if s := f.cov.shared; !seen[s] {
			seen[s] = true
			different = append(different, f.cov)
		}
	}
	if len(different) > 0 {
		crew := work.NewCrew(m.crew.All.Workers, len(different), func(int) struct{} { return struct{}{} })
		if err := crew.Each(func(_ struct{}, i int) error {
			_, err := different[i].shared.of(different[i], m.Ended)
			return err
		}); err != nil {
			return err
		}
	}
	for _, f := range uniform {
		f.form = f.cov.shared.form
	}
	m.formed = true
	return nil
}

// updateLatent is q(φ_m), with
//
//	λ_n = Σ_q z_nq·E[w_qm²]/σ_q²,   h_n = Σ_q z_nq·E[w_qm]·(y_nq − Σ_{k≠m} E[w_qk]·a_nk)/σ_q²,
//
// after its length where that is due.
func (m *multiTask) updateLatent(i int) error {
	f, ws := &m.latents[i], &m.crew.All
	pull, own, precision := m.coef[0], m.coef[1], m.coef[2]
	var all float64
	var allOwn float64
	for q, s := range m.noise {
		e := m.e.At(q, i)
		pull[q] = e / s
		own[q] = e * pull[q]
		precision[q] = m.d.At(q, i) / s
		all += precision[q]
		allOwn += own[q]
	}
	if m.observed.Rows > 0 {
		la.Gemv(ws, la.Transpose, 1, m.observed, precision, 0, f.lambda)
		la.Gemv(ws, la.Transpose, 1, m.observed, own, 0, m.h)
	} else {
		for n := range f.lambda {
			f.lambda[n], m.h[n] = all, allOwn
		}
	}
	for n, a := range f.mean {
		m.h[n] *= a
		m.step[n] = a
	}
	la.Gemv(ws, la.Transpose, 1, m.residual, pull, 1, m.h)
	if m.sweeps%m.lengthsEvery == 0 {
		if f.cov.learned() {
			if err := f.climb(ws, m.scratch, m.h, m.lengthTolerance); err != nil {
				return err
			}
		}
		if !m.plain && f.dense() && f.prior == nil {
			if err := m.rescale(i); err != nil {
				return err
			}
		}
	}
	if err := f.update(ws, m.scratch, m.h); err != nil {
		return err
	}
	for n, a := range f.mean {
		m.step[n] = a - m.step[n]
	}
	m.tally(i)
	m.now = i
	return m.crew.Each(m.moveTask)
}

// rescale moves the scale of latent function i's weights, and with it σ_w², f.lambda
// and h. q(φ) is divided by it, which leaves the likelihood as it was, and must be
// updated afterwards.
func (m *multiTask) rescale(i int) error {
	f := &m.latents[i]
	w := slabWeights{variance: m.prior.Variance, held: m.held.Variance}
	for q := range m.Q {
		for _, j := range m.active {
			if j == i {
				w.own.add(*m.at(q, j))
			} else {
				w.rest.add(*m.at(q, j))
			}
		}
	}
	if !(w.own.slabPower > 0) {
		return nil
	}
	x, err := f.scale(&m.crew.All, m.scratch, m.h, w, m.lengthTolerance)
	if err != nil || x == 0 {
		return err
	}
	c, s := special.Exp(0.5*x), special.Exp(x)
	for q := range m.Q {
		p := m.at(q, i)
		p.Mean, p.Variance = c*p.Mean, s*p.Variance
		m.setMoments(q, i)
	}
	for n := range m.h {
		m.h[n] *= c
		f.lambda[n] *= s
		f.mean[n] /= c
		m.step[n] = f.mean[n]
	}
	if !m.held.Variance {
		w.own.slabPower = float64(w.own.slabPower * s)
		w.own.merge(w.rest)
		m.prior.learnVariance(w.own)
	}
	return nil
}

// moveLatent takes latent function now's step into account in task q's residual.
func (m *multiTask) moveLatent(_ *la.Workspace, q int) error {
	m.shift(q, -m.e.At(q, m.now), m.step)
	return nil
}

// shift adds c·x to task q's residual.
func (m *multiTask) shift(q int, c float64, x []float64) {
	r := m.residual.Row(q)
	if m.observed.Rows == 0 {
		la.Axpy(c, x, r)
		return
	}
	for n, z := range m.observed.Row(q) {
		r[n] += float64(float64(c*z) * x[n])
	}
}

// updateWeightsOf is q(w̃_qm, s_qm) for all m of task q, equation (7).
func (m *multiTask) updateWeightsOf(ws *la.Workspace, q int) error {
	m.renewResidual(ws, q)
	r, e, power := m.residual.Row(q), m.e.Row(q), m.power.Row(q)
	for _, i := range m.active {
		a := m.a.Row(i)
		old := e[i]
		cross := la.Dot(a, r) + float64(old*power[i])
		*m.at(q, i) = m.prior.Posterior(cross, power[i]+m.spread.At(q, i), m.noise[q])
		m.setMoments(q, i)
		m.shift(q, old-e[i], a)
	}
	return nil
}

// updateNoise is σ_q² = E Σ_n z_nq(y_nq − f_nq)²/N_q.
func (m *multiTask) updateNoise() {
	if m.held.Noise {
		return
	}
	var sum, count float64
	for q := range m.Q {
		s := m.squared(q)
		if m.count[q] > 0 {
			m.noise[q] = max(s/m.count[q], m.floor[q])
		}
		sum += s
		count += m.count[q]
	}
	if m.shared {
		for q := range m.noise {
			m.noise[q] = max(sum/count, m.floor[q])
		}
	}
}
