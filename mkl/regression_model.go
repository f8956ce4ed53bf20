package mkl

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// targetFunctions is what [RegressionModel], [SharedRegressionModel] and
// [TaskRegressionModel] have in common: a function with noise for each target.
type targetFunctions struct {
	weighted
	targets   []target
	noise     []float64 // variance of each target's noise, for the standardised targets
	posterior interface {
		Predict(k vi.Kernels, opt vi.PredictOptions) (*bemkl.Prediction, error)
	}
	healing *healing  // nil if predictions are not healed
	gaps    *viewGaps // nil unless samples may lack views
}

// setNoise sets the noise's variances E[ε]⁻¹.
func (m *targetFunctions) setNoise(epsilon []Gamma) {
	m.noise = make([]float64, len(epsilon))
	for o, e := range epsilon {
		m.noise[o] = 1 / e.Mean()
	}
}

// Targets returns the number of targets.
func (m *targetFunctions) Targets() int { return len(m.targets) }

// NoiseSD returns the standard deviation of each target's noise, E[ε]^-½, in the
// target's units.
func (m *targetFunctions) NoiseSD() []float64 {
	sd := make([]float64, len(m.targets))
	for o, t := range m.targets {
		sd[o] = t.sd * math.Sqrt(m.noise[o])
	}
	return sd
}

// Outputs reports the noise and the weights that the fit learned for each target.
func (m *targetFunctions) Outputs() []ModelOutput {
	out := m.weighted.Outputs()
	for o, sd := range m.NoiseSD() {
		out[o].NoiseSD = sd
	}
	return out
}

// PredictTargets predicts every target. It takes one matrix for each of Inputs. A matrix
// of a precomputed kernel may have one more column, the kernel of each sample with itself:
// predictions are then healed.
func (m *targetFunctions) PredictTargets(ctx context.Context, opt PredictOptions, x ...Features) (*Prediction, error) {
	healed := !opt.Published && !opt.Unhealed && m.healing.heals(len(x), func(i int) int { return x[i].Cols })
	ds := m.design
	if healed {
		ds = m.healing.Design
	}
	t, err := checkInputs(ds, x)
	if err != nil {
		return nil, err
	}
	out := newPrediction(len(m.targets), t, opt)
	restore := func(first int, p *bemkl.Prediction) {
		for o, target := range m.targets {
			var variance []float64
			if !opt.MeanOnly {
				variance = p.Variance.Row(o)
				for i := range variance {
					if m.gaps != nil {
						variance[i] += m.gaps.extra(m.design, o, lackedBy(m.design, x, first+i))
					}
				}
			}
			target.restore(out, o, first, p.Mean.Row(o), variance)
		}
	}
	if healed {
		err = m.healing.predict(ctx, opt, x, t, restore)
	} else {
		err = ds.PredictBlocks(ctx, opt.Workers, x, t, func(k vi.Kernels, first, _ int) error {
			p, err := m.posterior.Predict(k, opt.inference())
			if err != nil {
				return err
			}
			restore(first, p)
			return nil
		})
	}
	if err != nil {
		return nil, err
	}
	return out.checked()
}

// count returns the number of targets in words.
func (m *targetFunctions) count() string {
	if len(m.targets) == 1 {
		return "1 target"
	}
	return fmt.Sprintf("%d targets", len(m.targets))
}

// summarize describes the model in words after its headline.
func (m *targetFunctions) summarize(headline string) string {
	noise := m.NoiseSD()
	return m.summary(headline, func(o int) string { return fmt.Sprintf("target %d: noise SD %.4g", o+1, noise[o]) })
}

// RegressionModel is a fitted [Regression]. It is immutable and safe for
// concurrent use.
type RegressionModel struct {
	targetFunctions
	posterior *bemkl.RegressionPosterior
}

// set sets the posterior of the model and the fields that follow from it.
func (m *RegressionModel) set(p *bemkl.RegressionPosterior) error {
	m.posterior, m.weights, m.targetFunctions.posterior = p, p, p
	m.healing = newHealing(m.design, p)
	m.setNoise(p.State().Epsilon)
	return m.prepare(p.State().A)
}

// Kind returns "regression".
func (m *RegressionModel) Kind() string { return "regression" }

// Posterior returns the approximate posterior for the standardised targets.
func (m *RegressionModel) Posterior() *bemkl.RegressionPosterior { return m.posterior }

// Predict returns the predictive mean and variance, noise included, of the model's
// only target for each sample; see PredictTargets.
func (m *RegressionModel) Predict(x ...Features) (mean, variance []float64, err error) {
	return predictOne(m, x)
}

// String describes the model in one line.
func (m *RegressionModel) String() string { return m.describe("regression of " + m.count()) }

// Summary describes the model in words, line by line.
func (m *RegressionModel) Summary() string {
	text := m.summarize(m.String())
	if m.gaps == nil || m.gaps.noise == nil {
		return text + m.healing.note()
	}
	for c, missing := range m.gaps.patterns[1:] {
		var names []string
		for i := range m.design.Views {
			if v := &m.design.Views[i]; missing[v.Input] && !slices.Contains(names, v.Name) {
				names = append(names, v.Name)
			}
		}
		var sd []string
		for o, t := range m.targets {
			sd = append(sd, fmt.Sprintf("%.4g", t.sd*math.Sqrt(m.gaps.noise[o][c+1])))
		}
		text += fmt.Sprintf("without %s: noise SD %s\n", strings.Join(names, ", "), strings.Join(sd, ", "))
	}
	return text + "predictions are not healed, since samples lack views: intervals away from the samples are too short\n"
}
