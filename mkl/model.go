package mkl

import (
	"context"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/vi"
)

// RegressionModel is a fitted [Regression]. It is immutable and safe for
// concurrent use.
type RegressionModel struct {
	fitted
	targets   []target
	posterior *vi.RegressionPosterior
}

func (m *RegressionModel) set(p *vi.RegressionPosterior, t Trace) {
	m.posterior, m.weights, m.trace = p, p, t
}

// Targets returns the number of targets.
func (m *RegressionModel) Targets() int { return len(m.targets) }

// NoiseSD returns the standard deviation of each target's noise, E[ε]^-½, in the
// target's units.
func (m *RegressionModel) NoiseSD() []float64 {
	s := m.posterior.State()
	sd := make([]float64, len(m.targets))
	for o, t := range m.targets {
		sd[o] = t.sd / math.Sqrt(s.Epsilon[o].Mean())
	}
	return sd
}

// Posterior returns the approximate posterior, of the standardised targets.
func (m *RegressionModel) Posterior() *vi.RegressionPosterior { return m.posterior }

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
func (m *RegressionModel) Predict(x ...Features) (mean, variance []float64, err error) {
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
func (m *RegressionModel) PredictTargets(ctx context.Context, opt PredictOptions, x ...Features) (*Prediction, error) {
	t, err := m.design.checkInputs(x)
	if err != nil {
		return nil, err
	}
	out := &Prediction{Mean: rows(len(m.targets), t)}
	if !opt.MeanOnly {
		out.Variance = rows(len(m.targets), t)
	}
	return out, m.predictBlocks(ctx, opt.Workers, x, t, func(k vi.Kernels, first, n int) error {
		p, err := m.posterior.Predict(k, opt.inference())
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

// String describes the model in one line.
func (m *RegressionModel) String() string {
	what := "1 target"
	if len(m.targets) > 1 {
		what = fmt.Sprintf("%d targets", len(m.targets))
	}
	return m.describe("regression of " + what)
}

// Summary describes the model in words, line by line.
func (m *RegressionModel) Summary() string {
	noise := m.NoiseSD()
	return m.summary(m.String(), func(o int) string { return fmt.Sprintf("target %d: noise SD %.4g", o+1, noise[o]) })
}
