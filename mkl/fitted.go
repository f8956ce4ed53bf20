package mkl

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// fitted is what all models have in common. "Targets" are the rows of the
// posterior: the targets of a regression, the labels of a multilabel model, the
// classes of a classifier (one row for two).
type fitted struct {
	record
	design  *design
	weights posterior

	active [][]SampleWeight // by target
}

// record is what models tell of how they were made.
type record struct {
	trace Trace
	notes map[string]string
}

// Trace returns the record of the fit.
func (m *record) Trace() Trace {
	t := m.trace
	t.Bounds = slices.Clone(t.Bounds)
	return t
}

// Notes returns the notes given to the fit.
func (m *record) Notes() map[string]string { return maps.Clone(m.notes) }

// posterior is what the posteriors of all models can tell.
type posterior interface {
	Dims() (L, P, D int)
	KernelWeights() (mean, sd []float64)
	WeightCovariance(ws *la.Workspace, o int, rows []int) (la.Matrix[float64], error)
}

// Trace is the record of a fit.
type Trace struct {
	Bounds    []float64 // the lower bound after each sweep, in nats
	Sweeps    int
	Converged bool
	Reason    string // why it stopped

	collapsed []int
}

func newTrace(r vi.Record, collapsed []int) Trace {
	return Trace{
		Bounds: r.Trace, Sweeps: len(r.Trace), Converged: r.Reason == vi.Converged,
		Reason: r.Reason.String(), collapsed: collapsed,
	}
}

// KernelWeight is the posterior of one view's weight e.
type KernelWeight struct {
	View   string  // its name
	Kernel string  // its kernel, as fitted
	Mean   float64 // E[e]
	SD     float64
	Active bool // |Mean| is at least ActiveThreshold times the largest
}

// SampleWeight is the posterior of one basis point's weight a.
type SampleWeight struct {
	Sample int // index of the training sample, or of the basis point
	Mean   float64
	SD     float64
}

// ActiveThreshold is the share of the largest absolute weight from which a
// kernel or a sample counts as active. Sparse priors leave weights that are
// either of the order of the largest or many orders of magnitude below it.
const ActiveThreshold = 0.01

// prepare computes what accessors tell; a are the means of the sample weights.
func (m *fitted) prepare(a la.Matrix[float64]) error {
	ws := &la.Workspace{}
	m.active = make([][]SampleWeight, a.Rows)
	for o := range a.Rows {
		var rows []int
		limit := ActiveThreshold * largestAbs(a.Row(o))
		for d, v := range a.Row(o) {
			if limit > 0 && math.Abs(v) >= limit {
				rows = append(rows, d)
			}
		}
		cov, err := m.weights.WeightCovariance(ws, o, rows)
		if err != nil {
			return fmt.Errorf("mkl: %w", err)
		}
		for r, d := range rows {
			m.active[o] = append(m.active[o], SampleWeight{Sample: d, Mean: a.At(o, d), SD: math.Sqrt(cov.At(r, r))})
		}
	}
	return nil
}

func largestAbs(x []float64) (largest float64) {
	for _, v := range x {
		largest = max(largest, math.Abs(v))
	}
	return largest
}

// Inputs describes the matrices that a prediction takes, one for each distinct X
// of the training views, in the order of their first view.
func (m *fitted) Inputs() []Input {
	in := make([]Input, len(m.design.inputs))
	for i := range in {
		in[i].Cols = m.design.inputs[i].cols
	}
	for i, v := range m.design.views {
		in[v.input].Views = append(in[v.input].Views, i)
	}
	return in
}

// KernelWeights returns the views' weights in the order of the views.
//
// Weights multiply kernels as they are: compare them only between kernels of
// one scale, such as RBF kernels or those with Normalize. Their sign means
// nothing alone, since the sample weights may take the opposite one.
func (m *fitted) KernelWeights() []KernelWeight { return m.kernelWeights(m.weights.KernelWeights()) }

func (m *fitted) kernelWeights(mean, sd []float64) []KernelWeight {
	limit := ActiveThreshold * largestAbs(mean)
	out := make([]KernelWeight, len(mean))
	for i, v := range m.design.views {
		out[i] = KernelWeight{
			View: v.name, Kernel: v.kernel.String(), Mean: mean[i], SD: sd[i],
			Active: limit > 0 && math.Abs(mean[i]) >= limit,
		}
	}
	return out
}

// activeKernels counts the active kernels.
func (m *fitted) activeKernels() (n int) {
	for _, w := range m.KernelWeights() {
		if w.Active {
			n++
		}
	}
	return n
}

// ActiveSamples returns the samples whose weight for a target (label, class; 0
// with two classes) is at least ActiveThreshold times the largest, in ascending
// order of the sample.
func (m *fitted) ActiveSamples(target int) []SampleWeight { return slices.Clone(m.active[target]) }

// Bound returns the lower bound on the log evidence in nats. That of a
// regression is of the targets as the fit saw them: standardised, unless
// RawTargets. To compare it with a fit to raw targets subtract n·log(SD) for
// each target with its n observed values and standard deviation SD (with n−1).
func (m *fitted) Bound() float64 { return m.trace.bound() }

// bound is the last one, NaN if there is none.
func (t Trace) bound() float64 {
	if len(t.Bounds) == 0 {
		return math.NaN()
	}
	return t.Bounds[len(t.Bounds)-1]
}

// Collapsed lists the targets (labels, classes) whose fitted function is
// constant: all their weights vanish. If that holds for every target, the fit
// returned a *[CollapsedError].
func (m *fitted) Collapsed() []int { return slices.Clone(m.trace.collapsed) }

// fitting holds the settings that all estimators share.
type fitting struct {
	seed            uint64
	restarts        int
	ascent          vi.Ascent
	allowDuplicates bool
	workers         int
	memoryLimit     int64
	estimate        func(n, p, targets int) int64 // of the memory; nil means estimateMemory
	progress        func(Progress)
}

// kernels checks the views of n samples and computes their kernel matrices.
func (f fitting) kernels(ctx context.Context, views []View, n, targets int) (*design, *vi.Dense, error) {
	ds, err := newDesign(views, n)
	if err != nil {
		return nil, nil, err
	}
	need := estimateMemory(f.workers, n, ds.d, len(views), targets)
	if f.estimate != nil {
		need = f.estimate(n, len(views), targets)
	}
	if f.memoryLimit > 0 && need > f.memoryLimit {
		return nil, nil, &MemoryError{Need: need, Limit: f.memoryLimit}
	}
	ks, err := ds.train(ctx, views, f.workers)
	if err != nil {
		return nil, nil, err
	}
	if !f.allowDuplicates {
		if err := findDuplicates(views, ks); err != nil {
			return nil, nil, err
		}
	}
	k, err := vi.NewDense(ks...)
	if err != nil {
		return nil, nil, fmt.Errorf("mkl: %w", err)
	}
	return ds, k, nil
}

// starts runs every start and calls keep for each that is better than all before
// it. run fits with a seed and an ascent.
func (f fitting) starts(run func(seed uint64, a vi.Ascent) (r vi.Record, keep func(), err error)) error {
	starts := 1 + max(0, f.restarts)
	best := math.NaN()
	for s := range starts {
		a := f.ascent
		if f.progress != nil {
			a.Progress = func(p vi.Progress) {
				f.progress(Progress{Start: s + 1, Starts: starts, Sweep: p.Sweep, MaxSweeps: p.MaxSweeps, Bound: p.Bound, Rise: p.Rise})
			}
		}
		r, keep, err := run(f.seed+uint64(s), a)
		if err != nil {
			return fmt.Errorf("mkl: %w", err)
		}
		if !(r.Bound() <= best) {
			best = r.Bound()
			keep()
		}
	}
	return nil
}

// predictWords is the least number of kernel values that a block of predictions
// may hold.
const predictWords = 1 << 21

// predictBlocks calls do with the kernels of samples first … first+n−1 of x, for
// block after block. The kernels of a block take no more memory than four
// matrices of the basis points' order, or 16 MiB if that is more: enough that
// what a block costs outweighs a Cholesky factorisation of that order.
func (m *fitted) predictBlocks(ctx context.Context, workers int, x []Features, t int, do func(k vi.Kernels, first, n int) error) error {
	words := max(predictWords, 4*m.design.d*m.design.d)
	return m.design.eachBlock(ctx, workers, words, false, x, t, func(k *vi.Dense, _ la.Matrix[float64], first, n int) error {
		return do(k, first, n)
	})
}

// eachBlock calls do with the kernels of samples first … first+n−1 of t in x, for
// block after block of about so many words, and if asked with their kernels with
// themselves, P×n.
func (ds *design) eachBlock(ctx context.Context, workers, words int, selves bool, x []Features, t int, do func(k *vi.Dense, self la.Matrix[float64], first, n int) error) error {
	P, D := len(ds.views), ds.d
	block := min(t, max(1, words/(P*D)))
	buffer := make([]float64, P*D*block)
	for first := 0; first < t; first += block {
		n := min(block, t-first)
		ks := make([]la.Matrix[float64], P)
		for i := range ks {
			ks[i] = la.MatrixOf(D, n, buffer[i*D*n:(i+1)*D*n])
		}
		var self la.Matrix[float64]
		if selves {
			self = la.NewMatrix[float64](P, n)
		}
		if err := ds.crossSelf(ctx, workers, x, first, ks, self); err != nil {
			return err
		}
		k, err := vi.NewDense(ks...)
		if err != nil {
			return fmt.Errorf("mkl: kernels of the samples from %d: %w", first, err)
		}
		if err := do(k, self, first, n); err != nil {
			return fmt.Errorf("mkl: %w", err)
		}
	}
	return nil
}

func rows(n, length int) [][]float64 {
	r := make([][]float64, n)
	for i := range r {
		r[i] = make([]float64, length)
	}
	return r
}

// describe is a model's String.
func (m *fitted) describe(what string) string {
	_, P, D := m.weights.Dims()
	return fmt.Sprintf("%s on %d kernels (%d active) and %d samples, bound %.6g", what, P, m.activeKernels(), D, m.Bound())
}

// summary is a model's Summary; row begins the line on a row of the posterior.
func (m *fitted) summary(headline string, row func(o int) string) string {
	var b strings.Builder
	fmt.Fprintln(&b, headline)
	if t := m.trace; t.Converged {
		fmt.Fprintf(&b, "converged after %d sweeps\n", t.Sweeps)
	} else {
		fmt.Fprintf(&b, "NOT converged: %s after %d sweeps\n", t.Reason, t.Sweeps)
	}
	for o, active := range m.active {
		fmt.Fprintf(&b, "%s, %d of %d samples active", row(o), len(active), m.design.d)
		if slices.Contains(m.trace.collapsed, o) {
			fmt.Fprint(&b, "; COLLAPSED: its weights vanish and its predictions are constant")
		}
		fmt.Fprintln(&b)
	}
	fmt.Fprintln(&b, "active kernels (weight ± SD):")
	for _, w := range m.KernelWeights() {
		if w.Active {
			fmt.Fprintf(&b, "  %-32s %10.4g ± %.2g\n", w.View, w.Mean, w.SD)
		}
	}
	return b.String()
}
