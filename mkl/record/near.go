package record

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// near predicts records within a tolerance. One of the fields of predictors is set.
type near struct {
	tolerance float64
	numbers   []*mkl.Predictor // by target
	classes   *mkl.ClassPredictor[string]
	labels    *mkl.LabelPredictor
	assumed   bool // bounds of classes or labels may be only assumed
}

// Within returns a predictor that predicts records faster, by [mkl.Predictor] and its like: within the tolerance of what the
// model predicts. The tolerance is of a mean and of a standard deviation, in units of the standard deviation, or of a probability.
// Several records at a time are predicted by PredictMany. Records whose bounds are above the tolerance, or are only assumed, are predicted by
// the model, and so are several records with labels. A record may get another prediction, within the bounds, alone than among several.
//
// A model of a compiled file that has the preparation for this tolerance is ready at once; see [mkl.Compile]. Models of counts, of times and
// of grades have no such predictors, and predict all records. Within returns an error if the tolerance is not
// positive, or if no predictor can be made.
func (p *Predictor) Within(tolerance float64) (*Predictor, error) {
	if !(tolerance > 0) || math.IsInf(tolerance, 1) {
		return nil, fmt.Errorf("record: a tolerance of %g is not positive", tolerance)
	}
	s, opt := &near{tolerance: tolerance}, mkl.PredictorOptions{Tolerance: tolerance}
	fast := *p
	var err error
	switch m := p.model.(type) {
	case *mkl.CountModel, *mkl.SurvivalModel, *mkl.OrdinalModel[string]:
		return &fast, nil
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
		err = fmt.Errorf("a model of the kind %s predicts no records within a tolerance", p.model.Kind())
	}
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	fast.near = s
	return &fast, nil
}

func anyAssumed(functions []mkl.PredictorInfo) bool {
	return slices.ContainsFunc(functions, func(f mkl.PredictorInfo) bool { return f.Kind == mkl.BoundAssumed })
}

// holds says whether a bound of probabilities is within the tolerance and is not only assumed. A bound of 0 is the model's prediction.
func (s *near) holds(bound float64) bool {
	return bound == 0 || bound <= s.tolerance && !s.assumed
}

// holdsOf says the same of the bounds of a number, whose unit is its standard deviation.
func (s *near) holdsOf(b *mkl.BoundedPrediction) bool {
	return b.Kind != mkl.BoundAssumed && max(b.MeanError, b.SDError) <= s.tolerance*math.Sqrt(b.Variance)
}

// predict predicts rows and writes those predictions whose bounds hold. It returns the others.
func (s *near) predict(ctx context.Context, p *Predictor, x []mkl.Features, out []Prediction) (left []int, err error) {
	switch {
	case s.numbers != nil:
		return s.predictNumbers(ctx, p, x, out)
	case s.classes != nil:
		return s.predictClasses(ctx, p, x, out)
	case len(out) == 1:
		return s.predictLabels(p, x, &out[0])
	}
	return vec.UpTo(len(out)), nil
}

// row returns the first row of each matrix.
func row(x []mkl.Features) (first [][]float64) {
	for _, own := range x {
		first = append(first, own.Row(0))
	}
	return first
}

func (s *near) predictNumbers(ctx context.Context, p *Predictor, x []mkl.Features, out []Prediction) (left []int, err error) {
	byTarget := make([][]mkl.BoundedPrediction, len(s.numbers))
	for o, of := range s.numbers {
		if len(out) == 1 {
			byTarget[o] = make([]mkl.BoundedPrediction, 1)
			byTarget[o][0], err = of.PredictWithBound(row(x)...)
		} else {
			byTarget[o], err = of.PredictMany(ctx, 0, x...)
		}
		if err != nil {
			return nil, err
		}
	}
	for i := range out {
		if slices.ContainsFunc(byTarget, func(b []mkl.BoundedPrediction) bool { return !s.holdsOf(&b[i]) }) {
			left = append(left, i)
			continue
		}
		for o, target := range p.notes.Targets {
			b := &byTarget[o][i]
			out[i].Numbers = append(out[i].Numbers, Number{Target: target, Mean: b.Mean, SD: math.Sqrt(b.Variance), bounded: b})
		}
	}
	return left, nil
}

func (s *near) predictClasses(ctx context.Context, p *Predictor, x []mkl.Features, out []Prediction) (left []int, err error) {
	names := p.model.(mkl.ClassModel[string]).Classes()
	got := &mkl.ManyClasses[string]{Class: make([]string, 1), Probability: [][]float64{make([]float64, len(names))}, Bound: make([]float64, 1)}
	if len(out) == 1 {
		got.Class[0], got.Bound[0], err = s.classes.PredictWithBound(got.Probability[0], row(x)...)
	} else {
		got, err = s.classes.PredictMany(ctx, 0, x...)
	}
	if err != nil {
		return nil, err
	}
	for i := range out {
		if !s.holds(got.Bound[i]) {
			left = append(left, i)
			continue
		}
		out[i].Class, out[i].Classes = got.Class[i], classesOf(names, got.Probability[i])
	}
	return left, nil
}

// predictLabels predicts the labels of one row.
func (s *near) predictLabels(p *Predictor, x []mkl.Features, out *Prediction) (left []int, err error) {
	probability := make([]float64, len(p.notes.Targets))
	bound, err := s.labels.PredictWithBound(probability, row(x)...)
	switch {
	case err != nil:
		return nil, err
	case !s.holds(bound):
		return []int{0}, nil
	}
	for o, v := range probability {
		out.Labels = append(out.Labels, Label{Target: p.notes.Targets[o], Present: v >= 0.5, Probability: Inside(v)})
	}
	return nil, nil
}
