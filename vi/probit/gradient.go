package probit

import (
	"errors"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
)

// BoundGradient calls each with the derivative of the lower bound by the entries of
// each base kernel, D×N, in their order. With M = Σ_c (V_c + w_cw_cᵀ) and
// T = E[W]ᵀE[Y] − M·E[K] it is for sums
//
//	∂L/∂K_p = E[β_p]·T − M·Σ_q Cov(β_p, β_q)·K_q,
//
// for products β_p·T∘K/K_p, entry by entry, 0 where K_p is, and with [WeightUpdateStructured] the
// mean of β_p·T over the states. A parameter θ on which the kernels depend has
// ∂L/∂θ = Σ_p <∂L/∂K_p, ∂K_p/∂θ>, the sum of the products of all entries. The matrix is
// overwritten by the next.
//
// It is exact where the ascent has converged: the bound is then stationary in every
// factor, and only its explicit dependence on the kernels is left. Of weights that are
// learned it takes [WeightUpdateMeanField] or [WeightUpdateStructured], with [WeightSearchMode]: with other choices the fit
// is no maximum of the bound, and the error says so. The cost is 2D³ for each class, and
// D²·N for each kernel whose weight is uncertain. It must not be called by several
// goroutines at once.
func (f *Fit) BoundGradient(each func(kernel int, g la.Matrix[float64])) error {
	m := f.state
	switch {
	case m.published || m.composite.rule.Learned() && m.update == WeightUpdatePlugIn:
		return errors.New("vi: BoundGradient: Published and PlugIn do not climb the bound: take MeanField or Structured")
	case f.ESS > 0 || m.theta != nil:
		return errors.New("vi: BoundGradient: Sampling and parameters of the model's own leave no bound of the kernels alone")
	}
	parts := f.Posterior.parts
	if parts == nil {
		parts = []*Posterior{f.Posterior}
	}
	states := make([]gradientState, len(parts))
	for i, p := range parts {
		states[i] = gradientState{beta: p.s.Beta, probability: 1}
		if f.Posterior.parts != nil {
			states[i].probability = f.Posterior.s.Components[i].Probability
		}
		if err := states[i].measure(m, p); err != nil {
			return fmt.Errorf("vi: BoundGradient: %w", err)
		}
	}
	var cov la.Matrix[float64] // Cov(β), which states do not have
	if q, ok := m.beta.(*switches); ok {
		cov = q.cov
	}
	g := la.NewMatrix[float64](m.D, m.N)
	mixed := la.NewMatrix[float64](m.D, m.N)
	for p := range m.P {
		g.Fill(0)
		for i := range states {
			states[i].add(m, p, g)
		}
		if cov.Rows > 0 {
			m.k.Sum(&m.ws, cov.Row(p), mixed)
			la.Gemm(&m.ws, la.NoTrans, la.NoTrans, -1, states[0].squares, mixed, 1, g)
		}
		each(p, g)
	}
	return nil
}

// gradientState is what the gradient needs of one β with its regressors.
type gradientState struct {
	probability float64
	beta        []float64
	squares     la.Matrix[float64] // D×D, M
	rest        la.Matrix[float64] // D×N, T
}

// measure computes M and T from the posterior of m given s.beta.
func (s *gradientState) measure(m *model, p *Posterior) error {
	s.squares, s.rest = la.NewMatrix[float64](m.D, m.D), la.NewMatrix[float64](m.D, m.N)
	factor := classFactor{b: la.NewMatrix[float64](m.D, m.D)}
	for c := range m.C {
		if err := factor.set(&m.ws, p, c); err != nil {
			return err
		}
		la.CholeskyInv(&m.ws, factor.l)
		for i, d := range factor.active {
			row, inverse := s.squares.Row(d), factor.l.Row(i)
			for j, e := range factor.active[:i+1] {
				row[e] += float64(float64(factor.root[i]*factor.root[j]) * inverse[j])
			}
		}
		if len(factor.active) == m.D {
			continue
		}
		for d, a := range p.s.Alpha.Row(c) { // pruned: a variance alone
			if math.IsInf(a, 1) {
				s.squares.Row(d)[d] += 1 / (m.alpha[c].Mean(d) + p.s.Gram.At(d, d))
			}
		}
	}
	la.Syrk(&m.ws, la.Transpose, 1, p.s.W, 1, s.squares)
	s.squares.MirrorLower()
	k := la.NewMatrix[float64](m.D, m.N)
	m.composite.Combine(&m.ws, s.beta, k)
	m.addRidge(k)
	la.Gemm(&m.ws, la.Transpose, la.NoTrans, 1, p.s.W, m.y, 0, s.rest)
	la.Gemm(&m.ws, la.NoTrans, la.NoTrans, -1, s.squares, k, 1, s.rest)
	return nil
}

// add adds the state's part of ∂L/∂K_p to g.
func (s *gradientState) add(m *model, p int, g la.Matrix[float64]) {
	c := s.probability * s.beta[p]
	if c == 0 {
		return
	}
	if !m.composite.rule.product() {
		for d := range m.D {
			la.Axpy(c, s.rest.Row(d), g.Row(d))
		}
		return
	}
	others := make([]float64, m.N) // K/K_p
	for d := range m.D {
		clear(others)
		for q, l := range m.composite.logs {
			power := s.beta[q]
			if q == p {
				power--
			}
			la.Axpy(power, l.Row(d), others)
		}
		la.Exp(others, others)
		rest, row := s.rest.Row(d), g.Row(d)
		for n, l := range m.composite.logs[p].Row(d) {
			if l > logZero {
				row[n] += float64(float64(c*rest[n]) * others[n])
			}
		}
	}
}
