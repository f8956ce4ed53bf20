package mkl

import (
	"math"
	"slices"

	"github.com/bmkl/bmkl/vi/bemkl"
)

// SharedRegressionModel is a fitted [SharedRegression]. It is immutable and safe
// for concurrent use.
type SharedRegressionModel struct {
	targetFunctions
	posterior *bemkl.SharedPosterior
}

// strongest reports each kernel weight for the target whose weight is largest.
type strongest struct{ *bemkl.SharedPosterior }

func (p strongest) KernelWeights() (mean, sd []float64) {
	L, _, _ := p.Dims()
	mean, sd = p.SharedPosterior.KernelWeights(0)
	for o := 1; o < L; o++ {
		means, sds := p.SharedPosterior.KernelWeights(o)
		for i, v := range means {
			if math.Abs(v) > math.Abs(mean[i]) {
				mean[i], sd[i] = v, sds[i]
			}
		}
	}
	return mean, sd
}

// set sets the posterior of the model and the fields that follow from it. All targets have the same active
// samples.
func (m *SharedRegressionModel) set(p *bemkl.SharedPosterior) error {
	m.posterior, m.weights, m.targetFunctions.posterior = p, strongest{p}, p
	m.healing = newHealing(m.design, p)
	m.setNoise(p.State().Epsilon)
	if err := m.prepare(p.State().A); err != nil {
		return err
	}
	m.active = slices.Repeat(m.active, len(m.targets))
	return nil
}

// Kind returns "shared-regression".
func (m *SharedRegressionModel) Kind() string { return "shared-regression" }

// Posterior returns the approximate posterior for the standardised targets.
func (m *SharedRegressionModel) Posterior() *bemkl.SharedPosterior { return m.posterior }

// KernelWeights returns, for each view in their order, the weight for the target
// to which it matters most: the weight with the largest absolute mean. Outputs has the
// weights for each target.
func (m *SharedRegressionModel) KernelWeights() []KernelWeight { return m.weighted.KernelWeights() }

// Outputs reports the noise and the weights that the fit learned for each target.
func (m *SharedRegressionModel) Outputs() []ModelOutput {
	out := m.targetFunctions.Outputs()
	for o := range out {
		out[o].Weights = m.kernelWeights(m.posterior.KernelWeights(o))
	}
	return out
}

// ActiveSamples returns the samples whose weight is at least ActiveThreshold times
// the largest, in ascending order of the sample. All targets share these weights.
func (m *SharedRegressionModel) ActiveSamples(target int) []SampleWeight {
	return m.weighted.ActiveSamples(target)
}

// Predict returns the predictive mean and variance, noise included, of the model's
// only target for each sample; see PredictTargets.
func (m *SharedRegressionModel) Predict(x ...Features) (mean, variance []float64, err error) {
	return predictOne(m, x)
}

// String describes the model in one line.
func (m *SharedRegressionModel) String() string {
	return m.describe("regression of " + m.count() + " with shared sample weights")
}

// Summary describes the model in words, line by line.
func (m *SharedRegressionModel) Summary() string { return m.summarize(m.String()) + m.healing.note() }
