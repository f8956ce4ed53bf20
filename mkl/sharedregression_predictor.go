package mkl

import (
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// Predictor prunes the model for predictions of single samples of the target
// opt.Target; see [RegressionModel.Predictor].
func (m *SharedRegressionModel) Predictor(opt PredictorOptions) (*Predictor, error) {
	if err := opt.check(len(m.targets)); err != nil {
		return nil, err
	}
	opt = m.archived(opt)
	o, s := opt.Target, m.posterior.State()
	f := function{
		weighted: &m.weighted, a: s.A.Row(0), beMean: s.BEMean[o], beCov: s.BECov[o],
		spread: 1 / s.Upsilon.Mean(), noise: m.noise[o], targets: 1, target: m.targets[o],
		project: func(k vi.Columns, opt bemkl.ProjectOptions) (*bemkl.Projection, error) {
			return m.posterior.Project(k, o, opt)
		},
		roundoff: m.posterior.CovarianceRoundoff, limit: m.posterior.WeightLimit,
	}
	if err := f.heal(opt, m.healing, o); err != nil {
		return nil, err
	}
	return f.predictor(opt)
}
