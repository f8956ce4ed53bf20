package probit

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// mostStructured is the largest number of kernels for [WeightUpdateStructured], which solves for the
// regressors in each state of their switches.
const mostStructured = 8

// structured is q(W | β)q(β) of [RuleBin], over all 2^P states b of β:
//
//	q(w_c | b) = N(V_c·K_b·E[y_c], V_c),  V_c = (K_bK_bᵀ + diag E[α_c])⁻¹
//	log q(b)   = log p(b) + ½ Σ_c (log|V_c| + E[y_c]ᵀK_bᵀV_cK_bE[y_c]) + const
//
// Y and α see the mixture: E[W·K], E[w²]. Both factors are found in one update. Under
// auxiliary variables that were drawn at random q(b) would settle on whichever kernel
// can fit noise, and stay there: unless a start is given, they and α are first fitted
// to the plain sum.
type structured struct {
	states
	cov     la.Matrix[float64] // P×P, Cov(β)
	each    []regressors       // by state; none without probability a priori
	started bool               // Y and α are fit to begin with
}

// regressors is q(W | β) for one β.
type regressors struct {
	w, variance    la.Matrix[float64] // C×D
	f              la.Matrix[float64] // C×N
	logDet, spread []float64          // C
}

// structured checks the number of kernels and returns q(W | β)q(β) at its start.
func (p Model) structured(m *model) (*structured, error) {
	if m.P > mostStructured {
		return nil, fmt.Errorf("vi: Structured solves for the regressors in each of the 2^P states of at most %d kernels, not %d", mostStructured, m.P)
	}
	s := &structured{cov: la.NewMatrix[float64](m.P, m.P), started: p.Start != nil}
	var err error
	if s.states, err = p.states(m.P); err != nil {
		return nil, err
	}
	s.each = make([]regressors, len(s.prior))
	for b, prior := range s.prior {
		if math.IsInf(prior, -1) {
			continue
		}
		s.each[b] = regressors{
			w: la.NewMatrix[float64](m.C, m.D), variance: la.NewMatrix[float64](m.C, m.D), f: la.NewMatrix[float64](m.C, m.N),
			logDet: make([]float64, m.C), spread: make([]float64, m.C),
		}
	}
	return s, nil
}

// solve finds q(W | b) for state b and leaves it, the kernel and its Gram matrix
// in m.
func (s *structured) solve(m *model, b int) error {
	s.decode(b, m.mean)
	m.setKernel()
	return m.updateW()
}

// start fits Y and α to the sum of all kernels.
func (s *structured) start(m *model) error {
	for range earlySweeps {
		if err := s.solve(m, len(s.prior)-1); err != nil {
			return err
		}
		if err := m.updateY(); err != nil {
			return err
		}
		m.updateAlpha()
	}
	return nil
}

// update implements weights.
func (s *structured) update(m *model) error {
	if !s.started {
		s.started = true
		if err := s.start(m); err != nil {
			return err
		}
	}
	for b, prior := range s.prior {
		s.prob[b] = prior
		if math.IsInf(prior, -1) {
			continue
		}
		if err := s.solve(m, b); err != nil {
			return err
		}
		r := &s.each[b]
		r.w.CopyFrom(m.w)
		r.variance.CopyFrom(m.variance)
		r.f.CopyFrom(m.f)
		copy(r.logDet, m.logDet)
		copy(r.spread, m.spread)
		for c, l := range m.logDet {
			s.prob[b] += float64(0.5 * (l + la.Dot(m.w.Row(c), m.response.Row(c))))
		}
	}
	s.normalise(m.mean, s.cov)
	s.mix(m)
	return nil
}

// mix stores in m the mixture's moments of W, its functions and its terms of the bound.
func (s *structured) mix(m *model) {
	m.w.Fill(0)
	m.f.Fill(0)
	m.variance.Fill(0)
	clear(m.logDet)
	clear(m.spread)
	for b, q := range s.prob {
		if q == 0 {
			continue
		}
		r := &s.each[b]
		la.Axpy(q, r.w.Data, m.w.Data)
		la.Axpy(q, r.f.Data, m.f.Data)
		la.Axpy(q, r.logDet, m.logDet)
		la.Axpy(q, r.spread, m.spread)
	}
	for b, q := range s.prob {
		if q == 0 {
			continue
		}
		r := &s.each[b]
		for i, v := range r.variance.Data {
			d := r.w.Data[i] - m.w.Data[i]
			m.variance.Data[i] += float64(q * (v + float64(d*d)))
		}
	}
}

// remember implements weights: q(W | β) and q(β) follow from Y and α.
func (s *structured) remember(*work.Memory) {}

// restored implements weights.
func (s *structured) restored(*model) {}

// covariance implements weights.
func (s *structured) covariance(*model) la.Matrix[float64] { return s.cov }

// leastState is the probability below which a posterior leaves a state out.
const leastState = 1e-15

// components returns q(W | b) of the states of some probability. It leaves m in the
// last of them.
func (s *structured) components(m *model) ([]Component, error) {
	var all []Component
	var total float64
	for b, q := range s.prob {
		if q < leastState {
			continue
		}
		if err := s.solve(m, b); err != nil {
			return nil, err
		}
		all = append(all, Component{
			Probability: q, Beta: append([]float64(nil), m.mean...), W: m.w.Clone(), Gram: m.gram.Clone(),
		})
		total += q
	}
	for i := range all {
		all[i].Probability /= total
	}
	return all, nil
}
