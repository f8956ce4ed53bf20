package mkl

import (
	"context"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// Family is a family of priors on the scales of a multiple Gaussian process.
type Family = mgp.Family

// Families of priors, by the process that each function then is.
const (
	StudentT      = mgp.StudentT
	Laplace       = mgp.Laplace
	GammaVariance = mgp.GammaVariance
	GeneralGIG    = mgp.GeneralGIG
	ARD           = mgp.ARD
)

// GIG is the generalised inverse Gaussian distribution, the prior of the scales.
type GIG = mgp.GIG

// MultiGP is the multiple Gaussian process model for regression: the target is a
// sum of one Gaussian process for each view, with kernel K_p/γ_p, and noise. The
// prior of the γ_p is learned, so that the data decide whether few kernels or
// all of them matter. The zero value is ready to fit: a Student-t process.
//
// Source: C. Archambeau and F. Bach, "Multiple Gaussian process models", 2010.
type MultiGP struct {
	Family Family

	// Prior is the prior of γ to start from, for targets of variance 1, and with
	// FixedPrior to keep. The zero value is a weak prior.
	Prior      GIG
	FixedPrior bool

	// Tolerance is the relative rise of the bound that counts as none; 0 means
	// vi.DefaultTolerance, negative runs all MaxSweeps.
	Tolerance float64

	// MaxSweeps is the most sweeps; 0 means vi.DefaultMaxSweeps.
	MaxSweeps int

	// Plain does exactly the published updates, which need many more sweeps and
	// often end in the plain Gaussian process.
	Plain bool

	// RawTargets leaves the targets as they are. By default they are given mean 0
	// and standard deviation 1 before the fit; the model has no bias. Predictions
	// are in the targets' own units either way.
	RawTargets bool

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

// Fit fits the model to the views of N samples and their targets. Given kernels
// ([Precomputed]) are N×N; the matrices of a prediction then carry one more
// column, the kernel of each sample with itself. Errors are those of
// [Regression.Fit].
func (g MultiGP) Fit(ctx context.Context, views []View, y []float64) (*MultiGPModel, error) {
	r := Regression{RawTargets: g.RawTargets}
	n, err := r.checkTargets([][]float64{y})
	if err != nil {
		return nil, err
	}
	ds, k, err := g.kernels(ctx, views, n, 1)
	if err != nil {
		return nil, err
	}
	targets, z := r.standardizeTargets([][]float64{y})
	m := &MultiGPModel{target: targets[0], processes: processes{design: ds, record: record{notes: maps.Clone(g.Notes)}}}
	fit, err := g.inference(1, 1).Fit(ctx, k, z.Row(0))
	if err != nil {
		return nil, fmt.Errorf("mkl: %w", err)
	}
	m.add(fit)
	return m, nil
}

// EstimateMemory returns about how many bytes a fit to n samples with p kernels
// and l functions takes: one for a target or two classes, otherwise one for each
// class, whose factors of n×n the model keeps.
func (g MultiGP) EstimateMemory(n, p, l int) int64 {
	workers := g.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	N, P, L := float64(n), float64(p), float64(l)
	words := P * N * N                    // kernel matrices
	words += (1 + L) * N * N              // B, and each function's factor
	words += N * (2*P/32 + 10*(L+1))      // rows' parts of traces, vectors
	words += float64(workers) * (1 << 18) // packed blocks of products
	return int64(min(8*words, math.MaxInt64/2))
}

// kernels checks the views and computes their kernel matrices, for so many
// functions.
func (g MultiGP) kernels(ctx context.Context, views []View, n, functions int) (*design, *vi.Dense, error) {
	f := fitting{allowDuplicates: g.AllowDuplicates, workers: g.Workers, memoryLimit: g.MemoryLimit, estimate: g.EstimateMemory}
	ds, k, err := f.kernels(ctx, views, n, functions)
	if err != nil {
		return nil, nil, err
	}
	if ds.d != n {
		return nil, nil, fmt.Errorf("mkl: %s: %d basis points for %d samples: the model needs square kernels", views[0].label(0), ds.d, n)
	}
	for i := range ds.views {
		if p, ok := ds.views[i].kernel.(Precomputed); ok {
			if p.AllowIndefinite { // not checked before
				if checkSemidefinite(k.At(i)) != nil {
					return nil, nil, fmt.Errorf("mkl: %s: X is not symmetric and positive semidefinite, which a Gaussian process needs in spite of AllowIndefinite", views[i].label(i))
				}
			}
			ds.inputs[ds.views[i].input].cols = ds.d + 1
		}
	}
	return ds, k, nil
}

// inference returns the settings for one of several functions.
func (g MultiGP) inference(one, of int) mgp.Model {
	v := mgp.Model{
		Family: g.Family, Prior: g.Prior, Fixed: g.FixedPrior, Plain: g.Plain, Workers: g.Workers,
		Ascent: vi.Ascent{Tolerance: g.Tolerance, MaxSweeps: g.MaxSweeps},
	}
	if g.Progress != nil {
		v.Ascent.Progress = func(p vi.Progress) {
			g.Progress(Progress{Start: one, Starts: of, Sweep: p.Sweep, MaxSweeps: p.MaxSweeps, Bound: p.Bound, Rise: p.Rise})
		}
	}
	return v
}

// processes is what fitted multiple Gaussian processes have in common: a sum of
// processes for the target, or for each class.
type processes struct {
	record     // the traces of several classes one after another
	design     *design
	posteriors []*mgp.Posterior
	limits     []bool    // the prior became a point
	bounds     []float64 // of each function
}

// add appends a fit. The traces of several follow one another.
func (m *processes) add(f *mgp.Fit) {
	t := newTrace(f.Record, m.trace.collapsed)
	if f.Collapsed {
		t.collapsed = append(t.collapsed, len(m.posteriors))
	}
	if len(m.posteriors) > 0 {
		t.Sweeps += m.trace.Sweeps
		t.Bounds = append(m.trace.Bounds, t.Bounds...)
		if !m.trace.Converged {
			t.Converged, t.Reason = false, m.trace.Reason
		}
	}
	m.trace = t
	m.posteriors = append(m.posteriors, f.Posterior)
	m.limits = append(m.limits, f.GPLimit)
	m.bounds = append(m.bounds, f.Record.Bound())
}

// Inputs describes the matrices that a prediction takes, one for each distinct X
// of the training views, in the order of their first view.
func (m *processes) Inputs() []Input { return (&fitted{design: m.design}).Inputs() }

// Collapsed lists the functions (0 for a regression, else classes) that vanish.
func (m *processes) Collapsed() []int { return slices.Clone(m.trace.collapsed) }

// Bound returns the lower bound on the log evidence in nats: in regression of the
// target as the fit saw it, standardised unless RawTargets; with several classes
// the sum over them.
func (m *processes) Bound() float64 { return total(m.bounds) }

// KernelWeights returns E[1/γ_p] of the views and its standard deviation, in the
// order of the views: the variance that a view adds to the function for each unit
// of its kernel. In regression it is relative to the variance of the standardised
// target, for labels to that of the noise. With several classes it is the mean
// over them. Under [ARD] there is no deviation. Compare weights only between
// kernels of one scale.
func (m *processes) KernelWeights() []KernelWeight {
	out := m.weights(0)
	if len(m.posteriors) == 1 {
		return out
	}
	for i := range out {
		out[i].SD *= out[i].SD
	}
	for o := range m.posteriors[1:] {
		for i, w := range m.weights(o + 1) {
			out[i].Mean += w.Mean
			out[i].SD += w.SD * w.SD
		}
	}
	L := float64(len(m.posteriors))
	var largest float64
	for i := range out {
		out[i].Mean /= L
		out[i].SD = math.Sqrt(out[i].SD) / L
		largest = max(largest, out[i].Mean)
	}
	for i := range out {
		out[i].Active = out[i].Mean >= ActiveThreshold*largest
	}
	return out
}

// describe is a model's String.
func (m *processes) describe(what string) string {
	active := 0
	for _, w := range m.KernelWeights() {
		if w.Active {
			active++
		}
	}
	return fmt.Sprintf("%s on %d kernels (%d active) and %d samples, bound %.6g", what, len(m.design.views), active, m.design.d, m.Bound())
}

// weights returns the posterior of 1/γ_p of one function.
func (m *processes) weights(o int) []KernelWeight {
	mean, sd := m.posteriors[o].KernelWeights()
	limit := ActiveThreshold * largestAbs(mean)
	out := make([]KernelWeight, len(mean))
	for i, v := range m.design.views {
		out[i] = KernelWeight{View: v.name, Kernel: v.kernel.String(), Mean: mean[i], SD: sd[i], Active: mean[i] >= limit}
	}
	return out
}

// prior says in words what was learned about the scales of one function.
func (m *processes) prior(o int) string {
	s := m.posteriors[o].State()
	switch {
	case s.Family == ARD:
		return "ARD: each kernel's weight is set by maximum likelihood, and those not needed go to zero"
	case m.limits[o]:
		return fmt.Sprintf("%v: learned to the limit of a plain Gaussian process: the kernels matter alike", s.Family)
	}
	p := s.Prior
	// A function given γ is Gaussian with variance 1/γ.
	var tails string
	switch excess := 3 * p.VarInv() / (p.MeanInv() * p.MeanInv()); {
	case p.Chi == 0:
		tails = fmt.Sprintf("%.3g degrees of freedom, ", 2*p.Omega)
		switch {
		case p.Omega <= 1:
			tails += "tails so heavy that the variance is infinite"
		case p.Omega <= 2:
			tails += "very heavy tails"
		case p.Omega <= 15:
			tails += "heavy tails"
		default:
			tails += "nearly Gaussian"
		}
	case excess > 10:
		tails = fmt.Sprintf("very heavy tails (excess kurtosis %.3g)", excess)
	case excess > 1:
		tails = fmt.Sprintf("heavy tails (excess kurtosis %.3g)", excess)
	case excess > 0.1:
		tails = fmt.Sprintf("light tails (excess kurtosis %.3g)", excess)
	default:
		tails = "nearly Gaussian"
	}
	spread := "few kernels carry the weight"
	factor := math.Exp(math.Sqrt(p.VarLog()))
	switch {
	case factor < 1.5:
		spread = "the kernels matter alike"
	case factor < 5:
		spread = "some kernels matter more than others"
	}
	return fmt.Sprintf("%v: %s; weights vary by a factor of about %.2g: %s", s.Family, tails, factor, spread)
}

// predict calls do with the predictions of samples first … first+n−1 by each
// function, for block after block.
func (m *processes) predict(ctx context.Context, opt PredictOptions, x []Features, do func(o, first int, p *mgp.Prediction)) (t int, err error) {
	if t, err = m.design.checkInputs(x); err != nil {
		return 0, err
	}
	return t, m.design.eachBlock(ctx, opt.Workers, predictWords, true, x, t, func(k *vi.Dense, self la.Matrix[float64], first, _ int) error {
		for o, q := range m.posteriors {
			p, err := q.Predict(k, self, vi.PredictOptions{MeanOnly: opt.MeanOnly, Workers: opt.Workers})
			if err != nil {
				return err
			}
			do(o, first, p)
		}
		return nil
	})
}

// summary describes the model line by line; name begins the line of a function.
func (m *processes) summary(headline string, name func(o int) string) string {
	var b strings.Builder
	fmt.Fprintln(&b, headline)
	if t := m.trace; t.Converged {
		fmt.Fprintf(&b, "converged after %d sweeps\n", t.Sweeps)
	} else {
		fmt.Fprintf(&b, "NOT converged: %s after %d sweeps\n", t.Reason, t.Sweeps)
	}
	for o := range m.posteriors {
		fmt.Fprintf(&b, "%s, %s", name(o), m.prior(o))
		if slices.Contains(m.trace.collapsed, o) {
			fmt.Fprint(&b, "; COLLAPSED: the function vanishes")
		}
		fmt.Fprintln(&b)
		fmt.Fprintln(&b, "active kernels (weight ± SD):")
		for _, w := range m.weights(o) {
			if w.Active {
				fmt.Fprintf(&b, "  %-32s %10.4g ± %.2g\n", w.View, w.Mean, w.SD)
			}
		}
	}
	return b.String()
}

// MultiGPModel is a fitted [MultiGP]. It is immutable and safe for concurrent
// use.
type MultiGPModel struct {
	processes
	target target
}

// Prior says in words what was learned about the kernels' scales: how heavy the
// tails of their prior are, and how unequal it expects the weights to be.
func (m *MultiGPModel) Prior() string { return m.prior(0) }

// NoiseSD returns the standard deviation of the noise, τ^-½, in the target's units.
func (m *MultiGPModel) NoiseSD() float64 {
	return m.target.sd / math.Sqrt(m.posteriors[0].State().Tau)
}

// Posterior returns the approximate posterior, of the standardised target.
func (m *MultiGPModel) Posterior() *mgp.Posterior { return m.posteriors[0] }

// Predict returns the predictive mean and variance, noise included, for each
// sample. It takes one matrix for each of Inputs.
func (m *MultiGPModel) Predict(x ...Features) (mean, variance []float64, err error) {
	return m.PredictContext(context.Background(), PredictOptions{}, x...)
}

// PredictContext is Predict with options; the variance is nil with MeanOnly, and
// Published has no meaning.
func (m *MultiGPModel) PredictContext(ctx context.Context, opt PredictOptions, x ...Features) (mean, variance []float64, err error) {
	_, err = m.predict(ctx, opt, x, func(_, _ int, p *mgp.Prediction) {
		for _, v := range p.Mean {
			mean = append(mean, m.target.mean+float64(m.target.sd*v))
		}
		for _, v := range p.Variance {
			variance = append(variance, m.target.sd*m.target.sd*v)
		}
	})
	if err != nil {
		return nil, nil, err
	}
	return mean, variance, nil
}

// String describes the model in one line.
func (m *MultiGPModel) String() string { return m.describe("multiple Gaussian process") }

// Summary describes the model in words, line by line.
func (m *MultiGPModel) Summary() string {
	return m.summary(m.String(), func(int) string { return fmt.Sprintf("noise SD %.4g", m.NoiseSD()) })
}
