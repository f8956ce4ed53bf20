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
	classes   classSet[T]
	sharpness float64 // of the functions' log odds
}

// Kind returns "multigp-classifier".
func (m *MultiGPClassifierModel[T]) Kind() string { return "multigp-classifier" }

// Classes returns the classes in the order of probabilities and decisions.
func (m *MultiGPClassifierModel[T]) Classes() []T { return slices.Clone(m.classes.names) }

// Predict returns the most probable class of each sample and the probabilities
// of all classes, [sample][class]. The arguments and errors are as in [ClassModel.PredictClasses].
func (m *MultiGPClassifierModel[T]) Predict(x ...Features) (labels []T, probability [][]float64, err error) {
	return mostProbable(m, x)
}

// PredictClasses is Predict with options, and with decision values. The
// probability of a class is proportional to the odds of its function, to the power
// of Sharpness. It is computed from logarithms, and is positive if its logarithm is
// at least −745.
func (m *MultiGPClassifierModel[T]) PredictClasses(ctx context.Context, opt PredictOptions, x ...Features) (*ClassPrediction[T], error) {
	t, err := checkInputs(m.design, x)
	if err != nil {
		return nil, err
	}
	K := len(m.classes.names)
	out := newClassPrediction[T](t, K, opt)
	score := scoreRows(t, K)
	err = m.predict(ctx, opt, x, t, func(o, first int, p *mgp.Prediction) {
		for i, mean := range p.Mean {
			if K == 2 {
				copy(out.Decision[first+i], []float64{-mean, mean})
			} else {
				out.Decision[first+i][o] = mean
			}
			if !opt.MeanOnly {
				score.set(first+i, o, p.LogPositive[i], p.LogNegative[i])
			}
		}
	})
	if err != nil {
		return nil, err
	}
	sharpenAll(m.sharpness, score, out.Probability)
	return out.labelled(m.classes.names)
}

// Sharpness returns the power of the odds in the probabilities of the classes.
func (m *MultiGPClassifierModel[T]) Sharpness() float64 { return m.sharpness }

// leftOutScores returns the leave-one-out scores of every training sample's classes,
// or nil if the fit did not compute them. class is the class of each sample.
func (m *MultiGPClassifierModel[T]) leftOutScores(class []int) scoreTable {
	if m.leaveOneOut == nil {
		return nil
	}
	K := len(m.classes.names)
	score := scoreRows(len(class), K)
	for o, l := range m.leaveOneOut {
		if l.LogProbability == nil {
			return nil
		}
		for i, own := range l.LogProbability {
			positive, other := class[i] == o, logNot(own)
			if K == 2 {
				positive = class[i] == 1
			}
			if positive {
				score.set(i, o, own, other)
			} else {
				score.set(i, o, other, own)
			}
		}
	}
	return score
}

// String describes the model in one line.
func (m *MultiGPClassifierModel[T]) String() string {
	return m.describe(fmt.Sprintf("multiple Gaussian process classifier of %d classes", len(m.classes.names)))
}

// Summary describes the model in words, line by line.
func (m *MultiGPClassifierModel[T]) Summary() string {
	return m.summary(m.String(), func(o int) string { return m.classes.against(o, " against the rest") })
}
