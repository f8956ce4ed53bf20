package mkl

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mcmc"
	"github.com/bmkl/bmkl/vi/probit"
)

// ProbitPredictorOptions says what the predictor of a [ProbitClassifierModel] takes.
type ProbitPredictorOptions struct {
	// Draws is how many of the draws of Gibbs sampling a prediction averages over, which
	// it takes evenly spaced from the chains: 0 means all. The probabilities of n draws
	// have a Monte Carlo error of about √(p(1−p)/n) at most.
	Draws int
}

// ProbitPredictor predicts the class of one sample at a time by a
// [ProbitClassifierModel]. It takes no lock, starts no goroutine, does not allocate,
// is immutable and safe for concurrent use. Regressors that the fit pruned cost nothing
// of the variance; nothing else is left out, so that predictions are those of the model.
//
// After variational inference a prediction costs n²/2 multiplications for each class, n
// being its regressors that were not pruned, and as much for each state of the switches
// after a [Structured] fit. After Gibbs sampling it costs C·D multiplications and
// about 23·C^1.5 inverse Mills ratios for each draw. For a sample that lacks views it costs that for
// each of up to 64 training samples that stand in for it.
type ProbitPredictor[T comparable] struct {
	pointKernels
	classes []T
	point   *probit.Point     // nil after Gibbs sampling
	draws   *mcmc.ProbitPoint // nil after variational inference
	pool    scratchPool
}

// Predictor prepares the model for predictions of single samples. Draws of the relevances of
// features, each with kernels of its own, have none: that is an error.
func (m *ProbitClassifierModel[T]) Predictor(opt ProbitPredictorOptions) (*ProbitPredictor[T], error) {
	if opt.Draws < 0 {
		return nil, fmt.Errorf("mkl: Predictor: Draws is %d", opt.Draws)
	}
	p := &ProbitPredictor[T]{
		pointKernels: newPointKernels(m.design, upTo(len(m.design.views)), upTo(m.design.d), false),
		classes:      m.Classes(),
	}
	var err error
	if m.draws == nil {
		p.point, err = m.posterior.Point()
	} else {
		draws := m.draws
		if all := draws.Chains() * draws.Len(); opt.Draws > 0 && opt.Draws < all {
			draws = draws.Thin(all / opt.Draws)
		}
		p.draws, err = draws.Point()
	}
	if err != nil {
		return nil, fmt.Errorf("mkl: Predictor: %w", err)
	}
	p.pool = newScratchPool(func() *scratch {
		s := p.newScratch()
		s.missing, s.filled, s.mean = make([]bool, len(p.inputs)), make([][]float64, len(p.inputs)), make([]float64, len(p.classes))
		if p.point != nil {
			s.probit = p.point.NewScratch()
		} else {
			s.draws = p.draws.NewScratch()
		}
		return s
	})
	return p, nil
}

// Predict returns the most probable class of one sample, given as one row for each of
// the model's Inputs, and stores the probabilities of all classes in probability,
// which has an entry for each class or is nil.
func (p *ProbitPredictor[T]) Predict(probability []float64, x ...[]float64) (class T, err error) {
	if probability != nil && len(probability) != len(p.classes) {
		return class, fmt.Errorf("mkl: probability has length %d and there are %d classes", len(probability), len(p.classes))
	}
	if err := p.checkPoint(x); err != nil {
		return class, err
	}
	s := p.pool.take()
	class, err = p.predict(s, probability, x)
	p.pool.put(s)
	return class, err
}

func (p *ProbitPredictor[T]) predict(s *scratch, probability []float64, x [][]float64) (class T, err error) {
	for j, row := range x {
		s.missing[j] = p.inputs[j].gaps && lacks(row)
	}
	ins := newStandIns(p.inputs, p.d, s.missing)
	copy(s.filled, x)
	each := s.mean
	clear(each)
	n := max(1, ins.n)
	for k := range n {
		ins.fill(k, s.filled)
		one, err := p.predictOne(s, s.filled)
		if err != nil {
			return class, err
		}
		if n == 1 {
			each = one
			break
		}
		la.Axpy(1/float64(n), one, each)
	}
	if sum := total(each); !(math.Abs(sum-1) < 1e-6) {
		return class, fmt.Errorf("mkl: the probabilities of the classes sum to %g: the sample is beyond the range of floating-point numbers", sum)
	}
	copy(probability, each)
	return p.classes[argMax(each)], nil
}

// predictOne returns the probabilities of a sample that lacks nothing.
func (p *ProbitPredictor[T]) predictOne(s *scratch, x [][]float64) (each []float64, err error) {
	p.kernels(s, x)
	if p.point != nil {
		each, err = p.point.Predict(s.k, s.probit)
	} else {
		each, err = p.draws.Predict(s.k, s.draws)
	}
	if err != nil {
		return nil, fmt.Errorf("mkl: %w", err)
	}
	return each, nil
}
