package mkl

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/mkl/internal/gram"
)

// scoreClassPredictor predicts classes by a [weightPredictor] of the score of each class, or of the single score of two.
type scoreClassPredictor[T comparable] struct {
	scorePredictors // one function for two classes, else one for each
	classes         []T
}

// Predictor prunes the model for predictions of single samples. Tolerance is in units of the score's own noise, which is 1.
func (m *ClassifierModel[T]) Predictor(opt PredictorOptions) (*ClassPredictor[T], error) {
	s, err := m.predictors(opt)
	if err != nil {
		return nil, err
	}
	return &ClassPredictor[T]{scores: &scoreClassPredictor[T]{s, m.Classes()}}, nil
}

// predictBounded predicts one sample.
func (p *scoreClassPredictor[T]) predictBounded(probability []float64, x [][]float64) (class T, bound float64, err error) {
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
		return class, math.NaN(), fmt.Errorf("mkl: the probabilities of the classes sum to %g: %w", sum, gram.ErrBeyond)
	}
	for o := range probability {
		probability[o] /= sum
	}
	if bound = 1; move < sum { // a probability is the score's probability divided by their sum, and both move
		bound = min(1, move/(sum-move))
	}
	return p.classes[best], bound, nil
}
