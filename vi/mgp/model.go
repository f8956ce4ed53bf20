package mgp

import (
	"context"

	"github.com/bmkl/bmkl/vi"
)

// Model is the multiple Gaussian process model for regression and binary
// classification: a sum of P functions, one for each kernel, whose precisions
// γ_p have a generalised inverse Gaussian prior that decides how sparse the sum
// is.
//
//	γ_p     ~ GIG(ω, χ, φ)               scales
//	f_p | γ ~ N(0, K_p/γ_p)              functions on the N samples
//	y | f   ~ N(Σ_p f_p, I/τ)            targets, or
//	t_n     = sign y_n                   labels ±1
//
// The posterior is approximated by q(f)q(γ), for labels q(f)q(y)q(γ). The zero
// value is ready: a Student-t process whose prior, and in regression τ, are
// learned by type-II maximum likelihood.
//
// The model has no bias: targets are to be centred, or a constant kernel added.
//
// Source: C. Archambeau and F. Bach, "Multiple Gaussian process models", 2010;
// the updates in terms of N×N matrices and the lower bound, which the paper does
// not state, are derived in docs/theory/mgp.md, which numbers them (D1), (D2), …. The
// order of the updates is f, y, γ, τ, (ω, χ, φ).
type Model struct {
	Family Family // of the prior of γ

	// Prior is the prior of γ to start from. The zero value is a weak prior of the family at the
	// scale of the targets, and so are parameters of 0 that are not held, where there is no such
	// prior of the family. HeldPrior says which parameters are not learned.
	Prior     GIG
	HeldPrior HeldPrior

	// Tau is the noise precision τ to start from; 0 means twice the precision of
	// the targets, or 1 for labels.
	Tau   float64
	Noise Noise

	// Ranks holds r_p, the degrees of freedom that carry γ_p: N, as in the paper,
	// if Ranks is nil, or the rank of K_p, which makes the model the same as one
	// in the space of features.
	Ranks []int

	Ascent vi.Ascent

	// Plain makes exactly the published updates, and learns the prior from the
	// first sweep on, one of ω, χ, φ after another. The default keeps the prior as
	// it starts until the bound has settled, since from equal scales learning at
	// once runs into the plain Gaussian process; it then learns ω jointly with χ
	// or φ where it can, and the common scale of all γ; and it moves the γ further
	// than the updates do while that raises the bound, which saves most of the
	// sweeps. See docs/theory/mgp.md.
	Plain bool

	// Workers is the most goroutines at work; 0 means runtime.GOMAXPROCS(0).
	// Results do not depend on it.
	Workers int

	// Start, if not nil, is where the ascent starts from.
	Start *Start
}

// Noise says how the noise precision τ is treated: learned or held.
type Noise int

// Treatments of the noise.
const (
	// NoiseDefault learns τ from targets. For labels it keeps τ, because the likelihood
	// does not distinguish τ from the scale of the functions.
	NoiseDefault Noise = iota
	NoiseLearned
	NoiseFixed
)

// Start is an explicit initial state.
type Start struct {
	Gamma []float64 // E[γ_p], P values

	// Y is E[y_n], for labels only; nil means the mean of y ~ N(0, 1/τ) given its sign.
	Y []float64
}

// Fit is a fitted multiple Gaussian process.
type Fit struct {
	Posterior *Posterior
	Record    vi.Record

	// GPLimit says that the learned prior is nearly a point, the standard deviation of log γ being
	// less than a tenth: the kernels' scales are so alike that the model is a plain Gaussian
	// process with the kernel Σ K_p/γ. ω then grows for as long as the ascent goes on.
	GPLimit bool

	// Collapsed says that the fitted function vanishes: on few or noisy samples the bound of the
	// empty model may be the highest.
	Collapsed bool

	// What only fits by the [Evidence] have: the log evidence in nats (of labels an
	// estimate, or a bound), the parameters of [Adaptive] kernels, and the prediction of
	// every sample from all others.
	LogEvidence float64
	Parameters  []float64
	LeaveOneOut *LeaveOneOut

	// Noise is the noise of [Evidence.FitVarying], nil where it is constant. The
	// posterior's τ is then one over the mean noise variance of the samples.
	Noise *NoiseProcess

	// Draws are the draws that [Evidence.Draws] asks for, over which predictions are to be
	// averaged. LeaveOneOut is then of the draws' mixture; all else is at the values of highest
	// posterior density.
	Draws []Draw
}

// Fit approximates the posterior given square kernels and N targets. Errors are
// as package vi describes them; kernels that are not positive semidefinite end in
// one.
func (g Model) Fit(ctx context.Context, k vi.Kernels, y []float64) (*Fit, error) {
	return g.fit(ctx, k, y, false)
}

// FitLabels approximates the posterior given square kernels and N labels, each
// −1 or +1.
func (g Model) FitLabels(ctx context.Context, k vi.Kernels, t []float64) (*Fit, error) {
	return g.fit(ctx, k, t, true)
}

// pointVariance is the variance of log γ below which a prior counts as a point.
const pointVariance = 0.01

// settled is the Ascent.Tolerance at which the prior begins to be learned: by then the
// scales of kernels that are needed stand out, which is all that this is for.
const settled = 1e-3

// fit is Fit and FitLabels.
func (g Model) fit(ctx context.Context, k vi.Kernels, y []float64, labels bool) (*Fit, error) {
	m, err := g.model(k, y, labels)
	if err != nil {
		return nil, err
	}
	var rec vi.Record
	if m.learnPrior && !g.Plain {
		m.learnPrior = false
		first := g.Ascent
		first.Tolerance = max(settled, first.Tolerance)
		rec, err = first.Run(ctx, m)
		m.learnPrior = true
	}
	if err == nil && (len(rec.Trace) == 0 || rec.Reason.Done()) {
		rec, err = g.Ascent.Continue(ctx, m, rec, len(rec.Trace))
	}
	if len(rec.Trace) == 0 {
		return nil, err
	}
	p, perr := m.posterior()
	if perr != nil {
		return nil, perr
	}
	return &Fit{
		Posterior: p, Record: rec,
		GPLimit:   m.learnPrior && m.prior.VarLog() < pointVariance,
		Collapsed: m.collapsed(),
	}, err
}

// collapsed reports whether the fitted function's mean square is below a
// thousandth of the noise variance.
func (m *model) collapsed() bool {
	var square float64
	for i, v := range m.mean {
		f := v - m.alpha[i]/m.tau0
		square += float64(f * f)
	}
	return square < 1e-3*float64(m.N)/m.tau0
}
