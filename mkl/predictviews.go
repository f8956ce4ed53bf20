package mkl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// ViewParts holds what each view adds to predictions, in the target's units.
type ViewParts struct {
	// Views are the names of the views: the Inputs, or the names of the views of one Input. The views without a name
	// are one, which is called features.
	Views []string

	// Constant is the training targets' mean plus the constant kernels' function. For each sample, Constant plus the views'
	// means is the prediction's mean.
	Constant float64

	// Mean and SD, [view][sample], are the posterior mean and standard deviation of the function of the view's kernels, views in
	// the order of Views. The squares of the SDs do not add up to the prediction's variance: the functions are correlated in the
	// posterior, and noise belongs to no view.
	Mean, SD [][]float64
}

// namelessView is the name of views without a name.
const namelessView = "features"

// viewMoments are the moments of the views' functions, by name, [sample].
type viewMoments struct {
	names          []string
	mean, variance [][]float64
	constant       []float64 // nil if it is kept elsewhere
}

// at returns the place of a view, which is added if the name is new: so far its function is 0.
func (m *viewMoments) at(name string, samples int) int {
	i := slices.Index(m.names, name)
	if i < 0 {
		i = len(m.names)
		m.names = append(m.names, name)
		m.mean, m.variance = append(m.mean, make([]float64, samples)), append(m.variance, make([]float64, samples))
	}
	return i
}

// PredictViews returns what the kernels of each view add to the prediction of each sample, exact for the learned scales. If
// predictions are averaged over draws, the moments are of the mixture. Arguments and errors are as in [TargetModel.PredictTargets].
func (m *MultiGPModel) PredictViews(ctx context.Context, opt PredictOptions, x ...Features) (*ViewParts, error) {
	all, err := m.viewMoments(ctx, opt, x)
	if err != nil {
		return nil, err
	}
	return all.parts(m.target), nil
}

// contribution holds the moments of the sum of some kernels' functions, at some samples.
type contribution struct {
	view     string // the view of the kernels
	constant bool   // the kernels are the constant ones, which belong to no view

	mean, variance []float64
}

// contributions calls do with the contribution of each view to function o, and last with the contribution of the constant kernels. The
// samples have the kernels k with the basis points, and self with themselves.
func (m *processes) contributions(o int, k *vi.Dense, self la.Matrix[float64], workers int, do func(part contribution)) error {
	names, which, constants := m.designs[o].UserViews()
	for v, of := range append(which, constants) {
		part := contribution{constant: v == len(names)}
		if !part.constant {
			part.view = cmp.Or(names[v], namelessView)
		}
		var err error
		if part.mean, part.variance, err = m.posteriors[o].Contribution(k, self, of, workers); err != nil {
			return err
		}
		do(part)
	}
	return nil
}

// viewMoments returns the moments of the views' functions, of the standardised target.
func (m *MultiGPModel) viewMoments(ctx context.Context, opt PredictOptions, x []Features) (*viewMoments, error) {
	t, err := checkInputs(m.design, x)
	if err != nil {
		return nil, err
	}
	return m.averaged().functionMoments(ctx, opt, x, t)
}

// functionMoments returns the moments of the views' functions at the t samples of x, of the mixture of all functions with equal weights.
func (m *processes) functionMoments(ctx context.Context, opt PredictOptions, x []Features, t int) (*viewMoments, error) {
	out := &viewMoments{constant: make([]float64, t)}
	err := m.eachFunction(ctx, opt.Workers, x, t, func(o int, k *vi.Dense, self la.Matrix[float64], first int) error {
		share, end := 1/float64(o+1), first+self.Cols
		return m.contributions(o, k, self, opt.Workers, func(part contribution) {
			if part.constant {
				mix(out.constant[first:end], nil, share, part.mean, nil)
				return
			}
			v := out.at(part.view, t)
			mix(out.mean[v][first:end], out.variance[v][first:end], share, part.mean, part.variance)
		})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// parts returns the moments in a unit. The constant kernels' function has one value for all samples.
func (m *viewMoments) parts(unit target) *ViewParts {
	out := &ViewParts{Views: m.names, Constant: unit.mean}
	if len(m.constant) > 0 {
		out.Constant += float64(unit.sd * m.constant[0])
	}
	for v := range m.names {
		part, sd := make([]float64, len(m.mean[v])), make([]float64, len(m.mean[v]))
		for i, value := range m.mean[v] {
			part[i], sd[i] = unit.sd*value, unit.sd*math.Sqrt(m.variance[v][i])
		}
		out.Mean, out.SD = append(out.Mean, part), append(out.SD, sd)
	}
	return out
}

// ErrNoViews is in the error of PredictViews if the predictions of a model are no sum over views.
var ErrNoViews = errors.New("the predictions are no sum over views")

// PredictViews returns what the kernels of each view add to the prediction of each sample. Its moments are for the mixture of
// the members' functions, Σw·m and Σw(v + m²) − (Σw·m)². A member that is no sum over views has one part, which belongs to no view and has the
// member's name: all columns as one table, curves and trees, or nearest samples. An effect of a level belongs to the view of its column. Arguments and
// errors are as in [TargetModel.PredictTargets]. It also returns an error, with [ErrNoViews] in it, if the members learn another scale of the target.
func (m *AutoModel) PredictViews(ctx context.Context, opt PredictOptions, x ...Features) (*ViewParts, error) {
	if m.scale != ownScale {
		return nil, fmt.Errorf("mkl: %w: the members learn the target's %s; %s", ErrNoViews, m.scale, ownScaleInstead)
	}
	codes := x
	x, _ = m.levels.matrices(x)
	x = m.edges.matrices(x)
	var all viewMoments
	var out ViewParts
	var before float64 // weight of the members so far
	for i, w := range m.weights {
		parts, err := m.models[i].(interface {
			PredictViews(context.Context, PredictOptions, ...Features) (*ViewParts, error)
		}).PredictViews(ctx, opt, x...)
		if err != nil {
			return nil, err
		}
		before += w
		out.Constant += float64(shareUpTo(w, before) * (parts.Constant - out.Constant))
		all.join(parts.moments(), shareUpTo(w, before))
	}
	if m.levels != nil {
		all.addEffects(m.levels, codes, m.viewOf)
	}
	out.Views, out.Mean, out.SD = all.names, all.mean, all.sd()
	return &out, nil
}

// moments returns the moments of the views' parts.
func (p *ViewParts) moments() *viewMoments {
	out := &viewMoments{names: p.Views, mean: p.Mean}
	for _, of := range p.SD {
		variance := make([]float64, len(of))
		for j, sd := range of {
			variance[j] = sd * sd
		}
		out.variance = append(out.variance, variance)
	}
	return out
}

// sd returns the standard deviations.
func (m *viewMoments) sd() (all [][]float64) {
	for _, of := range m.variance {
		sd := make([]float64, len(of))
		for j, v := range of {
			sd[j] = math.Sqrt(v)
		}
		all = append(all, sd)
	}
	return all
}

// join mixes a member's parts, which have a share of the weight so far, with the parts before. A view that a member has no kernels
// of adds nothing to it.
func (m *viewMoments) join(one *viewMoments, share float64) {
	for v, name := range one.names {
		m.at(name, len(one.mean[v]))
	}
	mix(m.constant, nil, share, one.constant, nil)
	for at, name := range m.names {
		if v := slices.Index(one.names, name); v >= 0 {
			mix(m.mean[at], m.variance[at], share, one.mean[v], one.variance[v])
			continue
		}
		nothing := make([]float64, len(m.mean[at]))
		mix(m.mean[at], m.variance[at], share, nothing, nothing)
	}
}
