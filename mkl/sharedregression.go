package mkl

import (
	"context"
	"errors"
	"math"

	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// SharedRegression is Bayesian multiple kernel learning for several targets that
// share the sample weights, each with kernel weights of its own. It is for targets that depend
// on different views. ([Regression] is for targets that depend
// on the same views.) A sweep costs one factorisation whatever the number of targets.
// The zero value is ready to fit.
//
// The priors are as in [Regression]. A sample may lack some or all of the targets:
// see MissingTargets.
//
// The model is derived in docs/theory/shared.md.
type SharedRegression struct {
	Fitting
	Ascent

	Lambda, Upsilon, Gamma, Omega, Epsilon Gamma // priors

	// Plain makes the updates of one layer after another only, which need many
	// more sweeps.
	Plain bool

	// RawTargets leaves the targets unchanged, instead of scaling each to mean 0 and
	// standard deviation 1 before the fit, as in [Regression].
	RawTargets bool

	// MissingTargets takes NaN in y as a missing value instead of an error. Each target is then
	// learned from the samples that have it. Samples with the same targets are processed
	// together. Many patterns of missing targets therefore cost time and memory, but not more
	// factorisations of N×N matrices.
	MissingTargets bool

	// From, if not nil, is a model from which the fit continues: an earlier fit of as many targets to the same samples and
	// kernels, perhaps with other values of the targets or other priors. It replaces Seed, and Restarts must not be set.
	From *SharedRegressionModel

	AllowDuplicates bool          // as in [Regression]
	Storage         KernelStorage // as in [Regression]
	Slopes          func(Slopes)  // as in [Regression]
	Landmarks       *Landmarks    // as in [Regression]
}

// fitting returns the settings of a fit.
func (s SharedRegression) fitting() *fitting {
	return &fitting{Fitting: s.Fitting, Ascent: s.Ascent, allowDuplicates: s.AllowDuplicates, storage: s.Storage, slopes: s.Slopes}
}

// Fit fits the model to the views of N samples and the targets of length N each.
// It returns the errors that [Regression.Fit] returns.
func (s SharedRegression) Fit(ctx context.Context, views []View, y ...[]float64) (model *SharedRegressionModel, err error) {
	f := s.fitting()
	n, err := checkTargets(y, s.MissingTargets)
	if err != nil {
		return nil, err
	}
	targets, z := standardizeTargets(y, s.RawTargets)
	ds, k, err := f.fixedKernels(ctx, s.Landmarks, views, n, len(y), s.EstimateMemory)
	if err != nil {
		return nil, err
	}
	defer gram.Release(k, &model, &err)
	var from *bemkl.SharedPosterior
	if s.From != nil {
		from = s.From.posterior
		if err := checkFrom(f, s.From.design, "targets", len(s.From.targets), ds, len(y)); err != nil {
			return nil, err
		}
	}
	fit, err := bestStart(ctx, f, func(seed uint64, a vi.Ascent) (*bemkl.SharedFit, error) {
		return bemkl.SharedRegression{
			Lambda: s.Lambda, Upsilon: s.Upsilon, Gamma: s.Gamma, Omega: s.Omega, Epsilon: s.Epsilon,
			Ascent: a, Plain: s.Plain, Workers: s.Workers, Seed: seed, From: from,
		}.Fit(ctx, k, z)
	}, func(fit *bemkl.SharedFit) vi.Record { return fit.Record })
	if fit == nil {
		return nil, err
	}
	if err := f.tell(ds, k, fit.BoundGradient, nil); err != nil {
		return nil, err
	}
	m := &SharedRegressionModel{}
	m.onViews = onViews{f.record(newTrace(fit.Record, fit.Collapsed)), ds}
	m.targets = targets
	if serr := m.set(fit.Posterior); serr != nil {
		return nil, errors.Join(err, serr)
	}
	if err == nil && m.collapsed(len(y)) {
		err = &CollapsedError{Model: m}
	}
	return m, err
}

// EstimateMemory returns about how many bytes a fit of the given size takes.
func (s SharedRegression) EstimateMemory(size FitSize) int64 {
	size = s.Landmarks.size(size)
	n, p, l, d := float64(size.Samples), float64(size.Kernels), float64(size.Outputs), float64(size.basis())
	more := float64(l*(float64(2*n)+float64(2*p*p))) + float64(min(l, p)*d*d) // the last term is for healing
	if s.MissingTargets {                                                     // in the worst case each sample lacks other targets
		more += float64(n * p * (float64(8+float64(4*l)) + float64(5*p)))
	}
	return min(s.fitting().kernelMemory(size, 1), math.MaxInt64-inBytes(more)) + inBytes(more)
}
