package probit

import (
	"math"
	"math/rand/v2"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/random"
	"github.com/bmkl/bmkl/vi/internal/roots"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// powers is q(β) of [RuleWProd], with q(χ) and q(π). The expected log likelihood is
//
//	L(β) = Σ E[y]∘f − ½ Σ f∘f − ½ tr(Kᵀ(Σ_c V_c)K),   f = E[W]·K,   K = Π K_p^β_p,
//
// [WeightUpdatePlugIn] leaves the trace out.
type powers struct {
	priors powerPriors

	// Sampling: nil for Mode.
	sample *importance
	random special.Rand
	stream *rand.PCG  // behind random
	match  []vi.Gamma // what the points that are not drawn from the prior follow
	sweeps int
	fixed  bool // the points are given
	fresh  bool // the last update drew points

	// Mode.
	eta, trial []float64 // log β
	gradient   []float64
	step       []float64
	last, hy   []float64
	hessian    la.Matrix[float64] // P×P, inverse, approximated from the steps so far

	f    la.Matrix[float64] // C×N
	t    la.Matrix[float64] // D×N
	cov  la.Matrix[float64]
	rows *work.Crew[struct{}]
	beta []float64
	task func(struct{}, int) error
}

// powerPriors is q(π) and q(χ) for given means of β and log β.
type powerPriors struct {
	kappa, xi                 float64
	pi, lgammaPi, logQ        []float64 // E[π], E[log Γ(π)], E[log q(π)]
	chi, logChi, shape, scale []float64 // E[χ], E[log χ] and the parameters of q(χ)
}

// newPowerPriors returns the priors' means; rates of 0 mean 1.
func newPowerPriors(kappa, xi float64, P int) powerPriors {
	or1 := func(x float64) float64 {
		if x == 0 {
			return 1
		}
		return x
	}
	p := powerPriors{kappa: or1(kappa), xi: or1(xi)}
	for range P {
		p.pi = append(p.pi, 1/p.kappa)
		p.chi = append(p.chi, 1/p.xi)
	}
	p.lgammaPi, p.logQ, p.logChi = make([]float64, P), make([]float64, P), make([]float64, P)
	p.shape, p.scale = make([]float64, P), make([]float64, P)
	return p
}

// update renews q(χ_p) = Gamma(E[π] + 1, 1/(E[β] + ξ)), which needs no sampling,
// and then q(π_p), whose density it integrates over log π.
func (p *powerPriors) update(mean, meanLog []float64) {
	for s := range p.pi {
		p.shape[s], p.scale[s] = p.pi[s]+1, 1/(mean[s]+p.xi)
		p.chi[s] = p.shape[s] * p.scale[s]
		p.logChi[s] = special.Digamma(p.shape[s]) + special.Log(p.scale[s])
		p.solvePi(s, p.logChi[s]+meanLog[s]-p.kappa, meanLog[s])
	}
}

// hyperRounds is how often q(χ) and q(π) take turns where they begin at weights that are known.
const hyperRounds = 50

// mostSteps is more than the steps that [powerPriors.solvePi] takes on one side: at most about 400,
// where log π falls slowest. Beyond π = 1e15 the density is its own rounding, which has no end.
const mostSteps = 1000

// solvePi integrates the density ∝ exp(c·π − log Γ(π) − E[log β]) of π.
func (p *powerPriors) solvePi(s int, c, meanLog float64) {
	// In v = log π the density has one mode, where π(c − ψ(π)) + 1 = 0.
	slope := func(v float64) float64 {
		x := special.Exp(v)
		return float64(x*(special.Digamma(x)-c)) - 1
	}
	mode := roots.Find(slope, -40, 40)
	x := special.Exp(mode)
	step := min(0.1, 1/(3*math.Sqrt(1+float64(x*x*special.Trigamma(x)))))
	density := func(v float64) (x, lgamma, log float64) {
		x = special.Exp(v)
		lgamma = special.LogGamma(x)
		return x, lgamma, float64(c*x) - lgamma
	}
	_, _, top := density(mode)
	top += mode
	var total, first, gamma, entropy float64
	add := func(v float64) bool {
		x, lgamma, log := density(v)
		h := log + v - top
		if !(h >= -40) {
			return false
		}
		w := special.Exp(h)
		total, first, gamma, entropy = total+w, first+float64(w*x), gamma+float64(w*lgamma), entropy+float64(w*log)
		return true
	}
	add(mode)
	for _, side := range [...]float64{step, -step} {
		for k := 1.0; k <= mostSteps && add(mode+float64(k*side)); k++ {
		}
	}
	p.pi[s], p.lgammaPi[s] = first/total, gamma/total
	p.logQ[s] = entropy/total - (top + special.Log(total*step))
}

// bound returns the terms of π and χ and of β given them. jacobian is 1 for a density of β and 0
// for a density of log β.
func (p *powerPriors) bound(mean, meanLog []float64, jacobian float64) float64 {
	var v float64
	for s, pi := range p.pi {
		lgamma := special.LogGamma(p.shape[s])
		v += float64(pi*p.logChi[s]) - p.lgammaPi[s] + float64((pi-jacobian)*meanLog[s]) - float64(p.chi[s]*mean[s])
		v += special.Log(p.kappa) - float64(p.kappa*pi) - p.logQ[s]
		v += special.Log(p.xi) - float64(p.xi*p.chi[s])
		v += p.shape[s] + special.Log(p.scale[s]) + lgamma + float64((1-p.shape[s])*special.Digamma(p.shape[s]))
	}
	return v
}

// powers returns q(β) at its start.
func (p Model) powers(m *model) (*powers, error) {
	q := &powers{
		priors: newPowerPriors(p.Kappa, p.Xi, m.P),
		eta:    make([]float64, m.P), trial: make([]float64, m.P), gradient: make([]float64, m.P),
		step: make([]float64, m.P), last: make([]float64, m.P), hy: make([]float64, m.P), hessian: la.NewMatrix[float64](m.P, m.P),
		f: la.NewMatrix[float64](m.C, m.N), t: la.NewMatrix[float64](m.D, m.N), cov: la.NewMatrix[float64](m.P, m.P),
		rows: work.NewCrew(p.Workers, (m.D+work.PassRows-1)/work.PassRows, func(int) (_ struct{}) { return }),
	}
	q.task = func(_ struct{}, block int) error {
		for d := block * work.PassRows; d < min(m.D, (block+1)*work.PassRows); d++ {
			m.composite.combineRow(d, q.beta, m.scratch.Row(d))
		}
		return nil
	}
	for s, b := range m.mean {
		q.eta[s] = special.Log(b)
	}
	if p.From != nil { // their hyperparameters follow from the weights
		for range hyperRounds {
			q.priors.update(m.mean, q.eta)
		}
	}
	if p.Search == WeightSearchSampling {
		q.stream = random.Stream(p.Seed + 1)
		q.sample, q.random = newImportance(p.samples(), m.P), special.NewRand(q.stream)
		q.match = make([]vi.Gamma, m.P)
	}
	return q, nil
}

// effective returns the effective sample size, 0 without sampling.
func (q *powers) effective() float64 {
	if q.sample == nil {
		return 0
	}
	return q.sample.effective
}

// drew reports whether the last update drew new points.
func (q *powers) drew() bool { return q.fresh }

// combine stores the composite kernel with weights beta in m.scratch.
func (q *powers) combine(m *model, beta []float64) {
	q.beta = beta
	_ = q.rows.Each(q.task)
	m.addRidge(m.scratch)
}

// update implements weights.
func (q *powers) update(m *model) error {
	if m.update == WeightUpdateMeanField {
		m.sum.MirrorLower()
	}
	if q.sample != nil {
		return q.updateSample(m)
	}
	q.climb(m)
	m.settle()
	q.priors.update(m.mean, q.eta)
	return nil
}

// updateSample is the update by importance sampling. [WeightUpdateMeanField] takes E[K] and
// E[KKᵀ] over the sample.
func (q *powers) updateSample(m *model) error {
	if q.fresh = !q.fixed && q.sweeps <= earlySweeps; q.fresh {
		if err := q.draw(m); err != nil {
			return err
		}
		q.sweeps++
	}
	if err := q.solve(m); err != nil {
		return err
	}
	copy(m.mean, q.sample.mean)
	if m.update == WeightUpdatePlugIn {
		m.settle()
	} else if err := q.average(m, &m.Stop); err != nil {
		return err
	}
	q.priors.update(q.sample.mean, q.sample.meanLog)
	return nil
}

// remember implements weights.
func (q *powers) remember(memory *work.Memory) {
	memory.Of(q.eta)
	if s := q.sample; s != nil {
		memory.Of(s.points.Data, s.weight, s.mean)
	}
}

// restored implements weights.
func (q *powers) restored(m *model) {
	if q.sample != nil && m.update != WeightUpdatePlugIn {
		_ = q.average(m, nil) // nothing stops it
		return
	}
	m.setKernel()
}

// average makes E[K], E[KKᵀ] and what depends on them those over the sample, unless stop ends it.
func (q *powers) average(m *model, stop *work.Stop) error {
	m.kernel.Fill(0)
	m.gram.Fill(0)
	clear(m.spread)
	for i, w := range q.sample.weight {
		if w < 1e-20 {
			continue
		}
		if err := stop.Ended(); err != nil {
			return err
		}
		q.combine(m, q.sample.points.Row(i))
		la.Gemm(&m.ws, la.NoTrans, la.NoTrans, 1, m.w, m.scratch, 0, q.f)
		la.Syrk(&m.ws, la.NoTrans, w, m.scratch, 1, m.gram)
		for d := range m.D {
			la.Axpy(w, m.scratch.Row(d), m.kernel.Row(d))
		}
		for c := range m.C {
			m.spread[c] += float64(w * la.SumSq(q.f.Row(c)))
		}
	}
	m.spread[0] += lowerInner(m.gram, m.sum)
	la.Gemm(&m.ws, la.NoTrans, la.NoTrans, 1, m.w, m.kernel, 0, m.f)
	return nil
}

// solve weighs the points.
func (q *powers) solve(m *model) error {
	s := q.sample
	for i := range s.target {
		if err := m.Ended(); err != nil {
			return err
		}
		q.combine(m, s.points.Row(i))
		t := m.likelihoodOf(m.scratch, q.f, q.t)
		for p, l := range s.logs.Row(i) {
			t += float64((q.priors.pi[p]-1)*l) - float64(q.priors.chi[p]*s.points.At(i, p))
		}
		s.target[i] = t
	}
	s.weigh()
	return nil
}

// draw makes new points. After the first sweep most of them follow gamma distributions with the
// moments of the last sample.
func (q *powers) draw(m *model) error {
	s, share := q.sample, 1.0
	if q.sweeps > 0 {
		share = priorShare
		s.covariance(q.cov)
		for p, mean := range s.mean {
			shape := min(max(mean*mean/max(q.cov.At(p, p), 1e-300), 0.5), 1e4)
			q.match[p] = vi.Gamma{Shape: shape, Scale: max(mean, 1e-6) / shape}
		}
	}
	logs := make([]float64, len(s.mean))
	for i := range s.proposal {
		if err := m.Ended(); err != nil {
			return err
		}
		fromPrior := float64(i) < share*float64(len(s.proposal))
		var prior, match float64
		for p := range logs {
			g := vi.Gamma{Shape: q.priors.pi[p], Scale: 1 / q.priors.chi[p]}
			if !fromPrior {
				g = q.match[p]
			}
			logs[p] = max(logGammaDraw(q.random, g.Shape)+special.Log(g.Scale), -700)
			prior += logGammaDensity(logs[p], q.priors.pi[p], q.priors.chi[p])
			if share < 1 {
				match += logGammaDensity(logs[p], q.match[p].Shape, 1/q.match[p].Scale)
			}
		}
		s.set(i, logs)
		s.proposal[i] = prior
		if share < 1 {
			s.proposal[i] = logAdd(prior+special.Log(share), match+special.Log(1-share))
		}
	}
	return nil
}

// climb moves η = log β uphill on the density of η, by a few quasi-Newton steps
// from where it is.
func (q *powers) climb(m *model) {
	const steps = 5
	P := m.P
	value := q.density(m, q.eta)
	q.slope(m, q.eta, q.gradient)
	q.hessian.Fill(0)
	for p := range P {
		q.hessian.Set(p, p, 1/(1+math.Abs(q.gradient[p])))
	}
	last := q.last
	for range steps {
		var rise float64
		for p := range P {
			q.step[p] = la.Dot(q.hessian.Row(p), q.gradient)
		}
		for p := range P { // a factor of e² at most
			q.step[p] = min(max(q.step[p], -2), 2)
			rise += float64(q.step[p] * q.gradient[p])
		}
		if !(rise > 1e-12*(1+math.Abs(value))) {
			break
		}
		scale, found := 1.0, false
		for range 20 {
			for p := range P {
				q.trial[p] = min(max(q.eta[p]+float64(scale*q.step[p]), -30), 30)
			}
			if v := q.density(m, q.trial); v >= value+float64(1e-4*scale*rise) {
				value, found = v, true
				break
			}
			scale *= 0.5
		}
		if !found {
			break
		}
		copy(last, q.gradient)
		q.slope(m, q.trial, q.gradient)
		for p := range P {
			q.step[p] = q.trial[p] - q.eta[p]
			last[p] -= q.gradient[p] // of minus the density
		}
		copy(q.eta, q.trial)
		q.learn(q.step, last)
	}
	for p, e := range q.eta {
		m.mean[p] = special.Exp(e)
	}
}

// learn is the update of Broyden, Fletcher, Goldfarb and Shanno of the inverse
// Hessian of minus the density, after a step s that changed its gradient by y.
func (q *powers) learn(s, y []float64) {
	sy := la.Dot(s, y)
	if !(sy > 1e-10*math.Sqrt(la.SumSq(s)*la.SumSq(y))) {
		return
	}
	hy := q.hy
	for p := range s {
		hy[p] = la.Dot(q.hessian.Row(p), y)
	}
	k := (1 + la.Dot(y, hy)/sy) / sy
	for p := range s {
		row := q.hessian.Row(p)
		la.Axpy(k*s[p], s, row)
		la.Axpy(-s[p]/sy, hy, row)
		la.Axpy(-hy[p]/sy, s, row)
	}
}

// density returns the logarithm of the density of η.
func (q *powers) density(m *model, eta []float64) float64 {
	v := 0.0
	for p, e := range eta {
		m.mean[p] = special.Exp(e)
		v += float64(q.priors.pi[p]*e) - float64(q.priors.chi[p]*m.mean[p])
	}
	q.combine(m, m.mean)
	return v + m.likelihoodOf(m.scratch, q.f, q.t)
}

// slope stores the gradient of density at η, where density was computed last: its
// kernel is in m.scratch, f in q.f and (Σ V_c)K in q.t.
//
// β_p·<(E[W]ᵀ(E[Y] − f) − (Σ V_c)K)∘K, log K_p> + π_p − χ_pβ_p,
//
// K without the ridge where it is multiplied by log K_p. It overwrites m.scratch.
func (q *powers) slope(m *model, eta, gradient []float64) {
	rest := q.f
	for i, y := range m.y.Data {
		rest.Data[i] = y - rest.Data[i]
	}
	trace := 0.0
	if m.update == WeightUpdateMeanField {
		trace = -1
	}
	la.Gemm(&m.ws, la.Transpose, la.NoTrans, 1, m.w, rest, trace, q.t)
	clear(gradient)
	for d := range m.D {
		t, k := q.t.Row(d), m.scratch.Row(d)
		if m.ridge != nil {
			k[d] -= m.ridge[d] // which does not depend on β
		}
		for n := range t {
			t[n] *= k[n]
		}
		for p, l := range m.composite.logs {
			gradient[p] += la.Dot(t, l.Row(d))
		}
	}
	for p, e := range eta {
		b := special.Exp(e)
		gradient[p] = float64(b*gradient[p]) + q.priors.pi[p] - float64(q.priors.chi[p]*b)
	}
}

// bound implements weights.
func (q *powers) bound() float64 {
	if q.sample != nil {
		return q.priors.bound(q.sample.mean, q.sample.meanLog, 1) - q.sample.meanLogQ
	}
	for p, e := range q.eta {
		q.trial[p] = special.Exp(e)
	}
	return q.priors.bound(q.trial, q.eta, 0)
}

// covariance implements weights: it returns the covariance of the sample, or of the normal density
// of log β with the same curvature at the mode, by differences of the gradient.
func (q *powers) covariance(m *model) la.Matrix[float64] {
	if q.sample != nil {
		q.sample.covariance(q.cov)
		return q.cov
	}
	if m.update == WeightUpdateMeanField {
		m.sum.MirrorLower() // W may be newer than β
	}
	const h = 1e-4
	P := m.P
	mean := append([]float64(nil), m.mean...)
	q.cov.Fill(0)
	curve := la.NewMatrix[float64](P, P)
	at := func(p int, step float64) []float64 {
		copy(q.trial, q.eta)
		q.trial[p] += step
		q.density(m, q.trial)
		g := make([]float64, P)
		q.slope(m, q.trial, g)
		return g
	}
	for p := range P {
		up, down := at(p, h), at(p, -h)
		for r := range P {
			curve.Data[p*P+r] += (down[r] - up[r]) / (4 * h)
			curve.Data[r*P+p] += (down[r] - up[r]) / (4 * h)
		}
	}
	copy(m.mean, mean)
	if la.Cholesky(nil, curve) != nil {
		return q.cov // not a maximum: the weights have not settled
	}
	la.CholeskyInv(nil, curve)
	curve.MirrorLower()
	for p := range P {
		for r := range P {
			q.cov.Set(p, r, mean[p]*mean[r]*curve.At(p, r))
		}
	}
	return q.cov
}
