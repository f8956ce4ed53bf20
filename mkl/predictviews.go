package mkl

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
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

// namelessView is what views without a name are called.
const namelessView = "features"

// viewMoments are the moments of the views' functions, by name, [sample].
type viewMoments struct {
	names          []string
	mean, variance [][]float64
	constant       []float64
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
	out := &ViewParts{Views: all.names, Constant: m.target.mean}
	if len(all.constant) > 0 {
		out.Constant += float64(m.target.sd * all.constant[0])
	}
	for v := range all.names {
		part, sd := make([]float64, len(all.mean[v])), make([]float64, len(all.mean[v]))
		for i, value := range all.mean[v] {
			part[i], sd[i] = m.target.sd*value, m.target.sd*math.Sqrt(all.variance[v][i])
		}
		out.Mean, out.SD = append(out.Mean, part), append(out.SD, sd)
	}
	return out, nil
}

// viewMoments returns the moments of the views' functions, of the standardised target.
func (m *MultiGPModel) viewMoments(ctx context.Context, opt PredictOptions, x []Features) (*viewMoments, error) {
	t, err := checkInputs(m.design, x)
	if err != nil {
		return nil, err
	}
	out := &viewMoments{constant: make([]float64, t)}
	all := m.averaged()
	for o, p := range all.posteriors {
		names, which, constants := all.designs[o].UserViews()
		var at []int
		for _, name := range names {
			at = append(at, out.at(cmp.Or(name, namelessView), t))
		}
		which = append(which, constants)
		err := all.designs[o].EachBlock(ctx, opt.Workers, gram.PredictWords, true, x, t, func(k *vi.Dense, self la.Matrix[float64], first, n int) error {
			for v, of := range which {
				one, own, err := p.Contribution(k, self, of, opt.Workers)
				if err != nil {
					return err
				}
				if v == len(names) {
					mix(out.constant[first:first+n], nil, 1/float64(o+1), one, nil)
					continue
				}
				mix(out.mean[at[v]][first:first+n], out.variance[at[v]][first:first+n], 1/float64(o+1), one, own)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// PredictViews returns what the kernels of each view add to the prediction of each sample. Its moments are for the mixture of
// the members' functions, Σw·m and Σw(v + m²) − (Σw·m)². Arguments and errors are as in [TargetModel.PredictTargets]. It also
// returns an error if a member is on landmarks or on nearest samples, because such a member is no sum over views.
func (m *AutoModel) PredictViews(ctx context.Context, opt PredictOptions, x ...Features) (*ViewParts, error) {
	if m.onLandmarks {
		return nil, errors.New("mkl: PredictViews: a member on landmarks, with trees or on nearest samples has no sum of views: fit at most 3000 samples")
	}
	var all viewMoments
	var out ViewParts
	var before float64 // weight of the members so far
	for i, w := range m.weights {
		parts, err := m.members[i].PredictViews(ctx, opt, x...)
		if err != nil {
			return nil, err
		}
		before += w
		out.Constant += float64(w / before * (parts.Constant - out.Constant))
		all.join(parts, w/before)
	}
	out.Views, out.Mean = all.names, all.mean
	for _, of := range all.variance {
		sd := make([]float64, len(of))
		for j, v := range of {
			sd[j] = math.Sqrt(v)
		}
		out.SD = append(out.SD, sd)
	}
	return &out, nil
}

// join mixes a member's parts, which have a share of the weight so far, with the parts before. A view that a member has no kernels
// of adds nothing to it.
func (m *viewMoments) join(parts *ViewParts, share float64) {
	for v, name := range parts.Views {
		m.at(name, len(parts.Mean[v]))
	}
	for at, name := range m.names {
		one, square := make([]float64, len(m.mean[at])), make([]float64, len(m.mean[at]))
		if v := slices.Index(parts.Views, name); v >= 0 {
			one = parts.Mean[v]
			for j, sd := range parts.SD[v] {
				square[j] = sd * sd
			}
		}
		mix(m.mean[at], m.variance[at], share, one, square)
	}
}
