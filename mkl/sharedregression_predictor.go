package mkl

// Predictor prunes the model for predictions of single samples, of the target
// opt.Target; see [RegressionModel.Predictor].
func (m *SharedRegressionModel) Predictor(opt PredictorOptions) (*Predictor, error) {
	if err := m.checkTarget(opt); err != nil {
		return nil, err
	}
	o, s := opt.Target, m.posterior.State()
	return newPredictor(opt, function{
		weighted: &m.weighted, a: s.A.Row(0), beMean: s.BEMean[o], beCov: s.BECov[o],
		spread: 1 / s.Upsilon.Mean(), noise: m.noise[o], targets: 1, target: m.targets[o],
		roundoff: m.posterior.CovarianceRoundoff,
	})
}
