package mkl

import (
	"context"
	"fmt"
	"slices"
)

// MultiGPClassifier is the multiple Gaussian process model for two or more
// classes, whose names are of any comparable type: with two classes one function
// and the probit likelihood, with more a function for each class against all
// others, every one with kernel weights and ARD length scales of its own. The log
// odds of the functions are sharpened or softened by one factor that makes the
// leave-one-out probabilities of the training samples the most likely (not where
// length scales are learned, which leave-one-out does not see). The zero value is
// ready to fit. The fit has no random start, and so no use for Restarts; Seed is as in
// [MultiGP].
//
// Source: as [MultiGP], section 4.
type MultiGPClassifier[T comparable] struct {
	Fitting

	Method    Method  // as in [MultiGP]
	Family    Family  // as in [MultiGP]
	Prior     GIG     // as in [MultiGP]
	HeldPrior HeldGIG // as in [MultiGP]

	KnownWeights []float64 // as in [MultiGP], of every function, in units of the variance 1 of the latent noise

	// Classes, if not nil, are the classes in the order that models keep, as in
	// [Classifier].
	Classes []T

	// From, if not nil, is a model of an earlier fit of as many classes to the same samples and
	// kernels, perhaps with other labels or another prior, to continue from.
	From *MultiGPClassifierModel[T]

	hurried bool // for AutoClassifier: see processSettings
}

// Fit fits the model to the views of N samples and their labels. Errors are
// those of [MultiGP.Fit]; they name the class. If the context ends before the last
// class's function is begun there is no model.
func (c MultiGPClassifier[T]) Fit(ctx context.Context, views []View, labels []T) (model *MultiGPClassifierModel[T], err error) {
	classes, index, err := checkLabels(c.Classes, labels)
	if err != nil {
		return nil, err
	}
	ds, k, err := c.processKernels(ctx, views, len(labels), len(classes), c.EstimateMemory)
	if err != nil {
		return nil, suggestLandmarks(err, c.Fitting, views, len(labels), len(classes))
	}
	defer release(k, &model, &err)
	m := &MultiGPClassifierModel[T]{classes: classSet[T]{names: classes}, sharpness: 1}
	m.onViews = onViews{c.record(Trace{}), ds}
	settings := processSettings{
		method: c.Method, family: c.Family, prior: c.Prior, held: c.HeldPrior, known: c.KnownWeights, hurried: c.hurried, seed: c.Seed,
		name: func(o int) string { return m.classes.against(o, " against the rest") },
	}
	if c.From != nil {
		if !slices.Equal(c.From.classes.names, classes) {
			return nil, fmt.Errorf("mkl: From: its classes are %v, not %v", c.From.classes.names, classes)
		}
		L := functions(len(classes))
		if err := checkFrom(&c.Fitting, c.From.design, "functions", len(c.From.posteriors), ds, L); err != nil {
			return nil, err
		}
		settings.from = &c.From.processes
	}
	whole, err := settings.fit(ctx, &c.Fitting, &m.processes, k, oneAgainstRest(len(classes), index), true)
	if !whole {
		return nil, err
	}
	if scores := m.leftOutScores(index); scores != nil && !m.adapted {
		m.sharpness = fitSharpness(scores, index)
	}
	return m, err
}

// EstimateMemory returns about how many bytes a fit of the given size takes, its
// Outputs being classes.
func (c MultiGPClassifier[T]) EstimateMemory(s Size) int64 {
	return c.processMemory(s, functions(s.Outputs), true)
}
