package mkl

import "context"

// FactorisedGP is [MultiGP] with a factorised posterior, as in its source: the function and the scales of the kernels
// are independent in the posterior, and the fit climbs a lower bound on the evidence by sweeps. MultiGP, whose fit is
// exact given the scales, predicts better; FactorisedGP serves for comparison. It learns no length scales. The zero value
// is ready to fit.
//
// Source: as [MultiGP].
type FactorisedGP struct {
	Fitting
	Tolerance float64 // as in [Ascent]
	MaxSweeps int     // as in [Ascent]

	// Plain does exactly the published updates, which need many more sweeps and often end in the plain Gaussian
	// process.
	Plain bool

	Family     Family    // as in [MultiGP]; [FamilyDefault] is [FamilyStudentT]
	Prior      GIG       // as in [MultiGP]
	HeldPrior  HeldPrior // as in [MultiGP]
	KnownNoise float64   // as in [MultiGP]
	RawTargets bool      // as in [MultiGP]

	MissingViews bool          // as in [Regression]
	Storage      KernelStorage // as in [Regression]

	From *MultiGPModel // as in [MultiGP]
}

// Fit fits the model to the views of N samples and their targets. It returns the errors that [MultiGP.Fit] returns.
func (g FactorisedGP) Fit(ctx context.Context, views []View, y []float64) (*MultiGPModel, error) {
	return g.problem().fit(ctx, views, y)
}

// EstimateMemory returns about how many bytes a fit of the given size takes.
func (g FactorisedGP) EstimateMemory(s FitSize) int64 { return g.problem().memory(s) }

func (g *FactorisedGP) problem() *processRegression {
	return &processRegression{
		fitting: &fitting{
			Fitting: g.Fitting, Ascent: Ascent{Tolerance: g.Tolerance, MaxSweeps: g.MaxSweeps}, missingViews: g.MissingViews, storage: g.Storage,
		},
		processSettings: processSettings{
			factorised: true, plain: g.Plain, family: g.Family, prior: g.Prior, held: g.HeldPrior, seed: g.Seed, pointScales: true,
		},
		rawTargets: g.RawTargets, noiseSD: g.KnownNoise, model: g.From,
	}
}

// FactorisedGPClassifier is [MultiGPClassifier] with a factorised posterior, in which the latent targets are also independent
// of the functions: its probabilities are too close to ½. It learns no length scales. The zero value is ready to fit.
//
// Source: as [MultiGP], section 4.
type FactorisedGPClassifier[T comparable] struct {
	Fitting
	Tolerance float64 // as in [Ascent]
	MaxSweeps int     // as in [Ascent]

	Plain     bool      // as in [FactorisedGP]
	Family    Family    // as in [FactorisedGP]
	Prior     GIG       // as in [MultiGP]
	HeldPrior HeldPrior // as in [MultiGP]

	Classes []T                        // as in [Classifier]
	From    *MultiGPClassifierModel[T] // as in [MultiGPClassifier]

	MissingViews bool          // as in [Regression]
	Storage      KernelStorage // as in [Regression]
}

// Fit fits the model to the views of N samples and their labels. It returns the errors that [MultiGPClassifier.Fit] returns.
func (c FactorisedGPClassifier[T]) Fit(ctx context.Context, views []View, labels []T) (*MultiGPClassifierModel[T], error) {
	return c.problem().fit(ctx, views, labels)
}

// EstimateMemory returns about how many bytes a fit of the given size takes. s.Outputs counts the classes.
func (c FactorisedGPClassifier[T]) EstimateMemory(s FitSize) int64 { return c.problem().memory(s) }

func (c *FactorisedGPClassifier[T]) problem() *processClassification[T] {
	return &processClassification[T]{
		fitting: &fitting{
			Fitting: c.Fitting, Ascent: Ascent{Tolerance: c.Tolerance, MaxSweeps: c.MaxSweeps}, missingViews: c.MissingViews, storage: c.Storage,
		},
		processSettings: processSettings{factorised: true, plain: c.Plain, family: c.Family, prior: c.Prior, held: c.HeldPrior, seed: c.Seed},
		classes:         c.Classes, model: c.From,
	}
}
