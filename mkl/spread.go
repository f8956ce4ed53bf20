package mkl

import (
	"context"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/probit"
)

// spreadWords is the largest number of kernel values that [onViews.KernelSpreads] keeps at a time.
const spreadWords = 1 << 21

// KernelSpreads returns, in the order of KernelWeights, the factors that make
// weights comparable between kernels of different scales. For a kernel k the factor is the mean of
// k(x,x) over the given samples minus the mean of k(x,b) over these samples and the basis points
// b. If a [MultiGP] keeps samples that span the others, b are all training samples. The factor
// is the expected variance over samples of a Gaussian process with the kernel k.
// It is 0 for a constant kernel. It is NaN, because it is not known, for a given kernel without the kernel of each
// sample with itself, and for a kernel whose sum over the samples overflows.
//
// It takes one matrix for each of Inputs. Workers is the only option that has an effect.
func (m *onViews) KernelSpreads(ctx context.Context, opt PredictOptions, x ...Features) ([]float64, error) {
	ds := m.design
	t, err := checkInputs(ds, x)
	if err != nil {
		return nil, err
	}
	self, cross := make([]float64, len(ds.Views)), make([]float64, len(ds.Views))
	err = ds.EachBlock(ctx, opt.Workers, spreadWords, true, x, t, func(k *vi.Dense, own la.Matrix[float64], _, _ int) error {
		for i := range ds.Views {
			self[i] += vec.Total(own.Row(i))
			values := k.At(i)
			for d := range values.Rows {
				samples := 1.0 // number of samples of d for which the basis point stands
				if ds.Share != nil {
					samples = ds.Share[d] * float64(ds.D)
				}
				cross[i] += float64(samples * vec.Total(values.Row(d)))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	spread := make([]float64, len(ds.Views))
	for i := range ds.Views {
		v := &ds.Views[i]
		if _, given := v.Kernel.(kernel.Precomputed); given && ds.Inputs[v.Input].Cols == ds.D {
			spread[i] = math.NaN()
			continue
		}
		spread[i] = max(0, self[i]/float64(t)-cross[i]/float64(t)/float64(ds.D))
		if math.IsInf(spread[i], 0) {
			spread[i] = math.NaN()
		}
	}
	return spread, nil
}

// KernelSpreads returns the spreads of all members' kernels, member after member, in the order of
// KernelWeights. It takes one matrix for each of Inputs.
func (p *pool) KernelSpreads(ctx context.Context, opt PredictOptions, x ...Features) (all []float64, err error) {
	for _, m := range p.models {
		s, err := m.(interface {
			KernelSpreads(context.Context, PredictOptions, ...Features) ([]float64, error)
		}).KernelSpreads(ctx, opt, x...)
		if err != nil {
			return nil, err
		}
		all = append(all, s...)
	}
	return all, nil
}

// KernelSpreads returns ones: the weights already measure the contribution of a latent function to the targets.
func (m *MultiTaskModel) KernelSpreads(_ context.Context, _ PredictOptions, x ...Features) ([]float64, error) {
	if _, err := checkInputs(m.design, x); err != nil {
		return nil, err
	}
	return slices.Repeat([]float64{1}, len(m.design.Views)), nil
}

// KernelSpreads returns the spreads of the kernels. It returns ones for rules that multiply kernels,
// because a weight is then a power.
func (m *ProbitClassifierModel[T]) KernelSpreads(ctx context.Context, opt PredictOptions, x ...Features) ([]float64, error) {
	spread, err := m.onViews.KernelSpreads(ctx, opt, x...)
	if r := m.rule(); err == nil && (r == probit.RuleFixProd || r == probit.RuleWProd) {
		spread = slices.Repeat([]float64{1}, len(spread))
	}
	return spread, err
}

// KernelSpreads returns the standard deviation of each feature over the samples. Multiplied by the feature's
// weight it is the standard deviation of the feature's contribution to the target.
func (m *SpikeSlabModel) KernelSpreads(_ context.Context, _ PredictOptions, x ...Features) ([]float64, error) {
	if err := m.checkFeatures(x); err != nil {
		return nil, err
	}
	spread := make([]float64, x[0].Cols)
	for j := range spread {
		if spread[j] = columnSD(x[0], j, 1); math.IsInf(spread[j], 0) {
			const unit = 0x1p-520 // its square is a number, and the squares of the largest numbers in this unit are
			spread[j] = columnSD(x[0], j, unit) / unit
		}
	}
	return spread, nil
}

// columnSD returns the standard deviation of a column, whose numbers it multiplies by unit.
func columnSD(x Features, j int, unit float64) float64 {
	var mean, square float64
	for i := range x.Rows {
		mean += unit * x.At(i, j) / float64(x.Rows)
	}
	for i := range x.Rows {
		d := float64(unit*x.At(i, j)) - mean
		square += d * d / float64(x.Rows)
	}
	return math.Sqrt(square)
}
