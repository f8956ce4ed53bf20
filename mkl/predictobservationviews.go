package mkl

import "context"

// PredictViews returns what the kernels of each view add to the logarithm of the expected count for exposure 1, given the function: Constant plus
// the views' means is its posterior mean. A part of log 2 doubles the count. Moments are exact for the learned scales and the posterior of the
// fit. An effect of a level belongs to the view of its column. Arguments and errors are as in [CountModel.PredictCounts].
func (m *CountModel) PredictViews(ctx context.Context, opt PredictOptions, x ...Features) (*ViewParts, error) {
	return m.functionParts(ctx, opt, target{sd: 1}, x)
}

// PredictViews returns what the kernels of each view add to the mean of the logarithm of the time, without the time's error: Constant plus the
// views' means is its posterior mean. A part of log 2 doubles the time. Moments are as in [CountModel.PredictViews]. Arguments and errors are as
// in [SurvivalModel.PredictTimes].
func (m *SurvivalModel) PredictViews(ctx context.Context, opt PredictOptions, x ...Features) (*ViewParts, error) {
	return m.functionParts(ctx, opt, m.unit, x)
}

// PredictViews returns what the kernels of each view add to the function that the cut points divide, in units of the standard deviation of its
// noise: Constant plus the views' means is its posterior mean. A positive part makes higher grades more probable. Moments are as in
// [CountModel.PredictViews]. Arguments and errors are as in [ClassModel.PredictClasses].
func (m *OrdinalModel[T]) PredictViews(ctx context.Context, opt PredictOptions, x ...Features) (*ViewParts, error) {
	return m.functionParts(ctx, opt, target{sd: 1}, x)
}

// functionParts returns the parts of the function of observations, in a unit. The constant has the level of the likelihood.
func (m *processes) functionParts(ctx context.Context, opt PredictOptions, unit target, x []Features) (*ViewParts, error) {
	t, err := checkInputs(m.design, x)
	if err != nil {
		return nil, err
	}
	seen, _ := m.levels.matrices(x)
	all, err := m.functionMoments(ctx, opt, seen, t)
	if err != nil {
		return nil, err
	}
	if m.levels != nil {
		all.addEffects(m.levels, x, m.viewOf)
	}
	unit.mean += float64(unit.sd * m.posteriors[0].State().Shape[0])
	return all.parts(unit), nil
}

// viewOf returns the name of the view of a column.
func (m *processes) viewOf(input, column int) string {
	return viewOf(m.designs, m.Inputs, input, column)
}
