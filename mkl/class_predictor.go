package mkl

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// ClassPredictor predicts the class of one sample at a time. Like [Predictor] it
// is pruned, takes no lock, starts no goroutine, does not allocate, is immutable
// and safe for concurrent use.
type ClassPredictor[T comparable] struct {
	classes   []T
	margin    float64
	published bool
	scores    []*Predictor // one for two classes, else one a class
}

// Predictor prunes the model for predictions of single samples; opt.Target is
// not used. Tolerance counts in units of the score's own noise, which is 1.
func (m *ClassifierModel[T]) Predictor(opt PredictorOptions) (*ClassPredictor[T], error) {
	s := m.posterior.State()
	if opt.MeanOnly {
		return nil, fmt.Errorf("mkl: Predictor: MeanOnly leaves no probabilities")
	}
	p := &ClassPredictor[T]{classes: m.Classes(), margin: s.Margin, published: opt.Published}
	for o := range s.A.Rows {
		score, err := newPredictor(opt, function{
			fitted: &m.fitted, index: o, a: s.A.Row(o), beMean: s.BEMean, beCov: s.BECov,
			spread: s.SigmaG * s.SigmaG, noise: 1, targets: s.A.Rows, target: target{0, 1},
		})
		if err != nil {
			return nil, err
		}
		p.scores = append(p.scores, score)
	}
	return p, nil
}

// Info says what pruning kept of the function of a class (0 with two classes),
// and bounds what that does to its score's mean and standard deviation.
func (p *ClassPredictor[T]) Info(class int) PredictorInfo { return p.scores[class].Info() }

// Predict returns the most probable class of one sample, given as one row for
// each of the model's Inputs, and stores the probabilities of all classes in
// probability, which has an entry for each class or is nil.
func (p *ClassPredictor[T]) Predict(probability []float64, x ...[]float64) (class T, err error) {
	if probability != nil && len(probability) != len(p.classes) {
		return class, fmt.Errorf("mkl: probability has length %d and there are %d classes", len(probability), len(p.classes))
	}
	var sum, most float64
	best := 0
	for o, s := range p.scores {
		mean, variance, err := s.Predict(x...)
		if err != nil {
			return class, err
		}
		sd := math.Sqrt(variance)
		if p.published { // the paper leaves out the root too
			sd = variance
		}
		v := positiveProbability(mean, p.margin, sd)
		if len(p.scores) == 1 {
			if probability != nil {
				probability[0], probability[1] = 1-v, v
			}
			if v > 0.5 {
				best = 1
			}
			return p.classes[best], nil
		}
		if probability != nil {
			probability[o] = v
		}
		if sum += v; v > most {
			best, most = o, v
		}
	}
	for o := range probability {
		probability[o] /= sum
	}
	return p.classes[best], nil
}

// positiveProbability is the probability of a score above the margin, given that
// it is not within it: Φ((m−ν)/s) / (Φ((m−ν)/s) + Φ((−ν−m)/s)).
func positiveProbability(mean, margin, sd float64) float64 {
	above := special.LogNormalCDF((mean - margin) / sd)
	below := special.LogNormalCDF((-margin - mean) / sd)
	return 1 / (1 + math.Exp(below-above))
}
