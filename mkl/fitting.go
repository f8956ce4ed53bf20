package mkl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"runtime/debug"

	"github.com/bmkl/bmkl/vi"
)

// Fitting holds the settings that every estimator has; estimators embed it. The
// zero value makes one random start and uses every processor.
//
//	model, err := mkl.Regression{Fitting: mkl.Fitting{Seed: 1}}.Fit(ctx, views, y)
//
// or, since the fields of an embedded struct are those of the estimator,
//
//	var r mkl.Regression
//	r.Seed = 1
type Fitting struct {
	// Seed selects the random start.
	Seed uint64

	// Restarts is the number of further random starts, whose seeds follow Seed. The
	// fit with the highest lower bound is kept, of those that ended without an error if
	// there are any. [MultiGP], [MultiGPClassifier], [LandmarkGP], [LandmarkClassifier],
	// [Auto] and [AutoClassifier] start from no random point, and Gibbs sampling has its
	// chains instead: they do not use Restarts. A fit that goes on from a model refuses it.
	Restarts int

	// Tolerance says when a start has converged. 0 means once the predictions at the
	// training points, and the lower bound, have nearly nothing to come: about a hundredth of
	// a predictive standard deviation or of a probability, see docs/stopping.md. A positive
	// one looks at the bound alone: it is the relative rise over the last tenth of the sweeps
	// that counts as none. Negative runs all MaxSweeps. In a fit by the [Evidence] it is the
	// relative rise in a step, and 0 means 1e-5; in one of a [LandmarkClassifier] the rise in a
	// pass, in nats a sample, and 0 means 1e-5.
	Tolerance float64

	// MaxSweeps is the most sweeps of a start, 0 meaning [vi.DefaultMaxSweeps], 10000; in a fit by the
	// [Evidence] the most steps, 0 meaning 100, and in one of a [LandmarkClassifier] the most passes,
	// 0 meaning 50. It must not be negative.
	MaxSweeps int

	// AllowDuplicates accepts views with the same kernel matrix, which are
	// otherwise a *[DuplicateError]. [MultiTask] accepts them always.
	AllowDuplicates bool

	// MissingViews takes a row of a view's features that are all NaN as a sample that lacks
	// the view, instead of an error, in the fit and in predictions of its model: the sample
	// takes part with the views that it has, and predictions are as uncertain as that leaves
	// them; see docs/missing-views.md. It is for views of features, not for kernels and
	// distances that are given, nor for widths that are learned; [Auto], [AutoClassifier],
	// [LandmarkGP], [LandmarkClassifier], [SharedRegression], [TaskRegression], [TaskClassifier],
	// [MultiTask], [SpikeSlab], [FactorAnalysis], [PairRegression], [PairClassifier] and all fits
	// with [Landmarks] refuse it.
	MissingViews bool

	// Workers is the most goroutines at work; 0 means runtime.GOMAXPROCS(0).
	// Results do not depend on it.
	Workers int

	// MemoryLimit is the number of bytes above which a fit is refused with a
	// *[MemoryError], by EstimateMemory and before memory is taken; 0 means the limit
	// that the program has set itself, by debug.SetMemoryLimit or GOMEMLIMIT, and at
	// most the memory of the machine; 1 TiB on systems that are not asked.
	MemoryLimit int64

	// Storage says how the fit holds its kernel matrices; the zero value holds them in memory
	// as float64. [Auto], [AutoClassifier], [LandmarkGP], [LandmarkClassifier], [MultiTask],
	// [SpikeSlab], [FactorAnalysis], [PairRegression], [PairClassifier] and all fits with [Landmarks]
	// refuse others, and so do widths that are learned and Slopes.
	Storage KernelStorage

	// Progress, if not nil, is called after every sweep.
	Progress func(Progress)

	// Journal, if not nil, keeps the state of the fit, for one that is cut off to go on from;
	// see there for the estimators that have one.
	Journal *Journal

	// Slopes, if not nil, is called at the end of a fit by [Regression],
	// [SharedRegression], [Classifier], [MultiLabel], [ProbitClassifier] or [MultiTask]
	// with the derivatives of its lower bound by the widths of the views' kernels.
	// Package tune learns widths with them. It takes one more inverse of a matrix of the
	// samples' order for each function, and a product for each view.
	Slopes func(Slopes)

	// Notes are kept with the model and saved with it.
	Notes map[string]string
}

// Progress is the state of a running fit.
type Progress struct {
	Member, Members  int     // which of how many members of a pool, from 1; 0 if there is no pool
	Start, Starts    int     // which of how many starts, functions or chains, from 1
	Sweep, MaxSweeps int     // sweeps done in this start, and their limit
	Bound, Rise      float64 // the lower bound in nats, and by how much the last sweep raised it; NaN if sampled

	// Left is about how many sweeps of this start are still to come, as far as the last
	// ones tell; negative while that is not known.
	Left int
}

// Size is the size of a fit, for EstimateMemory.
type Size struct {
	Samples int // N, training samples
	Basis   int // D, columns of rectangular precomputed kernels; 0 means Samples
	Kernels int // P, views; for [SpikeSlab] features
	Outputs int // L, targets, labels or classes

	// Features is one more than the number of columns that the views see, those of ranks counted apart, if
	// all kernels are [Linear] or [Constant], of features, and none is normalised; 0 stands for other
	// kernels. Where they are few [MultiGP] takes much less.
	Features int
}

// basis returns the number of basis points.
func (s Size) basis() int {
	if s.Basis == 0 {
		return s.Samples
	}
	return s.Basis
}

// functions returns the number of functions that tell the classes apart: one for
// two classes, else one for each.
func functions(classes int) int {
	if classes == 2 {
		return 1
	}
	return classes
}

// record returns the record of a fit.
func (f *Fitting) record(t Trace) record { return record{trace: t, notes: maps.Clone(f.Notes)} }

// workers returns the most goroutines at work.
func (f *Fitting) workers() int {
	if f.Workers <= 0 {
		return runtime.GOMAXPROCS(0)
	}
	return f.Workers
}

// unknownMemory stands for the memory of a machine where nobody tells.
const unknownMemory = 1 << 40

// check refuses settings that mean nothing, and a fit that needs more bytes than
// MemoryLimit.
func (f *Fitting) check(need int64) error {
	for _, v := range []struct {
		name  string
		value int64
	}{{"Restarts", int64(f.Restarts)}, {"MaxSweeps", int64(f.MaxSweeps)}, {"MemoryLimit", f.MemoryLimit}} {
		if v.value < 0 {
			return fmt.Errorf("mkl: %s is %d: it must not be negative", v.name, v.value)
		}
	}
	for key, text := range f.Notes {
		if err := cmp.Or(checkText(key), checkText(text)); err != nil {
			return fmt.Errorf("mkl: Notes: %w", err)
		}
	}
	limit := f.MemoryLimit
	if limit == 0 {
		limit = memoryLimit()
	}
	if need > limit {
		return &MemoryError{Need: need, Limit: limit}
	}
	return f.Journal.claim(f)
}

// memoryLimit returns the bytes that the program may take unless told otherwise.
func memoryLimit() int64 { return min(debug.SetMemoryLimit(-1), machineMemory()) }

// checkKernels is check for a fit of the given size that holds the kernel matrices of a design.
// Its error says what they would take in other places, if they can be held there.
func (f *Fitting) checkKernels(need func(Size) int64, ds *design, s Size) error {
	err := f.check(need(s))
	e, ok := errors.AsType[*MemoryError](err)
	if !ok || f.Storage.rounds() || f.Slopes != nil || ds.learnsAny() {
		return err
	}
	P, D, N := float64(s.Kernels), float64(s.basis()), float64(s.Samples)
	now := KernelStorage{}.words(P, D, N)
	e.Float32 = e.Need - inBytes(now-KernelStorage{Float32: true}.words(P, D, N))
	e.File = e.Need - inBytes(now)
	return err
}

// inBytes returns the size of so many float64, at least 0 and at most half of the largest int64, which
// stands for NaN too.
func inBytes(words float64) int64 {
	const most = math.MaxInt64 / 2
	if !(8*words < most) {
		return most
	}
	return int64(max(8*words, 0))
}

// kernelMemory estimates what a fit of l functions with sample weights and kernel
// weights takes.
func (f *Fitting) kernelMemory(s Size, l int) int64 {
	N, D, P, L, W := float64(s.Samples), float64(s.basis()), float64(s.Kernels), float64(l), float64(f.workers())
	words := f.Storage.words(P, D, N)                     // kernel matrices
	sweeps := float64(D * D * (1 + float64(2*min(W, L)))) // Gram sum; each worker's factor and its inverse
	end := float64(D * D * (2 + min(2, L)))               // Gram sum, composite kernel, a factor's inverse; of several functions a factor too
	words += max(sweeps, end, float64(2*D*N))             // or, before them, a kernel that is computed and its distances
	if f.Slopes != nil {
		words += float64(3 * D * D) // a covariance, and the kernels and slopes that it is multiplied by
	}
	words += float64(4 * L * P * N)              // intermediate outputs: means, priors, start, last step
	words += float64(6 * L * D)                  // sample weights
	words += float64(9*L*P*P) + float64(W*3*P*N) // sums over samples; scratch
	words += float64(W * (1 << 18))              // packed blocks of products
	return inBytes(words)
}

// ascent returns the settings of the given one of so many starts, counted from 1.
func (f *Fitting) ascent(start, starts int) vi.Ascent {
	a := vi.Ascent{Tolerance: f.Tolerance, MaxSweeps: f.MaxSweeps, Journal: f.Journal.ofAscents()}
	if f.Progress != nil {
		a.Progress = func(p vi.Progress) {
			f.Progress(Progress{Start: start, Starts: starts, Sweep: p.Sweep, MaxSweeps: p.MaxSweeps, Bound: p.Bound, Rise: p.Rise, Left: p.Left})
		}
	}
	return a
}

// bestStart fits from every start and returns the best fit: one that ended without an
// error rather than one with, and else the one with the higher bound. The error is that
// of the fit returned, or of the first start if none has a fit. The end of the context
// ends it, and is an error unless all starts were made.
func bestStart[F any](ctx context.Context, f *Fitting, run func(seed uint64, a vi.Ascent) (*F, error), record func(*F) vi.Record) (best *F, err error) {
	if ctx == nil {
		return nil, errNoContext
	}
	starts := 1 + max(0, f.Restarts)
	var bound float64
	for s := range starts {
		fit, ferr := run(f.Seed+uint64(s), f.ascent(s+1, starts))
		if ferr != nil {
			ferr = fmt.Errorf("mkl: %w", ferr)
		}
		switch {
		case fit == nil:
			if best == nil && err == nil {
				err = ferr
			}
		case best == nil, err != nil && ferr == nil, (err == nil) == (ferr == nil) && record(fit).Bound() > bound:
			best, err, bound = fit, ferr, record(fit).Bound()
		}
		if ctx.Err() != nil {
			if s+1 < starts { // it may end after this one
				ferr = cmp.Or(ferr, fmt.Errorf("mkl: stopped after %d of %d starts: %w", s+1, starts, context.Cause(ctx)))
			}
			return best, cmp.Or(ferr, err)
		}
	}
	return best, err
}
