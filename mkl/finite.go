package mkl

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// Every Fit, prediction, predictor and Save checks its results here: they are
// finite, variances are positive, and probabilities are
// between 0 and 1 and sum to one over all classes. Finite but extreme data can violate this.
// The result is then an error that names the target or the class and the sample, and never
// a meaningless number.

// checkMoments returns the variance of a prediction. It returns an error for a predictive mean that is not finite, or a variance that is not
// positive. A variance beyond the largest number is the largest number, and its root 1.3·10¹⁵⁴: a sample that is so far from all others has a
// prediction, if a wild one, and does not end the predictions of the others.
func checkMoments(mean, variance float64) (float64, error) {
	if mean-mean == 0 && variance > 0 {
		return upToLargest(variance), nil
	}
	return variance, fmt.Errorf("the prediction has mean %g and variance %g: %w", mean, variance, gram.ErrBeyond)
}

// upToLargest returns a variance, or the largest number for one beyond it. Sums and differences of variances then stay numbers.
func upToLargest(variance float64) float64 { return min(variance, math.MaxFloat64) }

// checkFunction returns an error for the samples where the mean of the function of a model is not finite, or its variance is not a number
// from 0 on. A variance beyond the largest number becomes the largest number, as in checkMoments.
func checkFunction(mean, variance []float64) error {
	var wild wildSamples
	for i, v := range mean {
		if v-v != 0 || !(variance[i] >= 0) {
			wild.add("", i, fmt.Errorf("its function has mean %g and variance %g: %w", v, variance[i], gram.ErrBeyond))
		}
		variance[i] = upToLargest(variance[i])
	}
	return wild.err()
}

// checkProbability returns an error for a number that is not a probability.
func checkProbability(p float64) error {
	if p >= 0 && p <= 1 {
		return nil
	}
	return fmt.Errorf("the probability is %g: %w", p, gram.ErrBeyond)
}

// checkClasses returns an error for class probabilities that are not probabilities or do not sum to one.
func checkClasses(p []float64) error {
	const slack = 1e-9 // of the sum
	for _, v := range p {
		if !(v >= 0 && v <= 1+slack) {
			return fmt.Errorf("a class has the probability %g: %w", v, gram.ErrBeyond)
		}
	}
	if sum := vec.Total(p); !(math.Abs(sum-1) <= slack) {
		return fmt.Errorf("the probabilities of the classes sum to %g: %w", sum, gram.ErrBeyond)
	}
	return nil
}

// checkDecision returns an error for a decision value that is not finite.
func checkDecision(v float64) error {
	if v-v == 0 {
		return nil
	}
	return fmt.Errorf("the decision value is %g: %w", v, gram.ErrBeyond)
}

// checkWeights returns an error for a weight whose mean is not finite, or whose deviation is not a number. A deviation
// may be infinite: some posteriors have an infinite variance.
func checkWeights(all []KernelWeight) error {
	for i, w := range all {
		if w.Mean-w.Mean != 0 || math.IsNaN(w.SD) {
			return fmt.Errorf("mkl: views[%d] (%s): the weight is %g ± %g: %w", i, w.View, w.Mean, w.SD, gram.ErrBeyond)
		}
	}
	return nil
}

// checkTensor returns an error for the first element that is not finite, of data that begin with element first. Save and [Load] both
// refuse it.
func checkTensor(name string, first int, data []float64) error {
	if i := vec.FirstNonFinite(data); i >= 0 {
		return fmt.Errorf("tensor %q: element %d is %g", name, first+i, data[i])
	}
	return nil
}

// checked returns the prediction, or an error if a mean is not finite or a variance not positive.
func (p *Prediction) checked() (*Prediction, error) {
	var wild wildSamples
	for o, mean := range p.Mean {
		for i, v := range mean {
			variance := 1.0
			if p.Variance != nil {
				variance = p.Variance[o][i]
			}
			variance, err := checkMoments(v, variance)
			if err != nil {
				wild.add(fmt.Sprintf("target %d, ", o), i, err)
			}
			if p.Variance != nil {
				p.Variance[o][i] = variance
			}
		}
	}
	if err := wild.err(); err != nil {
		return nil, err
	}
	return p, nil
}

// labelled fills in the labels from probabilities or, with MeanOnly, from decisions, and
// returns the prediction. It returns an error for a decision that is not finite or for invalid
// probabilities.
func (p *ClassPrediction[T]) labelled(classes []T) (*ClassPrediction[T], error) {
	var wild wildSamples
	for i, decision := range p.Decision {
		for c, v := range decision {
			if err := checkDecision(v); err != nil {
				wild.add("class "+brief(classes[c])+", ", i, err)
			}
		}
		by := decision
		if p.Probability != nil {
			by = p.Probability[i]
			if err := checkClasses(by); err != nil {
				wild.add("", i, err)
			}
		}
		p.Label[i] = classes[vec.ArgMax(by)]
	}
	if err := wild.err(); err != nil {
		return nil, err
	}
	return p, nil
}

// checked returns the prediction, or an error for a decision that is not finite or an invalid
// probability.
func (p *LabelPrediction) checked() (*LabelPrediction, error) {
	var wild wildSamples
	for o, decision := range p.Decision {
		for i, v := range decision {
			err := checkDecision(v)
			if err == nil && p.Probability != nil {
				err = checkProbability(p.Probability[o][i])
			}
			if err != nil {
				wild.add(fmt.Sprintf("label %d, ", o), i, err)
			}
		}
	}
	if err := wild.err(); err != nil {
		return nil, err
	}
	return p, nil
}

// wildSamples collects the samples that cannot be predicted.
type wildSamples struct{ of []SampleError }

// add adds a sample and what is wrong with it.
func (w *wildSamples) add(of string, sample int, err error) {
	w.of = append(w.of, SampleError{Samples: []int{sample}, Of: of, Err: err})
}

// err returns the error about all samples that were added; nil without any.
func (w *wildSamples) err() error {
	if w.of == nil {
		return nil
	}
	first := slices.MinFunc(w.of, func(a, b SampleError) int { return cmp.Compare(a.Samples[0], b.Samples[0]) })
	var all []int
	for _, e := range w.of {
		all = append(all, e.Samples...)
	}
	slices.Sort(all)
	first.Samples = slices.Compact(all)
	return &first
}
