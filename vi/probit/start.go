package probit

import (
	"errors"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/random"
)

// start sets E[Y] and E[α]. The random start draws auxiliary variables around standard normal
// functions.
func (m *model) start(p Model) error {
	if p.From != nil {
		return m.resume(p.From, p.Rule, p.Beta)
	}
	s := p.Start
	if s == nil {
		var cone special.Cone
		functions := la.NewMatrix[float64](m.N, m.C)
		random.Normal(random.Source(p.Seed), functions.Data)
		for n := range m.N {
			cone.Mean(m.labels[n], functions.Row(n), functions.Row(n))
			for c, v := range functions.Row(n) {
				m.y.Set(c, n, v)
			}
		}
	} else {
		if err := check.Start("Y", s.Y, m.C, m.N); err != nil {
			return err
		}
		m.y.CopyFrom(s.Y)
	}
	for c := range m.C {
		g := &m.alpha[c]
		for d := range m.D {
			g.Scale[d] = g.Prior.Mean() / g.Shape
		}
	}
	if s == nil || s.Alpha.Rows == 0 {
		return nil
	}
	if err := check.Start("Alpha", s.Alpha, m.C, m.D); err != nil {
		return err
	}
	for c := range m.C {
		for d, v := range s.Alpha.Row(c) {
			if !(v > 0) {
				return fmt.Errorf("vi: Start.Alpha: entry (%d, %d) is %g", c, d, v)
			}
			m.alpha[c].Scale[d] = v / m.alpha[c].Shape
		}
	}
	return nil
}

// resume sets E[Y] and E[α] to their values in the posterior p, with the weights beta.
func (m *model) resume(p *Posterior, rule Rule, beta []float64) error {
	beta, err := rule.start(beta, m.P)
	if err != nil {
		return err
	}
	copy(m.mean, beta)
	m.setKernel()
	la.Gemm(&m.ws, la.NoTrans, la.NoTrans, 1, p.s.W, m.kernel, 0, m.f)
	if err := m.updateY(); err != nil {
		return err
	}
	for c := range m.C {
		g, active := &m.alpha[c], m.active[c][:0]
		for d, a := range p.s.Alpha.Row(c) {
			if math.IsInf(a, 1) { // it stays out
				if m.point { // its regressor is 0
					g.Scale[d] = g.Prior.Scale
				} else {
					g.Scale[d] = prunedPrecision(g.Prior, m.gram.At(d, d)) / g.Shape
				}
				continue
			}
			g.Scale[d] = a / g.Shape
			active = append(active, d)
		}
		m.active[c] = active
	}
	return nil
}

// fits reports what keeps a fit of C classes, P kernels and D basis points from going on from p.
func (p *Posterior) fits(rule Rule, C, P, D int, parametric bool) error {
	c, k, d := p.Dims()
	switch {
	case c != C || k != P || d != D:
		return fmt.Errorf("vi: From: %d classes, %d kernels and %d basis points where there are %d, %d and %d", c, k, d, C, P, D)
	case p.s.Rule != rule:
		return fmt.Errorf("vi: From: its rule is %v, not %v", p.s.Rule, rule)
	case p.parts != nil:
		return errors.New("vi: From: a mixture of the states of switches is nothing to go on from")
	case parametric:
		return errors.New("vi: From: not where parameters of kernels are learned")
	}
	return nil
}
