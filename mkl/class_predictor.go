package mkl

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// scorePredictors are the pruned functions of a classifier or multilabel model.
type scorePredictors struct {
	margin    float64
	published bool
	scores    []*Predictor
}

func (m *scores) predictors(opt PredictorOptions) (scorePredictors, error) {
	s := m.posterior.State()
	p := scorePredictors{margin: s.Margin, published: opt.Published}
	if opt.MeanOnly {
		return p, fmt.Errorf("mkl: Predictor: MeanOnly leaves no probabilities")
	}
	for o := range s.A.Rows {
		score, err := newPredictor(opt, function{
			fitted: &m.fitted, index: o, a: s.A.Row(o), beMean: s.BEMean, beCov: s.BECov,
			spread: s.SigmaG * s.SigmaG, noise: 1, targets: s.A.Rows, target: target{0, 1},
		})
		if err != nil {
			return p, err
		}
		p.scores = append(p.scores, score)
	}
	return p, nil
}

// probability returns that of function o being positive.
func (p *scorePredictors) probability(o int, x [][]float64) (float64, error) {
	mean, variance, err := p.scores[o].Predict(x...)
	if err != nil {
		return 0, err
	}
	sd := math.Sqrt(variance)
	if p.published { // the paper leaves out the root too
		sd = variance
	}
	return positiveProbability(mean, p.margin, sd), nil
}

// ClassPredictor predicts the class of one sample at a time. Like [Predictor] it
// is pruned, takes no lock, starts no goroutine, does not allocate, is immutable
// and safe for concurrent use.
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
	for o := range p.scores {
		v, err := p.probability(o, x)
		if err != nil {
			return class, err
		}
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

// LabelPredictor predicts the labels of one sample at a time, like
// [ClassPredictor].
type LabelPredictor struct {
	scorePredictors
}

// Predictor prunes the model for predictions of single samples, as
// [ClassifierModel.Predictor] does.
func (m *MultiLabelModel) Predictor(opt PredictorOptions) (*LabelPredictor, error) {
	s, err := m.predictors(opt)
	if err != nil {
		return nil, err
	}
	return &LabelPredictor{s}, nil
}

// Info says what pruning kept of the function of a label, and bounds what that
// does to its score's mean and standard deviation.
func (p *LabelPredictor) Info(label int) PredictorInfo { return p.scores[label].Info() }

// Predict stores in probability, which has an entry for each label, the
// probability that the sample has it. The sample is given as one row for each of
// the model's Inputs.
func (p *LabelPredictor) Predict(probability []float64, x ...[]float64) error {
	if len(probability) != len(p.scores) {
		return fmt.Errorf("mkl: probability has length %d and there are %d labels", len(probability), len(p.scores))
	}
	for o := range p.scores {
		v, err := p.probability(o, x)
		if err != nil {
			return err
		}
		probability[o] = v
	}
	return nil
}

// positiveProbability is the probability of a score above the margin, given that
// it is not within it: Φ((m−ν)/s) / (Φ((m−ν)/s) + Φ((−ν−m)/s)).
func positiveProbability(mean, margin, sd float64) float64 {
	above := special.LogNormalCDF((mean - margin) / sd)
	below := special.LogNormalCDF((-margin - mean) / sd)
	return 1 / (1 + math.Exp(below-above))
}
