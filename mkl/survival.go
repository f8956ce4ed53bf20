package mkl

import (
	"context"
	"fmt"

	"github.com/bmkl/bmkl/vi/mgp"
)

// SurvivalLaw is the distribution of times given the function: see [Survival].
type SurvivalLaw int

// Distributions of times.
const (
	LawByEvidence SurvivalLaw = iota // the one of the others with the higher evidence
	LogNormal                        // the logarithm of a time has normal noise
	Weibull                          // hazards are proportional, and a power of time
)

// String returns "by-evidence", "log-normal" or "weibull".
func (l SurvivalLaw) String() string {
	if l == LawByEvidence {
		return "by-evidence"
	}
	return l.law().String()
}

// law converts the law to package mgp's.
func (l SurvivalLaw) law() mgp.Law { return mgp.Law(l - LogNormal) }

// Survival is the multiple Gaussian process model for times until an event. Some times may be censored: only
// a bound or an interval is known. The logarithm of a time is a level, a sum of one Gaussian process for each
// view, and noise (an accelerated failure time model):
//
//	log T = b + Σ_p f_p(x) + σ·e.
//
// The error e is standard normal for [LogNormal], and the logarithm of an exponential variable for [Weibull]. By
// default both are fitted, and the model is the one with the higher evidence. The kernels' weights, b,
// σ and learned length scales maximise the evidence, which expectation propagation estimates. The model
// also suits other positive quantities with limits of detection. The zero value is ready to fit. The fit has no random
// start: Seed chooses the landmarks of many samples. It takes N² numbers for each kernel and N³ operations for a sweep of
// expectation propagation; a step takes several sweeps. Above [DefaultExactSamples] samples, unless a view holds given kernels, M of them
// are landmarks, 2000 to 300 by the number of samples. The landmarks alone are fitted so, which decides the law. All samples then give
// the function, b and σ, in N·M numbers and about ten sweeps of N·M² operations.
//
// With several views and a constant kernel, as [FillViews] returns them, the weights of the kernels borrow strength from each other, unless kernels learn
// widths. Views of noise then get little weight, and [SurvivalModel].Views says which views matter. See docs/theory/likelihoods.md, section 11.
//
// A fit with landmarks, but without MissingViews, learns an effect of each code of a column of more than 30 codes, if only views with the zero [kernel.Categorical] see the
// column and the effects predict other samples. The effects are added to the function, and a linear and a Gaussian kernel of the effects take the place of
// the kernel of categories. See docs/theory/levels.md.
//
// Source: docs/theory/likelihoods.md derives the moments and the landmarks; the model is the one of [MultiGP].
type Survival struct {
	Fitting
	Climb

	Law SurvivalLaw // of the times; the zero value is LawByEvidence

	// Landmarks is the number of samples that are landmarks. 0 means an exact fit of at most [DefaultExactSamples] samples, and
	// [ObservationLandmarks] of more. If there are no more samples than Landmarks, the fit is exact.
	Landmarks int

	Groups       []ViewGroup   // as in [Auto]
	MissingViews bool          // as in [Regression]
	Storage      KernelStorage // as in [Regression]
}

// Fit fits the model to the views of N samples and their times. It returns the errors that [MultiGP.Fit] returns.
func (s Survival) Fit(ctx context.Context, views []View, times []Lifetime) (*SurvivalModel, error) {
	unit, lower, upper, err := logTimes(times)
	if err != nil {
		return nil, err
	}
	if s.Law < LawByEvidence || s.Law > Weibull {
		return nil, fmt.Errorf("mkl: Law is %d: there are LawByEvidence, LogNormal and Weibull", int(s.Law))
	}
	laws := []SurvivalLaw{s.Law}
	if s.Law == LawByEvidence {
		laws = []SurvivalLaw{LogNormal, Weibull}
	}
	var all []mgp.Likelihood
	for _, l := range laws {
		all = append(all, mgp.Censored{Lower: lower, Upper: upper, Law: l.law()})
	}
	m, err := s.problem().fit(ctx, views, [][]float64{lower, upper}, all...)
	if m == nil {
		return nil, err
	}
	return &SurvivalModel{*m, unit}, err
}

// EstimateMemory returns about how many bytes a fit of the given size takes.
func (s Survival) EstimateMemory(size FitSize) int64 { return s.problem().memory(size) }

func (s *Survival) problem() *processObservations {
	return newProcessObservations(s.Fitting, s.Climb, s.Groups, s.MissingViews, s.Storage, s.Landmarks)
}
