package record

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/mkl"
)

// single predicts one record at a time, within a tolerance. One of the fields of predictors is set.
type single struct {
	tolerance float64
	numbers   []*mkl.Predictor // by target
	classes   *mkl.ClassPredictor[string]
	labels    *mkl.LabelPredictor
	assumed   bool // bounds of classes or labels may be only assumed
}

// Within returns a predictor that predicts single records faster, by [mkl.Predictor] and its like: within the tolerance of what the
// model predicts. The tolerance is of a mean and of a standard deviation, in units of the standard deviation, or of a probability.
// Several records at a time are predicted by the model, and so is a record whose bound is above the tolerance or is only assumed.
//
// A model of a compiled file that has the preparation for this tolerance is ready at once; see [mkl.Compile]. Within returns an error
// if the tolerance is not positive, or if the model has no such predictor.
func (p *Predictor) Within(tolerance float64) (*Predictor, error) {
	if !(tolerance > 0) || math.IsInf(tolerance, 1) {
		return nil, fmt.Errorf("record: a tolerance of %g is not positive", tolerance)
	}
	s, opt := &single{tolerance: tolerance}, mkl.PredictorOptions{Tolerance: tolerance}
	var err error
	switch m := p.model.(type) {
	case interface {
		mkl.TargetModel
		Predictor(mkl.PredictorOptions) (*mkl.Predictor, error)
	}:
		for opt.Target = range m.Targets() {
			one, failed := m.Predictor(opt)
			if err = failed; err != nil {
				break
			}
			s.numbers = append(s.numbers, one)
		}
	case interface {
		Predictor(mkl.PredictorOptions) (*mkl.ClassPredictor[string], error)
	}:
		if s.classes, err = m.Predictor(opt); err == nil {
			s.assumed = anyAssumed(s.classes.Info())
		}
	case interface {
		Predictor(mkl.PredictorOptions) (*mkl.LabelPredictor, error)
	}:
		if s.labels, err = m.Predictor(opt); err == nil {
			s.assumed = anyAssumed(s.labels.Info())
		}
	default:
		err = fmt.Errorf("a model of the kind %s predicts no single records within a tolerance", p.model.Kind())
	}
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	fast := *p
	fast.single = s
	return &fast, nil
}

func anyAssumed(functions []mkl.PredictorInfo) bool {
	return slices.ContainsFunc(functions, func(f mkl.PredictorInfo) bool { return f.Kind == mkl.BoundAssumed })
}

// holds says whether a bound of probabilities is within the tolerance and is not only assumed. A bound of 0 is the model's prediction.
func (s *single) holds(bound float64) bool {
	return bound == 0 || bound <= s.tolerance && !s.assumed
}

// holdsOf says the same of the bounds of a number, whose unit is its standard deviation.
func (s *single) holdsOf(b *mkl.BoundedPrediction) bool {
	return b.Kind != mkl.BoundAssumed && max(b.MeanError, b.SDError) <= s.tolerance*math.Sqrt(b.Variance)
}

// predict predicts one row and writes the prediction. ok is false if a bound is above the tolerance: then out is as it was.
func (s *single) predict(p *Predictor, x []mkl.Features, out *Prediction) (ok bool, err error) {
	row := make([][]float64, len(x))
	for i, own := range x {
		row[i] = own.Row(0)
	}
	switch m := p.model.(type) {
	case mkl.TargetModel:
		numbers := make([]Number, 0, len(s.numbers))
		for o, one := range s.numbers {
			b, err := one.PredictWithBound(row...)
			if err != nil {
				return false, err
			}
			if !s.holdsOf(&b) {
				return false, nil
			}
			numbers = append(numbers, Number{Target: p.notes.Targets[o], Mean: b.Mean, SD: math.Sqrt(b.Variance), one: &b})
		}
		out.Numbers = numbers
	case mkl.ClassModel[string]:
		classes := m.Classes()
		probability := make([]float64, len(classes))
		class, bound, err := s.classes.PredictWithBound(probability, row...)
		if err != nil || !s.holds(bound) {
			return false, err
		}
		out.Class = class
		for k, v := range probability {
			out.Classes = append(out.Classes, Class{Class: classes[k], Probability: v})
		}
	default:
		probability := make([]float64, len(p.notes.Targets))
		bound, err := s.labels.PredictWithBound(probability, row...)
		if err != nil || !s.holds(bound) {
			return false, err
		}
		for o, v := range probability {
			out.Labels = append(out.Labels, Label{Target: p.notes.Targets[o], Present: v >= 0.5, Probability: v})
		}
	}
	return true, nil
}
