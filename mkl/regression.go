package mkl

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// Gamma is the gamma distribution with the given shape and scale (mean
// Shape·Scale). As a prior its zero value stands for Gamma(1, 1).
type Gamma = vi.Gamma

// Progress is the state of a running fit.
type Progress struct {
	Start, Starts    int     // which of how many starts, from 1
	Sweep, MaxSweeps int     // sweeps done in this start, and their limit
	Bound, Rise      float64 // the lower bound in nats, and by how much the last sweep raised it
}

// Regression is Bayesian multiple kernel learning for regression (BMKLR), with
// one target or with several that share the kernel weights. The zero value is
// ready to fit.
//
// The priors are named as in the paper: Lambda for the precisions of the sample
// weights a, Upsilon for that of the intermediate outputs g, Gamma for the bias
// b, Omega for the kernel weights e and Epsilon for the noise. Gamma(1, 1) is a
// broad prior; Lambda and Omega of Gamma(1e-10, 1e+10) make samples and kernels
// sparse.
//
// Source: M. Gönen, "A Bayesian multiple kernel learning framework for single
// and multiple output regression", ECAI 2012.
type Regression struct {
	Lambda, Upsilon, Gamma, Omega, Epsilon Gamma

	// Seed selects the random start.
	Seed uint64

	// Restarts is the number of further random starts, of which the one with
	// the highest bound is kept.
	Restarts int

	// Tolerance is the relative rise of the bound that counts as none; 0 means
	// vi.DefaultTolerance, negative runs all MaxSweeps.
	Tolerance float64

	// MaxSweeps is the most sweeps of a start; 0 means vi.DefaultMaxSweeps.
	MaxSweeps int

	// Plain does exactly the published updates, which need many more sweeps.
	Plain bool

	// RawTargets leaves the targets as they are. By default each is given mean 0
	// and standard deviation 1 before the fit, which the priors suppose;
	// predictions are in the targets' own units either way.
	RawTargets bool

	// MissingTargets takes NaN in y as a missing value instead of an error.
	MissingTargets bool

	// AllowDuplicates accepts views with the same kernel matrix.
	AllowDuplicates bool

	// Workers is the most goroutines at work; 0 means runtime.GOMAXPROCS(0).
	// Results do not depend on it.
	Workers int

	// MemoryLimit refuses a fit that needs more bytes, before it takes them: see
	// EstimateMemory. 0 means no limit.
	MemoryLimit int64

	// Progress, if not nil, is called after every sweep.
	Progress func(Progress)

	// Notes are kept with the model and saved with it.
	Notes map[string]string
}

// Fit fits the model to the views of N samples and one or several targets of
// length N each.
//
// Errors name the argument and the place of what is wrong with it: a
// *[ValueError] for NaN and infinities, a *[DuplicateError], a *[MemoryError]. A
// *[CollapsedError] carries the model. If ctx ends, the error wraps its cause;
// if the lower bound falls, which only happens to a problem too ill-conditioned
// for double precision, the error is a *vi.BoundError.
func (r Regression) Fit(ctx context.Context, views []View, y ...[]float64) (*RegressionModel, error) {
	m := &RegressionModel{}
	err := r.fit(ctx, views, y, len(y), &m.outputs, func(k vi.Kernels, z la.Matrix[float64], seed uint64, a vi.Ascent) (vi.Record, func(), error) {
		fit, err := bemkl.Regression{
			Lambda: r.Lambda, Upsilon: r.Upsilon, Gamma: r.Gamma, Omega: r.Omega, Epsilon: r.Epsilon,
			Ascent: a, Plain: r.Plain, Workers: r.Workers, Seed: seed,
		}.Fit(ctx, k, z)
		if err != nil {
			return vi.Record{}, nil, err
		}
		return fit.Record, func() { m.set(fit.Posterior, newTrace(fit.Record, fit.Collapsed)) }, nil
	})
	if err != nil {
		return nil, err
	}
	if err := m.prepare(m.posterior.State().A); err != nil {
		return nil, err
	}
	if len(m.trace.collapsed) == len(y) {
		return nil, &CollapsedError{Model: m}
	}
	return m, nil
}

// fit checks and standardises the targets, computes the kernels and runs every
// start; rows is the number of rows of sample weights.
func (r Regression) fit(ctx context.Context, views []View, y [][]float64, rows int, m *outputs,
	run func(k vi.Kernels, z la.Matrix[float64], seed uint64, a vi.Ascent) (vi.Record, func(), error)) error {
	n, err := r.checkTargets(y)
	if err != nil {
		return err
	}
	ds, k, err := r.fitting().kernels(ctx, views, n, rows)
	if err != nil {
		return err
	}
	m.fitted = fitted{design: ds, record: record{notes: maps.Clone(r.Notes)}}
	var z la.Matrix[float64]
	m.targets, z = r.standardizeTargets(y)
	return r.fitting().starts(func(seed uint64, a vi.Ascent) (vi.Record, func(), error) { return run(k, z, seed, a) })
}

func (r Regression) fitting() fitting {
	return fitting{
		seed: r.Seed, restarts: r.Restarts, ascent: vi.Ascent{Tolerance: r.Tolerance, MaxSweeps: r.MaxSweeps},
		allowDuplicates: r.AllowDuplicates, workers: r.Workers, memoryLimit: r.MemoryLimit, progress: r.Progress,
	}
}

// FitKernels fits to precomputed kernel matrices, samples × basis points each:
// Fit with a view of [Precomputed] for each of them.
func (r Regression) FitKernels(ctx context.Context, kernels []la.Matrix[float64], y ...[]float64) (*RegressionModel, error) {
	views := make([]View, len(kernels))
	for i, k := range kernels {
		views[i] = View{Name: "kernel " + strconv.Itoa(i+1), X: k, Kernel: Precomputed{}}
	}
	return r.Fit(ctx, views, y...)
}

// EstimateMemory returns about how many bytes a fit to n samples with d basis
// points (n, unless precomputed kernels are rectangular), p kernels and l targets
// takes.
func (r Regression) EstimateMemory(n, d, p, l int) int64 {
	return estimateMemory(r.Workers, n, d, p, l)
}

func estimateMemory(workers, n, d, p, l int) int64 {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	N, D, P, L, W := float64(n), float64(d), float64(p), float64(l), float64(workers)
	words := P * D * N                 // kernel matrices
	words += D * D * (6 + 2*min(W, L)) // their Gram sum, factors, and covariances
	words += 3 * L * P * N             // intermediate outputs: means, priors, start
	words += 6 * L * D                 // sample weights
	words += W * P * N                 // scratch
	words += W * (1 << 18)             // packed blocks of products
	return int64(min(8*words, math.MaxInt64/2))
}

// checkTargets returns the number of samples.
func (r Regression) checkTargets(y [][]float64) (n int, err error) {
	if len(y) == 0 {
		return 0, errors.New("mkl: y: no target given")
	}
	n = len(y[0])
	for o, t := range y {
		arg := "y"
		if len(y) > 1 {
			arg = "y[" + strconv.Itoa(o) + "]"
		}
		if len(t) != n {
			return 0, fmt.Errorf("mkl: %s: %d samples where y[0] has %d", arg, len(t), n)
		}
		var seen []float64
		for i, v := range t {
			switch {
			case math.IsNaN(v) && r.MissingTargets:
				continue
			case v-v != 0:
				return 0, &ValueError{Arg: arg, Row: i, Col: -1, Value: v}
			}
			seen = append(seen, v)
		}
		switch {
		case len(seen) < 2:
			return 0, fmt.Errorf("mkl: %s: %d samples with a target where at least 2 are needed", arg, len(seen))
		case slices.Max(seen) == slices.Min(seen):
			return 0, fmt.Errorf("mkl: %s: every target is %g: there is nothing to learn", arg, seen[0])
		}
	}
	return n, nil
}

// target says how a target was standardised: z = (y − mean)/sd.
type target struct {
	mean, sd float64
}

func (r Regression) standardizeTargets(y [][]float64) ([]target, la.Matrix[float64]) {
	targets := make([]target, len(y))
	z := la.NewMatrix[float64](len(y), len(y[0]))
	for o, t := range y {
		targets[o] = target{0, 1}
		if !r.RawTargets {
			seen := slices.DeleteFunc(slices.Clone(t), math.IsNaN)
			targets[o].mean, targets[o].sd = meanSD(seen)
		}
		for i, v := range t {
			z.Row(o)[i] = (v - targets[o].mean) / targets[o].sd
		}
	}
	return targets, z
}

// meanSD returns the mean and the standard deviation with n−1. Scaling by the
// largest deviation keeps squares from overflowing.
func meanSD(x []float64) (mean, sd float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	var largest float64
	for _, v := range x {
		largest = max(largest, math.Abs(v-mean))
	}
	if largest == 0 {
		return mean, 0
	}
	var sum float64
	for _, v := range x {
		d := (v - mean) / largest
		sum = math.FMA(d, d, sum)
	}
	return mean, largest * math.Sqrt(sum/float64(len(x)-1))
}

// findDuplicates reports the first pair of equal kernel matrices.
func findDuplicates(views []View, ks []la.Matrix[float64]) error {
	for j := range ks {
		for i := range j {
			if equal(ks[i], ks[j]) {
				return &DuplicateError{First: i, Second: j, names: [2]string{describe(views[i]), describe(views[j])}}
			}
		}
	}
	return nil
}

func describe(v View) string {
	if v.Name == "" {
		return v.Kernel.String()
	}
	return fmt.Sprintf("%q, %s", v.Name, v.Kernel)
}

func equal(a, b la.Matrix[float64]) bool {
	for i := range a.Rows {
		if !slices.Equal(a.Row(i), b.Row(i)) {
			return false
		}
	}
	return true
}
