package mkl

import (
	"context"
	"errors"
	"math"

	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// TaskClassifier is [TaskRegression] for labels that a sample has or has not: several
// labels, the tasks, each known for samples of its own, which share the kernel weights. A task
// is learned only from the samples whose label is known. The zero value
// is ready to fit.
//
// [MultiLabel] is the same model except for the samples whose label is not known: there every
// label has weights of all samples, and takes the time of all of them.
//
// Source: the likelihood of M. Gönen, "Bayesian efficient multiple kernel learning", ICML
// 2012, in the model of J. C. Costello et al., "A community effort to assess and improve drug
// sensitivity prediction algorithms", Nature Biotechnology 32 (2014); derived in docs/theory/tasks.md.
type TaskClassifier struct {
	Fitting
	Ascent

	Lambda, Gamma, Omega Gamma   // as in [Classifier]
	Margin               float64 // as in [Classifier]
	SigmaG               float64 // as in [Classifier]
	Plain                bool    // as in [Classifier]

	// From, if not nil, is a model from which the fit continues: an earlier fit of as many labels to the same samples
	// and kernels, perhaps with other labels or priors. It replaces
	// Seed, and Restarts must not be set.
	From *TaskClassifierModel

	AllowDuplicates bool          // as in [Regression]
	Storage         KernelStorage // as in [Regression]
}

// fitting returns the settings of a fit.
func (c TaskClassifier) fitting() *fitting {
	return &fitting{Fitting: c.Fitting, Ascent: c.Ascent, allowDuplicates: c.AllowDuplicates, storage: c.Storage}
}

// Fit fits the model to the views of N samples and, for each task, the values of its
// label for the N samples. With rectangular kernels every task has all basis points. It returns the errors
// that [Regression.Fit] returns.
func (c TaskClassifier) Fit(ctx context.Context, views []View, labels ...[]Label) (model *TaskClassifierModel, err error) {
	f := c.fitting()
	y, err := checkKnown(labels)
	if err != nil {
		return nil, err
	}
	ds, k, err := f.fixedKernels(ctx, nil, views, y.Cols, y.Rows, c.EstimateMemory)
	if err != nil {
		return nil, err
	}
	defer gram.Release(k, &model, &err)
	tasks, basis := splitTasks(k, y)
	var from *bemkl.TaskClassificationPosterior
	if c.From != nil {
		if from, err = c.From.continued(f, ds, basis); err != nil {
			return nil, err
		}
	}
	fit, err := bestStart(ctx, f, func(seed uint64, a vi.Ascent) (*bemkl.TaskClassificationFit, error) {
		return bemkl.TaskClassification{
			Lambda: c.Lambda, Gamma: c.Gamma, Omega: c.Omega, Margin: c.Margin, SigmaG: c.SigmaG,
			Ascent: a, Plain: c.Plain, Workers: c.Workers, Seed: seed, From: from,
		}.Fit(ctx, tasks)
	}, func(fit *bemkl.TaskClassificationFit) vi.Record { return fit.Record })
	if fit == nil {
		return nil, err
	}
	m := &TaskClassifierModel{}
	m.onViews = onViews{f.record(newTrace(fit.Record, fit.Collapsed)), ds}
	if serr := m.set(fit.Posterior, basis); serr != nil {
		return nil, errors.Join(err, serr)
	}
	if err == nil && m.collapsed(y.Rows) {
		err = &CollapsedError{Model: m}
	}
	return m, err
}

// EstimateMemory returns about how many bytes a fit of the given size takes if every
// task has nearly all samples, each task different ones.
func (c TaskClassifier) EstimateMemory(s FitSize) int64 {
	own := taskMemory(s)
	return min(c.fitting().kernelMemory(s, 1), math.MaxInt64-own) + own
}
