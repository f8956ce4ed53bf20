package mkl

import (
	"context"
	"errors"
	"math"

	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// TaskRegression is Bayesian multiple kernel learning for several targets, the tasks, each
// known for samples of its own, which share the kernel weights: for example the drugs of a screen,
// each tried on some of the cell lines. A task is learned from the samples with its
// target only, and takes the time of a regression on these. It shares
// the weights of the views with the other tasks. The zero value is ready to fit.
//
// The views hold all samples, and Standardize, Center, Normalize and default widths use the statistics of all of
// them. The priors are as in [Regression], and
// predictions are healed as there.
//
// [Regression] with MissingTargets is the same model except for the samples without a target:
// there every target has weights of all samples, and takes the time of a
// regression on all of them.
//
// Source: J. C. Costello et al., "A community effort to assess and improve drug sensitivity
// prediction algorithms", Nature Biotechnology 32 (2014), 1202–1212, where this method performed
// best; derived in docs/theory/tasks.md.
type TaskRegression struct {
	Fitting
	Ascent

	Lambda, Upsilon, Gamma, Omega, Epsilon Gamma // priors

	// Plain does exactly the published updates, which need many more sweeps.
	Plain bool

	// RawTargets leaves the targets unchanged, instead of scaling each to mean 0 and
	// standard deviation 1 over its own samples before the fit, as in [Regression].
	RawTargets bool

	// MissingTargets takes NaN in a target as a sample that the task does not have,
	// instead of an error.
	MissingTargets bool

	// From, if not nil, is a model from which the fit continues: an earlier fit of as many targets to the same samples
	// and kernels, perhaps with other values of the targets or other priors. It
	// replaces Seed, and Restarts must not be set.
	From *TaskRegressionModel

	AllowDuplicates bool          // as in [Regression]
	Storage         KernelStorage // as in [Regression]
}

// fitting returns the settings of a fit.
func (t TaskRegression) fitting() *fitting {
	return &fitting{Fitting: t.Fitting, Ascent: t.Ascent, allowDuplicates: t.AllowDuplicates, storage: t.Storage}
}

// Fit fits the model to the views of N samples and the targets of length N each. With
// rectangular kernels every task has all basis points. It returns the errors that
// [Regression.Fit] returns.
func (t TaskRegression) Fit(ctx context.Context, views []View, y ...[]float64) (model *TaskRegressionModel, err error) {
	f := t.fitting()
	n, err := checkTargets(y, t.MissingTargets)
	if err != nil {
		return nil, err
	}
	targets, z := standardizeTargets(y, t.RawTargets)
	ds, k, err := f.fixedKernels(ctx, nil, views, n, len(y), t.EstimateMemory)
	if err != nil {
		return nil, err
	}
	defer gram.Release(k, &model, &err)
	tasks, basis := splitTasks(k, z)
	var from *bemkl.TaskPosterior
	if t.From != nil {
		if from, err = t.From.continued(f, ds, basis); err != nil {
			return nil, err
		}
	}
	fit, err := bestStart(ctx, f, func(seed uint64, a vi.Ascent) (*bemkl.TaskFit, error) {
		return bemkl.TaskRegression{
			Lambda: t.Lambda, Upsilon: t.Upsilon, Gamma: t.Gamma, Omega: t.Omega, Epsilon: t.Epsilon,
			Ascent: a, Plain: t.Plain, Workers: t.Workers, Seed: seed, From: from,
		}.Fit(ctx, tasks)
	}, func(fit *bemkl.TaskFit) vi.Record { return fit.Record })
	if fit == nil {
		return nil, err
	}
	m := &TaskRegressionModel{}
	m.onViews = onViews{f.record(newTrace(fit.Record, fit.Collapsed)), ds}
	m.targets = targets
	if serr := m.set(fit.Posterior, basis); serr != nil {
		return nil, errors.Join(err, serr)
	}
	if err == nil && m.collapsed(len(y)) {
		err = &CollapsedError{Model: m}
	}
	return m, err
}

// EstimateMemory returns about how many bytes a fit of the given size takes if every
// task has nearly all samples, each task different ones.
func (t TaskRegression) EstimateMemory(s FitSize) int64 {
	own := taskMemory(s)
	return min(t.fitting().kernelMemory(s, 1), math.MaxInt64-own) + own
}
