package mkl

import (
	"context"
	"errors"
	"fmt"

	"github.com/bmkl/bmkl/vi/mgp"
)

// MultiGPClassifier is the multiple Gaussian process model for two or more
// classes, whose names are of any comparable type: with two classes one function
// and the probit likelihood, with more a function for each class against all
// others, every one with kernel weights of its own. The zero value is ready to fit.
// The fit has no random start, and so no use for Seed and Restarts.
//
// Source: as [MultiGP], section 4.
type MultiGPClassifier[T comparable] struct {
	Fitting

	Family     Family // as in [MultiGP]
	Prior      GIG    // as in [MultiGP]
	FixedPrior bool   // as in [MultiGP]
	Plain      bool   // as in [MultiGP]

	// Classes, if not nil, are the classes in the order that models keep, as in
	// [Classifier].
	Classes []T
}

// Fit fits the model to the views of N samples and their labels. Errors are
// those of [MultiGP.Fit]; they name the class. If the context ends before the last
// class's function is begun there is no model.
func (c MultiGPClassifier[T]) Fit(ctx context.Context, views []View, labels []T) (*MultiGPClassifierModel[T], error) {
	classes, index, err := checkLabels(c.Classes, labels)
	if err != nil {
		return nil, err
	}
	ds, k, err := c.squareKernels(ctx, views, len(labels), len(classes), c.EstimateMemory)
	if err != nil {
		return nil, err
	}
	m := &MultiGPClassifierModel[T]{classSet: classSet[T]{classes: classes}}
	m.onViews = onViews{c.record(Trace{}), ds}
	y := oneAgainstRest(len(classes), index)
	var errs []error
	for o := range y.Rows {
		settings := mgp.Model{Family: c.Family, Prior: c.Prior, Fixed: c.FixedPrior, Plain: c.Plain, Workers: c.Workers, Ascent: c.ascent(o+1, y.Rows)}
		fit, err := settings.FitLabels(ctx, k, y.Row(o))
		if err != nil {
			errs = append(errs, fmt.Errorf("mkl: %s: %w", m.against(o, " against the rest"), err))
		}
		if fit == nil || ctx.Err() != nil && o+1 < y.Rows {
			return nil, errors.Join(errs...)
		}
		m.add(fit)
	}
	return m, errors.Join(errs...)
}

// EstimateMemory returns about how many bytes a fit of the given size takes, its
// Outputs being classes.
func (c MultiGPClassifier[T]) EstimateMemory(s Size) int64 {
	return c.processMemory(s, functions(s.Outputs))
}
