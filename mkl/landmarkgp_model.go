package mkl

import (
	"context"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/stat"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// LandmarkGPModel is a fitted [LandmarkGP]. It is immutable and safe for concurrent use.
type LandmarkGPModel struct {
	onViews
	plan         *Plan
	observations int64
	target       target
	shift        [][]float64 // of the features of each view, which gives them mean 0
	beyond       []float64   // P: the share of each kernel's trace that the landmarks leave out
	posterior    *mgp.FeaturePosterior
	evidence     float64
}

// Kind returns "landmarks".
func (m *LandmarkGPModel) Kind() string { return "landmarks" }

// Targets returns 1.
func (m *LandmarkGPModel) Targets() int { return 1 }

// Observations returns the number of samples that the model was fitted to. Samples returns the number
// of its landmarks.
func (m *LandmarkGPModel) Observations() int64 { return m.observations }

// Plan returns the plan of the fit.
func (m *LandmarkGPModel) Plan() *Plan { return m.plan }

// Posterior returns the posterior of the weights of the features, for the standardised
// target.
func (m *LandmarkGPModel) Posterior() *mgp.FeaturePosterior { return m.posterior }

// Bound returns the log evidence of the standardised target in nats.
func (m *LandmarkGPModel) Bound() float64 { return m.evidence }

// NoiseSD returns a slice of one: the standard deviation of the target's noise, in its units. It
// includes the variance that the landmarks leave out.
func (m *LandmarkGPModel) NoiseSD() []float64 {
	return []float64{m.target.sd * math.Sqrt(m.posterior.State().Noise)}
}

// Outputs reports the noise that the fit learned for the target.
func (m *LandmarkGPModel) Outputs() []ModelOutput { return []ModelOutput{{NoiseSD: m.NoiseSD()[0]}} }

// KernelWeights returns 1/γ_p of the views: the variance that a view adds to the function
// for each unit of its kernel, relative to the variance of the standardised target. It has no standard
// deviation.
func (m *LandmarkGPModel) KernelWeights() []KernelWeight {
	s := m.posterior.State()
	mean := make([]float64, len(s.Gamma))
	for i, g := range s.Gamma {
		mean[i] = 1 / (g * m.plan.scale[i])
	}
	return m.kernelWeights(mean, make([]float64, len(mean)))
}

// Refit fits the model anew to sums, starting from this model: sums of more samples, or of
// fewer. The settings are as in [Plan.Fit].
func (m *LandmarkGPModel) Refit(ctx context.Context, f PlanFitting, sums ...*stat.Statistic) (*LandmarkGPModel, error) {
	if f.Notes == nil {
		f.Notes = m.notes
	}
	return m.plan.fit(ctx, &f, startOf(m.posterior), sums)
}

// Predict returns the predictive mean and variance, noise included, for each sample. The arguments
// and errors are as in [TargetModel.PredictTargets].
func (m *LandmarkGPModel) Predict(x ...Features) (mean, variance []float64, err error) {
	return predictOne(m, x)
}

// PredictTargets is Predict with options.
func (m *LandmarkGPModel) PredictTargets(ctx context.Context, opt PredictOptions, x ...Features) (*Prediction, error) {
	t, err := checkInputs(m.design, x)
	if err != nil {
		return nil, err
	}
	out, mem := newPrediction(1, t, opt), &featureMemory{ws: la.Workspace{Workers: opt.Workers}}
	at, level := m.onKernels(&mem.ws)
	err = m.design.EachBlock(ctx, opt.Workers, gram.PredictWords, false, x, t, func(k *vi.Dense, _ la.Matrix[float64], first, n int) error {
		mean := make([]float64, n)
		for i := range mean {
			mean[i] = level
		}
		for i, w := range at {
			la.Gemv(&mem.ws, la.Transpose, 1, k.At(i), w, 1, mean)
		}
		var variance []float64
		if !opt.MeanOnly {
			var err error
			if _, variance, err = m.posterior.Predict(m.plan.centred(mem, k, n, m.shift), la.Matrix[float64]{}, false, opt.Workers); err != nil {
				return err
			}
		}
		m.target.restore(out, 0, first, mean, variance)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out.checked()
}

// onKernels returns the mean as a function of the kernels k_p with the landmarks: level + Σ at_pᵀ·k_p. Means alone need no features, whose
// cost is the square of the number of landmarks.
func (m *LandmarkGPModel) onKernels(ws *la.Workspace) (at [][]float64, level float64) {
	weights := m.plan.split(m.posterior.State().Mean)
	for i, by := range m.plan.by {
		w := make([]float64, by.Cols)
		la.Gemv(ws, la.Transpose, 1, by, weights[i], 0, w)
		at = append(at, w)
		level += la.Dot(weights[i], m.shift[i])
	}
	return at, level
}

// String describes the model in one line.
func (m *LandmarkGPModel) String() string {
	return fmt.Sprintf("multiple Gaussian process on %d kernels (%d active), %d landmarks and %d samples, log evidence %.6g",
		len(m.design.Views), countActive(m.KernelWeights()), m.design.D, m.observations, m.evidence)
}

// Summary describes the model in words, line by line.
func (m *LandmarkGPModel) Summary() string {
	weights := m.KernelWeights()
	return fmt.Sprintf("%s\n%snoise SD %.4g\n%s%s", m, m.trace.outcome(), m.NoiseSD()[0], summarizeActive(weights),
		leftOutText(weights, m.beyond, m.design.D))
}
