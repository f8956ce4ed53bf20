package mkl

import (
	"context"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// outputs is what fitted regressions have in common: a function for each target.
type outputs struct {
	fitted
	targets   []target
	noise     []float64 // variance of each target's noise, of the standardised targets
	predictor interface {
		Predict(k vi.Kernels, opt vi.PredictOptions) (*bemkl.Prediction, error)
	}
}

// noiseOf returns the noise's variances E[ε]^-1.
func noiseOf(epsilon []Gamma) []float64 {
	noise := make([]float64, len(epsilon))
	for o, e := range epsilon {
		noise[o] = 1 / e.Mean()
	}
	return noise
}

// Targets returns the number of targets.
func (m *outputs) Targets() int { return len(m.targets) }

// NoiseSD returns the standard deviation of each target's noise, E[ε]^-½, in the
// target's units.
func (m *outputs) NoiseSD() []float64 {
	sd := make([]float64, len(m.targets))
	for o, t := range m.targets {
		sd[o] = t.sd * math.Sqrt(m.noise[o])
	}
	return sd
}

// PredictOptions says what to predict. The zero value predicts means and full
// variances.
type PredictOptions struct {
	// Published selects the paper's predictive variance, which is too small: it
	// takes the intermediate outputs at their means.
	Published bool

	// MeanOnly leaves the variances out, and with them nearly all of the cost.
	MeanOnly bool

	// Workers is the most goroutines at work; 0 means runtime.GOMAXPROCS(0).
	// Results do not depend on it.
	Workers int
}

// Prediction holds predictions [target][sample], in the targets' units.
type Prediction struct {
	Mean     [][]float64
	Variance [][]float64 // of the target with its noise; nil with MeanOnly
}

// Predict returns the predictive mean and variance, noise included, of a
// model's only target for each sample. It takes one matrix for each of Inputs.
func (m *outputs) Predict(x ...Features) (mean, variance []float64, err error) {
	if len(m.targets) != 1 {
		return nil, nil, fmt.Errorf("mkl: Predict is for one target and the model has %d: use PredictTargets", len(m.targets))
	}
	p, err := m.PredictTargets(context.Background(), PredictOptions{}, x...)
	if err != nil {
		return nil, nil, err
	}
	return p.Mean[0], p.Variance[0], nil
}

// PredictTargets predicts every target.
func (m *outputs) PredictTargets(ctx context.Context, opt PredictOptions, x ...Features) (*Prediction, error) {
	t, err := m.design.checkInputs(x)
	if err != nil {
		return nil, err
	}
	out := &Prediction{Mean: rows(len(m.targets), t)}
	if !opt.MeanOnly {
		out.Variance = rows(len(m.targets), t)
	}
	return out, m.predictBlocks(ctx, opt.Workers, x, t, func(k vi.Kernels, first, n int) error {
		p, err := m.predictor.Predict(k, opt.inference())
		if err != nil {
			return err
		}
		for o, tg := range m.targets {
			for i := range n {
				out.Mean[o][first+i] = tg.mean + float64(tg.sd*p.Mean.At(o, i))
				if !opt.MeanOnly {
					out.Variance[o][first+i] = tg.sd * tg.sd * p.Variance.At(o, i)
				}
			}
		}
		return nil
	})
}

func (opt PredictOptions) inference() vi.PredictOptions {
	return vi.PredictOptions{Published: opt.Published, MeanOnly: opt.MeanOnly, Workers: opt.Workers}
}

// checkTarget reports a target that the model does not have.
func (m *outputs) checkTarget(opt PredictorOptions) error {
	if opt.Target < 0 || opt.Target >= len(m.targets) {
		return fmt.Errorf("mkl: Predictor: target %d of %d", opt.Target, len(m.targets))
	}
	return nil
}

// count is the number of targets in words.
func (m *outputs) count() string {
	if len(m.targets) == 1 {
		return "1 target"
	}
	return fmt.Sprintf("%d targets", len(m.targets))
}

// summaryOf describes the model in words after its headline.
func (m *outputs) summaryOf(headline string) string {
	noise := m.NoiseSD()
	return m.summary(headline, func(o int) string { return fmt.Sprintf("target %d: noise SD %.4g", o+1, noise[o]) })
}

// RegressionModel is a fitted [Regression]. It is immutable and safe for
// concurrent use.
type RegressionModel struct {
	outputs
	posterior *bemkl.RegressionPosterior
}

func (m *RegressionModel) set(p *bemkl.RegressionPosterior, t Trace) {
	m.posterior, m.weights, m.trace = p, p, t
	m.predictor, m.noise = p, noiseOf(p.State().Epsilon)
}

// Posterior returns the approximate posterior, of the standardised targets.
func (m *RegressionModel) Posterior() *bemkl.RegressionPosterior { return m.posterior }

// String describes the model in one line.
func (m *RegressionModel) String() string { return m.describe("regression of " + m.count()) }

// Summary describes the model in words, line by line.
func (m *RegressionModel) Summary() string { return m.summaryOf(m.String()) }
