package mkl

import (
	"context"
)

// MultiGPClassifier is the multiple Gaussian process model for two or more
// classes, whose names are of any comparable type. Two classes have one function
// and the probit likelihood; more have a function for each class against all
// others, each with kernel weights and ARD length scales of its own. The log
// odds of the functions are multiplied by one factor that maximises the
// leave-one-out likelihood of the training samples. (If length scales are learned
// the factor is 1, because leave-one-out does not repeat the learning.) The zero value is
// ready to fit. The fit has no random start; Seed is as in [MultiGP].
//
// Source: as [MultiGP], section 4.
type MultiGPClassifier[T comparable] struct {
	Fitting
	Climb

	// LowerBound climbs a lower bound on the evidence, of the best Gaussian posterior, instead of the estimate by
	// expectation propagation.
	LowerBound bool

	Family    Family    // as in [MultiGP]
	Prior     GIG       // as in [MultiGP]
	HeldPrior HeldPrior // as in [MultiGP]

	KnownWeights []float64 // as in [MultiGP], of every function, in units of the variance 1 of the latent noise

	// Classes, if not nil, are the classes in the order that models keep, as in
	// [Classifier].
	Classes []T

	// From, if not nil, is a model from which the fit continues: an earlier fit of as many classes to the same samples
	// and kernels, perhaps with other labels or another prior.
	From *MultiGPClassifierModel[T]

	MissingViews bool          // as in [Regression]
	Storage      KernelStorage // as in [Regression]

	hurried bool // for AutoClassifier: see processSettings
	resting bool // as hurried
}

// Fit fits the model to the views of N samples and their labels. It returns the
// errors that [MultiGP.Fit] returns, with the name of the class. If the context ends before the fit of the last
// class's function begins, there is no model.
func (c MultiGPClassifier[T]) Fit(ctx context.Context, views []View, labels []T) (*MultiGPClassifierModel[T], error) {
	return c.problem().fit(ctx, views, labels)
}

// EstimateMemory returns about how many bytes a fit of the given size takes.
// s.Outputs counts the classes.
func (c MultiGPClassifier[T]) EstimateMemory(s FitSize) int64 { return c.problem().memory(s) }

func (c *MultiGPClassifier[T]) problem() *processClassification[T] {
	return &processClassification[T]{
		fitting: &fitting{Fitting: c.Fitting, Ascent: c.Climb.ascent(), limit: "MaxSteps", missingViews: c.MissingViews, storage: c.Storage},
		processSettings: processSettings{
			bound: c.LowerBound, family: c.Family, prior: c.Prior, held: c.HeldPrior, known: c.KnownWeights, hurried: c.hurried, resting: c.resting, seed: c.Seed,
		},
		classes: c.Classes, model: c.From,
	}
}
