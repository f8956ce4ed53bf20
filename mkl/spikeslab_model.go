package mkl

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi/slab"
)

// SlabWeight is the posterior of a weight that may be zero.
type SlabWeight struct {
	Name      string  // of the feature
	Mean, SD  float64 // of the weight itself, zero included
	Inclusion float64 // probability that it is not zero
}

// SpikeSlabModel is a fitted [SpikeSlab]. It is immutable and safe for concurrent
// use.
type SpikeSlabModel struct {
	record
	posterior     *slab.RegressionPosterior
	target        target
	center, scale []float64 // the model uses (x − center)/scale
	names         []string
}

// see returns x on the scale of the posterior's weights.
func (m *SpikeSlabModel) see(x Features) la.Matrix[float64] {
	z := x.Clone()
	for i := range z.Rows {
		row := z.Row(i)
		for j, v := range row {
			row[j] = (v - m.center[j]) / m.scale[j]
		}
	}
	return z
}

// Kind returns "spike-slab".
func (m *SpikeSlabModel) Kind() string { return "spike-slab" }

// Samples returns 0: the model keeps no samples.
func (m *SpikeSlabModel) Samples() int { return 0 }

// Targets returns 1.
func (m *SpikeSlabModel) Targets() int { return 1 }

// Outputs reports the noise that the fit learned for the target, and the probability that each feature's
// weight is not zero.
func (m *SpikeSlabModel) Outputs() []ModelOutput {
	out := ModelOutput{NoiseSD: m.NoiseSD()[0]}
	for _, w := range m.Weights() {
		out.Inclusion = append(out.Inclusion, w.Inclusion)
	}
	return []ModelOutput{out}
}

// Weights returns the features' weights, in the units of target and feature.
func (m *SpikeSlabModel) Weights() []SlabWeight {
	mean, sd, inclusion := m.posterior.Weights()
	out := make([]SlabWeight, len(mean))
	for j := range out {
		unit := m.target.sd / m.scale[j]
		out[j] = SlabWeight{m.names[j], unit * mean[j], unit * sd[j], inclusion[j]}
	}
	return out
}

// Bias returns the prediction for a sample whose features are all zero.
func (m *SpikeSlabModel) Bias() float64 {
	b := m.target.mean
	for j, w := range m.Weights() {
		b -= float64(w.Mean * m.center[j])
	}
	return b
}

// KernelWeights returns the weights as weights of linear kernels, one for each
// feature. A weight is active if it is more probably nonzero than zero.
func (m *SpikeSlabModel) KernelWeights() []KernelWeight {
	var out []KernelWeight
	for _, w := range m.Weights() {
		out = append(out, KernelWeight{View: w.Name, Kernel: kernel.Linear{}.String(), Mean: w.Mean, SD: w.SD, Active: w.Inclusion >= 0.5})
	}
	return out
}

// Inputs describes the matrix that a prediction takes.
func (m *SpikeSlabModel) Inputs() []ModelInput {
	views := make([]int, len(m.names))
	for j := range views {
		views[j] = j
	}
	return []ModelInput{{Views: views, Cols: len(m.names)}}
}

// NoiseSD returns a slice of one: the standard deviation of the target's noise, in its
// units.
func (m *SpikeSlabModel) NoiseSD() []float64 {
	return []float64{m.target.sd * math.Sqrt(m.posterior.State().Noise)}
}

// Prior returns the learned prior of the weights, for standardised features.
func (m *SpikeSlabModel) Prior() SlabPrior { return m.posterior.State().Prior }

// Posterior returns the approximate posterior for the standardised target.
func (m *SpikeSlabModel) Posterior() *slab.RegressionPosterior { return m.posterior }

// Predict returns the predictive mean and variance, noise included, for each row
// of x, a single matrix; see PredictTargets.
func (m *SpikeSlabModel) Predict(x ...Features) (mean, variance []float64, err error) {
	return predictOne(m, x)
}

// PredictTargets predicts the target for each row of x, a single
// matrix. The paired approximation treats weights as independent, so that the variance
// of the function is too small if features are correlated. Workers has
// no effect, and a variance costs no more than a mean.
func (m *SpikeSlabModel) PredictTargets(_ context.Context, opt PredictOptions, x ...Features) (*Prediction, error) {
	if err := m.checkFeatures(x); err != nil {
		return nil, err
	}
	p, err := prefixed(m.posterior.Predict(m.see(x[0])))
	if err != nil {
		return nil, err
	}
	out := newPrediction(1, x[0].Rows, opt)
	m.target.restore(out, 0, 0, p.Mean, p.Variance)
	return out.checked()
}

// checkFeatures returns an error unless x is the one matrix that a prediction needs.
func (m *SpikeSlabModel) checkFeatures(x []Features) error {
	if len(x) != 1 {
		return fmt.Errorf("mkl: %d input matrices where the model needs 1", len(x))
	}
	if err := gram.CheckLayout("x[0]", x[0]); err != nil {
		return err
	}
	if x[0].Cols != len(m.names) {
		return fmt.Errorf("mkl: x[0]: %d×%d where %d columns are needed (features)", x[0].Rows, x[0].Cols, len(m.names))
	}
	return checkFinite("x[0]", x[0])
}

// String describes the model in one line.
func (m *SpikeSlabModel) String() string {
	return fmt.Sprintf("spike-and-slab regression on %d features (%d active), bound %.6g", len(m.names), countActive(m.KernelWeights()), m.Bound())
}

// Summary describes the model in words, line by line.
func (m *SpikeSlabModel) Summary() string {
	var b strings.Builder
	fmt.Fprintln(&b, m.String())
	b.WriteString(m.trace.outcome())
	prior := m.Prior()
	fmt.Fprintf(&b, "noise SD %.4g; weights are there with probability %.3g, with SD %.3g on standardised data\n",
		m.NoiseSD()[0], prior.Pi, math.Sqrt(prior.Variance))
	fmt.Fprintln(&b, "weights (mean ± SD, probability of being there):")
	for _, w := range m.Weights() {
		if w.Inclusion >= 0.5 {
			fmt.Fprintf(&b, "  %-32s %10.4g ± %-8.2g %.3f\n", w.Name, w.Mean, w.SD, w.Inclusion)
		}
	}
	return b.String()
}
