package mkl

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/reuse"
)

// sparsePredictor predicts the target of a [SpikeSlabModel] from the weights that matter.
type sparsePredictor struct {
	meanOnly    bool
	cols        int
	bias, noise float64
	index       []int     // indices of features
	mean        []float64 // E[w]
	center      []float64
	variance    []float64 // Var[w]

	// For the standard mean field approximation, whose weights are correlated: the lower
	// triangle of their covariance, with the elements below the diagonal doubled.
	cov  la.Matrix[float64]
	pool reuse.Pool[scratch] // for predictions with cov
}

// Predictor prepares the model for predictions of single samples. It keeps the weights whose probability of inclusion is
// at least opt.Inclusion; Tolerance and Exact have no effect. The variance for n weights costs n multiplications, or n²/2
// after a fit with the standard mean field approximation.
func (m *SpikeSlabModel) Predictor(opt PredictorOptions) (*Predictor, error) {
	if err := opt.check(1); err != nil {
		return nil, err
	}
	noise := m.NoiseSD()[0]
	p := &sparsePredictor{meanOnly: opt.MeanOnly, cols: len(m.names), bias: m.target.mean, noise: noise * noise}
	for j, w := range m.Weights() {
		if w.Inclusion >= opt.Inclusion {
			p.index = append(p.index, j)
			p.mean = append(p.mean, w.Mean)
			p.center = append(p.center, m.center[j])
			p.variance = append(p.variance, w.SD*w.SD)
		}
	}
	if c := m.posterior.State().Covariance; c.Rows > 0 {
		p.correlate(m, c)
	}
	return &Predictor{sparse: p}, nil
}

// correlate sets the covariance of the weights, given c, their covariance if all of them are included.
func (p *sparsePredictor) correlate(m *SpikeSlabModel, c la.Matrix[float64]) {
	_, _, inclusion := m.posterior.Weights()
	p.cov = la.NewMatrix[float64](len(p.index), len(p.index))
	unit := func(j int) float64 { return inclusion[j] * m.target.sd / m.scale[j] }
	for a, i := range p.index {
		for b, j := range p.index[:a] {
			p.cov.Set(a, b, 2*unit(i)*unit(j)*c.At(i, j))
		}
		p.cov.Set(a, a, p.variance[a])
	}
	p.pool = reuse.NewPool(func() *scratch { return &scratch{phi: make([]float64, len(p.index))} })
}

func (p *sparsePredictor) info() PredictorInfo {
	return PredictorInfo{Kernels: slices.Clone(p.index)}
}

// predictBounded predicts one sample.
func (p *sparsePredictor) predictBounded(in [][]float64) (BoundedPrediction, error) {
	if len(in) != 1 {
		return nothing, fmt.Errorf("mkl: %d inputs where the model needs 1", len(in))
	}
	x := in[0]
	if len(x) != p.cols {
		return nothing, fmt.Errorf("mkl: x[0]: %d values where %d are needed", len(x), p.cols)
	}
	mean, variance := p.bias, p.noise
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
				return nothing, &ValueError{Arg: "x[0]", Row: j, Col: -1, Value: x[j]}
			}
		}
	}
	variance, err := checkMoments(mean, variance)
	if err != nil {
		return nothing, fmt.Errorf("mkl: %w", err)
	}
	if p.meanOnly {
		variance = math.NaN()
	}
	return BoundedPrediction{Mean: mean, Variance: variance}, nil
}

// correlated returns the mean without the bias, and the variance, of the function if
// weights are correlated.
func (p *sparsePredictor) correlated(x []float64) (mean, variance float64) {
	s := p.pool.Take()
	for k, j := range p.index {
		s.phi[k] = x[j] - p.center[k]
	}
	mean = la.Dot(p.mean, s.phi)
	for k, d := range s.phi {
		variance += float64(d * la.Dot(p.cov.Row(k)[:k+1], s.phi[:k+1]))
	}
	p.pool.Put(s)
	return mean, max(0, variance)
}
