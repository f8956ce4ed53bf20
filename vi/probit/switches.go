package probit

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// mostSwitches is the most kernels whose states are enumerated.
const mostSwitches = 16

// states is q(β) of [RuleBin], over all 2^P states. β_p is bit p of a state's index.
type states struct {
	prior   []float64 // by state, log p(β)
	prob    []float64 // q(β)
	entropy float64
	expect  float64 // E[log p(β)]
	beta    []float64
}

// states checks the priors of the switches and returns their states.
func (p Model) states(P int) (states, error) {
	on := p.On
	if on == nil {
		for range P {
			on = append(on, 0.5)
		}
	}
	if len(on) != P {
		return states{}, fmt.Errorf("vi: On: %d values for %d kernels", len(on), P)
	}
	s := states{prior: make([]float64, 1<<P), prob: make([]float64, 1<<P), beta: make([]float64, P)}
	for i, v := range on {
		if !(v > 0 && v < 1) {
			return states{}, fmt.Errorf("vi: On[%d] is %g: it must be between 0 and 1", i, v)
		}
		for b := range s.prior {
			if b>>i&1 == 1 {
				s.prior[b] += special.Log(v)
			} else {
				s.prior[b] += special.Log1p(-v)
			}
		}
	}
	if p.NotEmpty {
		s.prior[0] = math.Inf(-1)
	}
	return s, nil
}

// decode stores β of state b.
func (s *states) decode(b int, beta []float64) {
	for p := range beta {
		beta[p] = float64(b >> p & 1)
	}
}

// normalise makes probabilities of the logarithms in s.prob, which lack a constant,
// and stores the mean and covariance of β.
func (s *states) normalise(mean []float64, cov la.Matrix[float64]) {
	top := math.Inf(-1)
	for _, v := range s.prob {
		top = max(top, v)
	}
	var total float64
	for b, v := range s.prob {
		s.prob[b] = special.Exp(v - top)
		total += s.prob[b]
	}
	s.entropy, s.expect = 0, 0
	clear(mean)
	for b := range s.prob {
		s.prob[b] /= total
		if q := s.prob[b]; q > 0 {
			s.entropy -= float64(q * special.Log(q))
			s.expect += float64(q * s.prior[b])
			for p := range mean {
				mean[p] += float64(q * float64(b>>p&1))
			}
		}
	}
	cov.Fill(0)
	for b, q := range s.prob {
		if q == 0 {
			continue
		}
		for p := range mean {
			s.beta[p] = float64(b>>p&1) - mean[p]
		}
		for p, v := range s.beta {
			la.Axpy(q*v, s.beta, cov.Row(p))
		}
	}
}

// bound implements weights.
func (s *states) bound() float64 { return s.expect + s.entropy }

// switches is q(β) of [RuleBin] beside a q(W) that does not depend on it.
type switches struct {
	*quadratic
	states
}

// switches returns q(β) of Bin at its start.
func (p Model) switches(m *model, q *quadratic) (*switches, error) {
	if m.P > mostSwitches {
		return nil, fmt.Errorf("vi: Bin enumerates the states of at most %d kernels, not %d", mostSwitches, m.P)
	}
	s, err := p.states(m.P)
	return &switches{q, s}, err
}

// update implements weights.
func (s *switches) update(m *model) error {
	s.measure(m)
	s.solve(m.mean)
	s.settle(m)
	return nil
}

// solve finds q(β) for the present quadratic, and its mean and covariance.
func (s *switches) solve(mean []float64) {
	for b, prior := range s.prior {
		s.decode(b, s.beta)
		s.prob[b] = prior + s.at(s.beta)
	}
	s.normalise(mean, s.cov)
}
