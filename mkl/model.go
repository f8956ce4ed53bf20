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

// RegressionModel is a fitted [Regression]. It is immutable and safe for
// concurrent use.
type RegressionModel struct {
	design    *design
	targets   []target
	posterior *vi.RegressionPosterior
	trace     Trace
	notes     map[string]string

	active []([]SampleWeight) // by target
}

// Trace is the record of a fit.
type Trace struct {
	Bounds    []float64 // the lower bound after each sweep, in nats
	Sweeps    int
	Converged bool
	Reason    string // why it stopped

	collapsed []int
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

// prepare computes what accessors tell.
func (m *RegressionModel) prepare() error {
	s := m.posterior.State()
	ws := &la.Workspace{}
	m.active = make([][]SampleWeight, len(m.targets))
	for o := range m.targets {
		a := s.A.Row(o)
		var rows []int
		limit := ActiveThreshold * largestAbs(a)
		for d, v := range a {
			if limit > 0 && math.Abs(v) >= limit {
				rows = append(rows, d)
			}
		}
		cov, err := m.posterior.WeightCovariance(ws, o, rows)
		if err != nil {
			return fmt.Errorf("mkl: %w", err)
		}
		for r, d := range rows {
			m.active[o] = append(m.active[o], SampleWeight{Sample: d, Mean: a[d], SD: math.Sqrt(cov.At(r, r))})
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
func (m *RegressionModel) Inputs() []Input {
	in := make([]Input, len(m.design.inputs))
	for i := range in {
		in[i].Cols = m.design.inputs[i].cols
	}
	for i, v := range m.design.views {
		in[v.input].Views = append(in[v.input].Views, i)
	}
	return in
}

// Targets returns the number of targets.
func (m *RegressionModel) Targets() int { return len(m.targets) }

// KernelWeights returns the views' weights in the order of the views.
//
// Weights multiply kernels as they are: compare them only between kernels of
// one scale, such as RBF kernels or those with Normalize. Their sign means
// nothing alone, since the sample weights may take the opposite one.
func (m *RegressionModel) KernelWeights() []KernelWeight {
	mean, sd := m.posterior.KernelWeights()
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

// ActiveSamples returns the samples whose weight for a target is at least
// ActiveThreshold times the largest, in ascending order of the sample.
func (m *RegressionModel) ActiveSamples(target int) []SampleWeight {
	return slices.Clone(m.active[target])
}

// Bound returns the lower bound on the log evidence, in nats, of the targets as
// the fit saw them: standardised, unless RawTargets. To compare with a fit to
// raw targets subtract n·log(SD) for each target with its n observed values and
// standard deviation SD (with n−1).
func (m *RegressionModel) Bound() float64 {
	if len(m.trace.Bounds) == 0 {
		return math.NaN()
	}
	return m.trace.Bounds[len(m.trace.Bounds)-1]
}

// Trace returns the record of the fit.
func (m *RegressionModel) Trace() Trace {
	t := m.trace
	t.Bounds = slices.Clone(t.Bounds)
	return t
}

// Collapsed lists the targets whose fitted function is constant: all their
// weights vanish. If that holds for every target, Fit returned a
// *[CollapsedError].
func (m *RegressionModel) Collapsed() []int { return slices.Clone(m.trace.collapsed) }

// NoiseSD returns the standard deviation of each target's noise, E[ε]^-½, in the
// target's units.
func (m *RegressionModel) NoiseSD() []float64 {
	s := m.posterior.State()
	sd := make([]float64, len(m.targets))
	for o, t := range m.targets {
		sd[o] = t.sd / math.Sqrt(s.Epsilon[o].Mean())
	}
	return sd
}

// Notes returns the notes given to the fit.
func (m *RegressionModel) Notes() map[string]string { return maps.Clone(m.notes) }

// Posterior returns the approximate posterior, of the standardised targets.
func (m *RegressionModel) Posterior() *vi.RegressionPosterior { return m.posterior }

// PredictOptions says what to predict. The zero value predicts means and full
// variances.
type PredictOptions struct {
	// Published selects the paper's predictive variance, which is too small: it
	// takes the intermediate outputs at their means.
	Published bool

	// MeanOnly leaves the variances out, and with them nearly all of the cost.
	MeanOnly bool

	// Workers is the most goroutines at work; 0 means runtime.GOMAXPROCS(0).
	// Results do not depend on it.
	Workers int
}

// Prediction holds predictions [target][sample], in the targets' units.
type Prediction struct {
	Mean     [][]float64
	Variance [][]float64 // of the target with its noise; nil with MeanOnly
}

// Predict returns the predictive mean and variance, noise included, of a
// model's only target for each sample. It takes one matrix for each of Inputs.
func (m *RegressionModel) Predict(x ...Features) (mean, variance []float64, err error) {
	if len(m.targets) != 1 {
		return nil, nil, fmt.Errorf("mkl: Predict is for one target and the model has %d: use PredictTargets", len(m.targets))
	}
	p, err := m.PredictTargets(context.Background(), PredictOptions{}, x...)
	if err != nil {
		return nil, nil, err
	}
	return p.Mean[0], p.Variance[0], nil
}

// predictWords is the least number of kernel values that a block of predictions
// may hold.
const predictWords = 1 << 21

// PredictTargets predicts every target, in blocks of samples whose kernels take
// no more memory than four matrices of the basis points' order (or 16 MiB, if
// that is more). Without MeanOnly a block costs one Cholesky factorisation of
// that order for each target, which the block's own work outweighs.
func (m *RegressionModel) PredictTargets(ctx context.Context, opt PredictOptions, x ...Features) (*Prediction, error) {
	t, err := m.design.checkInputs(x)
	if err != nil {
		return nil, err
	}
	out := &Prediction{Mean: rows(len(m.targets), t)}
	if !opt.MeanOnly {
		out.Variance = rows(len(m.targets), t)
	}
	P, D := len(m.design.views), m.design.d
	block := min(t, max(1, max(predictWords, 4*D*D)/(P*D)))
	buffer := make([]float64, P*D*block)
	for first := 0; first < t; first += block {
		n := min(block, t-first)
		ks := make([]la.Matrix[float64], P)
		for i := range ks {
			ks[i] = la.MatrixOf(D, n, buffer[i*D*n:(i+1)*D*n])
		}
		if err := m.design.cross(ctx, opt.Workers, x, first, ks); err != nil {
			return nil, err
		}
		k, err := vi.NewDense(ks...)
		if err != nil {
			return nil, fmt.Errorf("mkl: kernels of the samples from %d: %w", first, err)
		}
		p, err := m.posterior.Predict(k, vi.PredictOptions{Published: opt.Published, MeanOnly: opt.MeanOnly, Workers: opt.Workers})
		if err != nil {
			return nil, fmt.Errorf("mkl: %w", err)
		}
		for o, tg := range m.targets {
			for i := range n {
				out.Mean[o][first+i] = tg.mean + float64(tg.sd*p.Mean.At(o, i))
				if !opt.MeanOnly {
					out.Variance[o][first+i] = tg.sd * tg.sd * p.Variance.At(o, i)
				}
			}
		}
	}
	return out, nil
}

func rows(n, length int) [][]float64 {
	r := make([][]float64, n)
	for i := range r {
		r[i] = make([]float64, length)
	}
	return r
}

// String describes the model in one line.
func (m *RegressionModel) String() string {
	active := 0
	for _, w := range m.KernelWeights() {
		if w.Active {
			active++
		}
	}
	_, P, D := m.posterior.Dims()
	what := "1 target"
	if len(m.targets) > 1 {
		what = fmt.Sprintf("%d targets", len(m.targets))
	}
	return fmt.Sprintf("regression of %s on %d kernels (%d active) and %d samples, bound %.6g", what, P, active, D, m.Bound())
}

// Summary describes the model in words, line by line.
func (m *RegressionModel) Summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", m)
	switch t := m.trace; {
	case t.Converged:
		fmt.Fprintf(&b, "converged after %d sweeps\n", t.Sweeps)
	default:
		fmt.Fprintf(&b, "NOT converged: %s after %d sweeps\n", t.Reason, t.Sweeps)
	}
	for _, o := range m.trace.collapsed {
		fmt.Fprintf(&b, "target %d COLLAPSED: all its weights vanish and predictions are its mean\n", o+1)
	}
	for o, sd := range m.NoiseSD() {
		fmt.Fprintf(&b, "target %d: noise SD %.4g, %d of %d samples active\n", o+1, sd, len(m.active[o]), m.design.d)
	}
	fmt.Fprintf(&b, "active kernels (weight ± SD):\n")
	for _, w := range m.KernelWeights() {
		if w.Active {
			fmt.Fprintf(&b, "  %-32s %10.4g ± %.2g\n", w.View, w.Mean, w.SD)
		}
	}
	return b.String()
}
