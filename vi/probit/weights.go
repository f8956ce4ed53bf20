package probit

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// weights is q(β) and what depends on it.
type weights interface {
	// update finds q(β) anew and leaves E[β], E[K], E[KKᵀ], f and spread in m.
	update(m *model) error
	// bound returns the terms of β and its hyperparameters.
	bound() float64
	// covariance returns the covariance of β.
	covariance(m *model) la.Matrix[float64]
	// remember names what of q(β) is noted by model.Keep, and restored computes E[K] and E[KKᵀ] in
	// m from it.
	remember(memory *work.Memory)
	restored(m *model)
	// snapshot names the state of q(β) for a journal.
	snapshot(s *work.Snapshot)
}

// start returns the weights that a fit starts from, those given or what stands for nil: the
// fixed ones themselves.
func (r Rule) start(beta []float64, P int) ([]float64, error) {
	if beta == nil {
		usual := map[Rule]float64{RuleFixSum: 1, RuleFixProd: 1, RuleWProd: 1, RuleWSum: 1 / float64(P), RuleBin: 0.5}[r]
		return slices.Repeat([]float64{usual}, P), nil
	}
	if len(beta) != P {
		return nil, fmt.Errorf("vi: Beta: %d weights for %d kernels", len(beta), P)
	}
	var sum float64
	for i, b := range beta {
		bad := !(b >= 0) && r != RuleFixSum || b-b != 0 || r == RuleBin && b > 1 || r == RuleWProd && b == 0
		if bad {
			return nil, fmt.Errorf("vi: Beta[%d] is %g, which is no weight of %v", i, b, r)
		}
		sum += b
	}
	if r == RuleWSum && math.Abs(sum-1) > 1e-9 {
		return nil, fmt.Errorf("vi: Beta: the weights of WSum add up to %g, not 1", sum)
	}
	return slices.Clone(beta), nil
}

// checkWeights returns an error unless the settings of q(β) are in range and go together.
func (p Model) checkWeights() error {
	switch {
	case p.Update < WeightUpdatePlugIn || p.Update > WeightUpdateStructured:
		return fmt.Errorf("vi: Update is %d", p.Update)
	case p.Update == WeightUpdateStructured && p.Rule != RuleBin:
		return fmt.Errorf("vi: Update is Structured, which is of Bin and not of %v", p.Rule)
	case p.Search != WeightSearchMode && p.Search != WeightSearchSampling:
		return fmt.Errorf("vi: Search is %d", p.Search)
	case p.Samples < 0:
		return fmt.Errorf("vi: Samples is %d", p.Samples)
	case !check.NotNegative(p.Kappa) || !check.NotNegative(p.Xi):
		return fmt.Errorf("vi: Kappa is %g and Xi %g: they must be positive and finite", p.Kappa, p.Xi)
	}
	return nil
}

// weights returns q(β) at its start, and nothing for fixed weights.
func (p Model) weights(m *model) (weights, error) {
	mean, err := p.Rule.start(p.Beta, m.P)
	if err != nil {
		return nil, err
	}
	copy(m.mean, mean)
	if err := p.checkWeights(); err != nil {
		return nil, err
	}
	m.setKernel()
	for d := range m.D {
		if i := check.NonFinite(m.kernel.Row(d)); i >= 0 {
			return nil, fmt.Errorf("vi: Beta: the composite kernel's entry (%d, %d) is %g", d, i, m.kernel.At(d, i))
		}
	}
	if !p.Rule.Learned() && m.theta == nil {
		return nil, nil
	}
	if p.Update == WeightUpdateStructured {
		return p.structured(m)
	}
	m.sum = la.NewMatrix[float64](m.D, m.D)
	m.scratch = la.NewMatrix[float64](m.D, m.N)
	switch {
	case !p.Rule.Learned():
		return nil, nil
	case p.Rule == RuleWProd:
		return p.powers(m)
	}
	q := newQuadratic(m)
	switch {
	case p.Rule == RuleBin:
		return p.switches(m, q)
	case p.Search == WeightSearchSampling:
		return p.simplexSample(m, q)
	}
	return &simplexMode{quadratic: q}, nil
}
