package mkl

// Predictor prunes the model for predictions of single samples, of the target
// opt.Target. It costs a Cholesky factorisation and an inverse of the basis points'
// order.
func (m *RegressionModel) Predictor(opt PredictorOptions) (*Predictor, error) {
	if err := m.checkTarget(opt); err != nil {
		return nil, err
	}
	o, s := opt.Target, m.posterior.State()
	return newPredictor(opt, function{
		weighted: &m.weighted, index: o, a: s.A.Row(o), beMean: s.BEMean, beCov: s.BECov,
		spread: 1 / s.Upsilon[o].Mean(), noise: m.noise[o], targets: len(m.targets), target: m.targets[o],
	})
}
