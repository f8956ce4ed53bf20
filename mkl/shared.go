package mkl

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// SharedRegression is Bayesian multiple kernel learning for several targets that
// share the sample weights and have kernel weights each: for targets that depend
// on different views. ([Regression] of several targets is for those that depend
// on the same.) A sweep costs one factorisation whatever the number of targets.
// The zero value is ready to fit.
//
// The fields are those of [Regression], but for MissingTargets, which is not
// used: targets must be complete.
//
// The model is derived in docs/shared.md.
type SharedRegression Regression

// Fit fits the model to the views of N samples and the targets of length N each.
// Errors are those of [Regression.Fit].
func (s SharedRegression) Fit(ctx context.Context, views []View, y ...[]float64) (*SharedRegressionModel, error) {
	r := Regression(s)
	r.MissingTargets = false
	m := &SharedRegressionModel{}
	err := r.fit(ctx, views, y, 1, &m.outputs, func(k vi.Kernels, z la.Matrix[float64], seed uint64, a vi.Ascent) (vi.Record, func(), error) {
		fit, err := bemkl.SharedRegression{
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
	if err := m.prepare(); err != nil {
		return nil, err
	}
	if len(m.trace.collapsed) == len(y) {
		return nil, &CollapsedError{Model: m}
	}
	return m, nil
}

// EstimateMemory returns about how many bytes a fit takes; see
// [Regression.EstimateMemory].
func (s SharedRegression) EstimateMemory(n, d, p, l int) int64 {
	return estimateMemory(s.Workers, n, d, p, 1) + 8*int64(l)*int64(2*n+2*p*p)
}

// SharedRegressionModel is a fitted [SharedRegression]. It is immutable and safe
// for concurrent use.
type SharedRegressionModel struct {
	outputs
	posterior *bemkl.SharedPosterior
}

// strongest tells of each kernel weight the one of the targets' that is largest.
type strongest struct{ *bemkl.SharedPosterior }

func (p strongest) KernelWeights() (mean, sd []float64) {
	L, _, _ := p.Dims()
	mean, sd = p.SharedPosterior.KernelWeights(0)
	for o := 1; o < L; o++ {
		means, sds := p.SharedPosterior.KernelWeights(o)
		for i, v := range means {
			if math.Abs(v) > math.Abs(mean[i]) {
				mean[i], sd[i] = v, sds[i]
			}
		}
	}
	return mean, sd
}

func (m *SharedRegressionModel) set(p *bemkl.SharedPosterior, t Trace) {
	m.posterior, m.weights, m.trace = p, strongest{p}, t
	m.predictor, m.noise = p, noiseOf(p.State().Epsilon)
}

// prepare computes what accessors tell. The targets have the same samples.
func (m *SharedRegressionModel) prepare() error {
	if err := m.fitted.prepare(m.posterior.State().A); err != nil {
		return err
	}
	m.active = slices.Repeat(m.active, len(m.targets))
	return nil
}

// Posterior returns the approximate posterior, of the standardised targets.
func (m *SharedRegressionModel) Posterior() *bemkl.SharedPosterior { return m.posterior }

// KernelWeights returns of each view, in their order, the weight for the target
// that it matters most to: the one with the largest absolute mean. See
// TargetWeights.
func (m *SharedRegressionModel) KernelWeights() []KernelWeight { return m.fitted.KernelWeights() }

// TargetWeights returns the views' weights for a target, in the order of the
// views, like [RegressionModel.KernelWeights].
func (m *SharedRegressionModel) TargetWeights(target int) []KernelWeight {
	return m.kernelWeights(m.posterior.KernelWeights(target))
}

// ActiveSamples returns the samples whose weight, which the targets share, is at
// least ActiveThreshold times the largest, in ascending order of the sample.
func (m *SharedRegressionModel) ActiveSamples(target int) []SampleWeight {
	return m.fitted.ActiveSamples(target)
}

// String describes the model in one line.
func (m *SharedRegressionModel) String() string {
	return m.describe("regression of " + m.count() + " with shared sample weights")
}

// Summary describes the model in words, line by line.
func (m *SharedRegressionModel) Summary() string { return m.summaryOf(m.String()) }

// Predictor prunes the model for predictions of single samples; see
// [RegressionModel.Predictor].
func (m *SharedRegressionModel) Predictor(opt PredictorOptions) (*Predictor, error) {
	if err := m.checkTarget(opt); err != nil {
		return nil, err
	}
	o, s := opt.Target, m.posterior.State()
	return newPredictor(opt, function{
		fitted: &m.fitted, a: s.A.Row(0), beMean: s.BEMean[o], beCov: s.BECov[o],
		spread: 1 / s.Upsilon.Mean(), noise: m.noise[o], targets: 1, target: m.targets[o],
	})
}

// Save writes the model to a file that [Load] and [LoadSharedRegression] read,
// like [RegressionModel.Save].
func (m *SharedRegressionModel) Save(w io.Writer) error {
	s := m.posterior.State()
	L, P, D := m.posterior.Dims()
	f, err := m.saveOutputs(s.Samples, s.Priors)
	if err != nil {
		return err
	}
	var mean, cov []float64
	for o := range L {
		mean, cov = append(mean, s.BEMean[o]...), append(cov, flat(s.BECov[o])...)
	}
	f.add("upsilon", pairs([]Gamma{s.Upsilon}), 1, 2)
	f.add("epsilon", pairs(s.Epsilon), L, 2)
	f.add("gamma", pairs(s.Gamma), L, 2)
	f.add("omega", pairs(s.Omega), L, P, 2)
	f.add("lambda", flat(s.Lambda), 1, D)
	f.add("a", flat(s.A), 1, D)
	f.add("be.mean", mean, L, 1+P)
	f.add("be.cov", cov, L, 1+P, 1+P)
	f.add("gram", packLower(s.Gram), D*(D+1)/2)
	return f.write(w, kindSharedRegression)
}

// LoadSharedRegression is [Load] for a file that must hold a
// [SharedRegressionModel].
func LoadSharedRegression(r io.Reader) (*SharedRegressionModel, error) {
	return loadAs[*SharedRegressionModel](Load(r))
}

func loadSharedRegression(f modelFile) (Model, error) {
	m := &SharedRegressionModel{}
	priors, err := f.outputs(&m.outputs)
	if err != nil {
		return nil, err
	}
	L, P, D := f.L, f.P, f.D
	state := bemkl.SharedState{
		Priors: priors, Samples: f.Samples,
		Lambda: f.matrix("lambda", 1, D), A: f.matrix("a", 1, D),
		Epsilon: unpair(f.take("epsilon", L, 2)), Gamma: unpair(f.take("gamma", L, 2)), Omega: unpair(f.take("omega", L, P, 2)),
	}
	upsilon, mean, cov := unpair(f.take("upsilon", 1, 2)), f.take("be.mean", L, 1+P), f.take("be.cov", L, 1+P, 1+P)
	if f.err != nil {
		return nil, f.err
	}
	state.Upsilon = upsilon[0]
	for o, size := 0, (1+P)*(1+P); o < L; o++ {
		state.BEMean = append(state.BEMean, mean[o*(1+P):][:1+P])
		state.BECov = append(state.BECov, la.MatrixOf(1+P, 1+P, cov[o*size:][:size]))
	}
	if state.Gram, err = f.gram(state.BECov...); err != nil {
		return nil, err
	}
	p, err := bemkl.NewSharedPosterior(state)
	if err != nil {
		return nil, err
	}
	m.set(p, m.trace)
	return m, m.prepare()
}

// sharedSizes finds the sizes of a model of several functions on one set of
// sample weights.
func (f *modelFile) sharedSizes() error {
	f.L = len(f.ts["gamma"].data) / 2
	if f.L > 0 {
		f.P = len(f.ts["omega"].data) / 2 / f.L
	}
	f.D = len(f.ts["lambda"].data)
	if f.L < 1 || f.P < 1 || f.D < 1 || f.D != f.Basis {
		return fmt.Errorf("model: %d targets, %d kernels and %d basis points do not fit the tensors", f.L, f.P, f.Basis)
	}
	return nil
}
