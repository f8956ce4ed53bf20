package mkl

import (
	"fmt"
	"math"
	"slices"

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

	// Tolerance is the error of a probability that is accepted after variational inference:
	// 0 means DefaultProcessTolerance.
	Tolerance float64

	// Exact computes every prediction from all basis points.
	Exact bool
}

// ProbitPredictor predicts the class of one sample at a time by a
// [ProbitClassifierModel]. It takes no lock, starts no goroutine, does not allocate,
// is immutable and safe for concurrent use.
//
// If the kernels are smooth a prediction after variational inference takes those with a few of
// the training samples, its pivots, and comes with a bound on its error; where that is more than
// the tolerance it is computed from all of them. docs/predictor.md derives the bound. Kernels that
// were given and those of [Func], samples that lack views and [Structured] fits have no pivots.
//
// A prediction from all samples costs n²/2 multiplications for each class, n being its
// regressors that were not pruned, and as much for each state of the switches after a
// [Structured] fit. After Gibbs sampling it costs C·D multiplications and about 23·C^1.5 inverse
// Mills ratios for each draw. For a sample that lacks views it costs that for each of up to 64
// training samples that stand in for it. All of these are the model's own predictions.
type ProbitPredictor[T comparable] struct {
	pointKernels
	classes []T
	point   *probit.Point     // nil after Gibbs sampling
	draws   *mcmc.ProbitPoint // nil after variational inference
	pool    scratchPool

	near      *probit.Projection // nil if there is none
	tolerance float64
	pivots    pointKernels // for near
	nearPool  scratchPool
}

// Predictor prepares the model for predictions of single samples. Draws of the relevances of
// features, each with kernels of its own, have none: that is an error.
func (m *ProbitClassifierModel[T]) Predictor(opt ProbitPredictorOptions) (*ProbitPredictor[T], error) {
	if opt.Draws < 0 {
		return nil, fmt.Errorf("mkl: Predictor: Draws is %d", opt.Draws)
	}
	tolerance, err := ProcessPredictorOptions{Tolerance: opt.Tolerance}.tolerance(1)
	if err != nil {
		return nil, err
	}
	p := &ProbitPredictor[T]{
		pointKernels: newPointKernels(m.design, upTo(len(m.design.views)), upTo(m.design.d), false),
		classes:      m.Classes(),
		tolerance:    tolerance,
	}
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
	if p.point != nil && !opt.Exact && m.composable() {
		p.near, err = m.posterior.Project(newTrainingKernels(m.design, upTo(m.design.d)), tolerance)
		if err != nil {
			return nil, fmt.Errorf("mkl: Predictor: %w", err)
		}
	}
	if p.near != nil {
		p.pivots = newPointKernels(m.design, upTo(len(m.design.views)), p.near.Pivots, true)
		p.nearPool = newScratchPool(func() *scratch {
			s := p.pivots.newScratch()
			s.projected = p.near.NewScratch()
			return s
		})
	}
	return p, nil
}

// composable reports whether the composite kernel is known to be positive definite. Of products
// with powers that is so where each factor is infinitely divisible.
func (m *ProbitClassifierModel[T]) composable() bool {
	if !m.design.definite() {
		return false
	}
	if r := m.posterior.State().Rule; r != FixProd && r != WProd {
		return true
	}
	for i := range m.design.views {
		v := &m.design.views[i]
		switch v.kernel.(type) {
		case RBF, Laplacian:
		default:
			return false
		}
		if v.center {
			return false
		}
	}
	return true
}

// Pivots returns the training samples with which kernels are computed first; nil if every
// prediction takes all of them.
func (p *ProbitPredictor[T]) Pivots() []int {
	if p.near == nil {
		return nil
	}
	return slices.Clone(p.near.Pivots)
}

// Predict returns the most probable class of one sample, given as one row for each of
// the model's Inputs, and stores the probabilities of all classes in probability,
// which has an entry for each class or is nil. Another length is an error; others are
// those of [Predictor.Predict].
func (p *ProbitPredictor[T]) Predict(probability []float64, x ...[]float64) (class T, err error) {
	class, _, err = p.PredictWithBound(probability, x...)
	return class, err
}

// PredictWithBound is Predict with a certain bound on how far any of the probabilities is from
// that of the model; 0 if all training samples were taken. Errors are those of Predict.
func (p *ProbitPredictor[T]) PredictWithBound(probability []float64, x ...[]float64) (class T, bound float64, err error) {
	if probability != nil && len(probability) != len(p.classes) {
		return class, math.NaN(), fmt.Errorf("mkl: probability has length %d and there are %d classes", len(probability), len(p.classes))
	}
	if err := p.checkPoint(x); err != nil {
		return class, math.NaN(), err
	}
	if p.near != nil {
		s := p.nearPool.take()
		p.pivots.kernels(s, x)
		each, bound, err := p.near.Predict(s.k, la.MatrixOf(len(s.self), 1, s.self), s.projected)
		if err == nil && bound <= p.tolerance {
			class, err = p.choose(each, probability)
			p.nearPool.put(s)
			if err != nil {
				bound = math.NaN()
			}
			return class, bound, err
		}
		p.nearPool.put(s)
	}
	s := p.pool.take()
	class, err = p.predict(s, probability, x)
	p.pool.put(s)
	if err != nil {
		bound = math.NaN()
	}
	return class, bound, err
}

// choose returns the most probable class, and copies the probabilities of all.
func (p *ProbitPredictor[T]) choose(each, probability []float64) (class T, err error) {
	if sum := total(each); !(math.Abs(sum-1) < 1e-6) {
		return class, fmt.Errorf("mkl: the probabilities of the classes sum to %g: the sample is beyond the range of floating-point numbers", sum)
	}
	copy(probability, each)
	return p.classes[argMax(each)], nil
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
	return p.choose(each, probability)
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
