package mkl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/slab"
)

// Held says which hyperparameters keep their starting values.
type Held = slab.Held

// SpikeSlab is sparse linear regression: each feature has a weight that is zero
// with probability 1−π and otherwise Gaussian, and the fit says with which
// probability it is not zero. The zero value is ready to fit.
//
// Source: M. K. Titsias and M. Lázaro-Gredilla, "Spike and slab variational
// inference for multi-task and multiple kernel learning", NIPS 2011.
type SpikeSlab struct {
	// Prior is the prior of the weights to start from, on the scale of features and
	// targets of variance 1, and Noise the variance of the noise. Zeros leave them to
	// the data. Held says what is held instead of learned.
	Prior SlabPrior
	Noise float64
	Held  Held

	// StandardField takes the standard mean field approximation, to compare with:
	// it depends more on the start, and its bound is on average lower.
	StandardField bool

	// RawFeatures and RawTargets leave features and targets as they are. By default
	// they are given mean 0 and standard deviation 1; the model has no other bias.
	// Weights and predictions are in the data's own units either way.
	RawFeatures, RawTargets bool

	Names []string // of the features, for results; nil means x1, x2, …

	// Restarts is the number of further random starts; the fit with the highest
	// bound is kept. Seed selects the starts.
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

	// Progress, if not nil, is called after every sweep.
	Progress func(Progress)

	// Notes are kept with the model and saved with it.
	Notes map[string]string
}

// SlabWeight is the posterior of a weight that may be zero.
type SlabWeight struct {
	Name      string
	Mean, SD  float64 // of the weight itself, zero included
	Inclusion float64 // probability that it is not zero
}

// Fit fits the model to the features of N samples and their targets. Errors are
// those of [Regression.Fit].
func (s SpikeSlab) Fit(ctx context.Context, x Features, y []float64) (*SpikeSlabModel, error) {
	r := Regression{RawTargets: s.RawTargets}
	n, err := r.checkTargets([][]float64{y})
	if err != nil {
		return nil, err
	}
	if err := checkLayout("x", x); err != nil {
		return nil, err
	}
	switch {
	case x.Rows != n:
		return nil, fmt.Errorf("mkl: x: %d×%d where y has %d samples (samples are rows)", x.Rows, x.Cols, n)
	case x.Cols == 0:
		return nil, errors.New("mkl: x: no columns")
	case s.Names != nil && len(s.Names) != x.Cols:
		return nil, fmt.Errorf("mkl: Names: %d names for %d features", len(s.Names), x.Cols)
	}
	if err := checkFinite("x", x); err != nil {
		return nil, err
	}
	targets, z := r.standardizeTargets([][]float64{y})
	m := &SpikeSlabModel{target: targets[0], record: record{notes: maps.Clone(s.Notes)}, names: slices.Clone(s.Names)}
	if m.names == nil {
		for j := range x.Cols {
			m.names = append(m.names, "x"+strconv.Itoa(j+1))
		}
	}
	m.center, m.scale = make([]float64, x.Cols), make([]float64, x.Cols)
	for j := range m.scale {
		m.scale[j] = 1
	}
	if !s.RawFeatures {
		m.center, m.scale = columnStats(x)
	}
	f := fitting{
		seed: s.Seed, restarts: s.Restarts, progress: s.Progress,
		ascent: vi.Ascent{Tolerance: s.Tolerance, MaxSweeps: s.MaxSweeps},
	}
	seen := m.see(x)
	err = f.starts(func(seed uint64, a vi.Ascent) (vi.Record, func(), error) {
		fit, err := slab.Regression{
			Prior: s.Prior, Noise: s.Noise, Held: s.Held, Standard: s.StandardField,
			Seed: seed, Ascent: a, Workers: s.Workers,
		}.Fit(ctx, seen, z.Row(0))
		if err != nil {
			return vi.Record{}, nil, err
		}
		return fit.Record, func() { m.posterior, m.trace = fit.Posterior, newTrace(fit.Record, nil) }, nil
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// SpikeSlabModel is a fitted [SpikeSlab]. It is immutable and safe for concurrent
// use.
type SpikeSlabModel struct {
	record
	posterior     *slab.RegressionPosterior
	target        target
	center, scale []float64 // features are seen as (x − center)/scale
	names         []string
}

// see returns x as the posterior's weights see it.
func (m *SpikeSlabModel) see(x Features) la.Matrix[float64] {
	z := x.Clone()
	for i := range z.Rows {
		row := z.Row(i)
		for j, v := range row {
			row[j] = (v - m.center[j]) / m.scale[j]
		}
	}
	return z
}

// Weights returns the features' weights, in the units of target and feature.
func (m *SpikeSlabModel) Weights() []SlabWeight {
	mean, sd, inclusion := m.posterior.Weights()
	out := make([]SlabWeight, len(mean))
	for j := range out {
		unit := m.target.sd / m.scale[j]
		out[j] = SlabWeight{m.names[j], unit * mean[j], unit * sd[j], inclusion[j]}
	}
	return out
}

// Bias returns what is predicted where every feature is zero.
func (m *SpikeSlabModel) Bias() float64 {
	b := m.target.mean
	for j, w := range m.Weights() {
		b -= w.Mean * m.center[j]
	}
	return b
}

// KernelWeights returns the weights as those of linear kernels, one for each
// feature, of which those more likely there than not are active.
func (m *SpikeSlabModel) KernelWeights() []KernelWeight {
	var out []KernelWeight
	for _, w := range m.Weights() {
		out = append(out, KernelWeight{View: w.Name, Kernel: Linear{}.String(), Mean: w.Mean, SD: w.SD, Active: w.Inclusion >= 0.5})
	}
	return out
}

// Inputs describes the matrix that a prediction takes.
func (m *SpikeSlabModel) Inputs() []Input {
	views := make([]int, len(m.names))
	for j := range views {
		views[j] = j
	}
	return []Input{{Views: views, Cols: len(m.names)}}
}

// NoiseSD returns the standard deviation of the noise in the target's units.
func (m *SpikeSlabModel) NoiseSD() float64 {
	return m.target.sd * math.Sqrt(m.posterior.State().Noise)
}

// Prior returns the prior of the weights of standardised features, as learned.
func (m *SpikeSlabModel) Prior() SlabPrior { return m.posterior.State().Prior }

// Posterior returns the approximate posterior, of the standardised target.
func (m *SpikeSlabModel) Posterior() *slab.RegressionPosterior { return m.posterior }

// Bound returns the lower bound on the log evidence of the standardised target, in
// nats.
func (m *SpikeSlabModel) Bound() float64 { return m.trace.bound() }

// Predict returns the predictive mean and variance, noise included, for each row
// of x, of which there is one matrix. The paired approximation takes weights for
// independent, so that where features are correlated the variance of the function is
// too small.
func (m *SpikeSlabModel) Predict(x ...Features) (mean, variance []float64, err error) {
	if len(x) != 1 {
		return nil, nil, fmt.Errorf("mkl: %d input matrices where the model needs 1", len(x))
	}
	if err := checkLayout("x[0]", x[0]); err != nil {
		return nil, nil, err
	}
	if x[0].Cols != len(m.names) {
		return nil, nil, fmt.Errorf("mkl: x[0]: %d×%d where %d columns are needed (features)", x[0].Rows, x[0].Cols, len(m.names))
	}
	if err := checkFinite("x[0]", x[0]); err != nil {
		return nil, nil, err
	}
	p, err := m.posterior.Predict(m.see(x[0]))
	if err != nil {
		return nil, nil, fmt.Errorf("mkl: %w", err)
	}
	for i, v := range p.Mean {
		p.Mean[i] = m.target.mean + float64(m.target.sd*v)
		p.Variance[i] *= m.target.sd * m.target.sd
	}
	return p.Mean, p.Variance, nil
}

// SpikeSlabPredictor predicts single samples, without allocating, from the weights
// that matter. It is immutable and safe for concurrent use.
type SpikeSlabPredictor struct {
	cols        int
	bias, noise float64
	index       []int     // features
	mean        []float64 // E[w]
	center      []float64
	variance    []float64 // Var[w]
}

// Predictor prunes the model to the weights whose probability of being there is
// at least the given one; with 0 all are kept. It is for the paired approximation.
func (m *SpikeSlabModel) Predictor(least float64) (*SpikeSlabPredictor, error) {
	if m.posterior.State().Covariance.Rows > 0 {
		return nil, errors.New("mkl: Predictor: the fit has the standard mean field approximation, whose weights are correlated: use Predict")
	}
	if !(least >= 0 && least <= 1) {
		return nil, fmt.Errorf("mkl: Predictor: least is %g, which is not a probability", least)
	}
	noise := m.NoiseSD()
	p := &SpikeSlabPredictor{cols: len(m.names), bias: m.target.mean, noise: noise * noise}
	for j, w := range m.Weights() {
		if w.Inclusion >= least {
			p.index = append(p.index, j)
			p.mean = append(p.mean, w.Mean)
			p.center = append(p.center, m.center[j])
			p.variance = append(p.variance, w.SD*w.SD)
		}
	}
	return p, nil
}

// Features returns the features that the predictor looks at, ascending.
func (p *SpikeSlabPredictor) Features() []int { return slices.Clone(p.index) }

// Predict returns the predictive mean and variance, noise included, of one sample.
func (p *SpikeSlabPredictor) Predict(x []float64) (mean, variance float64, err error) {
	if len(x) != p.cols {
		return 0, 0, fmt.Errorf("mkl: x: %d values where %d features are needed", len(x), p.cols)
	}
	mean, variance = p.bias, p.noise
	for k, j := range p.index {
		d := x[j] - p.center[k]
		mean += float64(p.mean[k] * d)
		variance += float64(p.variance[k] * float64(d*d))
	}
	if mean-mean != 0 || math.IsNaN(variance) {
		if j := firstNonFinite(x); j >= 0 {
			return 0, 0, &ValueError{Arg: "x", Row: j, Col: -1, Value: x[j]}
		}
	}
	return mean, variance, nil
}

// String describes the model in one line.
func (m *SpikeSlabModel) String() string {
	active := 0
	for _, w := range m.KernelWeights() {
		if w.Active {
			active++
		}
	}
	return fmt.Sprintf("spike-and-slab regression on %d features (%d active), bound %.6g", len(m.names), active, m.Bound())
}

// Summary describes the model in words, line by line.
func (m *SpikeSlabModel) Summary() string {
	var b strings.Builder
	fmt.Fprintln(&b, m.String())
	b.WriteString(m.trace.outcome())
	prior := m.Prior()
	fmt.Fprintf(&b, "noise SD %.4g; weights are there with probability %.3g, with SD %.3g on standardised data\n",
		m.NoiseSD(), prior.Pi, math.Sqrt(prior.Variance))
	fmt.Fprintln(&b, "weights (mean ± SD, probability of being there):")
	for _, w := range m.Weights() {
		if w.Inclusion >= 0.5 {
			fmt.Fprintf(&b, "  %-32s %10.4g ± %-8.2g %.3f\n", w.Name, w.Mean, w.SD, w.Inclusion)
		}
	}
	return b.String()
}

// outcome says whether the fit converged, on a line.
func (t Trace) outcome() string {
	if t.Converged {
		return fmt.Sprintf("converged after %d sweeps\n", t.Sweeps)
	}
	return fmt.Sprintf("NOT converged: %s after %d sweeps\n", t.Reason, t.Sweeps)
}

// spikeSlabJSON is the part of a file that only a spike-and-slab regression has.
type spikeSlabJSON struct {
	Pi           float64  `json:"pi"`
	SlabVariance float64  `json:"slab_variance"`
	Noise        float64  `json:"noise"`
	Names        []string `json:"names"`
}

// Save writes the model to a file that [Load] and [LoadSpikeSlab] read.
func (m *SpikeSlabModel) Save(w io.Writer) error {
	s, M := m.posterior.State(), len(m.names)
	f := &fileWriter{modelJSON: modelJSON{
		Notes: m.notes, Trace: traceJSON{m.trace.Converged, m.trace.Reason, nil},
		SpikeSlab: &spikeSlabJSON{s.Prior.Pi, s.Prior.Variance, s.Noise, m.names},
	}}
	f.add("trace.bounds", m.trace.Bounds, len(m.trace.Bounds))
	f.add("feature.center", m.center, M)
	f.add("feature.scale", m.scale, M)
	f.add("target.mean", []float64{m.target.mean}, 1)
	f.add("target.sd", []float64{m.target.sd}, 1)
	f.add("weights", slabWeights(s.Weights), M, 3)
	if s.Covariance.Rows > 0 {
		f.add("covariance", flat(s.Covariance), M, M)
	}
	return f.write(w, kindSpikeSlab)
}

// LoadSpikeSlab is [Load] for a file that must hold a [SpikeSlabModel].
func LoadSpikeSlab(r io.Reader) (*SpikeSlabModel, error) { return loadAs[*SpikeSlabModel](Load(r)) }

// slabWeights returns logit γ, mean and variance of each weight. Infinite logits
// are written as the largest number, which stands for the same probability.
func slabWeights(q []slab.Pair) []float64 {
	out := make([]float64, 0, 3*len(q))
	for _, p := range q {
		out = append(out, min(max(p.Logit, -math.MaxFloat64), math.MaxFloat64), p.Mean, p.Variance)
	}
	return out
}

func unslab(x []float64) []slab.Pair {
	out := make([]slab.Pair, len(x)/3)
	for i := range out {
		out[i] = slab.Pair{Logit: x[3*i], Mean: x[3*i+1], Variance: x[3*i+2]}
	}
	return out
}

func loadSpikeSlab(f modelFile) (Model, error) {
	j := f.SpikeSlab
	M := len(f.ts["weights"].data) / 3
	if j == nil || M < 1 || len(j.Names) != M {
		return nil, errors.New("model: spike_slab does not fit the tensors")
	}
	if f.Basis != 0 || f.Samples != 0 || f.Inputs != nil || f.Processes != nil || f.MultiTask != nil || f.Margin != 0 ||
		f.SigmaG != 0 || f.Classes != nil || f.Priors != (priorsJSON{}) || f.Trace.Collapsed != nil {
		return nil, errors.New("model: settings of another kind")
	}
	m := &SpikeSlabModel{names: j.Names, record: record{f.trace(), f.Notes}}
	m.center, m.scale = f.take("feature.center", M), f.take("feature.scale", M)
	mean, sd := f.take("target.mean", 1), f.take("target.sd", 1)
	s := slab.RegressionState{
		Prior: SlabPrior{Pi: j.Pi, Variance: j.SlabVariance}, Noise: j.Noise, Weights: unslab(f.take("weights", M, 3)),
	}
	if _, ok := f.ts["covariance"]; ok {
		s.Covariance = f.matrix("covariance", M, M)
	}
	if err := f.unexpected(); err != nil {
		return nil, err
	}
	if len(m.trace.Bounds) == 0 {
		return nil, errors.New("model: the trace is empty")
	}
	if !(sd[0] > 0) {
		return nil, fmt.Errorf("tensor %q: element 0 is %g", "target.sd", sd[0])
	}
	for k, v := range m.scale {
		if !(v > 0) {
			return nil, fmt.Errorf("tensor %q: element %d is %g", "feature.scale", k, v)
		}
	}
	if s.Covariance.Rows > 0 {
		if err := checkCovariance(s.Covariance); err != nil {
			return nil, fmt.Errorf("tensor %q: %w", "covariance", err)
		}
	}
	m.target = target{mean[0], sd[0]}
	p, err := slab.NewRegressionPosterior(s)
	if err != nil {
		return nil, err
	}
	m.posterior = p
	return m, nil
}
