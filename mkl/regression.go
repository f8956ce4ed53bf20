package mkl

import (
	"context"
	"errors"

	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// Gamma is the gamma distribution with the given shape and scale (mean
// Shape·Scale). As a prior its zero value means Gamma(1, 1).
type Gamma = vi.Gamma

// Regression is Bayesian multiple kernel learning for regression (BMKLR), with
// one target or with several that share the kernel weights. The zero value is
// ready to fit.
//
// The priors are named as in the paper: Lambda for the precisions of the sample
// weights a, Upsilon for the precision of the intermediate outputs g, Gamma for the bias
// b, Omega for the kernel weights e and Epsilon for the noise. Gamma(1, 1) is a
// broad prior; Gamma(1e-10, 1e+10) for Lambda and Omega makes samples and kernels
// sparse. A fit with both so sparse starts with twenty sweeps under a broad Lambda, which
// MaxSweeps does not count.
//
// Predictions are healed: they come from the posterior with one more basis point at
// each new sample. Without it intervals away from the samples are too short; see
// docs/theory/healing.md. Rectangular kernels, and precomputed ones without
// k(x, x), are not healed.
//
// Source: M. Gönen, "A Bayesian multiple kernel learning framework for single
// and multiple output regression", ECAI 2012.
type Regression struct {
	Fitting
	Ascent

	Lambda, Upsilon, Gamma, Omega, Epsilon Gamma

	// Plain does exactly the published updates, which need many more sweeps.
	Plain bool

	// RawTargets leaves the targets unchanged. By default each target is scaled to mean 0
	// and standard deviation 1 before the fit, as the priors assume;
	// predictions are in the targets' own units either way.
	RawTargets bool

	// MissingTargets takes NaN in y as a missing value instead of an error.
	MissingTargets bool

	// From, if not nil, is a model from which the fit continues: an earlier fit of as many targets to the same samples and
	// kernels, perhaps with other values of the targets or other priors. It replaces Seed, and Restarts must not be set.
	From *RegressionModel

	// MissingViews treats a row of a view's features that are all NaN as a sample that lacks the view, in the fit and
	// in predictions. The sample takes part with the views that it has, and its predictions are more uncertain;
	// see docs/guide/missing-views.md. It is for views of features, not for given kernels and distances,
	// nor for widths that are learned.
	MissingViews bool

	// AllowDuplicates accepts views with the same kernel matrix. Otherwise they are a *[DuplicateError].
	AllowDuplicates bool

	// Storage says how the fit holds its kernel matrices. The zero value holds them in memory as float64.
	Storage KernelStorage

	// Slopes, if not nil, is called at the end of the fit with the derivatives of the lower bound with respect to the
	// widths of the kernels. Package tune learns widths with them. They cost one more inverse of an N×N matrix
	// for each function, and a product for each view. They exclude MissingViews, Storage and Landmarks.
	Slopes func(Slopes)

	// Landmarks, if not nil, replaces the kernels of the samples with each other by their kernels with
	// D landmarks: memory and time grow with N·D and not with N². Each landmark then has a weight
	// instead of each sample, and Samples of the model returns the number of landmarks.
	Landmarks *Landmarks
}

// fitting returns the settings of a fit.
func (r Regression) fitting() *fitting {
	return &fitting{Fitting: r.Fitting, Ascent: r.Ascent, allowDuplicates: r.AllowDuplicates, missingViews: r.MissingViews, storage: r.Storage, slopes: r.Slopes}
}

// Fit fits the model to the views of N samples and one or several targets of
// length N each.
//
// Errors name the argument and the place of the fault: a
// *[ValueError] for NaN and infinities, a *[DuplicateError], a *[MemoryError]. A
// *[CollapsedError] carries the model. If ctx ends, the error wraps its cause. If
// the lower bound falls by more than rounding explains, which only happens to a
// problem too ill-conditioned for double precision, the error is a *vi.BoundError. With
// these two errors, and if an update fails, Fit also returns the model of the sweeps
// before, or nil if there were none. A bound that falls within its
// rounding errors ends the fit without an error: see [Trace].Reason.
func (r Regression) Fit(ctx context.Context, views []View, y ...[]float64) (model *RegressionModel, err error) {
	f := r.fitting()
	n, err := checkTargets(y, r.MissingTargets)
	if err != nil {
		return nil, err
	}
	targets, z := standardizeTargets(y, r.RawTargets)
	ds, k, err := f.fixedKernels(ctx, r.Landmarks, views, n, len(y), r.EstimateMemory)
	if err != nil && len(y) == 1 {
		return nil, suggestLandmarks(err, r.Fitting, views, n, 0)
	}
	if err != nil {
		return nil, err
	}
	defer gram.Release(k, &model, &err)
	var from *bemkl.RegressionPosterior
	if r.From != nil {
		if from = r.From.posterior; r.MissingViews {
			return nil, errors.New("mkl: From: not with MissingViews")
		}
		if err := checkFrom(f, r.From.design, "targets", len(r.From.targets), ds, len(y)); err != nil {
			return nil, err
		}
	}
	var patterns [][]bool
	var groups []int
	if r.MissingViews {
		patterns, groups = missingPatterns(ds)
	}
	fit, err := bestStart(ctx, f, func(seed uint64, a vi.Ascent) (*bemkl.RegressionFit, error) {
		return bemkl.Regression{
			Lambda: r.Lambda, Upsilon: r.Upsilon, Gamma: r.Gamma, Omega: r.Omega, Epsilon: r.Epsilon,
			Ascent: a, Plain: r.Plain, Workers: r.Workers, Seed: seed, Groups: groups, From: from,
		}.Fit(ctx, k, z)
	}, func(fit *bemkl.RegressionFit) vi.Record { return fit.Record })
	if fit == nil {
		return nil, err
	}
	if err := f.tell(ds, k, fit.BoundGradient, nil); err != nil {
		return nil, err
	}
	m := &RegressionModel{}
	m.onViews = onViews{f.record(newTrace(fit.Record, fit.Collapsed)), ds}
	m.targets = targets
	if r.MissingViews {
		s := fit.Posterior.State()
		m.gaps = &viewGaps{
			patterns: patterns, noise: groupNoise(s.GroupNoise), spread: viewSpreads(ds, k, s.A, s.BEMean, s.BECov),
		}
	}
	if serr := m.set(fit.Posterior); serr != nil {
		return nil, errors.Join(err, serr)
	}
	if err == nil && m.collapsed(len(y)) {
		err = &CollapsedError{Model: m}
	}
	return m, err
}

// EstimateMemory returns about how many bytes a fit of the given size takes.
func (r Regression) EstimateMemory(s FitSize) int64 {
	s = r.Landmarks.size(s)
	return r.fitting().kernelMemory(s, s.Outputs)
}
