package mkl

import (
	"context"
	"fmt"
	"math"
)

// AutoTargetsModel is a fitted [AutoTargets]: a pool for each target. It is immutable and safe for concurrent use.
type AutoTargetsModel struct {
	record
	pools []*AutoModel
}

// add adds the pool of the next target.
func (m *AutoTargetsModel) add(p *AutoModel) {
	m.trace.follow(p.trace, len(m.pools) == 0)
	m.pools = append(m.pools, p)
}

// Kind returns pools.
func (m *AutoTargetsModel) Kind() string { return "pools" }

// Targets returns the number of targets.
func (m *AutoTargetsModel) Targets() int { return len(m.pools) }

// Target returns the model of one target.
func (m *AutoTargetsModel) Target(target int) *AutoModel { return m.pools[target] }

// Samples returns the largest number of training samples that the pool of a target was fitted to.
func (m *AutoTargetsModel) Samples() (n int) {
	for _, p := range m.pools {
		n = max(n, p.Samples())
	}
	return n
}

// Inputs describes the matrices that a prediction takes, as [AutoModel] does.
func (m *AutoTargetsModel) Inputs() []ModelInput { return m.pools[0].Inputs() }

// Bound returns NaN: members with different kernels have no common bound.
func (m *AutoTargetsModel) Bound() float64 { return math.NaN() }

// NoiseSD returns the standard deviation of each target's noise, in the target's units, as [AutoModel.NoiseSD] does.
func (m *AutoTargetsModel) NoiseSD() (sd []float64) {
	for _, p := range m.pools {
		sd = append(sd, p.NoiseSD()[0])
	}
	return sd
}

// Outputs describes what was learned of each target. The weights of a target are the weights of its own pool, and 0 for the kernels of
// other targets' pools.
func (m *AutoTargetsModel) Outputs() (all []ModelOutput) {
	first := 0
	for _, p := range m.pools {
		out, own := p.Outputs()[0], p.KernelWeights()
		out.Weights = m.KernelWeights()
		for i := range out.Weights {
			w := &out.Weights[i]
			w.Mean, w.SD, w.Active = 0, 0, false
			if k := i - first; k >= 0 && k < len(own) {
				w.Mean, w.SD, w.Active = own[k].Mean, own[k].SD, own[k].Active
			}
		}
		first += len(own)
		all = append(all, out)
	}
	return all
}

// KernelWeights returns the weights of the kernels of all targets' pools, target after target, as means over the targets: a kernel is
// in the pool of one target only. Target has the weights of each pool by themselves.
func (m *AutoTargetsModel) KernelWeights() (all []KernelWeight) {
	for o, p := range m.pools {
		for _, w := range p.KernelWeights() {
			w.View = fmt.Sprintf("target %d: %s", o+1, w.View)
			w.Mean, w.SD = w.Mean/float64(len(m.pools)), w.SD/float64(len(m.pools))
			all = append(all, w)
		}
	}
	return all
}

// KernelSpreads returns the spreads of all targets' kernels over samples, in the order of KernelWeights; see
// [RegressionModel.KernelSpreads].
func (m *AutoTargetsModel) KernelSpreads(ctx context.Context, opt PredictOptions, x ...Features) (all []float64, err error) {
	for _, p := range m.pools {
		one, err := p.KernelSpreads(ctx, opt, x...)
		if err != nil {
			return nil, err
		}
		all = append(all, one...)
	}
	return all, nil
}

// Collapsed lists the targets whose function vanishes in every member.
func (m *AutoTargetsModel) Collapsed() (all []int) {
	for o, p := range m.pools {
		if len(p.Collapsed()) > 0 {
			all = append(all, o)
		}
	}
	return all
}

// Predict returns the predictive mean and variance, noise included, of the only target for each sample. It is an error of several
// targets; others are as in [TargetModel.PredictTargets].
func (m *AutoTargetsModel) Predict(x ...Features) (mean, variance []float64, err error) {
	return predictOne(m, x)
}

// PredictTargets is the prediction of each target's pool.
func (m *AutoTargetsModel) PredictTargets(ctx context.Context, opt PredictOptions, x ...Features) (*Prediction, error) {
	out := &Prediction{}
	for _, p := range m.pools {
		one, err := p.PredictTargets(ctx, opt, x...)
		if err != nil {
			return nil, err
		}
		out.Mean, out.Variance = append(out.Mean, one.Mean[0]), append(out.Variance, one.Variance...)
		if one.learned == nil {
			one.learned = []*learnedPrediction{nil}
		}
		out.learned = append(out.learned, one.learned...)
	}
	return out, nil
}

// Predictor prepares the model for predictions of single samples, of the target opt.Target; see [AutoModel.Predictor].
func (m *AutoTargetsModel) Predictor(opt PredictorOptions) (*Predictor, error) {
	if err := opt.check(len(m.pools)); err != nil {
		return nil, err
	}
	opt = m.archived(opt)
	p := m.pools[opt.Target]
	opt.Target = 0
	return p.Predictor(opt)
}

// String describes the model in one line.
func (m *AutoTargetsModel) String() string {
	return fmt.Sprintf("pools of multiple Gaussian processes for %d targets, on %d samples", len(m.pools), m.Samples())
}

// Summary describes the model in words, line by line.
func (m *AutoTargetsModel) Summary() string {
	text := m.String() + "\n"
	for o, p := range m.pools {
		text += fmt.Sprintf("target %d: %s", o+1, p.Summary())
	}
	return text
}
