package mkl

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mcmc"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/reuse"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi/probit"
)

// probitPredictor predicts classes by a [ProbitClassifierModel]. It has no pivots for given kernels, for samples that lack
// views, and after fits with [WeightUpdateStructured].
//
// A prediction from all samples costs n²/2 multiplications for each class, where n is the number of its regressors that were
// not pruned, and as much for each state of the switches after a fit with WeightUpdateStructured. After Gibbs sampling it
// costs C·D multiplications and about 23·C^1.5 inverse Mills ratios for each draw. For a sample that lacks views it costs
// that for each of up to 64 training samples that replace the missing views.
type probitPredictor[T comparable] struct {
	gram.Points
	classes []T
	point   *probit.Point     // nil after Gibbs sampling
	draws   *mcmc.ProbitPoint // nil after variational inference
	pool    reuse.Pool[scratch]

	kind      BoundKind
	near      *probit.Projection // nil without pivots
	tolerance float64
	pivots    gram.Points // for near
	nearPool  reuse.Pool[scratch]
}

// Predictor prepares the model for predictions of single samples. It returns an error for a model with sampled
// relevances of features, because each draw has kernels of its own.
func (m *ProbitClassifierModel[T]) Predictor(opt PredictorOptions) (*ClassPredictor[T], error) {
	err := opt.checkClasses()
	if err != nil {
		return nil, err
	}
	p := &probitPredictor[T]{
		Points:    gram.NewPoints(m.design, vec.UpTo(len(m.design.Views)), vec.UpTo(m.design.D), false),
		classes:   m.Classes(),
		tolerance: opt.process(1),
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
	p.pool = reuse.NewPool(func() *scratch {
		s := &scratch{PointScratch: p.NewScratch()}
		s.missing, s.filled, s.mean = make([]bool, len(p.Inputs)), make([][]float64, len(p.Inputs)), make([]float64, len(p.classes))
		if p.point != nil {
			s.probit = p.point.NewScratch()
		} else {
			s.draws = p.draws.NewScratch()
		}
		return s
	})
	if m.lost() > mostRoundoff {
		p.kind = BoundAssumed
	}
	if p.point != nil && !opt.Exact && p.kind == BoundProved && m.composable() {
		p.near, err = m.posterior.Project(gram.NewTrainingColumns(m.design, vec.UpTo(m.design.D)), p.tolerance)
		if err != nil {
			return nil, fmt.Errorf("mkl: Predictor: %w", err)
		}
	}
	if p.near != nil {
		p.pivots = gram.NewPoints(m.design, vec.UpTo(len(m.design.Views)), p.near.Pivots, true)
		p.nearPool = reuse.NewPool(func() *scratch {
			s := &scratch{PointScratch: p.pivots.NewScratch()}
			s.projected = p.near.NewScratch()
			return s
		})
	}
	return &ClassPredictor[T]{probit: p}, nil
}

// composable reports whether the composite kernel is known to be positive definite. A product of powers
// of kernels is if each factor is infinitely divisible.
func (m *ProbitClassifierModel[T]) composable() bool {
	if !m.design.Definite() {
		return false
	}
	if r := m.posterior.State().Rule; r != probit.RuleFixProd && r != probit.RuleWProd {
		return true
	}
	for i := range m.design.Views {
		v := &m.design.Views[i]
		if !v.Kernel.Properties().Divisible {
			return false
		}
		if v.Center {
			return false
		}
	}
	return true
}

// lost estimates how far rounding of kernels can move the functions of the classes, whose noise has the variance 1.
func (m *ProbitClassifierModel[T]) lost() float64 {
	var sum, logProduct, relative float64 // of the composite kernel
	for i, w := range m.KernelWeights() {
		v := &m.design.Views[i]
		size := v.RoundingOf()
		sum += float64(math.Abs(w.Mean) * size)
		if v.Largest > 0 {
			logProduct += float64(w.Mean * special.Log(v.Largest))
			relative += float64(math.Abs(w.Mean) * size / v.Largest)
		}
	}
	if r := m.rule(); r == probit.RuleFixProd || r == probit.RuleWProd {
		sum = float64(special.Exp(logProduct) * relative)
	}
	return float64(sum * m.mostRegressors())
}

// mostRegressors returns the largest sum of the sizes of a class's regressors, of any draw.
func (m *ProbitClassifierModel[T]) mostRegressors() (most float64) {
	add := func(w []float64) {
		var sum float64
		for _, v := range w {
			sum += math.Abs(v)
		}
		most = max(most, sum)
	}
	if m.draws == nil {
		s := m.posterior.State()
		for c := range s.W.Rows {
			add(s.W.Row(c))
		}
		return most
	}
	s := m.draws.State()
	for _, chain := range s.Chains {
		for draw := range slices.Chunk(chain, len(chain)/m.draws.Len()) {
			for w := range slices.Chunk(draw[:s.Classes*s.Basis], s.Basis) {
				add(w)
			}
		}
	}
	return most
}

func (p *probitPredictor[T]) info() PredictorInfo {
	P := len(p.Views)
	i := PredictorInfo{Kernels: vec.UpTo(P), Samples: vec.UpTo(p.D), Kind: p.kind}
	if p.near != nil {
		for range P {
			i.Pivots = append(i.Pivots, slices.Clone(p.near.Pivots))
		}
	}
	return i
}

// predictBounded predicts one sample.
func (p *probitPredictor[T]) predictBounded(probability []float64, x [][]float64) (class T, bound float64, err error) {
	if probability != nil && len(probability) != len(p.classes) {
		return class, math.NaN(), fmt.Errorf("mkl: probability has length %d and there are %d classes", len(probability), len(p.classes))
	}
	if err := checkPoint(p.Inputs, x); err != nil {
		return class, math.NaN(), err
	}
	if p.near != nil {
		s := p.nearPool.Take()
		p.pivots.Kernels(s.PointScratch, x)
		each, bound, err := p.near.Predict(s.K, la.MatrixOf(len(s.Self), 1, s.Self), s.projected)
		if err == nil && bound <= p.tolerance {
			class, err = p.choose(each, probability)
			p.nearPool.Put(s)
			if err != nil {
				bound = math.NaN()
			}
			return class, bound, err
		}
		p.nearPool.Put(s)
	}
	s := p.pool.Take()
	class, err = p.predict(s, probability, x)
	p.pool.Put(s)
	if err != nil {
		bound = math.NaN()
	}
	return class, bound, err
}

// choose returns the most probable class, and copies the probabilities of all classes.
func (p *probitPredictor[T]) choose(each, probability []float64) (class T, err error) {
	if sum := vec.Total(each); !(math.Abs(sum-1) < 1e-6) {
		return class, fmt.Errorf("mkl: the probabilities of the classes sum to %g: the sample is beyond the range of floating-point numbers", sum)
	}
	copy(probability, each)
	return p.classes[vec.ArgMax(each)], nil
}

func (p *probitPredictor[T]) predict(s *scratch, probability []float64, x [][]float64) (class T, err error) {
	for j, row := range x {
		s.missing[j] = p.Inputs[j].Gaps && gram.Lacks(row)
	}
	ins := newStandIns(p.Inputs, p.D, s.missing)
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

// predictOne returns the probabilities of a sample that has all its views.
func (p *probitPredictor[T]) predictOne(s *scratch, x [][]float64) (each []float64, err error) {
	p.Kernels(s.PointScratch, x)
	if p.point != nil {
		each, err = p.point.Predict(s.K, s.probit)
	} else {
		each, err = p.draws.Predict(s.K, s.draws)
	}
	if err != nil {
		return nil, fmt.Errorf("mkl: %w", err)
	}
	return each, nil
}
