package mkl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi/vecchia"
)

// localProcess is what local models of numbers and of classes have in common: a Gaussian process of many samples that
// predicts from the nearest samples, with a mean from all samples by conjugate gradients.
type localProcess struct {
	onViews
	features  *localFeatures
	posterior *vecchia.Posterior // of standardised targets
}

// localModel is the local member of a pool of numbers. It is immutable and safe for concurrent use.
type localModel struct {
	localProcess
	target target
}

// mostLocalFeatures is the largest number of features of a local model: with more features, the nearest samples are
// hardly nearer than others.
const mostLocalFeatures = 256

// mostLocalRows is the largest number of samples of a local model, the last ones: a search among more takes longer than
// it is worth.
const mostLocalRows = 200_000

// inputsDesign returns a design of the views' inputs without kernels.
func inputsDesign(views []View, samples int) *gram.Design {
	ds := &gram.Design{D: samples}
	for i, v := range views {
		if !slices.ContainsFunc(views[:i], func(w View) bool { return v.Input == w.Input }) {
			ds.Inputs = append(ds.Inputs, gram.Input{Name: v.Input, Cols: v.X.Cols})
		}
	}
	return ds
}

// openColumns returns, for each input of the views, the columns that some of the views see. Views with a kernel do not count.
func openColumns(views, some []View) (all [][]int) {
	for i, v := range views {
		if slices.ContainsFunc(views[:i], func(w View) bool { return v.Input == w.Input }) {
			continue
		}
		seen := []int{}
		for _, w := range some {
			if w.Input == v.Input && isOpen(w) {
				of := w.Columns
				if of == nil {
					of = vec.UpTo(w.X.Cols)
				}
				seen = append(seen, of...)
			}
		}
		slices.Sort(seen)
		all = append(all, slices.Compact(seen))
	}
	return all
}

// localFit holds the settings of the fit of a local process. The last held samples choose among covariances. The work is
// limited by its forecast in seconds, the memory in bytes.
type localFit struct {
	*fitting
	held     int
	seconds  float64
	limit    int64
	noise    float64 // the least noise variance
	progress func(done, all float64)
	worth    func(mean, variance la.Matrix[float64]) bool // in units of the standardised targets
	promise  func(mean, variance []float64) bool          // of the samples held out: whether solutions for all samples are worth their time; nil for yes
}

// process fits a local process to the views and their standardised targets, one column for each target.
func (f *localFit) process(ctx context.Context, views []View, y la.Matrix[float64]) (m localProcess, err error) {
	if n := y.Rows; n > mostLocalRows {
		views = takeRows(views, vec.UpTo(n)[n-mostLocalRows:])
		y = y.Slice(n-mostLocalRows, n, 0, y.Cols)
	}
	x := distinctInputs(views)
	m.onViews = onViews{f.record(Trace{Converged: true, Reason: "the steps of a forecast"}), inputsDesign(views, y.Rows)}
	m.features = newLocalFeatures(x, openColumns(views, views))
	d := len(m.features.columns)
	need := vecchia.Memory(y.Rows, d, y.Cols)
	switch {
	case d == 0:
		return m, errors.New("no feature varies")
	case d > mostLocalFeatures:
		return m, fmt.Errorf("%d features are more than %d", d, mostLocalFeatures)
	case need > f.limit:
		return m, &MemoryError{Need: need, Limit: f.limit}
	}
	p := vecchia.Process{Seed: f.Seed, Workers: f.Workers, Held: f.held, Seconds: f.seconds, LeastNoise: f.noise, Progress: f.progress, Worth: f.worth}
	m.posterior, err = p.Fit(ctx, m.features.of(x), y, nil)
	return m, err
}

// numbers fits the local member of a pool of numbers.
func (f *localFit) numbers(ctx context.Context, views []View, y []float64) (m *localModel, err error) {
	targets, z := standardizeTargets([][]float64{y}, false)
	m = &localModel{target: targets[0]}
	if f.promise != nil {
		f.worth = func(mean, variance la.Matrix[float64]) bool {
			p := newPrediction(1, mean.Rows, PredictOptions{})
			m.target.restore(p, 0, 0, mean.Data, variance.Data)
			return f.promise(p.Mean[0], p.Variance[0])
		}
	}
	m.localProcess, err = f.process(ctx, views, la.MatrixOf(len(y), 1, z.Data))
	return m, err
}

// Kind returns "local", the member's name in a pool's file.
func (m *localModel) Kind() string { return "local" }

// Targets returns 1.
func (m *localModel) Targets() int { return 1 }

// Bound returns NaN: the fit computes only terms of a few samples.
func (m *localProcess) Bound() float64 { return math.NaN() }

// NoiseSD returns the standard deviation of the noise in the target's units.
func (m *localModel) NoiseSD() []float64 {
	s := m.posterior.State()
	return []float64{m.target.sd * math.Sqrt(s.Local.Noise*s.Factor[0])}
}

// Outputs reports the noise that the fit learned for the target.
func (m *localModel) Outputs() []ModelOutput { return []ModelOutput{{NoiseSD: m.NoiseSD()[0]}} }

// KernelWeights returns the variances of the parts of the covariance, relative to the standardised
// target's variance.
func (m *localProcess) KernelWeights() (all []KernelWeight) {
	var most float64
	parts := m.posterior.State().Local.Parts
	for _, p := range parts {
		most = max(most, p.Amplitude)
	}
	for _, p := range parts {
		all = append(all, KernelWeight{
			View: p.Shape.String(), Kernel: p.Shape.String() + ", one width a feature", Mean: p.Amplitude,
			Active: p.Amplitude >= ActiveThreshold*most,
		})
	}
	return all
}

// KernelSpreads returns ones: the parts are correlations, which vanish between distant samples.
func (m *localProcess) KernelSpreads(_ context.Context, _ PredictOptions, x ...Features) ([]float64, error) {
	if _, err := checkInputs(m.design, x); err != nil {
		return nil, err
	}
	return slices.Repeat([]float64{1}, len(m.posterior.State().Local.Parts)), nil
}

// PredictTargets implements [TargetModel].
func (m *localModel) PredictTargets(ctx context.Context, opt PredictOptions, x ...Features) (*Prediction, error) {
	if ctx == nil {
		return nil, gram.ErrNoContext
	}
	t, err := checkInputs(m.design, x)
	if err != nil {
		return nil, err
	}
	mean, variance, err := m.posterior.Predict(ctx, m.features.of(x), nil, opt.MeanOnly, opt.Workers)
	if err != nil {
		return nil, fmt.Errorf("mkl: %w", err)
	}
	out := newPrediction(1, t, opt)
	m.target.restore(out, 0, 0, mean.Data, variance.Data)
	return out.checked()
}

// heldPrediction returns the predictions of the samples held out, from the others.
func (m *localModel) heldPrediction() *Prediction {
	p := newPrediction(1, m.posterior.HeldMean.Rows, PredictOptions{})
	m.target.restore(p, 0, 0, m.posterior.HeldMean.Data, m.posterior.HeldVariance.Data)
	return p
}

// String describes the model in one line.
func (m *localProcess) String() string {
	s := m.posterior.State()
	return fmt.Sprintf("Gaussian process on %d features, %d neighbours, %d solutions for all of %d samples",
		len(m.features.columns), s.Neighbours, len(s.Solved), m.Samples())
}

// Summary describes the model in words.
func (m *localModel) Summary() string {
	return fmt.Sprintf("%s\nnoise SD %.4g\n%s", m, m.NoiseSD()[0], summarizeActive(m.KernelWeights()))
}

// Save returns an error: the member is part of a pool's file.
func (m *localProcess) Save(io.Writer) error { return errOnlyInPool }

func (m *localProcess) decode(*fileReader) error { return errOnlyInPool }

var errOnlyInPool = errors.New("mkl: a local model is saved with its pool")
