package mkl

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// SpikeSlabPredictor predicts single samples, without allocating, from the weights
// that matter. It is immutable and safe for concurrent use.
type SpikeSlabPredictor struct {
	cols        int
	bias, noise float64
	index       []int     // features
	mean        []float64 // E[w]
	center      []float64
	variance    []float64 // Var[w]
}

// Predictor prunes the model to the weights whose probability of being there is
// at least the given one; with 0 all are kept. It is for the paired approximation.
func (m *SpikeSlabModel) Predictor(least float64) (*SpikeSlabPredictor, error) {
	if m.posterior.State().Covariance.Rows > 0 {
		return nil, errors.New("mkl: Predictor: the fit has the standard mean field approximation, whose weights are correlated: use Predict")
	}
	if !(least >= 0 && least <= 1) {
		return nil, fmt.Errorf("mkl: Predictor: least is %g, which is not a probability", least)
	}
	noise := m.NoiseSD()[0]
	p := &SpikeSlabPredictor{cols: len(m.names), bias: m.target.mean, noise: noise * noise}
	for j, w := range m.Weights() {
		if w.Inclusion >= least {
			p.index = append(p.index, j)
			p.mean = append(p.mean, w.Mean)
			p.center = append(p.center, m.center[j])
			p.variance = append(p.variance, w.SD*w.SD)
		}
	}
	return p, nil
}

// Features returns the features that the predictor looks at, ascending.
func (p *SpikeSlabPredictor) Features() []int { return slices.Clone(p.index) }

// Predict returns the predictive mean and variance, noise included, of one sample.
func (p *SpikeSlabPredictor) Predict(x []float64) (mean, variance float64, err error) {
	if len(x) != p.cols {
		return 0, 0, fmt.Errorf("mkl: x: %d values where %d features are needed", len(x), p.cols)
	}
	mean, variance = p.bias, p.noise
	for k, j := range p.index {
		d := x[j] - p.center[k]
		mean += float64(p.mean[k] * d)
		variance += float64(p.variance[k] * float64(d*d))
	}
	if mean-mean != 0 || math.IsNaN(variance) {
		if j := firstNonFinite(x); j >= 0 {
			return 0, 0, &ValueError{Arg: "x", Row: j, Col: -1, Value: x[j]}
		}
	}
	if err := checkMoments(mean, variance); err != nil {
		return 0, 0, fmt.Errorf("mkl: %w", err)
	}
	return mean, variance, nil
}
