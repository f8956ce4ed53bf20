package mkl

import (
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// Predictor prunes the model for predictions of single samples of the target opt.Target,
// as [RegressionModel.Predictor] does.
func (m *TaskRegressionModel) Predictor(opt PredictorOptions) (*Predictor, error) {
	if err := opt.check(len(m.targets)); err != nil {
		return nil, err
	}
	opt = m.archived(opt)
	o, s := opt.Target, m.posterior.State()
	f := function{
		weighted: &m.weighted, basis: m.functions.basis[o], index: o,
		a: moved(m.functions.basis[o], s.Tasks[o].A, 0, nil, m.design.D), beMean: s.BEMean, beCov: s.BECov,
		spread: 1 / s.Tasks[o].Upsilon.Mean(), noise: m.noise[o], targets: len(m.targets), target: m.targets[o],
		project: func(k vi.Columns, opt bemkl.ProjectOptions) (*bemkl.Projection, error) {
			return m.functions.tasks[o].Project(k, 0, opt)
		},
		roundoff: m.functions.roundoff,
	}
	if err := f.heal(opt, m.healing, o); err != nil {
		return nil, err
	}
	return f.predictor(opt)
}
