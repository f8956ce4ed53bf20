package mkl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi/trees"
)

// treeModel is the member of a pool of numbers that learns edges and interactions: a curve for each feature, and leaves of boosted
// trees. It is immutable and safe for concurrent use.
type treeModel struct {
	onViews
	features  *localFeatures
	posterior *trees.Posterior // of the standardised target
	target    target
}

// mostTreeFeatures is the largest number of features of a member with trees.
const mostTreeFeatures = 4096

// addTrees adds a member with trees, unless [manyRows.kernelsGiven]: trees see features.
func (a Auto) addTrees(r *manyRows, m *AutoModel, y []float64) error {
	if r.kernelsGiven() {
		return nil
	}
	member, err := r.fitTrees(r.stepFitting(2), y)
	if err != nil {
		return r.leaveOut(curvesAndTrees, err)
	}
	r.spent += member.posterior.Spent
	m.trees = member
	m.names = append(m.names, curvesAndTrees)
	m.add(member)
	return nil
}

// treeFit is what members with trees need: the features of all samples, and the settings of the fit.
type treeFit struct {
	onViews
	features *localFeatures
	x        la.Matrix[float64]
	process  trees.Process
}

// treeFeatures prepares the fit of a member with trees to all samples. It may use a quarter of the remaining seconds. memory returns
// the bytes that it takes with so many features.
func (m *manyRows) treeFeatures(settings Fitting, memory func(features int) int64) (*treeFit, error) {
	x := distinctInputs(m.views)
	f := &fitting{Fitting: settings}
	t := &treeFit{
		onViews:  onViews{f.record(Trace{Converged: true, Reason: "the steps of a forecast"}), inputsDesign(m.views, x[0].Rows)},
		features: newLocalFeatures(x, openColumns(m.views, m.views)),
		process:  trees.Process{Seed: m.Seed, Workers: m.Workers, Held: m.held, Seconds: max(1, 0.25*(m.seconds-m.spent-m.exact))},
	}
	d := len(t.features.columns)
	if d == 0 {
		return nil, errors.New("no feature varies")
	}
	if d > mostTreeFeatures {
		return nil, fmt.Errorf("%d features are more than %d", d, mostTreeFeatures)
	}
	if need, limit := memory(d), m.allowed()/2; need > limit {
		return nil, &MemoryError{Need: need, Limit: limit}
	}
	t.x = t.features.of(x)
	return t, nil
}

// fitTrees fits the member with trees to all samples.
func (m *manyRows) fitTrees(settings Fitting, y []float64) (*treeModel, error) {
	f, err := m.treeFeatures(settings, func(d int) int64 { return trees.Memory(len(y), d) })
	if err != nil {
		return nil, err
	}
	targets, z := standardizeTargets([][]float64{y}, false)
	t := &treeModel{onViews: f.onViews, features: f.features, target: targets[0]}
	f.process.Progress = m.stepSeconds(2)
	t.posterior, err = f.process.Fit(m.ctx, f.x, z.Data)
	return t, err
}

// Kind returns "trees", the member's name in a pool's file.
func (m *treeModel) Kind() string { return "trees" }

// Targets returns 1.
func (m *treeModel) Targets() int { return 1 }

// Bound returns NaN: the trees depend on the targets, so that the evidence is of no model that was fixed before.
func (m *treeModel) Bound() float64 { return math.NaN() }

// NoiseSD returns the standard deviation of the noise in the target's units.
func (m *treeModel) NoiseSD() []float64 {
	s := m.posterior.State()
	return []float64{m.target.sd * math.Sqrt(s.Noise*s.Factor)}
}

// Outputs reports the noise that the fit learned for the target.
func (m *treeModel) Outputs() []ModelOutput { return []ModelOutput{{NoiseSD: m.NoiseSD()[0]}} }

// KernelWeights returns what the curves and what the trees contribute: the sum of the variances of the heights of each.
func (m *treeModel) KernelWeights() (all []KernelWeight) {
	return treeWeights(m.posterior.State().Spread())
}

// treeWeights returns what curves and trees contribute, by the sums of the variances of their heights.
func treeWeights(curves, leaves float64) (all []KernelWeight) {
	for _, p := range []struct {
		name string
		of   float64
	}{{"curves", curves}, {"trees", leaves}} {
		if p.of > 0 {
			all = append(all, KernelWeight{View: p.name, Kernel: p.name, Mean: p.of})
		}
	}
	return markActive(all)
}

// markActive says of each weight whether it is active among all.
func markActive(all []KernelWeight) []KernelWeight {
	means := make([]float64, len(all))
	for i, w := range all {
		means[i] = w.Mean
	}
	limit := ActiveThreshold * vec.LargestAbs(means)
	for i := range all {
		all[i].Active = limit > 0 && math.Abs(all[i].Mean) >= limit
	}
	return all
}

// KernelSpreads returns ones: the weights already measure contributions.
func (m *treeModel) KernelSpreads(_ context.Context, _ PredictOptions, x ...Features) ([]float64, error) {
	if _, err := checkInputs(m.design, x); err != nil {
		return nil, err
	}
	return slices.Repeat([]float64{1}, len(m.KernelWeights())), nil
}

// PredictTargets implements [TargetModel].
func (m *treeModel) PredictTargets(ctx context.Context, opt PredictOptions, x ...Features) (*Prediction, error) {
	if ctx == nil {
		return nil, gram.ErrNoContext
	}
	t, err := checkInputs(m.design, x)
	if err != nil {
		return nil, err
	}
	mean, variance, err := m.posterior.Predict(ctx, m.features.of(x), opt.MeanOnly, opt.Workers)
	if err != nil {
		return nil, fmt.Errorf("mkl: %w", err)
	}
	out := newPrediction(1, t, opt)
	m.target.restore(out, 0, 0, mean, variance)
	return out.checked()
}

// heldPrediction returns the predictions of the samples held out, from the others.
func (m *treeModel) heldPrediction() *Prediction {
	p := newPrediction(1, len(m.posterior.HeldMean), PredictOptions{})
	m.target.restore(p, 0, 0, m.posterior.HeldMean, m.posterior.HeldVariance)
	return p
}

// info describes the predictions, which are exact.
func (m *treeModel) info() PredictorInfo {
	return treeInfo(m.KernelWeights())
}

// treeInfo describes predictions by trees whose parts have the given weights.
func treeInfo(of []KernelWeight) PredictorInfo {
	return PredictorInfo{Kernels: vec.UpTo(len(of))}
}

// String describes the model in one line.
func (m *treeModel) String() string {
	s := m.posterior.State()
	return fmt.Sprintf("%d curves and %d trees with %d heights on %d features, for %d samples",
		len(s.Curves), len(s.Trees), len(s.Mean), len(m.features.columns), m.Samples())
}

// Summary describes the model in words.
func (m *treeModel) Summary() string {
	return fmt.Sprintf("%s\nnoise SD %.4g\n%s", m, m.NoiseSD()[0], summarizeActive(m.KernelWeights()))
}

// Save returns an error: the member is part of a pool's file.
func (m *treeModel) Save(io.Writer) error { return errOnlyInPool }

func (m *treeModel) decode(*fileReader) error { return errOnlyInPool }
