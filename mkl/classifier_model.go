package mkl

import (
	"context"
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// ClassifierModel is a fitted [Classifier]. It is immutable and safe for
// concurrent use.
type ClassifierModel[T comparable] struct {
	scores
	classes classSet[T]
}

// Kind returns "classifier".
func (m *ClassifierModel[T]) Kind() string { return "classifier" }

// Classes returns the classes in the order of probabilities and decisions.
func (m *ClassifierModel[T]) Classes() []T { return slices.Clone(m.classes.names) }

// Predict returns the most probable class of each sample and the probabilities
// of all classes, [sample][class]. The arguments and errors are as in [ClassModel.PredictClasses].
func (m *ClassifierModel[T]) Predict(x ...Features) (labels []T, probability [][]float64, err error) {
	return mostProbable(m, x)
}

// PredictClasses is Predict with options, and with decision values.
func (m *ClassifierModel[T]) PredictClasses(ctx context.Context, opt PredictOptions, x ...Features) (*ClassPrediction[T], error) {
	t, err := checkInputs(m.design, x)
	if err != nil {
		return nil, err
	}
	K := len(m.classes.names)
	out := newClassPrediction[T](t, K, opt)
	err = m.predict(ctx, opt, x, t, m.predictions(x), func(p *bemkl.ClassPrediction, first, n int) {
		var probability la.Matrix[float64]
		if !opt.MeanOnly {
			probability = p.Probability
			if K > 2 {
				probability = p.Normalise()
			}
		}
		for i := range n {
			spread(out.Decision[first+i], p.Mean, i, func(v float64) float64 { return -v })
			if !opt.MeanOnly {
				spread(out.Probability[first+i], probability, i, func(v float64) float64 { return 1 - v })
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return out.labelled(m.classes.names)
}

// spread copies column t of x to row. If x has one row, for the second of two classes,
// first computes the first class's value from it.
func spread(row []float64, x la.Matrix[float64], t int, first func(float64) float64) {
	if x.Rows == 1 {
		row[0], row[1] = first(x.At(0, t)), x.At(0, t)
		return
	}
	for o := range row {
		row[o] = x.At(o, t)
	}
}

// String describes the model in one line.
func (m *ClassifierModel[T]) String() string {
	return m.describe(fmt.Sprintf("classifier of %d classes", len(m.classes.names)))
}

// Summary describes the model in words, line by line.
func (m *ClassifierModel[T]) Summary() string {
	return m.summary(m.String(), func(o int) string { return m.classes.against(o, "") })
}
