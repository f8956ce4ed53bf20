package mkl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"

	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/vi"
)

// Fitting holds the settings that every estimator has. Estimators embed it, so that its fields are fields of the
// estimator:
//
//	model, err := mkl.Regression{Fitting: mkl.Fitting{Seed: 1}}.Fit(ctx, views, y)
//
// or
//
//	var r mkl.Regression
//	r.Seed = 1
//
// The zero value uses every processor.
type Fitting struct {
	// Seed selects the random start of a fit, and the samples that it chooses at random.
	Seed uint64

	// Workers is the largest number of goroutines at work; 0 means runtime.GOMAXPROCS(0). Results do not depend
	// on it.
	Workers int

	// MemoryLimit is a number of bytes. A fit whose EstimateMemory is above it returns a
	// *[MemoryError] before it allocates memory. 0 means the limit that the program has set by
	// debug.SetMemoryLimit or GOMEMLIMIT, and at most the memory of the machine. If the machine's memory is
	// not known, 1 TiB is assumed.
	MemoryLimit int64

	// Progress, if not nil, is called after every sweep.
	Progress func(Progress)

	// Journal, if not nil, keeps the state of the fit, from which an interrupted fit continues; see [Journal].
	Journal *Journal

	// Notes are kept with the model and saved with it.
	Notes map[string]string
}

// Ascent says how often a variational fit starts, and when it ends. Estimators that climb a lower bound from random
// starts embed it. The zero value makes one start and lets it converge.
type Ascent struct {
	// Restarts is the number of further random starts, whose seeds follow Seed. The fit with the highest lower bound
	// is kept; a fit that ended with an error is kept only if all did. A fit that continues From a model has one start and
	// rejects Restarts.
	Restarts int

	// Tolerance is the convergence criterion. Zero: a start ends when its predictions at the training points are
	// within about 1 % of a predictive standard deviation, or of a probability, of their limit, and the lower bound
	// has converged as well; see docs/theory/stopping.md. Positive: it ends when the relative increase of the bound
	// over the last tenth of the sweeps is below Tolerance. Negative: it makes MaxSweeps sweeps.
	Tolerance float64

	// MaxSweeps is the largest number of sweeps of a start; 0 means [vi.DefaultMaxSweeps], 10000.
	MaxSweeps int
}

// Climb says when a fit by the evidence ends. Such a fit climbs the evidence of the scales of a Gaussian process by
// exact gradients, from one start. Estimators that fit so embed it.
type Climb struct {
	// MinRise is the convergence criterion: the fit ends when a step raises the log evidence by a smaller share
	// than MinRise. 0 means 1e-5. Negative: it makes MaxSteps steps.
	MinRise float64

	// MaxSteps is the largest number of steps; 0 means 100.
	MaxSteps int
}

// fitting holds the settings of all estimators together. An estimator fills in the settings that it has.
type fitting struct {
	Fitting
	Ascent
	allowDuplicates bool
	missingViews    bool
	storage         KernelStorage
	slopes          func(Slopes)
	groups          []ViewGroup      // of pools: views that are also judged together
	limit           string           // the estimator's name for MaxSweeps; empty if it is the same
	label           func(int) string // names the view of a kernel; nil before there are kernels
}

// ascent converts the settings of a climb to the settings of sweeps.
func (c Climb) ascent() Ascent { return Ascent{Tolerance: c.MinRise, MaxSweeps: c.MaxSteps} }

// Progress is the state of a running fit.
type Progress struct {
	Member, Members  int     // which of how many members of a pool, from 1; 0 if there is no pool
	Start, Starts    int     // which of how many starts, functions or chains, from 1
	Sweep, MaxSweeps int     // sweeps done in this start, and their limit
	Bound, Rise      float64 // the lower bound in nats, and by how much the last sweep raised it; NaN if sampled; of effects of levels the leave-one-out log score

	// Left estimates from the last sweeps how many sweeps of this start are still to come; it is
	// negative while that is not known.
	Left int
}

// FitSize is the size of a fit, for EstimateMemory.
type FitSize struct {
	Samples int // N, training samples
	Basis   int // D, columns of rectangular precomputed kernels; 0 means Samples
	Kernels int // P, views; for [SpikeSlab] features
	Views   int // how many views the P kernels belong to, for [Survival], [Counts] and [Ordinal]; 0 means 1
	Outputs int // L, targets, labels or classes

	// LinearColumns is the number of columns that the views see if every kernel is [kernel.Linear] or [kernel.Constant]
	// and none is normalised; 0 otherwise. A column counts again if a view sees its ranks. [MultiGP] needs far less
	// memory if it is small.
	LinearColumns int

	// Columns is the largest number of columns of a view without a kernel. [AutoClassifier] then counts no more kernels than such views
	// get. 0 means that it is not known.
	Columns int
}

// features returns the number of features of linear kernels with the constant; 0 for other kernels.
func (s FitSize) features() int {
	if s.LinearColumns == 0 {
		return 0
	}
	return s.LinearColumns + 1
}

// basis returns the number of basis points.
func (s FitSize) basis() int {
	if s.Basis == 0 {
		return s.Samples
	}
	return s.Basis
}

// functions returns the number of functions that distinguish the classes: one for
// two classes, else one for each.
func functions(classes int) int {
	if classes == 2 {
		return 1
	}
	return classes
}

// record returns the record of a fit.
func (f *fitting) record(t Trace) record { return record{trace: t, notes: maps.Clone(f.Notes)} }

// workers returns the largest number of goroutines at work.
func (f *fitting) workers() int {
	if f.Workers <= 0 {
		return runtime.GOMAXPROCS(0)
	}
	return f.Workers
}

// check returns an error for meaningless settings, and for a fit that needs more bytes than
// MemoryLimit.
func (f *fitting) check(need int64) error {
	for _, v := range []struct {
		name  string
		value int64
	}{{"Restarts", int64(f.Restarts)}, {cmp.Or(f.limit, "MaxSweeps"), int64(f.MaxSweeps)}, {"MemoryLimit", f.MemoryLimit}} {
		if v.value < 0 {
			return fmt.Errorf("mkl: %s is %d: it must not be negative", v.name, v.value)
		}
	}
	if f.Tolerance-f.Tolerance != 0 {
		name := "Tolerance"
		if f.limit != "" {
			name = "MinRise"
		}
		return fmt.Errorf("mkl: %s is %g: it must be finite", name, f.Tolerance)
	}
	if err := checkNotes(f.Notes); err != nil {
		return err
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

// ascent returns the settings of start number start of starts, counted from 1.
func (f *fitting) ascent(start, starts int) vi.Ascent {
	a := vi.Ascent{Tolerance: f.Tolerance, MaxSweeps: f.MaxSweeps, Journal: f.Journal.ofAscents()}
	if f.Progress != nil {
		a.Progress = func(p vi.Progress) {
			f.Progress(Progress{Start: start, Starts: starts, Sweep: p.Sweep, MaxSweeps: p.MaxSweeps, Bound: p.Bound, Rise: p.Rise, Left: p.Left})
		}
	}
	return a
}

// named adds context to an error of package vi: it names the view of the kernel.
func (f *fitting) named(err error) error {
	var k *vi.KernelError
	if f.label != nil && errors.As(err, &k) {
		return fmt.Errorf("mkl: %s: its kernel: %s", f.label(k.Kernel), k.Reason)
	}
	return fmt.Errorf("mkl: %w", err)
}

// bestStart fits from every start and returns the best fit. A fit without an error is better than a fit with one;
// otherwise the higher bound is better. The error belongs to the fit returned, or to the first start if no start
// has a fit. If the context ends, bestStart stops, and returns an error unless all starts were made.
func bestStart[F any](ctx context.Context, f *fitting, run func(seed uint64, a vi.Ascent) (*F, error), record func(*F) vi.Record) (best *F, err error) {
	if ctx == nil {
		return nil, gram.ErrNoContext
	}
	starts := 1 + max(0, f.Restarts)
	var bound float64
	for s := range starts {
		fit, ferr := run(f.Seed+uint64(s), f.ascent(s+1, starts))
		if ferr != nil {
			ferr = f.named(ferr)
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
			if s+1 < starts { // the context may end after the last start
				ferr = cmp.Or(ferr, fmt.Errorf("mkl: stopped after %d of %d starts: %w", s+1, starts, context.Cause(ctx)))
			}
			return best, cmp.Or(ferr, err)
		}
	}
	return best, err
}
