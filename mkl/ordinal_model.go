package mkl

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/vi/mgp"
)

// OrdinalModel is a fitted [Ordinal]. It is immutable and safe for concurrent use.
type OrdinalModel[T comparable] struct {
	functionOfViews
	classes classSet[T]
}

// Kind returns "ordinal".
func (m *OrdinalModel[T]) Kind() string { return "ordinal" }

// Classes returns the grades from the lowest to the highest.
func (m *OrdinalModel[T]) Classes() []T { return slices.Clone(m.classes.names) }

// CutPoints returns the K−1 cut points between the K grades, in units of the standard deviation of the noise: the function
// lies below the first for the lowest grade.
func (m *OrdinalModel[T]) CutPoints() []float64 { return mgp.CutPoints(m.posteriors[0].State().Shape) }

// Posterior returns the approximate posterior of the function.
func (m *OrdinalModel[T]) Posterior() *mgp.Posterior { return m.posteriors[0] }

// Predict returns the most probable grade of each sample and the probabilities of all grades, [sample][grade]. The
// arguments and errors are as in [ClassModel.PredictClasses].
func (m *OrdinalModel[T]) Predict(x ...Features) (labels []T, probability [][]float64, err error) {
	return mostProbable(m, x)
}

// PredictClasses is Predict with options, and with decision values: the logarithms of the probabilities of the grades if
// the function were known to be its mean.
func (m *OrdinalModel[T]) PredictClasses(ctx context.Context, opt PredictOptions, x ...Features) (*ClassPrediction[T], error) {
	t, err := checkInputs(m.design, x)
	if err != nil {
		return nil, err
	}
	K, shape := len(m.classes.names), m.posteriors[0].State().Shape
	out := newClassPrediction[T](t, K, opt)
	err = m.predict(ctx, opt, x, t, func(_, first int, own *mgp.Prediction) {
		for i, mean := range own.Mean {
			decision := out.Decision[first+i]
			mgp.Grades{Mean: mean, Shape: shape}.LogProbabilities(decision)
			for k, v := range decision {
				decision[k] = max(v, -math.MaxFloat64)
			}
			if opt.MeanOnly {
				continue
			}
			probability, sum := out.Probability[first+i], 0.0
			mgp.Grades{Mean: mean, Variance: own.Function[i], Shape: shape}.LogProbabilities(probability)
			for k, v := range probability {
				probability[k] = special.Exp(v)
				sum += probability[k]
			}
			for k := range probability {
				probability[k] /= sum
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return out.labelled(m.classes.names)
}

// MedianGrade returns the index of the median of a grade, given the probabilities of the grades in order: the lowest grade
// that is not exceeded with a probability of at least ½. Among all grades it has the least expected distance from the
// true one, counted in grades.
func MedianGrade(probability []float64) int {
	var below float64
	for k, p := range probability {
		if below += p; below >= 0.5 {
			return k
		}
	}
	return len(probability) - 1
}

// String describes the model in one line.
func (m *OrdinalModel[T]) String() string {
	return m.describe(fmt.Sprintf("multiple Gaussian process of %d grades", len(m.classes.names)))
}

// Summary describes the model in words, line by line.
func (m *OrdinalModel[T]) Summary() string {
	return m.summary(m.String(), func(int) string {
		text := "cut points"
		for k, c := range m.CutPoints() {
			text += fmt.Sprintf(" %s | %.3g |", brief(m.classes.names[k]), c)
		}
		return text + " " + brief(m.classes.names[len(m.classes.names)-1])
	})
}
