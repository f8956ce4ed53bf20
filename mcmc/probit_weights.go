package mcmc

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/probit"
	"github.com/bmkl/bmkl/vi/slab"
)

// rounds is how many times a sweep makes the proposals that cost next to nothing:
// steps of the weights of a sum, once all W·K_p are known, and steps of ρ.
const rounds = 4

// sumWeights is the log likelihood of the weights of a sum as a quadratic function of
// β. With g_p = W·K_p it is bᵀβ − ½·βᵀAβ up to a constant, b_p = ⟨Y, g_p⟩ and
// A_pq = ⟨g_p, g_q⟩; a ridge counts as a part of Y.
type sumWeights struct {
	g         la.Matrix[float64] // (C·P)×N, row c·P+p is row c of g_p
	a         la.Matrix[float64] // P×P
	b         []float64          // P
	rest      []float64          // N, a row of Y less what the ridge adds to f
	beta, log []float64          // P, a proposal
	rho       []float64          // P, a proposal
}

func newSumWeights(m *probitProblem) sumWeights {
	return sumWeights{
		g: la.NewMatrix[float64](m.C*m.P, m.N), a: la.NewMatrix[float64](m.P, m.P),
		b: make([]float64, m.P), rest: make([]float64, m.N),
		beta: make([]float64, m.P), log: make([]float64, m.P), rho: make([]float64, m.P),
	}
}

// project computes all g_p from the present W.
func (q *sumWeights) project(s *probitSampler) { s.composite.Base().Project(s.ws, s.w, q.g) }

// combine stores f of the present W and the weights beta, from all g_p.
func (q *sumWeights) combine(s *probitSampler, beta []float64, f la.Matrix[float64]) {
	for c := range s.C {
		row := f.Row(c)
		clear(row)
		for n, r := range s.ridge {
			row[n] = r * s.w.At(c, n)
		}
		for p, b := range beta {
			la.Axpy(b, q.g.Row(c*s.P+p), row)
		}
	}
}

// measure computes A and b from the present W and Y.
func (q *sumWeights) measure(s *probitSampler) {
	q.project(s)
	clear(q.b)
	for c := range s.C {
		g := q.g.Slice(c*s.P, (c+1)*s.P, 0, s.N)
		la.Gemm(s.ws, la.NoTrans, la.Transpose, 1, g, g, min(1, float64(c)), q.a)
		copy(q.rest, s.y.Row(c))
		for n, r := range s.ridge {
			q.rest[n] -= float64(s.w.At(c, n) * r)
		}
		for p := range q.b {
			q.b[p] += la.Dot(g.Row(p), q.rest)
		}
	}
}

// density returns the log density of β = e^log given ρ, Y and W, up to a constant, in
// the coordinates log(β_p/β_P) of the simplex. Their Jacobian Π β_p turns the exponents
// ρ_p − 1 of the Dirichlet density into ρ_p.
func (q *sumWeights) density(beta, log, rho []float64) float64 {
	var l float64
	for p, b := range beta {
		l += float64(b * (q.b[p] - float64(0.5*la.Dot(q.a.Row(p), beta))))
		l += float64(rho[p] * log[p])
	}
	return l
}

// sweepSimplex moves the weights of a sum to β* ∝ β∘exp(step), with steps of one
// component at a time and of all at once.
func (s *probitSampler) sweepSimplex(r random, burnIn bool) {
	q := &s.sumSteps
	q.measure(s)
	now := q.density(s.beta, s.logBeta, s.rho)
	for range rounds {
		for k := range s.given {
			size := s.given[k].length(r)
			for p := range q.log {
				q.log[p] = s.logBeta[p]
				if p == k || k == s.P {
					q.log[p] += float64(size * r.NormFloat64())
				}
			}
			normalise(q.log, q.beta)
			then := q.density(q.beta, q.log, s.rho)
			if s.given[k].accept(r, then-now, burnIn) {
				now = then
				copy(s.beta, q.beta)
				copy(s.logBeta, q.log)
			}
		}
	}
}

// sweepConcentration moves ρ, one component at a time, by a random walk of log ρ.
func (s *probitSampler) sweepConcentration(r random, burnIn bool) {
	trial := s.sumSteps.rho
	now := logDirichlet(s.rho, s.logBeta, s.probitProblem.rho)
	for range rounds {
		for p := range s.rho {
			copy(trial, s.rho)
			trial[p] *= special.Exp(s.hyper[p].length(r) * r.NormFloat64())
			then := logDirichlet(trial, s.logBeta, s.probitProblem.rho)
			if s.hyper[p].accept(r, then-now, burnIn) {
				now = then
				copy(s.rho, trial)
			}
		}
	}
}

// normalise shifts the logarithms by a constant so that their exponentials, which it
// stores in beta, add up to 1.
func normalise(log, beta []float64) {
	top := math.Inf(-1)
	for _, v := range log {
		top = max(top, v)
	}
	var sum float64
	for _, v := range log {
		sum += special.Exp(v - top)
	}
	for p := range log {
		log[p] -= top + special.Log(sum)
		beta[p] = special.Exp(log[p])
	}
}

// logDirichlet returns the log density of log ρ given β: the density of β given ρ times
// the prior of ρ and the Jacobian Π ρ_p, up to a constant.
func logDirichlet(rho, logBeta []float64, prior vi.Gamma) float64 {
	var l, sum float64
	for p, v := range rho {
		g := special.LogGamma(v)
		l += float64(v*logBeta[p]) - g + float64(prior.Shape*special.Log(v)) - v/prior.Scale
		sum += v
	}
	g := special.LogGamma(sum)
	return l + g
}

// trialKernel is a proposal of weights or parameters, with the kernel that it makes.
type trialKernel struct {
	kernel, gram la.Matrix[float64] // D×N and D×D, as in probitSampler
	f            la.Matrix[float64] // C×N
	base         la.Matrix[float64] // D×N, the base kernel whose parameters are moved
	weights      []float64          // P
	logs         []float64          // P, log weights
	at, from     []float64          // P, their coordinates, and those before a step
	theta        []float64          // Q
}

func newTrialKernel(m *probitProblem) trialKernel {
	t := trialKernel{
		kernel: la.NewMatrix[float64](m.D, m.N), f: la.NewMatrix[float64](m.C, m.N),
		weights: make([]float64, m.P), logs: make([]float64, m.P), theta: make([]float64, m.Q),
		at: make([]float64, m.P), from: make([]float64, m.P),
	}
	if m.rule == probit.RuleBin {
		t.gram = la.NewMatrix[float64](m.D, m.D)
	}
	if m.Q > 0 {
		t.base = la.NewMatrix[float64](m.D, m.N)
	}
	return t
}

// try computes the trial kernel from a composite and weights, and its f.
func (s *probitSampler) try(composite *probit.Composite, beta []float64) {
	s.compose(s.ws, composite, beta, s.trial.kernel)
	la.Gemm(s.ws, la.NoTrans, la.NoTrans, 1, s.w, s.trial.kernel, 0, s.trial.f)
}

// walksWeights reports whether weights are positive numbers that are learned.
func (m *probitProblem) walksWeights() bool {
	return m.rule == probit.RuleWSum || m.rule == probit.RuleWProd
}

// weigh computes the trial's weights from coordinates: of a sum log β, up to a constant; of a
// product log e with e = log(1 + ξ/β), so that β = ξ/(eᵉ − 1).
func (s *probitSampler) weigh(at []float64) {
	t := &s.trial
	if s.rule == probit.RuleWSum {
		copy(t.logs, at)
		normalise(t.logs, t.weights)
		return
	}
	for p, v := range at {
		e := special.Exp(v)
		t.logs[p] = special.Log(s.xi) - e - special.Log(-special.Expm1(-e))
		t.weights[p] = special.Exp(t.logs[p])
	}
}

// locate stores the coordinates of the present weights in at.
func (s *probitSampler) locate(at []float64) {
	copy(at, s.logBeta)
	if s.rule == probit.RuleWProd {
		for p, log := range s.logBeta {
			at[p] = special.Log(s.logExcess(log))
		}
	}
}

// logWeightPrior returns the log prior density of the coordinates at, up to a constant. The density of a
// sum is given ρ; its Jacobian Π β_p turns the exponents ρ_p − 1 of the Dirichlet density into ρ_p.
// The density of a product has π and χ integrated out: with p(β) = κξ/(β(β+ξ)·(κ + e)²) the density of e is
// κ/(κ + e)², so that log e is logistic, where log β has the tails of a Cauchy distribution.
func (s *probitSampler) logWeightPrior(at []float64) float64 {
	if s.rule == probit.RuleWSum {
		return la.Dot(s.rho, s.trial.logs)
	}
	var l float64
	for _, v := range at {
		l += v - float64(2*special.Log(s.kappa+special.Exp(v)))
	}
	return l
}

// logExcess returns log(1 + ξ/β), given log β.
func (s *probitSampler) logExcess(logBeta float64) float64 {
	above := special.Log(s.xi) - logBeta
	if above > 40 {
		return above
	}
	return special.Log1p(special.Exp(above))
}

// drawShapes draws π_p | β ~ Gamma(2, rate κ + log(1 + ξ/β_p)), χ integrated out.
func (s *probitSampler) drawShapes(r random) {
	for p, log := range s.logBeta {
		s.pi[p] = special.Exp(logGamma(r, 2)) / (s.kappa + s.logExcess(log))
	}
}

// drawRates draws χ_p | π, β ~ Gamma(π_p + 1, rate β_p + ξ): its prior is conjugate.
func (s *probitSampler) drawRates(r random) {
	for p, pi := range s.pi {
		s.chi[p] = special.Exp(logGamma(r, pi+1)) / (s.beta[p] + s.xi)
	}
}

// thetas is how many times a sweep goes through the parameters of all kernels.
const thetas = 8

// sweepTheta moves the parameters of one kernel after another given W and the labels, and then
// computes the kernel.
func (s *probitSampler) sweepTheta(r random, burnIn bool) error {
	if s.Q == 0 {
		return nil
	}
	now := s.labelled(s.f)
	for range thetas {
		first, k := 0, 0
		for p, n := range s.counts {
			if n == 0 {
				continue
			}
			var err error
			if now, err = s.moveTheta(r, &s.kernels[k], now, p, first, first+n, burnIn); err != nil {
				return err
			}
			if s.rule == probit.RuleWProd {
				if now, err = s.exchange(r, &s.exchanges[k], now, p, first, first+n, burnIn); err != nil {
					return err
				}
			}
			first += n
			k++
		}
	}
	s.recombine()
	return nil
}

// moveTheta moves the parameters of kernel p, those from first on and before last, all together, by a
// random walk of their logarithms. It takes and returns log p(t | f).
func (s *probitSampler) moveTheta(r random, w *walk, now float64, p, first, last int, burnIn bool) (float64, error) {
	t := &s.trial
	size := w.length(r)
	copy(t.theta, s.theta)
	copy(t.weights, s.beta)
	for q := first; q < last; q++ {
		t.theta[q] *= special.Exp(size * r.NormFloat64())
	}
	_, then, err := s.decideTheta(r, w, now, 0, p, first, last, burnIn)
	return then, err
}

// exchange moves the parameters of kernel p of a product against its weight, θ → θ·e^s and
// β_p → β_p·e^(−s). Of [ExponentialKernels] it leaves K_p^β_p alone, so that neither moves far without
// the other. It takes and returns log p(t | f).
func (s *probitSampler) exchange(r random, w *walk, now float64, p, first, last int, burnIn bool) (float64, error) {
	t := &s.trial
	step := float64(w.length(r) * r.NormFloat64())
	copy(t.theta, s.theta)
	copy(t.weights, s.beta)
	for q := first; q < last; q++ {
		t.theta[q] *= special.Exp(step)
	}
	log := s.logBeta[p] - step
	t.weights[p] = special.Exp(log)
	yes, then, err := s.decideTheta(r, w, now, s.logPower(log)-s.logPower(s.logBeta[p]), p, first, last, burnIn)
	if yes {
		s.beta[p], s.logBeta[p] = t.weights[p], log
	}
	return then, err
}

// decideTheta accepts the trial's θ and weights; θ differs from first on and before last, in
// the parameters of kernel p, or does not; the prior of the weights' logarithms rises by rise. It reports
// whether it did, and returns log p(t | f). A θ beyond the numbers has the density 0, and no kernel is
// made of it.
func (s *probitSampler) decideTheta(r random, w *walk, now, rise float64, p, first, last int, burnIn bool) (bool, float64, error) {
	t, prior := &s.trial, s.probitProblem.theta
	there := logParameters(t.theta[first:last], prior)
	if !(there > math.Inf(-1)) {
		w.accept(r, math.Inf(-1), burnIn)
		return false, now, nil
	}
	s.k.Kernel(s.ws, p, t.theta[first:last], t.base)
	kept := s.composite
	s.base[p], t.base = t.base, s.base[p]
	if err := s.recompose(); err != nil {
		return false, now, fmt.Errorf("theta %v of kernel %d: %w", t.theta[first:last], p, err)
	}
	s.try(s.composite, t.weights)
	then := s.labelled(t.f)
	rise += then - now + there - logParameters(s.theta[first:last], prior)
	if !w.accept(r, rise, burnIn) {
		s.base[p], t.base = t.base, s.base[p]
		s.composite = kept
		return false, now, nil
	}
	copy(s.theta, t.theta)
	s.f, t.f = t.f, s.f
	return true, then, nil
}

// logPower returns the log prior density of log β of a product, π and χ integrated out, up to a
// constant: β·p(β) = κξ/((β+ξ)·(κ + e)²) with e = log(1 + ξ/β), where ξ/(β+ξ) = 1 − exp(−e).
func (s *probitSampler) logPower(logBeta float64) float64 {
	e := s.logExcess(logBeta)
	return special.Log(-special.Expm1(-e)) - float64(2*special.Log(s.kappa+e))
}

// logParameters returns the log prior density of log θ, up to a constant.
func logParameters(theta []float64, prior vi.Gamma) float64 {
	var l float64
	for _, v := range theta {
		l += float64(prior.Shape*special.Log(v)) - v/prior.Scale
	}
	return l
}

// sweepSwitches draws each β_p of Bin given the others, Y and α, with W integrated out,
// and then W. The factorisations for the β arrived at serve to draw W, as Y and α have
// not changed since.
func (s *probitSampler) sweepSwitches(r random) error {
	if err := s.solve(&s.fit, s.kernel, s.gram); err != nil {
		return err
	}
	now := s.evidence(&s.fit)
	for p, on := range s.on {
		copy(s.trial.weights, s.beta)
		s.trial.weights[p] = 1 - s.beta[p]
		if s.notEmpty && la.SumSq(s.trial.weights) == 0 {
			continue
		}
		s.combine(s.ws, s.composite, s.trial.weights, s.trial.kernel, s.trial.gram)
		if err := s.solve(&s.tried, s.trial.kernel, s.trial.gram); err != nil {
			return err
		}
		then := s.evidence(&s.tried)
		odds := special.Log(on) - special.Log1p(-on) // of on against off
		if s.beta[p] == 1 {
			odds = -odds
		}
		if r.Float64() < (slab.Pair{Logit: odds + then - now}).Inclusion() {
			now = then
			copy(s.beta, s.trial.weights)
			s.fit, s.tried = s.tried, s.fit
			s.kernel, s.trial.kernel = s.trial.kernel, s.kernel
			s.gram, s.trial.gram = s.trial.gram, s.gram
		}
	}
	s.drawW(r, &s.fit)
	return nil
}
