package mkl

import (
	"fmt"
	"math"
)

// ClassPredictor predicts the class of one sample at a time, by a [Predictor] of the score of
// each class, or of the only one of two classes: from pivots where the kernels are smooth. It
// takes no lock, starts no goroutine, does not allocate, is immutable and safe for concurrent use.
type ClassPredictor[T comparable] struct {
	scorePredictors // one function for two classes, else one a class
	classes         []T
}

// Predictor prunes the model for predictions of single samples; opt.Target is
// not used. Tolerance counts in units of the score's own noise, which is 1.
func (m *ClassifierModel[T]) Predictor(opt PredictorOptions) (*ClassPredictor[T], error) {
	s, err := m.predictors(opt)
	if err != nil {
		return nil, err
	}
	return &ClassPredictor[T]{s, m.Classes()}, nil
}

// Predict returns the most probable class of one sample, given as one row for
// each of the model's Inputs, and stores the probabilities of all classes in
// probability, which has an entry for each class or is nil. Another length is an
// error; others are those of [Predictor.Predict].
func (p *ClassPredictor[T]) Predict(probability []float64, x ...[]float64) (class T, err error) {
	class, _, err = p.PredictWithBound(probability, x...)
	return class, err
}

// PredictWithBound is Predict with a bound on how far any of the probabilities is from that of
// the model, as certain as the bounds on the scores, see [PredictorInfo]. Errors are those of Predict.
func (p *ClassPredictor[T]) PredictWithBound(probability []float64, x ...[]float64) (class T, bound float64, err error) {
	if probability != nil && len(probability) != len(p.classes) {
		return class, math.NaN(), fmt.Errorf("mkl: probability has length %d and there are %d classes", len(probability), len(p.classes))
	}
	var sum, most, move float64
	best := 0
	for o := range p.scores {
		v, own, err := p.probability(o, x)
		if err != nil {
			return class, math.NaN(), err
		}
		if err := checkProbability(v); err != nil {
			return class, math.NaN(), fmt.Errorf("mkl: class %s: %w", brief(p.classes[len(p.classes)-len(p.scores)+o]), err)
		}
		if len(p.scores) == 1 {
			if probability != nil {
				probability[0], probability[1] = 1-v, v
			}
			if v > 0.5 {
				best = 1
			}
			return p.classes[best], own, nil
		}
		move += own
		if probability != nil {
			probability[o] = v
		}
		if sum += v; v > most {
			best, most = o, v
		}
	}
	if !(sum > 0) {
		return class, math.NaN(), fmt.Errorf("mkl: the probabilities of the classes sum to %g: %w", sum, errBeyond)
	}
	for o := range probability {
		probability[o] /= sum
	}
	if bound = 1; move < sum { // each probability is one of the scores' over their sum, which both move
		bound = min(1, move/(sum-move))
	}
	return p.classes[best], bound, nil
}
