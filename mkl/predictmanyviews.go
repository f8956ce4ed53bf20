package mkl

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/vi"
)

// Names of members of a pool of very many samples whose functions are no sums over views. Their parts of a prediction have these names too.
const (
	nearestSamples = "nearest samples"
	curvesAndTrees = "curves and trees"
	boostedTrees   = "trees" // of classes
)

// PredictViews returns what the kernels of each view add to the prediction of each sample, exact for the landmarks' features and the learned scales.
// Arguments and errors are as in [TargetModel.PredictTargets].
func (m *LandmarkGPModel) PredictViews(ctx context.Context, opt PredictOptions, x ...Features) (*ViewParts, error) {
	t, err := checkInputs(m.design, x)
	if err != nil {
		return nil, err
	}
	all := &viewMoments{constant: make([]float64, t)}
	mem := &featureMemory{ws: la.Workspace{Workers: opt.Workers}}
	names, which, _ := m.design.UserViews() // no constants: centring leaves nothing of them
	err = m.design.EachBlock(ctx, opt.Workers, gram.PredictWords, false, x, t, func(k *vi.Dense, _ la.Matrix[float64], first, n int) error {
		phi := m.plan.centred(mem, k, n, m.shift)
		for v, of := range which {
			mean, variance, err := m.posterior.Contribution(phi, of, opt.Workers)
			if err != nil {
				return err
			}
			at := all.at(cmp.Or(names[v], namelessView), t)
			for i, value := range mean {
				all.mean[at][first+i], all.variance[at][first+i] = m.target.sd*value, m.target.sd*m.target.sd*variance[i]
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &ViewParts{Views: all.names, Constant: m.target.mean, Mean: all.mean, SD: all.sd()}, nil
}

// PredictViews returns the function as one part, which belongs to no view.
func (m *treeModel) PredictViews(ctx context.Context, opt PredictOptions, x ...Features) (*ViewParts, error) {
	return onePart(ctx, m, curvesAndTrees, m.target.mean, opt, x)
}

// PredictViews returns the function as one part, which belongs to no view.
func (m *localModel) PredictViews(ctx context.Context, opt PredictOptions, x ...Features) (*ViewParts, error) {
	return onePart(ctx, m, nearestSamples, m.target.mean, opt, x)
}

// onePart returns a model's function, less a constant, as a part of the given name.
func onePart(ctx context.Context, m TargetModel, name string, constant float64, opt PredictOptions, x []Features) (*ViewParts, error) {
	p, err := m.PredictTargets(ctx, PredictOptions{Workers: opt.Workers}, x...)
	if err != nil {
		return nil, err
	}
	mean, sd, noise := p.Mean[0], p.Variance[0], m.NoiseSD()[0]
	for i := range mean {
		mean[i] -= constant
		sd[i] = math.Sqrt(max(0, sd[i]-float64(noise*noise)))
	}
	return &ViewParts{Views: []string{name}, Constant: constant, Mean: [][]float64{mean}, SD: [][]float64{sd}}, nil
}

// viewOf returns the name of the view of a column, by the first member that has kernels of views.
func (m *AutoModel) viewOf(input, column int) string {
	var designs []*gram.Design
	for _, member := range m.members {
		designs = append(designs, member.design)
	}
	if m.landmarks != nil {
		designs = append(designs, m.landmarks.design)
	}
	return viewOf(designs, m.Inputs, input, column)
}

// viewOf returns the name of the view of a column, by the first design that has kernels of the column, and otherwise by the inputs.
func viewOf(designs []*gram.Design, inputs func() []ModelInput, input, column int) string {
	for _, ds := range designs {
		names, which, _ := ds.UserViews()
		for v, of := range which {
			for _, k := range of {
				seen := &ds.Views[k]
				if seen.Input == input && (seen.Sight.Columns == nil || slices.Contains(seen.Sight.Columns, column)) {
					return cmp.Or(names[v], namelessView)
				}
			}
		}
	}
	if in := inputs(); len(in) > 1 {
		return cmp.Or(in[input].Name, namelessView)
	}
	return namelessView
}

// addEffects adds the effects of levels to the parts of their columns' views, which viewOf names.
func (m *viewMoments) addEffects(of *levels, x []Features, viewOf func(input, column int) string) {
	for _, c := range of.columns {
		at := m.at(viewOf(c.input, c.column), x[0].Rows)
		for i := range x[0].Rows {
			mean, variance := c.of(x[c.input].At(i, c.column))
			m.mean[at][i] += mean
			m.variance[at][i] += variance
		}
	}
}

// PredictViews returns what the kernels of each view add to the log odds of each class, exact for the landmarks' features and the learned
// scales. The functions of several classes are independent in the posterior. Arguments and errors are as in [ClassModel.PredictClasses].
func (m *LandmarkClassifierModel[T]) PredictViews(ctx context.Context, opt PredictOptions, x ...Features) (*ClassViewParts[T], error) {
	all, err := m.logOddsMoments(ctx, opt, x)
	if err != nil {
		return nil, err
	}
	return partsOf(all, m.Classes()), nil
}

// logOddsMoments scales each function's parts at a sample by the factor that turns the function's mean into its log odds.
func (m *LandmarkClassifierModel[T]) logOddsMoments(ctx context.Context, opt PredictOptions, x []Features) ([]viewMoments, error) {
	t, err := checkInputs(m.design, x)
	if err != nil {
		return nil, err
	}
	u := newLogOddsMoments(len(m.posteriors), t)
	names, which, _ := m.design.UserViews() // no constants: the last feature is one
	err = m.eachBlock(ctx, opt.Workers, x, t, func(phi []la.Matrix[float64], first int) error {
		for o, p := range m.posteriors {
			mean, variance, err := p.Predict(phi, la.Matrix[float64]{}, false, opt.Workers)
			if err != nil {
				return err
			}
			by, weights := make([]float64, len(mean)), p.State().Mean
			for i, f := range mean {
				z := f / math.Sqrt(variance[i])
				by[i] = m.sharpness * oddsFactor(f, variance[i], special.LogNormalCDF(z), special.LogNormalCDF(-z))
				u[o].constant[first+i] = by[i] * weights[len(weights)-1]
			}
			for v, of := range which {
				mean, variance, err := p.Contribution(phi, of, opt.Workers)
				if err != nil {
					return err
				}
				at := u[o].at(cmp.Or(names[v], namelessView), t)
				for i, f := range mean {
					u[o].mean[at][first+i], u[o].variance[at][first+i] = by[i]*f, by[i]*by[i]*variance[i]
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return against(u), nil
}

// logOddsMoments returns the log odds as one part, which belongs to no view and counts as known.
func (m *treeClassModel[T]) logOddsMoments(ctx context.Context, opt PredictOptions, x []Features) ([]viewMoments, error) {
	return oddsAsOnePart(ctx, m, boostedTrees, opt, x)
}

// logOddsMoments returns the log odds as one part, which belongs to no view and counts as known.
func (m *localClassModel[T]) logOddsMoments(ctx context.Context, opt PredictOptions, x []Features) ([]viewMoments, error) {
	return oddsAsOnePart(ctx, m, nearestSamples, opt, x)
}

// oddsAsOnePart returns the log odds of a model's probabilities as a part of the given name.
func oddsAsOnePart[T comparable](ctx context.Context, m ClassModel[T], name string, opt PredictOptions, x []Features) ([]viewMoments, error) {
	p, err := m.PredictClasses(ctx, PredictOptions{Workers: opt.Workers}, x...)
	if err != nil {
		return nil, err
	}
	samples, C := len(p.Label), len(m.Classes())
	out := newLogOddsMoments(C, samples)
	log := make([]float64, C)
	for c := range out {
		out[c].at(name, samples)
	}
	for i, of := range p.Probability {
		for c, v := range of {
			log[c] = special.Log(max(v, math.SmallestNonzeroFloat64))
		}
		for c := range out {
			out[c].mean[0][i] = againstOthers(log, c)
		}
	}
	return out, nil
}
