package mkl

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/bmkl/bmkl/vi/mgp"
)

// MultiGPClassifier is the multiple Gaussian process model for two or more
// classes, whose names are of any comparable type: with two classes one function
// and the probit likelihood, with more a function for each class against all
// others, every one with kernel weights of its own. Of the embedded settings
// RawTargets has no meaning.
//
// Source: as [MultiGP], section 4.
type MultiGPClassifier[T comparable] struct {
	MultiGP

	// Classes, if not nil, are the classes in the order that models keep, as in
	// [Classifier].
	Classes []T
}

// Fit fits the model to the views of N samples and their labels. Errors are
// those of [MultiGP.Fit].
func (c MultiGPClassifier[T]) Fit(ctx context.Context, views []View, labels []T) (*MultiGPClassifierModel[T], error) {
	classes, index, err := Classifier[T]{Classes: c.Classes}.classes(labels)
	if err != nil {
		return nil, err
	}
	positive := []int{1}
	if len(classes) > 2 {
		positive = positive[:0]
		for class := range classes {
			positive = append(positive, class)
		}
	}
	ds, k, err := c.kernels(ctx, views, len(labels), len(positive))
	if err != nil {
		return nil, err
	}
	m := &MultiGPClassifierModel[T]{classes: classes, processes: processes{design: ds, record: record{notes: maps.Clone(c.Notes)}}}
	t := make([]float64, len(labels))
	for o, class := range positive {
		for i, own := range index {
			t[i] = -1
			if own == class {
				t[i] = 1
			}
		}
		fit, err := c.inference(o+1, len(positive)).FitLabels(ctx, k, t)
		if err != nil {
			return nil, fmt.Errorf("mkl: class %v: %w", classes[class], err)
		}
		m.add(fit)
	}
	return m, nil
}

// MultiGPClassifierModel is a fitted [MultiGPClassifier]. It is immutable and
// safe for concurrent use.
type MultiGPClassifierModel[T comparable] struct {
	processes
	classes []T
	text    []json.RawMessage // the classes of a loaded model as its file has them
}

// Classes returns the classes in the order of probabilities and decisions.
func (m *MultiGPClassifierModel[T]) Classes() []T { return slices.Clone(m.classes) }

// function returns the index of the function that belongs to a class; the one
// function of two classes belongs to both.
func (m *MultiGPClassifierModel[T]) function(class T) (int, error) {
	i := slices.Index(m.classes, class)
	if i < 0 {
		return 0, fmt.Errorf("mkl: %v is not one of the model's classes", class)
	}
	return min(i, len(m.posteriors)-1), nil
}

// ClassKernelWeights returns the kernel weights of one class's function; see
// KernelWeights.
func (m *MultiGPClassifierModel[T]) ClassKernelWeights(class T) ([]KernelWeight, error) {
	o, err := m.function(class)
	if err != nil {
		return nil, err
	}
	return m.weights(o), nil
}

// Prior says in words what was learned about the kernels' scales for one class:
// see [MultiGPModel.Prior].
func (m *MultiGPClassifierModel[T]) Prior(class T) (string, error) {
	o, err := m.function(class)
	if err != nil {
		return "", err
	}
	return m.prior(o), nil
}

// Posteriors returns the approximate posterior of each function: one for two
// classes, that of the second against the first; else one for each class.
func (m *MultiGPClassifierModel[T]) Posteriors() []*mgp.Posterior {
	return slices.Clone(m.posteriors)
}

// Predict returns the most probable class of each sample and the probabilities
// of all classes. It takes one matrix for each of Inputs.
func (m *MultiGPClassifierModel[T]) Predict(x ...Features) (labels []T, probability [][]float64, err error) {
	p, err := m.PredictClasses(context.Background(), PredictOptions{}, x...)
	if err != nil {
		return nil, nil, err
	}
	return p.Label, p.Probability, nil
}

// PredictClasses is Predict with options, and with decision values. Probabilities
// of more than two classes are each function's, divided by their sum.
func (m *MultiGPClassifierModel[T]) PredictClasses(ctx context.Context, opt PredictOptions, x ...Features) (*ClassPrediction[T], error) {
	K := len(m.classes)
	out := &ClassPrediction[T]{}
	_, err := m.predict(ctx, opt, x, func(o, first int, p *mgp.Prediction) {
		if o == 0 {
			out.Decision = append(out.Decision, rows(len(p.Mean), K)...)
			if !opt.MeanOnly {
				out.Probability = append(out.Probability, rows(len(p.Mean), K)...)
			}
		}
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
	best := out.Decision
	if !opt.MeanOnly {
		best = out.Probability
		for _, row := range out.Probability {
			if sum := total(row); sum > 0 {
				for o := range row {
					row[o] /= sum
				}
			}
		}
	}
	for _, row := range best {
		out.Label = append(out.Label, m.classes[argMax(row)])
	}
	return out, nil
}

// String describes the model in one line.
func (m *MultiGPClassifierModel[T]) String() string {
	return m.describe(fmt.Sprintf("multiple Gaussian process classifier of %d classes", len(m.classes)))
}

// Summary describes the model in words, line by line.
func (m *MultiGPClassifierModel[T]) Summary() string {
	return m.summary(m.String(), func(o int) string {
		if len(m.classes) == 2 {
			return fmt.Sprintf("class %v against %v", m.classes[1], m.classes[0])
		}
		return fmt.Sprintf("class %v against the rest", m.classes[o])
	})
}
