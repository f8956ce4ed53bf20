package mkl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/slab"
)

// MultiTask is spike-and-slab multi-task and multiple kernel learning: the views
// give latent functions, Gaussian processes with the views' kernels, and every
// target is a sparse combination of them with weights of its own. Targets that are
// related learn from one another, and functions that none of them needs are taken
// out of the model. The zero value is ready to fit.
//
// RBF, Laplacian and FromDistance kernels, unless centred or normalised, have
// their width learned, for each latent function.
//
// Source: M. K. Titsias and M. Lázaro-Gredilla, "Spike and slab variational
// inference for multi-task and multiple kernel learning", NIPS 2011.
type MultiTask struct {
	// Latents is the number of latent functions of each view; 0 means as many as
	// there are targets, but no more than 5.
	Latents int

	FixedKernels bool // keep the widths of the kernels
	SharedNoise  bool // one noise variance for all targets, on the scale of the fit

	// Prior is the prior of the weights to start from, for targets of variance 1,
	// and Held says what of it, and of the noise, is held instead of learned. Zeros
	// stand for a Pi of ½ and a Variance of 1.
	Prior SlabPrior
	Held  Held

	KeepAll bool // keep latent functions that no target needs
	Plain   bool // do exactly the published updates, which need many more sweeps

	// MeanOnly leaves out of the model what the variances of predictions need: a
	// matrix of the samples' order for each latent function.
	MeanOnly bool

	// MissingTargets accepts NaN in targets: missing values.
	MissingTargets bool

	// RawTargets leaves the targets as they are. By default each is given mean 0
	// and standard deviation 1 before the fit; the model has no bias. Predictions are in
	// the targets' own units either way.
	RawTargets bool

	// Restarts is the number of further random starts; the fit with the highest
	// bound is kept. Seed selects the starts, some of which can end far
	// below the best.
	Restarts int
	Seed     uint64

	// Tolerance is the relative rise of the bound that counts as none; 0 means
	// vi.DefaultTolerance, negative runs all MaxSweeps.
	Tolerance float64

	// MaxSweeps is the most sweeps; 0 means vi.DefaultMaxSweeps.
	MaxSweeps int

	// Workers is the most goroutines at work; 0 means runtime.GOMAXPROCS(0).
	// Results do not depend on it.
	Workers int

	// MemoryLimit refuses a fit that needs more bytes, before it takes them. 0
	// means no limit.
	MemoryLimit int64

	// Progress, if not nil, is called after every sweep.
	Progress func(Progress)

	// Notes are kept with the model and saved with it.
	Notes map[string]string
}

// EstimateMemory returns about how many bytes a fit to n samples with p views and
// l targets takes.
func (t MultiTask) EstimateMemory(n, p, l int) int64 {
	N, P, L := float64(n), float64(p), float64(l)
	M := P * float64(t.latents(l))
	words := N*N*(P+3) + 6*M*N + 3*L*N + 8*L*M
	if !t.MeanOnly {
		words += M * N * N
	}
	return int64(min(8*words, math.MaxInt64/2))
}

func (t MultiTask) latents(targets int) int {
	if t.Latents == 0 {
		return min(targets, 5)
	}
	return t.Latents
}

// Fit fits the model to the views of N samples and their targets. Given kernels
// ([Precomputed]) and distances are N×N; the kernels of a prediction then carry one
// more column, the kernel of each sample with itself. Errors are those of
// [Regression.Fit].
func (t MultiTask) Fit(ctx context.Context, views []View, y ...[]float64) (*MultiTaskModel, error) {
	r := Regression{RawTargets: t.RawTargets, MissingTargets: t.MissingTargets}
	n, err := r.checkTargets(y)
	if err != nil {
		return nil, err
	}
	if t.Latents < 0 {
		return nil, fmt.Errorf("mkl: Latents is %d: it must not be negative", t.Latents)
	}
	ds, err := newDesign(views, n)
	if err != nil {
		return nil, err
	}
	if ds.d != n {
		return nil, fmt.Errorf("mkl: %s: %d basis points for %d samples: the model needs square kernels", views[0].label(0), ds.d, n)
	}
	if need := t.EstimateMemory(n, len(views), len(y)); t.MemoryLimit > 0 && need > t.MemoryLimit {
		return nil, &MemoryError{Need: need, Limit: t.MemoryLimit}
	}
	covariances, err := ds.covariances(ctx, views, t.Workers, !t.FixedKernels)
	if err != nil {
		return nil, err
	}
	each := t.latents(len(y))
	var latents []slab.Latent
	for _, c := range covariances {
		for range each {
			latents = append(latents, slab.Latent{Covariance: c})
		}
	}
	targets, z := r.standardizeTargets(y)
	m := &MultiTaskModel{targets: targets, record: record{notes: maps.Clone(t.Notes)}}
	f := fitting{
		seed: t.Seed, restarts: t.Restarts, progress: t.Progress,
		ascent: vi.Ascent{Tolerance: t.Tolerance, MaxSweeps: t.MaxSweeps},
	}
	err = f.starts(func(seed uint64, a vi.Ascent) (vi.Record, func(), error) {
		fit, err := slab.MultiTask{
			Prior: t.Prior, SharedNoise: t.SharedNoise, Held: t.Held, Plain: t.Plain, KeepAll: t.KeepAll,
			MeanOnly: t.MeanOnly, Seed: seed, Ascent: a, Workers: t.Workers,
		}.Fit(ctx, latents, z)
		if err != nil {
			return vi.Record{}, nil, err
		}
		return fit.Record, func() { m.posterior, m.trace = fit.Posterior, newTrace(fit.Record, fit.Collapsed) }, nil
	})
	if err != nil {
		return nil, err
	}
	m.design = ds.latentFunctions(each, m.posterior.State().Lengths)
	if len(m.trace.collapsed) == len(y) {
		return nil, &CollapsedError{Model: m}
	}
	return m, nil
}

// decaying is a kernel exp(−d/ℓ) taken as its distance d.
type decaying struct{ Kernel }

// length returns the ℓ of a kernel exp(−d/ℓ), or false if it is none.
func (k decaying) length() (float64, bool) {
	switch k := k.Kernel.(type) {
	case RBF:
		switch {
		case k.Widths != nil:
			return 0, false
		case k.Scale != 0:
			return k.Scale * k.Scale / 2, true
		}
		return k.Width * k.Width, true
	case Laplacian:
		return k.Width, true
	case FromDistance:
		return k.Scale, true
	}
	return 0, false
}

// with returns the kernel with another length.
func (k decaying) with(length float64) Kernel {
	switch k := k.Kernel.(type) {
	case RBF:
		if k.Scale != 0 {
			k.Scale = math.Sqrt(2 * length)
		} else {
			k.Width = math.Sqrt(length)
		}
		return k
	case Laplacian:
		k.Width = length
		return k
	case FromDistance:
		k.Scale = length
		return k
	}
	return k.Kernel
}

func (k decaying) apply(s []float64) {
	switch k := k.Kernel.(type) {
	case RBF:
		la.Scal(0.5, s)
	case Laplacian:
		if !k.Manhattan {
			for i, v := range s {
				s[i] = math.Sqrt(max(0, v))
			}
		}
	}
}

// lengthRange is how many times longer or shorter than at the start the length of
// a kernel may become.
const lengthRange = 1e4

// covariances returns the covariance of the latent functions of each view.
func (ds *design) covariances(ctx context.Context, views []View, workers int, learn bool) ([]slab.Covariance, error) {
	ds.group()
	if err := ds.resolve(ctx, views, workers); err != nil {
		return nil, err
	}
	kernels, lengths := make([]Kernel, len(views)), make([]float64, len(views))
	for i := range ds.views {
		v := &ds.views[i]
		kernels[i] = v.kernel
		if length, ok := (decaying{v.kernel}).length(); ok && learn && !v.center && !v.normalize {
			lengths[i], v.kernel = length, decaying{v.kernel}
		}
	}
	ks, err := ds.fill(ctx, views, workers)
	if err != nil {
		return nil, err
	}
	out := make([]slab.Covariance, len(views))
	for i := range ds.views {
		v := &ds.views[i]
		v.kernel = kernels[i]
		label := views[i].label(i)
		if l := lengths[i]; l > 0 {
			if err := checkSymmetric(ks[i]); err != nil {
				return nil, fmt.Errorf("mkl: %s: X is %w", label, err)
			}
			v.largest = 1
			v.derive()
			out[i] = slab.DecayCovariance(ks[i], l, l/lengthRange, l*lengthRange)
			continue
		}
		if err := ds.finish(i, label, ks[i]); err != nil {
			return nil, err
		}
		if p, ok := v.kernel.(Precomputed); ok {
			if p.AllowIndefinite && checkSemidefinite(ks[i]) != nil {
				return nil, fmt.Errorf("mkl: %s: X is not symmetric and positive semidefinite, which a Gaussian process needs in spite of AllowIndefinite", label)
			}
			ds.inputs[v.input].cols = ds.d + 1
		}
		out[i] = slab.FixedCovariance(ks[i])
	}
	ds.nameViews()
	return out, nil
}

// checkSymmetric reports distances d = Xᵀ that are not symmetric.
func checkSymmetric(d la.Matrix[float64]) error {
	for i := range d.Rows {
		for j := range i {
			if a, b := d.At(i, j), d.At(j, i); math.Abs(a-b) > asymmetryTolerance*max(a, b) {
				return fmt.Errorf("not symmetric: X[%d][%d] is %g and X[%d][%d] is %g", j, i, a, i, j, b)
			}
		}
	}
	return nil
}

// latentFunctions returns the design with a view for each latent function, whose
// kernel has the length that it was given by the fit.
func (ds *design) latentFunctions(each int, lengths []float64) *design {
	out := &design{inputs: ds.inputs, d: ds.d}
	for i, l := range lengths {
		v := ds.views[i/each]
		if l > 0 {
			v.kernel = decaying{v.kernel}.with(l)
		}
		if each > 1 {
			v.name = fmt.Sprintf("%s #%d", v.name, i%each+1)
		}
		out.views = append(out.views, v)
	}
	out.group()
	return out
}

// MultiTaskModel is a fitted [MultiTask]. It is immutable and safe for concurrent
// use.
type MultiTaskModel struct {
	record
	design    *design // a view for each latent function
	posterior *slab.MultiTaskPosterior
	targets   []target
}

// Targets returns the number of targets.
func (m *MultiTaskModel) Targets() int { return len(m.targets) }

// Posterior returns the approximate posterior, of the standardised targets.
func (m *MultiTaskModel) Posterior() *slab.MultiTaskPosterior { return m.posterior }

// Inputs describes the matrices that a prediction takes, one for each distinct X
// of the training views, in the order of their first view. Views are those of
// KernelWeights.
func (m *MultiTaskModel) Inputs() []Input { return (&fitted{design: m.design}).Inputs() }

// Bound returns the lower bound on the log evidence of the standardised targets,
// in nats.
func (m *MultiTaskModel) Bound() float64 { return m.trace.bound() }

// Collapsed lists the targets all of whose weights are off.
func (m *MultiTaskModel) Collapsed() []int { return slices.Clone(m.trace.collapsed) }

// Prior returns the prior of the weights for standardised targets, as learned.
func (m *MultiTaskModel) Prior() SlabPrior { return m.posterior.State().Prior }

// NoiseSD returns the standard deviation of each target's noise in its units.
func (m *MultiTaskModel) NoiseSD() []float64 {
	sd := make([]float64, len(m.targets))
	for q, v := range m.posterior.State().Noise {
		sd[q] = m.targets[q].sd * math.Sqrt(v)
	}
	return sd
}

// Weights returns a target's weights of the latent functions, in its units. Their
// names are those of KernelWeights; those of functions that were taken out of the
// model are zero.
func (m *MultiTaskModel) Weights(target int) []SlabWeight {
	out := make([]SlabWeight, len(m.design.views))
	for i, v := range m.design.views {
		p := m.posterior.Weight(target, i)
		mean, _ := p.Moments()
		out[i] = SlabWeight{v.name, m.targets[target].sd * mean, m.targets[target].sd * math.Sqrt(p.VarW()), p.Inclusion()}
	}
	return out
}

// KernelWeights returns for each latent function, with its kernel as learned, the
// root mean square over the targets of what it contributes to them, in their
// standard deviations, and of that figure's uncertainty that comes from the weights.
// Active are those that are in the model and contribute.
func (m *MultiTaskModel) KernelWeights() []KernelWeight {
	s := m.posterior.State()
	energy := m.posterior.Energy()
	out := make([]KernelWeight, len(m.design.views))
	var largest float64
	for i, v := range m.design.views {
		w := KernelWeight{View: v.name, Kernel: v.kernel.String()}
		power := la.SumSq(s.Phi.Row(i)) / float64(m.design.d)
		for q := range m.targets {
			w.Mean += energy.At(q, i)
			w.SD += power * m.posterior.Weight(q, i).VarW()
		}
		w.Mean, w.SD = math.Sqrt(w.Mean/float64(len(m.targets))), math.Sqrt(w.SD/float64(len(m.targets)))
		largest = max(largest, w.Mean)
		out[i] = w
	}
	for _, i := range s.Active {
		out[i].Active = out[i].Mean > 0 && out[i].Mean >= ActiveThreshold*largest
	}
	return out
}

// PredictTargets predicts every target. It takes one matrix for each of Inputs.
func (m *MultiTaskModel) PredictTargets(ctx context.Context, opt PredictOptions, x ...Features) (*Prediction, error) {
	t, err := m.design.checkInputs(x)
	if err != nil {
		return nil, err
	}
	out := &Prediction{Mean: rows(len(m.targets), t)}
	if !opt.MeanOnly {
		out.Variance = rows(len(m.targets), t)
	}
	err = m.predict(ctx, opt, x, t, func(first int, p *slab.MultiTaskPrediction) {
		for q, tg := range m.targets {
			for i, v := range p.Mean.Row(q) {
				out.Mean[q][first+i] = tg.mean + float64(tg.sd*v)
				if !opt.MeanOnly {
					out.Variance[q][first+i] = tg.sd * tg.sd * p.Variance.At(q, i)
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// PredictLatents predicts the latent functions, [function][sample], without the
// targets' noise. Those that were taken out of the model are zero.
func (m *MultiTaskModel) PredictLatents(ctx context.Context, opt PredictOptions, x ...Features) (*Prediction, error) {
	t, err := m.design.checkInputs(x)
	if err != nil {
		return nil, err
	}
	out := &Prediction{Mean: rows(len(m.design.views), t)}
	if !opt.MeanOnly {
		out.Variance = rows(len(m.design.views), t)
	}
	err = m.predict(ctx, opt, x, t, func(first int, p *slab.MultiTaskPrediction) {
		for i := range m.design.views {
			copy(out.Mean[i][first:], p.Phi.Row(i))
			if !opt.MeanOnly {
				copy(out.Variance[i][first:], p.PhiVariance.Row(i))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// predict calls do with the predictions of the samples from first on, for block
// after block.
func (m *MultiTaskModel) predict(ctx context.Context, opt PredictOptions, x []Features, t int, do func(first int, p *slab.MultiTaskPrediction)) error {
	return m.design.eachBlock(ctx, opt.Workers, predictWords, true, x, t, func(k *vi.Dense, self la.Matrix[float64], first, _ int) error {
		p, err := m.posterior.Predict(k, self, la.Matrix[float64]{}, vi.PredictOptions{MeanOnly: opt.MeanOnly, Intermediate: true, Workers: opt.Workers})
		if err == nil {
			do(first, p)
		}
		return err
	})
}

// String describes the model in one line.
func (m *MultiTaskModel) String() string {
	active := 0
	for _, w := range m.KernelWeights() {
		if w.Active {
			active++
		}
	}
	return fmt.Sprintf("multi-task model of %d targets with %d latent functions (%d active) on %d samples, bound %.6g",
		len(m.targets), len(m.design.views), active, m.design.d, m.Bound())
}

// Summary describes the model in words, line by line.
func (m *MultiTaskModel) Summary() string {
	var b strings.Builder
	fmt.Fprintln(&b, m.String())
	b.WriteString(m.trace.outcome())
	fmt.Fprintf(&b, "weights are there with probability %.3g\n", m.Prior().Pi)
	noise := m.NoiseSD()
	for q := range m.targets {
		on := 0
		for i, w := range m.Weights(q) {
			if w.Inclusion >= 0.5 && slices.Contains(m.posterior.State().Active, i) {
				on++
			}
		}
		fmt.Fprintf(&b, "target %d: noise SD %.4g, %d weights", q+1, noise[q], on)
		if slices.Contains(m.trace.collapsed, q) {
			fmt.Fprint(&b, "; COLLAPSED: its function vanishes")
		}
		fmt.Fprintln(&b)
	}
	fmt.Fprintln(&b, "active latent functions (contribution ± SD):")
	for _, w := range m.KernelWeights() {
		if w.Active {
			fmt.Fprintf(&b, "  %-24s %-24s %10.4g ± %.2g\n", w.View, w.Kernel, w.Mean, w.SD)
		}
	}
	return b.String()
}

// multiTaskJSON is the part of a file that only a multi-task model has.
type multiTaskJSON struct {
	Pi           float64 `json:"pi"`
	SlabVariance float64 `json:"slab_variance"`
	Active       []int   `json:"active"` // latent functions in the model
	MeanOnly     bool    `json:"mean_only,omitempty"`
}

// Save writes the model to a file that [Load] and [LoadMultiTask] read. It takes
// about 4·N² bytes for each latent function in the model, and the features.
func (m *MultiTaskModel) Save(w io.Writer) error {
	f, err := (&fitted{design: m.design, record: m.record}).save()
	if err != nil {
		return err
	}
	s := m.posterior.State()
	Q, M, N := m.posterior.Dims()
	f.Samples = N
	f.MultiTask = &multiTaskJSON{s.Prior.Pi, s.Prior.Variance, s.Active, s.Factors == nil}
	mean, sd := make([]float64, Q), make([]float64, Q)
	for q, t := range m.targets {
		mean[q], sd[q] = t.mean, t.sd
	}
	f.add("target.mean", mean, Q)
	f.add("target.sd", sd, Q)
	f.add("noise", s.Noise, Q)
	f.add("weights", slabWeights(s.Weights), Q, M, 3)
	f.add("lengths", s.Lengths, M)
	f.add("root", flat(s.Root), M, N)
	f.add("alpha", flat(s.Alpha), M, N)
	f.add("phi", flat(s.Phi), M, N)
	f.add("phi.variance", flat(s.PhiVariance), M, N)
	if s.Factors != nil {
		for _, i := range s.Active {
			f.add(fmt.Sprintf("factor.%d", i), packLower(s.Factors[i]), N*(N+1)/2)
		}
	}
	return f.write(w, kindMultiTask)
}

// LoadMultiTask is [Load] for a file that must hold a [MultiTaskModel].
func LoadMultiTask(r io.Reader) (*MultiTaskModel, error) { return loadAs[*MultiTaskModel](Load(r)) }

func loadMultiTask(f modelFile) (Model, error) {
	j := f.MultiTask
	f.L, f.P, f.D = len(f.ts["noise"].data), len(f.ts["lengths"].data), f.Basis
	if j == nil || f.L < 1 || f.P < 1 || f.D < 1 || f.Samples != f.D || len(f.ts["alpha"].data)/f.P != f.D {
		return nil, fmt.Errorf("model: %d targets, %d latent functions and %d samples do not fit the tensors", f.L, f.P, f.D)
	}
	if f.Processes != nil || f.SpikeSlab != nil || f.Margin != 0 || f.SigmaG != 0 || f.Classes != nil || f.Priors != (priorsJSON{}) {
		return nil, errors.New("model: settings of another kind")
	}
	base, err := f.fitted()
	if err != nil {
		return nil, err
	}
	Q, M, N := f.L, f.P, f.D
	mean, sd := f.take("target.mean", Q), f.take("target.sd", Q)
	s := slab.MultiTaskState{
		Prior: SlabPrior{Pi: j.Pi, Variance: j.SlabVariance}, Noise: f.take("noise", Q),
		Weights: unslab(f.take("weights", Q, M, 3)), Active: j.Active, Lengths: f.take("lengths", M), Dense: make([]bool, M),
		Root: f.matrix("root", M, N), Alpha: f.matrix("alpha", M, N),
		Phi: f.matrix("phi", M, N), PhiVariance: f.matrix("phi.variance", M, N),
	}
	for i := range s.Dense {
		s.Dense[i] = true
	}
	if !j.MeanOnly {
		s.Factors = make([]la.Matrix[float64], M)
		for _, i := range j.Active {
			packed := f.take(fmt.Sprintf("factor.%d", i), N*(N+1)/2)
			if f.err != nil {
				return nil, f.err
			}
			if i >= 0 && i < M {
				s.Factors[i] = unpackLower(N, packed)
			}
		}
	}
	if err := f.unexpected(); err != nil {
		return nil, err
	}
	if len(base.trace.Bounds) == 0 {
		return nil, errors.New("model: the trace is empty")
	}
	m := &MultiTaskModel{design: base.design, record: base.record}
	for q := range mean {
		if !(sd[q] > 0) {
			return nil, fmt.Errorf("tensor %q: element %d is %g", "target.sd", q, sd[q])
		}
		m.targets = append(m.targets, target{mean[q], sd[q]})
	}
	if m.posterior, err = slab.NewMultiTaskPosterior(s); err != nil {
		return nil, err
	}
	return m, nil
}
