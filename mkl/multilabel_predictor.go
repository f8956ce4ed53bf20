package mkl

import (
	"fmt"
	"math"
)

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

// Info says what pruning kept of the score of each label, and bounds its effect on the score's mean and standard deviation.
func (p *LabelPredictor) Info() []PredictorInfo { return p.infos() }

// Predict stores in probability, which has an entry for each label, the
// probability that the sample has it. The sample is given as one row for each of
// the model's Inputs. Predict returns an error if probability has another length, and the errors that
// [Predictor.Predict] returns.
func (p *LabelPredictor) Predict(probability []float64, x ...[]float64) error {
	_, err := p.PredictWithBound(probability, x...)
	return err
}

// PredictWithBound is Predict with a bound on the difference of any probability from the
// model's. The bound is as certain as the bounds on the scores, see [PredictorInfo]. It returns the errors that Predict returns.
func (p *LabelPredictor) PredictWithBound(probability []float64, x ...[]float64) (bound float64, err error) {
	if len(probability) != len(p.scores) {
		return math.NaN(), fmt.Errorf("mkl: probability has length %d and there are %d labels", len(probability), len(p.scores))
	}
	for o := range p.scores {
		v, move, err := p.probability(o, x)
		if err != nil {
			return math.NaN(), err
		}
		if err := checkProbability(v); err != nil {
			return math.NaN(), fmt.Errorf("mkl: label %d: %w", o, err)
		}
		probability[o] = v
		bound = max(bound, move)
	}
	return bound, nil
}
