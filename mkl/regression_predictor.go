package mkl

import (
	"fmt"

	"github.com/bmkl/bmkl/la"
)

// Predictor prunes the model for predictions of single samples, of the target
// opt.Target. It costs a Cholesky factorisation and an inverse of the basis points'
// order, and about as much again for healing.
//
// Rows of precomputed kernels may have the kernel of the sample with itself as one
// more value, with which predictions are healed, as in PredictTargets.
func (m *RegressionModel) Predictor(opt PredictorOptions) (*Predictor, error) {
	if err := m.checkTarget(opt); err != nil {
		return nil, err
	}
	o, s := opt.Target, m.posterior.State()
	f := function{
		weighted: &m.weighted, index: o, a: s.A.Row(o), beMean: s.BEMean, beCov: s.BECov,
		spread: 1 / s.Upsilon[o].Mean(), noise: m.noise[o], targets: len(m.targets), target: m.targets[o],
		roundoff: m.posterior.CovarianceRoundoff,
	}
	if m.healing != nil && !opt.Published && !opt.Unhealed {
		healer, err := m.posterior.Healer(&la.Workspace{}, o)
		if err != nil {
			return nil, fmt.Errorf("mkl: Predictor: %w", err)
		}
		f.healing, f.healer = m.healing, healer
	}
	return newPredictor(opt, f)
}
