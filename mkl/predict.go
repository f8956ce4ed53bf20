package mkl

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/vi"
)

// PredictOptions says what to predict. The zero value predicts means and full
// variances.
type PredictOptions struct {
	// Published selects the paper's predictive variance of the models of M. Gönen,
	// which is too small: it takes the intermediate outputs at their means. To other
	// models it means nothing.
	Published bool

	// MeanOnly leaves the variances out, and with them nearly all of the cost but that
	// of healing.
	MeanOnly bool

	// Unhealed leaves out what a [RegressionModel] adds to the predictions of its
	// posterior, whose intervals are too short away from the samples; see
	// docs/healing.md. Published leaves it out too. To other models it means nothing.
	Unhealed bool

	// Workers is the most goroutines at work; 0 means runtime.GOMAXPROCS(0).
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
}

func newPrediction(targets, samples int, opt PredictOptions) *Prediction {
	p := &Prediction{Mean: rows(targets, samples)}
	if !opt.MeanOnly {
		p.Variance = rows(targets, samples)
	}
	return p
}

// checked returns the prediction, or an error if a mean is not finite or a variance
// not finite and positive: then the model, the inputs or their products are beyond
// the range of floating-point numbers.
func (p *Prediction) checked() (*Prediction, error) {
	for o, mean := range p.Mean {
		for i, v := range mean {
			var err error
			if p.Variance == nil {
				err = checkMoments(v, 1)
			} else {
				err = checkMoments(v, p.Variance[o][i])
			}
			if err != nil {
				return nil, fmt.Errorf("mkl: target %d, sample %d: %w", o, i, err)
			}
		}
	}
	return p, nil
}

// checkMoments reports a predictive mean that is not finite and a variance that is not
// finite and positive.
func checkMoments(mean, variance float64) error {
	if mean-mean == 0 && variance > 0 && variance <= math.MaxFloat64 {
		return nil
	}
	return fmt.Errorf("the prediction has mean %g and variance %g: the sample or the unit of the target is beyond the range of floating-point numbers", mean, variance)
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

	// Decision [sample][class] is the mean of each class's score; with two
	// classes the second's score and its negative.
	Decision [][]float64
}

func newClassPrediction[T comparable](samples, classes int, opt PredictOptions) *ClassPrediction[T] {
	p := &ClassPrediction[T]{Label: make([]T, samples), Decision: rows(samples, classes)}
	if !opt.MeanOnly {
		p.Probability = rows(samples, classes)
	}
	return p
}

// labelled fills in the labels from probabilities or, with MeanOnly, decisions, and
// returns the prediction, or an error if a decision is not finite or probabilities do
// not sum to one.
func (p *ClassPrediction[T]) labelled(classes []T) (*ClassPrediction[T], error) {
	for i, decision := range p.Decision {
		if c := firstNonFinite(decision); c >= 0 {
			return nil, fmt.Errorf("mkl: sample %d: the decision value of class %v is %g: the sample is beyond the range of floating-point numbers", i, classes[c], decision[c])
		}
		by := decision
		if p.Probability != nil {
			by = p.Probability[i]
			if sum := total(by); !(math.Abs(sum-1) < 1e-6) {
				return nil, fmt.Errorf("mkl: sample %d: the probabilities of the classes sum to %g: the sample is beyond the range of floating-point numbers", i, sum)
			}
		}
		p.Label[i] = classes[argMax(by)]
	}
	return p, nil
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
	Label       [][]bool    // whether Decision is at least 0 and so Probability at least ½
	Probability [][]float64 // that the sample has the label; nil with MeanOnly
	Decision    [][]float64 // the mean of the label's score
}

// checked returns the prediction, or an error if a decision is not finite or a
// probability not one.
func (p *LabelPrediction) checked() (*LabelPrediction, error) {
	for o, decision := range p.Decision {
		i := firstNonFinite(decision)
		if i < 0 && p.Probability != nil {
			i = slices.IndexFunc(p.Probability[o], func(v float64) bool { return !(v >= 0 && v <= 1) })
		}
		if i >= 0 {
			return nil, fmt.Errorf("mkl: label %d, sample %d: the decision value is %g: the sample is beyond the range of floating-point numbers", o, i, decision[i])
		}
	}
	return p, nil
}

func rows(n, length int) [][]float64 {
	r := make([][]float64, n)
	for i := range r {
		r[i] = make([]float64, length)
	}
	return r
}

func argMax(x []float64) int {
	best := 0
	for i, v := range x {
		if v > x[best] {
			best = i
		}
	}
	return best
}
