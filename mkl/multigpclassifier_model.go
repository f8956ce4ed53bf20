package mkl

import (
	"context"
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/vi/mgp"
)

// MultiGPClassifierModel is a fitted [MultiGPClassifier]. It is immutable and
// safe for concurrent use.
type MultiGPClassifierModel[T comparable] struct {
	processes
	classes classSet[T]
}

// Kind returns multigp-classifier.
func (m *MultiGPClassifierModel[T]) Kind() string { return "multigp-classifier" }

// Posteriors returns the approximate posterior of each function: one for two
// classes, that of the second against the first; else one for each class.
func (m *MultiGPClassifierModel[T]) Posteriors() []*mgp.Posterior {
	return slices.Clone(m.posteriors)
}

// Classes returns the classes in the order of probabilities and decisions.
func (m *MultiGPClassifierModel[T]) Classes() []T { return slices.Clone(m.classes.names) }

// Predict returns the most probable class of each sample and the probabilities
// of all classes. It takes one matrix for each of Inputs.
func (m *MultiGPClassifierModel[T]) Predict(x ...Features) (labels []T, probability [][]float64, err error) {
	return mostProbable(m, x)
}

// PredictClasses is Predict with options, and with decision values. Probabilities
// of more than two classes are each function's, divided by their sum.
func (m *MultiGPClassifierModel[T]) PredictClasses(ctx context.Context, opt PredictOptions, x ...Features) (*ClassPrediction[T], error) {
	t, err := m.design.checkInputs(x)
	if err != nil {
		return nil, err
	}
	K := len(m.classes.names)
	out := newClassPrediction[T](t, K, opt)
	err = m.predict(ctx, opt, x, t, func(o, first int, p *mgp.Prediction) {
		for i, mean := range p.Mean {
			if K == 2 {
				copy(out.Decision[first+i], []float64{-mean, mean})
			} else {
				out.Decision[first+i][o] = mean
			}
			switch {
			case opt.MeanOnly:
			case K == 2:
				copy(out.Probability[first+i], []float64{1 - p.Probability[i], p.Probability[i]})
			default:
				out.Probability[first+i][o] = p.Probability[i]
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for _, row := range out.Probability {
		if sum := total(row); sum > 0 {
			for o := range row {
				row[o] /= sum
			}
		}
	}
	out.label(m.classes.names)
	return out, nil
}

// String describes the model in one line.
func (m *MultiGPClassifierModel[T]) String() string {
	return m.describe(fmt.Sprintf("multiple Gaussian process classifier of %d classes", len(m.classes.names)))
}

// Summary describes the model in words, line by line.
func (m *MultiGPClassifierModel[T]) Summary() string {
	return m.summary(m.String(), func(o int) string { return m.classes.against(o, " against the rest") })
}
