package mkl

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi/mgp"
)

// MultiGPModel is a fitted [MultiGP]. It is immutable and safe for concurrent
// use.
type MultiGPModel struct {
	processes
	target target

	// For [Auto]: the noise was assumed normal and constant, and a test found that it varies, or
	// that it has heavy tails.
	unevenNoise, heavyNoise bool
}

// Kind returns "multigp".
func (m *MultiGPModel) Kind() string { return "multigp" }

// Targets returns 1.
func (m *MultiGPModel) Targets() int { return 1 }

// Prior says in words what was learned about the kernels' scales: how heavy the
// tails of their prior are, and how unequal the prior expects the weights to be.
func (m *MultiGPModel) Prior() string { return m.prior(0) }

// NoiseSD returns a slice of one: the standard deviation of the target's noise, τ^-½, in its units.
// With draws it is the square root of their mean variance. Varying noise has the
// mean variance over the training samples; heavy-tailed noise has σ·√(ν/(ν − 2)).
func (m *MultiGPModel) NoiseSD() []float64 {
	all := m.averaged().posteriors
	var variance float64
	for _, p := range all {
		variance += 1 / p.State().Tau / float64(len(all))
	}
	return []float64{m.target.sd * math.Sqrt(variance)}
}

// Outputs reports the noise and the prior of the scales that the fit learned for the target.
func (m *MultiGPModel) Outputs() []ModelOutput {
	out := m.processes.Outputs()
	out[0].NoiseSD, out[0].NoiseFreedom = m.NoiseSD()[0], m.posteriors[0].State().Freedom
	return out
}

// Posterior returns the approximate posterior for the standardised target, at the most
// probable scales.
func (m *MultiGPModel) Posterior() *mgp.Posterior { return m.posteriors[0] }

// Coefficients returns the posterior means and standard deviations of the coefficients β of a view
// whose function is h(x)ᵀβ: a mean function, or a linear part of the model. The view has features h(x) and the kernel
// [kernel.Linear], and is neither centred nor normalised. The coefficients belong to the features
// as given or, with Standardize, to the standardised features. They are in the target's units.
func (m *MultiGPModel) Coefficients(view int) (mean, sd []float64, err error) {
	if view < 0 || view >= len(m.design.Views) {
		return nil, nil, fmt.Errorf("mkl: Coefficients: view %d of %d", view, len(m.design.Views))
	}
	v := m.design.Views[view]
	linear, ok := v.Kernel.(kernel.Linear)
	in := &m.design.Inputs[v.Input]
	if !ok || v.Center || v.Normalize || in.Given || in.Gaps {
		return nil, nil, fmt.Errorf("mkl: Coefficients: view %d has no linear kernel of features, uncentred and not normalised", view)
	}
	root := math.Sqrt(cmp.Or(linear.Scale, 1))
	seen := in.Seen(in.Basis, v.Sight, nil)
	h := la.NewMatrix[float64](seen.Cols, seen.Rows)
	for i := range seen.Rows {
		for j, x := range seen.Row(i) {
			h.Set(j, i, root*x)
		}
	}
	mean, variance := make([]float64, h.Rows), make([]float64, h.Rows)
	for i, p := range m.averaged().posteriors {
		one, own, err := p.Coefficients(view, h)
		if err != nil {
			return nil, nil, fmt.Errorf("mkl: %w", err)
		}
		mix(mean, variance, 1/float64(i+1), one, own)
	}
	for j, v := range variance {
		mean[j] *= root * m.target.sd
		sd = append(sd, root*m.target.sd*math.Sqrt(v))
	}
	return mean, sd, nil
}

// Predict returns the predictive mean and variance, noise included, for each
// sample. The arguments and errors are as in [TargetModel.PredictTargets].
func (m *MultiGPModel) Predict(x ...Features) (mean, variance []float64, err error) {
	return predictOne(m, x)
}

// PredictTargets is Predict with options.
func (m *MultiGPModel) PredictTargets(ctx context.Context, opt PredictOptions, x ...Features) (*Prediction, error) {
	t, err := checkInputs(m.design, x)
	if err != nil {
		return nil, err
	}
	out, standard := newPrediction(1, t, opt), newPrediction(1, t, opt)
	var variance []float64
	if !opt.MeanOnly {
		variance = standard.Variance[0]
	}
	err = m.averaged().predict(ctx, opt, x, t, func(o, first int, p *mgp.Prediction) {
		to := first + len(p.Mean)
		if variance == nil {
			mix(standard.Mean[0][first:to], nil, 1/float64(o+1), p.Mean, nil)
			return
		}
		mix(standard.Mean[0][first:to], variance[first:to], 1/float64(o+1), p.Mean, p.Variance)
	})
	if err != nil {
		return nil, err
	}
	m.target.restore(out, 0, 0, standard.Mean[0], variance)
	return out.checked()
}

// String describes the model in one line.
func (m *MultiGPModel) String() string { return m.describe("multiple Gaussian process") }

// Summary describes the model in words, line by line.
func (m *MultiGPModel) Summary() string {
	text := m.summary(m.String(), func(int) string { return fmt.Sprintf("noise SD %.4g", m.NoiseSD()[0]) })
	if m.noise != nil {
		text += "the noise varies; of the logarithm of its variance " + summarizeActive(m.NoiseWeights())
	}
	if v := m.posteriors[0].State().Freedom; v != 0 {
		text += fmt.Sprintf("the noise has heavy tails: Student-t of %.3g degrees of freedom\n", v)
	}
	if r := m.Rounding(); r > noticeable {
		text += fmt.Sprintf("ILL-CONDITIONED: rounding may move predictions by %.2g of their standard deviation\n", r)
	}
	return text
}

// noticeable is the share of a standard deviation above which a summary warns of rounding.
const noticeable = 1e-3

// Rounding estimates the error of predictions by rounding: the share of the standard deviation by which it
// may have moved the mean. The variance moved by at most that share of itself. See
// docs/lab/digits.md. It is large if the noise is very small compared with what the kernels
// explain. Summary warns if it is above a thousandth.
func (m *MultiGPModel) Rounding() float64 {
	var most float64
	for _, p := range m.averaged().posteriors {
		most = max(most, p.Rounding())
	}
	return most
}
