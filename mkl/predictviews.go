package mkl

import (
	"context"
	"errors"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi"
)

// ViewParts holds what each view adds to predictions, in the target's units.
type ViewParts struct {
	// Constant is the training targets' mean plus the constant kernels' function. For each sample, Constant plus the views'
	// means is the prediction's mean.
	Constant float64

	// Mean and SD, [input][sample], are the posterior mean and standard deviation of the function of the input's kernels. Inputs
	// are in the order of Inputs. The squares of the SDs do not add up to the prediction's variance: the functions are correlated
	// in the posterior, and noise belongs to no view.
	Mean, SD [][]float64
}

// inputKernels returns the kernels of each input, followed by the constant kernels.
func inputKernels(ds *gram.Design) (of [][]int) {
	of = make([][]int, len(ds.Inputs)+1)
	for i, v := range ds.Views {
		to := v.Input
		if _, ok := v.Kernel.(kernel.Constant); ok {
			to = len(ds.Inputs)
		}
		of[to] = append(of[to], i)
	}
	return of
}

// PredictViews returns what the kernels of each input add to the prediction of each sample, exact for the learned scales. If
// predictions are averaged over draws, the moments are of the mixture. Arguments and errors are as in [TargetModel.PredictTargets].
func (m *MultiGPModel) PredictViews(ctx context.Context, opt PredictOptions, x ...Features) (*ViewParts, error) {
	mean, variance, err := m.viewMoments(ctx, opt, x)
	if err != nil {
		return nil, err
	}
	return m.target.viewParts(mean, variance), nil
}

// viewMoments returns the means and variances of the views' functions, [input][sample], for the standardised target. The last
// row belongs to the constant kernels.
func (m *MultiGPModel) viewMoments(ctx context.Context, opt PredictOptions, x []Features) (mean, variance [][]float64, err error) {
	t, err := checkInputs(m.design, x)
	if err != nil {
		return nil, nil, err
	}
	for range len(m.design.Inputs) + 1 {
		mean, variance = append(mean, make([]float64, t)), append(variance, make([]float64, t))
	}
	all := m.averaged()
	for o, p := range all.posteriors {
		which := inputKernels(all.designs[o])
		err := all.designs[o].EachBlock(ctx, opt.Workers, gram.PredictWords, true, x, t, func(k *vi.Dense, self la.Matrix[float64], first, n int) error {
			for v, of := range which {
				one, own, err := p.Contribution(k, self, of, opt.Workers)
				if err != nil {
					return err
				}
				mix(mean[v][first:first+n], variance[v][first:first+n], 1/float64(o+1), one, own)
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return mean, variance, nil
}

// viewParts converts moments for the standardised target to the target's own units.
func (t target) viewParts(mean, variance [][]float64) *ViewParts {
	last := len(mean) - 1
	out := &ViewParts{Constant: t.mean}
	if len(mean[last]) > 0 {
		out.Constant += float64(t.sd * mean[last][0])
	}
	for v, of := range mean[:last] {
		part, sd := make([]float64, len(of)), make([]float64, len(of))
		for i, value := range of {
			part[i], sd[i] = t.sd*value, t.sd*math.Sqrt(variance[v][i])
		}
		out.Mean, out.SD = append(out.Mean, part), append(out.SD, sd)
	}
	return out
}

// PredictViews returns what the kernels of each input add to the prediction of each sample. Its moments are for the mixture of
// the members' functions, Σw·m and Σw(v + m²) − (Σw·m)². Arguments and errors are as in [TargetModel.PredictTargets]. It also
// returns an error if a member is on landmarks or on nearest samples, because such a member is no sum over views.
func (m *AutoModel) PredictViews(ctx context.Context, opt PredictOptions, x ...Features) (*ViewParts, error) {
	if m.landmarks != nil || m.local != nil || len(m.members) != len(m.models) {
		return nil, errors.New("mkl: PredictViews: a member on landmarks or on nearest samples has no sum of views: fit at most 3000 samples")
	}
	var mean, variance [][]float64
	var before float64 // weight of the members so far
	var all ViewParts
	for i, w := range m.weights {
		parts, err := m.members[i].PredictViews(ctx, opt, x...)
		if err != nil {
			return nil, err
		}
		if mean == nil {
			for _, of := range parts.Mean {
				mean, variance = append(mean, make([]float64, len(of))), append(variance, make([]float64, len(of)))
			}
		}
		before += w
		all.Constant += float64(w / before * (parts.Constant - all.Constant))
		for v, of := range parts.Mean {
			square := make([]float64, len(of))
			for j, sd := range parts.SD[v] {
				square[j] = sd * sd
			}
			mix(mean[v], variance[v], w/before, of, square)
		}
	}
	all.Mean = mean
	for _, of := range variance {
		sd := make([]float64, len(of))
		for j, v := range of {
			sd[j] = math.Sqrt(v)
		}
		all.SD = append(all.SD, sd)
	}
	return &all, nil
}
