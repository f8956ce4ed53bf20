package mkl

import (
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// Predictor prunes the model for predictions of single samples of the target
// opt.Target. It costs a Cholesky factorisation and an inverse of a D×D matrix, for D basis
// points, and about as much again for healing.
//
// A row of a precomputed kernel may have one more value, the kernel of the sample with
// itself: predictions are then healed, as in PredictTargets.
func (m *RegressionModel) Predictor(opt PredictorOptions) (*Predictor, error) {
	if err := opt.check(len(m.targets)); err != nil {
		return nil, err
	}
	opt = m.archived(opt)
	o, s := opt.Target, m.posterior.State()
	f := function{
		weighted: &m.weighted, index: o, a: s.A.Row(o), beMean: s.BEMean, beCov: s.BECov,
		spread: 1 / s.Upsilon[o].Mean(), noise: m.noise[o], targets: len(m.targets), target: m.targets[o],
		project: func(k vi.Columns, opt bemkl.ProjectOptions) (*bemkl.Projection, error) {
			return m.posterior.Project(k, o, opt)
		},
		roundoff: m.posterior.CovarianceRoundoff, limit: m.posterior.WeightLimit, gaps: m.gaps,
	}
	if err := f.heal(opt, m.healing, o); err != nil {
		return nil, err
	}
	if len(m.targets) == 1 {
		f.model = newListModel(m, opt)
	}
	return f.predictor(opt)
}

// predictor makes a Predictor from the function.
func (f function) predictor(opt PredictorOptions) (*Predictor, error) {
	p, err := newPredictor(opt, f)
	if err != nil {
		return nil, err
	}
	out := &Predictor{weights: p}
	if p.whole { // a model takes all samples
		out.list = f.model
	}
	return out, opt.archiveError()
}

// heal adds the healing of output o to f, unless opt leaves it out.
func (f *function) heal(opt PredictorOptions, h *healing, o int) error {
	if h == nil || opt.Published || opt.Unhealed {
		return nil
	}
	healer, err := h.posterior.ArchivedHealer(opt.archive, &la.Workspace{}, o)
	if err != nil {
		return opt.predictorError(err)
	}
	f.healing, f.healer = h, healer
	return nil
}
