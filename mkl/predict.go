package mkl

import (
	"context"
	"fmt"

	"github.com/bmkl/bmkl/vi"
)

// PredictOptions says what to predict. The zero value predicts means and full
// variances.
type PredictOptions struct {
	// Published selects the paper's predictive variance of the models of M. Gönen,
	// which is too small: it ignores the variance of the intermediate outputs. For other
	// models it has no effect.
	Published bool

	// MeanOnly leaves out the variances, and with them nearly all of the cost except
	// for healing.
	MeanOnly bool

	// Unhealed leaves out healing: an addition to the predictions of a [RegressionModel], a [SharedRegressionModel], a
	// [TaskRegressionModel], and models of pairs for new rows and columns. Without it intervals are too
	// short away from the samples; see docs/theory/healing.md. Published leaves it out too. For other
	// models it has no effect.
	Unhealed bool

	// Workers is the largest number of goroutines at work; 0 means runtime.GOMAXPROCS(0).
	// Results do not depend on it.
	Workers int
}

func (opt PredictOptions) inference() vi.PredictOptions {
	return vi.PredictOptions{Published: opt.Published, MeanOnly: opt.MeanOnly, Workers: opt.Workers}
}

// Prediction holds predictions [target][sample], in the targets' units.
type Prediction struct {
	Mean     [][]float64 // of the target
	Variance [][]float64 // of the target with its noise; nil with MeanOnly

	learned []*learnedPrediction // of each target, nil of a target that was learned on its own scale; empty if all were
}

func newPrediction(targets, samples int, opt PredictOptions) *Prediction {
	p := &Prediction{Mean: rows(targets, samples)}
	if !opt.MeanOnly {
		p.Variance = rows(targets, samples)
	}
	return p
}

// predictOne predicts the only target of a model.
func predictOne(m TargetModel, x []Features) (mean, variance []float64, err error) {
	if m.Targets() != 1 {
		return nil, nil, fmt.Errorf("mkl: Predict is for one target and the model has %d: use PredictTargets", m.Targets())
	}
	p, err := m.PredictTargets(context.Background(), PredictOptions{}, x...)
	if err != nil {
		return nil, nil, err
	}
	return p.Mean[0], p.Variance[0], nil
}

// ClassPrediction holds predictions of the classes of samples.
type ClassPrediction[T comparable] struct {
	// Label is the most probable class of each sample; with MeanOnly, the one
	// with the highest decision value.
	Label []T

	// Probability [sample][class] sums to one for each sample. It is nil with
	// MeanOnly.
	Probability [][]float64

	// Decision [sample][class] is the mean of each class's score. With two
	// classes it is the score of the second, and its negative for the first.
	Decision [][]float64
}

func newClassPrediction[T comparable](samples, classes int, opt PredictOptions) *ClassPrediction[T] {
	p := &ClassPrediction[T]{Label: make([]T, samples), Decision: rows(samples, classes)}
	if !opt.MeanOnly {
		p.Probability = rows(samples, classes)
	}
	return p
}

// mostProbable predicts labels and probabilities with all defaults.
func mostProbable[T comparable](m ClassModel[T], x []Features) (labels []T, probability [][]float64, err error) {
	p, err := m.PredictClasses(context.Background(), PredictOptions{}, x...)
	if err != nil {
		return nil, nil, err
	}
	return p.Label, p.Probability, nil
}

// LabelPrediction holds predictions [label][sample].
type LabelPrediction struct {
	Label       [][]bool    // whether Decision is at least 0, and so Probability at least ½
	Probability [][]float64 // that the sample has the label; nil with MeanOnly
	Decision    [][]float64 // the mean of the label's score
}

func rows(n, length int) [][]float64 {
	r := make([][]float64, n)
	for i := range r {
		r[i] = make([]float64, length)
	}
	return r
}
