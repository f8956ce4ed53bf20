package mkl

import (
	"context"

	"github.com/bmkl/bmkl/vi/mgp"
)

// Family is a family of priors on the scales of a multiple Gaussian process.
type Family = mgp.Family

// Families of priors of the precisions γ_p, named after the process that each function then is.
const (
	FamilyStudentT      = mgp.FamilyStudentT      // γ has a gamma distribution
	FamilyLaplace       = mgp.FamilyLaplace       // 1/γ has an exponential distribution
	FamilyGammaVariance = mgp.FamilyGammaVariance // 1/γ has a gamma distribution
	FamilyDefault       = mgp.FamilyDefault       // FamilyHyperbola; FamilyStudentT for FactorisedGP
	FamilyGIG           = mgp.FamilyGIG           // γ has a generalised inverse Gaussian distribution
	FamilyHyperbola     = mgp.FamilyHyperbola     // a weak prior, symmetric in log γ, that is not learned
	FamilyFlat          = mgp.FamilyFlat          // no prior: γ maximises the evidence, or its bound
)

// GIG is the generalised inverse Gaussian distribution, the prior of the scales.
type GIG = mgp.GIG

// HeldPrior says which parameters of a [GIG] keep the values that they start from: see [mgp.HeldPrior].
type HeldPrior = mgp.HeldPrior

// MultiGP is the multiple Gaussian process model for regression: the target is a
// sum of one Gaussian process for each view, with kernel K_p/γ_p, and noise. The
// fit learns whether few kernels or all of them matter. If you know your kernels, try this model first; see
// docs/lab/choosing.md. The zero value is ready to fit. Views with the same kernel are allowed: their scales add up.
//
// The fit has no random start. Seed chooses the samples of a first fit if there
// are very many samples, and the draws if there are few.
//
// A fit takes N² numbers of memory for each kernel, and N³ operations for a step. Above some thousands of samples use
// [LandmarkGP], the same model at a cost that grows in proportion to N. The fit is faster, with the same result, if all
// kernels are [kernel.Linear] or [kernel.Constant], none is normalised, and together they see no more than N/4 columns. It
// then takes one number for each sample and column, and a step costs as much as a step with as many samples as columns.
//
// Source: C. Archambeau and F. Bach, "Multiple Gaussian process models", 2010; the
// fit by the evidence is derived in docs/theory/mgp.md.
type MultiGP struct {
	Fitting
	Climb

	// Family is the family of the prior of γ. [FamilyDefault] is a weak prior that favours no kernel.
	Family Family

	// Prior is the prior of γ from which the fit starts, for targets of variance 1. The zero value is a weak
	// prior. A parameter of 0 that is not held is replaced by a weak prior's if there were no prior otherwise. HeldPrior
	// says which parameters are kept instead of learned: a Cauchy process is [FamilyStudentT]
	// with Omega held at ½, a hyperbolic process [FamilyGIG] with Omega held at −1.
	Prior     GIG
	HeldPrior HeldPrior

	// KnownWeights, if not nil, holds for each view the weight 1/γ_p of its kernel, for targets of
	// variance 1, if it is known, or 0 if it is learned. A view of features h(x) with the kernel
	// [kernel.Linear] and a known weight v is a mean function h(x)ᵀβ with β ~ N(0, v·I); see
	// [MultiGPModel.Coefficients]. Known weights need [ConstantNoise].
	KnownWeights []float64

	// KnownNoise is the standard deviation of the noise in the target's units, if it is known, such as the error of
	// an instrument; 0 means that it is learned. It needs [ConstantNoise], and must be at least a
	// ten-thousandth of the target's standard deviation (of its root mean square with RawTargets).
	KnownNoise float64

	// Weights, if not nil, says how precise each target is: sample n has the noise variance σ²/Weights[n], like a mean of Weights[n]
	// measurements with the noise variance σ². For noise with known standard deviations s_n set Weights[n] = 1/s_n² and a KnownNoise of 1.
	// Without KnownNoise the fit learns a common factor of the s_n. NoiseSD and predictions are for a target with the weight 1. Weights
	// must be positive and finite. With [VaryingNoise] and [HeavyNoise] the variance, or the squared scale, is divided by the weight.
	Weights []float64

	// RawTargets leaves the targets unchanged. By default they are scaled to mean 0
	// and standard deviation 1 before the fit, because the model has no bias. Predictions
	// are in the targets' own units either way.
	RawTargets bool

	// Noise says whether the variance of the noise is one number or depends on the
	// sample, and whether the noise is normal or has heavy tails.
	Noise NoiseModel

	// PointScales treats the amplitudes, the noise and learned length scales as known, with
	// their most probable values. By default, with FamilyDefault and ConstantNoise, predictions from up to 64 samples are
	// averaged over draws from the posterior of these; see docs/theory/mgp.md, section 20.
	PointScales bool

	// From, if not nil, is a model from which the fit continues: an earlier fit to the same samples and kernels, perhaps
	// with other targets or another prior.
	From *MultiGPModel

	MissingViews bool          // as in [Regression]
	Storage      KernelStorage // as in [Regression]

	// Auto sets this: see processSettings.
	hurried bool
	start   *mgp.EvidenceStart
}

// Fit fits the model to the views of N samples and their targets. Given kernels
// ([kernel.Precomputed]) are N×N; the matrices of a prediction then have one more
// column, the kernel of each sample with itself. It returns the errors that
// [Regression.Fit] returns, but no *[CollapsedError]: see [MultiGPModel.Collapsed].
func (g MultiGP) Fit(ctx context.Context, views []View, y []float64) (*MultiGPModel, error) {
	return g.problem().fit(ctx, views, y)
}

// EstimateMemory returns about how many bytes a fit of the given size takes.
func (g MultiGP) EstimateMemory(s FitSize) int64 { return g.problem().memory(s) }

func (g *MultiGP) problem() *processRegression {
	return &processRegression{
		fitting: &fitting{Fitting: g.Fitting, Ascent: g.Climb.ascent(), limit: "MaxSteps", missingViews: g.MissingViews, storage: g.Storage},
		processSettings: processSettings{
			family: g.Family, prior: g.Prior, held: g.HeldPrior, known: g.KnownWeights, hurried: g.hurried, seed: g.Seed,
			noise: g.Noise, start: g.start, pointScales: g.PointScales, weights: g.Weights,
		},
		rawTargets: g.RawTargets, noiseSD: g.KnownNoise, model: g.From,
	}
}
