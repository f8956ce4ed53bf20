package mkl

import (
	"errors"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/vi"
)

// ProcessClassPredictor predicts the class of one sample at a time by a
// [MultiGPClassifierModel], a [LandmarkClassifierModel] or a [PoolClassifierModel], in the way of
// [ProcessPredictor]: it takes no lock, starts no goroutine, does not allocate, is
// immutable and safe for concurrent use.
type ProcessClassPredictor[T comparable] struct {
	inputs  []input
	classes []T
	members []classMember
	pool    scratchPool
}

// classMember is one of several classifiers whose probabilities are averaged.
type classMember struct {
	weight    float64
	sharpness float64
	functions []pointFunction // one for two classes, else one for each
}

// Predictor prepares the model for predictions of single samples. Tolerance counts in
// the standard deviation of each function with its noise of 1, and bounds the move of
// their ratio, the probit of a class; MeanOnly leaves no probabilities and is an error.
func (m *MultiGPClassifierModel[T]) Predictor(opt ProcessPredictorOptions) (*ProcessClassPredictor[T], error) {
	p := newProcessClassPredictor(m.design.inputs, m.Classes())
	return p, p.add(m, opt, 1)
}

// Predictor prepares the model for predictions of single samples, which are exact; of the
// options MeanOnly leaves no probabilities and is an error.
func (m *LandmarkClassifierModel[T]) Predictor(opt ProcessPredictorOptions) (*ProcessClassPredictor[T], error) {
	if opt.MeanOnly {
		return nil, errMeanOnly
	}
	if _, err := opt.tolerance(1); err != nil {
		return nil, err
	}
	p := newProcessClassPredictor(m.design.inputs, m.Classes())
	member := classMember{weight: 1, sharpness: m.sharpness}
	for _, posterior := range m.posteriors {
		f := newLandmarkFunction(&m.plan.featurePlan, m.shift, posterior, false)
		member.functions = append(member.functions, pointFunction{landmarks: f})
	}
	p.members = append(p.members, member)
	return p, nil
}

// Predictor prepares the model for predictions of single samples: those of every
// member. The options are those of [MultiGPClassifierModel.Predictor].
func (m *PoolClassifierModel[T]) Predictor(opt ProcessPredictorOptions) (*ProcessClassPredictor[T], error) {
	if m.landmarks != nil {
		return m.landmarks.Predictor(opt)
	}
	p := newProcessClassPredictor(m.members[0].design.inputs, m.Classes())
	for i, member := range m.members {
		if err := p.add(member, opt, m.weights[i]); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// errMeanOnly reports that classes need variances.
var errMeanOnly = errors.New("mkl: Predictor: MeanOnly leaves no probabilities")

func newProcessClassPredictor[T comparable](inputs []input, classes []T) *ProcessClassPredictor[T] {
	p := &ProcessClassPredictor[T]{inputs: inputs, classes: classes}
	p.pool = newScratchPool(func() *scratch { return &scratch{phi: make([]float64, 3*len(p.classes))} })
	return p
}

func (p *ProcessClassPredictor[T]) add(m *MultiGPClassifierModel[T], opt ProcessPredictorOptions, weight float64) error {
	if opt.MeanOnly {
		return errMeanOnly
	}
	member := classMember{weight: weight, sharpness: m.sharpness}
	for o := range m.posteriors {
		f, err := m.newProcessFunction(o, opt, 1)
		if err != nil {
			return err
		}
		member.functions = append(member.functions, pointFunction{process: f})
	}
	p.members = append(p.members, member)
	return nil
}

// Info says what a prediction of each function takes: member after member, one
// function for two classes, else one for each.
func (p *ProcessClassPredictor[T]) Info() []ProcessPredictorInfo {
	var out []ProcessPredictorInfo
	for _, m := range p.members {
		for i := range m.functions {
			out = append(out, m.functions[i].info())
		}
	}
	return out
}

// Predict returns the most probable class of one sample, given as one row for each of
// the model's Inputs, and stores the probabilities of all classes in probability,
// which has an entry for each class or is nil. Another length is an error; others are
// those of [Predictor.Predict].
func (p *ProcessClassPredictor[T]) Predict(probability []float64, x ...[]float64) (class T, err error) {
	class, _, err = p.PredictWithBound(probability, x...)
	return class, err
}

// PredictWithBound is Predict with a certain bound on how far any of the probabilities
// is from that of the model; 0 if all were computed from all training samples. Errors are
// those of Predict.
func (p *ProcessClassPredictor[T]) PredictWithBound(probability []float64, x ...[]float64) (class T, bound float64, err error) {
	K := len(p.classes)
	if probability != nil && len(probability) != K {
		return class, math.NaN(), fmt.Errorf("mkl: probability has length %d and there are %d classes", len(probability), K)
	}
	if err := checkPoint(p.inputs, x); err != nil {
		return class, math.NaN(), err
	}
	s := p.pool.take()
	score, log, sum := s.phi[:K], s.phi[K:2*K], s.phi[2*K:]
	clear(sum)
	table := scoreTable{score}
	for i := range p.members {
		m := &p.members[i]
		var move float64 // the largest of any function's log odds
		for o := range m.functions {
			c := m.functions[o].predict(x)
			z := c.Mean / math.Sqrt(c.Variance)
			positive, negative := special.LogNormalCDF(z), special.LogNormalCDF(-z)
			table.set(0, o, positive, negative)
			move = max(move, probitMove(c, positive-negative))
		}
		// The log odds of a class move by that of its own function and, if there are
		// several, by those of the others, and a probability by tanh(¼ of that).
		move = float64(move * m.sharpness)
		if len(m.functions) > 1 {
			move *= 2
		}
		bound += float64(m.weight * special.Tanh(move/4))
		sharpen(m.sharpness, score, log)
		for c, v := range log {
			sum[c] += float64(m.weight * special.Exp(v))
		}
	}
	if err = checkClasses(sum); err == nil {
		class = p.classes[argMax(sum)]
		copy(probability, sum)
	}
	p.pool.put(s)
	if err != nil {
		return class, math.NaN(), fmt.Errorf("mkl: %w", err)
	}
	return class, bound, nil
}

// probitMove bounds how far the log odds of a function are from these, given the
// bounds on its mean and standard deviation.
func probitMove(c vi.Certified, odds float64) float64 {
	if c.MeanError == 0 && c.SDError == 0 {
		return 0
	}
	sd := math.Sqrt(c.Variance)
	var most float64
	for _, mean := range [2]float64{c.Mean - c.MeanError, c.Mean + c.MeanError} {
		for _, sd := range [2]float64{max(c.LeastSD, sd-c.SDError), sd + c.SDError} {
			z := mean / sd
			most = max(most, math.Abs(special.LogNormalCDF(z)-special.LogNormalCDF(-z)-odds))
		}
	}
	return most
}
