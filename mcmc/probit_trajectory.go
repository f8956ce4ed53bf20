package mcmc

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/probit"
)

// trajectory is room for Hamiltonian Monte Carlo given the labels, with Y integrated out, in
// coordinates x in which the prior is well scaled:
//
//	z = √α·w        C·D, standard normal
//	λ = log α       C·D
//	η               P, of learned weights: of a product the coordinates of [probitSampler.weigh]; of
//	                a sum ρ_p·log(β_p·S) with S ~ Gamma(Σρ, 1), so that β_p·S ~ Gamma(ρ_p, 1)
//	log ρ           P, of a sum
//
// Where ρ_p is small log β_p goes down to −1/ρ_p and below, and η_p to about −1.
//
// Moving W with its precisions and the weights together takes functions that are large, and
// so far from what Y and the labels hold in place, to where no walk of one of them goes.
//
// Source: S. Duane, A. D. Kennedy, B. J. Pendleton and D. Roweth, "Hybrid Monte Carlo",
// Physics Letters B 195 (1987); R. M. Neal, "MCMC using Hamiltonian dynamics" (2011).
type trajectory struct {
	x, slope, momentum []float64

	z, lambda     la.Matrix[float64] // C×D, in x
	byZ, byLambda la.Matrix[float64] // C×D, in slope
	eta, logRho   []float64          // P, in x; nil where they are not
	byEta, byRho  []float64          // P, in slope

	w, alpha la.Matrix[float64] // C×D
	rho      []float64          // P
	byF      la.Matrix[float64] // C×N, slopes of log p(t | f)
	byKernel la.Matrix[float64] // D×N, of learned weights
}

const (
	leaps       = 24   // steps of a trajectory
	leapTarget  = 0.75 // the acceptance rate that the burn-in aims at
	leapAtFirst = 0.1  // the length of a step to begin with
)

func newTrajectory(m *probitProblem) trajectory {
	n := m.C * m.D
	length := 2 * n
	switch m.rule {
	case probit.RuleWSum:
		length += 2 * m.P
	case probit.RuleWProd:
		length += m.P
	}
	t := trajectory{
		x: make([]float64, length), slope: make([]float64, length), momentum: make([]float64, length),
		w: la.NewMatrix[float64](m.C, m.D), alpha: la.NewMatrix[float64](m.C, m.D),
		rho: make([]float64, m.P), byF: la.NewMatrix[float64](m.C, m.N),
	}
	split := func(x []float64) (z, lambda la.Matrix[float64], eta, rho []float64) {
		z, lambda = la.MatrixOf(m.C, m.D, x[:n]), la.MatrixOf(m.C, m.D, x[n:2*n])
		if m.walksWeights() {
			eta, rho = x[2*n:2*n+m.P], x[2*n+m.P:]
		}
		return z, lambda, eta, rho
	}
	t.z, t.lambda, t.eta, t.logRho = split(t.x)
	t.byZ, t.byLambda, t.byEta, t.byRho = split(t.slope)
	if m.walksWeights() {
		t.byKernel = la.NewMatrix[float64](m.D, m.N)
	}
	return t
}

// sweepTrajectory moves W, α, and the weights of a sum with ρ or the weights of a product, and f with
// them, by one trajectory. It takes and returns log p(t | f).
func (s *probitSampler) sweepTrajectory(r random, now float64, burnIn bool) float64 {
	t := &s.path
	for i, a := range s.alpha.Data {
		t.lambda.Data[i] = special.Log(a)
		t.z.Data[i] = math.Sqrt(a) * s.w.Data[i]
	}
	if s.walksWeights() {
		s.locate(t.eta)
	}
	if s.rule == probit.RuleWSum {
		mass := logGamma(r, sum(s.rho))
		for p, v := range s.rho {
			t.eta[p] = v * (t.eta[p] + mass)
			t.logRho[p] = special.Log(v)
		}
	}
	normals(r, t.momentum)
	s.place()
	from := now + s.logTrajectoryPrior() - float64(0.5*la.SumSq(t.momentum))
	// Steps of random length do not return to where they began after whole periods.
	step := s.leap.size * (0.5 + float64(0.75*uniform(r)))
	s.findSlope()
	for range leaps {
		la.Axpy(step/2, t.slope, t.momentum)
		la.Axpy(step, t.momentum, t.x)
		s.place()
		s.findSlope()
		la.Axpy(step/2, t.slope, t.momentum)
	}
	then := s.labelled(s.trial.f)
	rise := then + s.logTrajectoryPrior() - float64(0.5*la.SumSq(t.momentum)) - from
	if !s.leap.accept(r, rise, burnIn) {
		return now
	}
	s.w.CopyFrom(t.w)
	s.alpha.CopyFrom(t.alpha)
	s.f, s.trial.f = s.trial.f, s.f
	if s.walksWeights() {
		copy(s.beta, s.trial.weights)
		copy(s.logBeta, s.trial.logs)
		s.kernel, s.trial.kernel = s.trial.kernel, s.kernel
	}
	if s.rule == probit.RuleWSum {
		copy(s.rho, t.rho)
	}
	return then
}

// place computes W, α, weights, kernel and f of the trajectory from x.
func (s *probitSampler) place() {
	t := &s.path
	for i, l := range t.lambda.Data {
		root := special.Exp(0.5 * l)
		t.alpha.Data[i] = root * root
		t.w.Data[i] = t.z.Data[i] / root
	}
	kernel := s.kernel
	if s.walksWeights() {
		kernel = s.trial.kernel
		copy(s.trial.at, t.eta)
		for p, v := range t.logRho {
			t.rho[p] = special.Exp(v)
			s.trial.at[p] /= t.rho[p]
		}
		s.weigh(s.trial.at)
		s.compose(s.ws, s.composite, s.trial.weights, kernel)
	}
	la.Gemm(s.ws, la.NoTrans, la.NoTrans, 1, t.w, kernel, 0, s.trial.f)
}

// logTrajectoryPrior returns the log density of x under the prior, up to a constant.
func (s *probitSampler) logTrajectoryPrior() float64 {
	t := &s.path
	l := -0.5 * la.SumSq(t.z.Data)
	for c, prior := range s.probitProblem.alpha {
		l += float64(prior.Shape*sum(t.lambda.Row(c))) - sum(t.alpha.Row(c))/prior.Scale
	}
	switch s.rule {
	case probit.RuleWSum:
		prior := s.probitProblem.rho
		for p, rho := range t.rho {
			g := special.LogGamma(1 + rho)
			l += t.eta[p] - special.Exp(s.trial.at[p]) - g
			l += float64(prior.Shape*t.logRho[p]) - rho/prior.Scale
		}
	case probit.RuleWProd:
		l += s.logWeightPrior(t.eta)
	}
	return l
}

// findSlope computes the slope of log p(t | f) and the prior at x. The slope of log p(t | f) is
// approximate, which costs accepted proposals only: it depends on x alone.
func (s *probitSampler) findSlope() {
	t := &s.path
	for n, label := range s.labels {
		for c := range s.C {
			s.column[c] = s.trial.f.Data[c*s.trial.f.Stride+n]
		}
		s.cone.QuickSlope(label, s.column, s.drawn)
		for c, v := range s.drawn {
			t.byF.Data[c*t.byF.Stride+n] = v
		}
	}
	kernel := s.kernel
	if s.walksWeights() {
		kernel = s.trial.kernel
	}
	la.Gemm(s.ws, la.NoTrans, la.Transpose, 1, t.byF, kernel, 0, t.byZ) // by w
	for c, prior := range s.probitProblem.alpha {
		byZ, byLambda, w, alpha, z := t.byZ.Row(c), t.byLambda.Row(c), t.w.Row(c), t.alpha.Row(c), t.z.Row(c)
		for d, byW := range byZ {
			byLambda[d] = prior.Shape - alpha[d]/prior.Scale - float64(0.5*byW*w[d])
			byZ[d] = byW/math.Sqrt(alpha[d]) - z[d]
		}
	}
	if s.walksWeights() {
		s.findWeightSlope()
	}
}

// findWeightSlope is findSlope for η and log ρ.
func (s *probitSampler) findWeightSlope() {
	t, beta := &s.path, s.trial.weights
	la.Gemm(s.ws, la.Transpose, la.NoTrans, 1, t.w, t.byF, 0, t.byKernel)
	s.composite.Slope(s.ws, beta, t.byKernel, t.byEta)
	if s.rule == probit.RuleWProd {
		for p, v := range t.eta { // log β falls by e/(1 − e^(−e)) where log e rises by 1
			e := special.Exp(v)
			fall := -e / special.Expm1(-e)
			t.byEta[p] = 1 - float64(beta[p]*t.byEta[p]*fall) - 2*e/(s.kappa+e)
		}
		return
	}
	mean := la.Dot(beta, t.byEta)
	prior := s.probitProblem.rho
	for p, b := range beta {
		log, rho := s.trial.at[p], t.rho[p]
		byLog := float64(b*(t.byEta[p]-mean)) - special.Exp(log)
		t.byEta[p] = 1 + byLog/rho
		t.byRho[p] = prior.Shape - rho/prior.Scale - float64(rho*special.Digamma(1+rho)) - float64(log*byLog)
	}
}
