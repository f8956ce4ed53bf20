package mkl

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
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

	// Of the standard mean field approximation, whose weights are correlated: the lower
	// triangle of their covariance, its elements below the diagonal doubled.
	cov  la.Matrix[float64]
	pool scratchPool // for it
}

// Predictor prunes the model to the weights whose probability of being there is
// at least the given one; with 0 all are kept. The variance of n weights costs n
// multiplications, or n²/2 after a fit with the standard mean field approximation.
func (m *SpikeSlabModel) Predictor(least float64) (*SpikeSlabPredictor, error) {
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
	if c := m.posterior.State().Covariance; c.Rows > 0 {
		p.correlate(m, c)
	}
	return p, nil
}

// correlate sets the covariance of the weights, given that of weights that are there.
func (p *SpikeSlabPredictor) correlate(m *SpikeSlabModel, c la.Matrix[float64]) {
	_, _, inclusion := m.posterior.Weights()
	p.cov = la.NewMatrix[float64](len(p.index), len(p.index))
	unit := func(j int) float64 { return inclusion[j] * m.target.sd / m.scale[j] }
	for a, i := range p.index {
		for b, j := range p.index[:a] {
			p.cov.Set(a, b, 2*unit(i)*unit(j)*c.At(i, j))
		}
		p.cov.Set(a, a, p.variance[a])
	}
	p.pool = newScratchPool(func() *scratch { return &scratch{phi: make([]float64, len(p.index))} })
}

// Features returns the features that the predictor looks at, ascending.
func (p *SpikeSlabPredictor) Features() []int { return slices.Clone(p.index) }

// Predict returns the predictive mean and variance, noise included, of one sample, in the target's
// units and their square. It is an error if x has not as many values as the fit had features, or one
// of Features or the prediction is not finite; other features may be anything, NaN too.
func (p *SpikeSlabPredictor) Predict(x []float64) (mean, variance float64, err error) {
	if len(x) != p.cols {
		return 0, 0, fmt.Errorf("mkl: x: %d values where %d features are needed", len(x), p.cols)
	}
	mean, variance = p.bias, p.noise
	if p.cov.Rows > 0 {
		m, v := p.correlated(x)
		mean, variance = mean+m, variance+v
	} else {
		for k, j := range p.index {
			d := x[j] - p.center[k]
			mean += float64(p.mean[k] * d)
			variance += float64(p.variance[k] * float64(d*d))
		}
	}
	if mean-mean != 0 || math.IsNaN(variance) {
		for _, j := range p.index {
			if x[j]-x[j] != 0 {
				return 0, 0, &ValueError{Arg: "x", Row: j, Col: -1, Value: x[j]}
			}
		}
	}
	if err := checkMoments(mean, variance); err != nil {
		return 0, 0, fmt.Errorf("mkl: %w", err)
	}
	return mean, variance, nil
}

// correlated returns the mean less the bias and the variance of the function where
// weights are correlated.
func (p *SpikeSlabPredictor) correlated(x []float64) (mean, variance float64) {
	s := p.pool.take()
	for k, j := range p.index {
		s.phi[k] = x[j] - p.center[k]
	}
	mean = la.Dot(p.mean, s.phi)
	for k, d := range s.phi {
		variance += float64(d * la.Dot(p.cov.Row(k)[:k+1], s.phi[:k+1]))
	}
	p.pool.put(s)
	return mean, max(0, variance)
}
