package bemkl

import (
	"context"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/climb"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/random"
	"github.com/bmkl/bmkl/vi/internal/target"
)

// Classification is Bayesian efficient multiple kernel learning (BEMKL) for
// binary, multiclass and multilabel problems. Every row of labels ±1 has a
// function of its own; the kernel weights are shared:
//
//	λ_{o,d} ~ Gamma(Lambda)    a_{o,d} | λ   ~ N(0, 1/λ_{o,d})
//	                           g_{o,m,i} | a ~ N(a_oᵀ·k_{m,i}, σ_g²)
//	γ_o     ~ Gamma(Gamma)     b_o | γ       ~ N(0, 1/γ_o)
//	ω_m     ~ Gamma(Omega)     e_m | ω       ~ N(0, 1/ω_m)
//	                           f_{o,i} | …   ~ N(eᵀ·g_{o,i} + b_o, 1)
//	                           y_{o,i} | f   : f_{o,i}·y_{o,i} > ν
//
// A binary problem has one row; a multiclass problem with L classes has L rows
// with one +1 in each column; a multilabel problem any. The posterior is
// approximated by q(λ)q(a)q(G)q(γ)q(ω)q(b,e)q(f). The zero value is ready:
// Gamma(1, 1) priors, no margin, σ_g = 0.1.
//
// Source: M. Gönen, "Bayesian efficient multiple kernel learning", ICML 2012,
// and its supplement, appendices A and B. The order of the updates is λ, a, G,
// γ, ω, (b,e), f.
type Classification struct {
	Lambda, Gamma, Omega vi.Gamma // priors

	// Margin is ν, the half-width of the gap between the classes on the scale of f. With 0 there is
	// no gap, and the likelihood is the probit model's. The supplement's gap counts in the fit and
	// not in its normaliser; probabilities are then too near 0 and 1 (docs/lab/reproductions.md).
	Margin float64

	// SigmaG is σ_g, the standard deviation of the intermediate outputs; 0 means 0.1. The
	// supplement's formulas have σ_g = 1.
	SigmaG float64

	Ascent vi.Ascent

	// Plain leaves out the steps along the posterior's ridges that are not in
	// the paper; sweeps then do exactly the published updates. See
	// docs/theory/acceleration.md.
	Plain bool

	// Workers is the most goroutines at work; 0 means runtime.GOMAXPROCS(0).
	// Results do not depend on it.
	Workers int

	// Seed selects the random start; it is ignored if Start is given.
	Seed uint64

	// Start, if not nil, is where the ascent starts from.
	Start *ClassificationStart

	// From, if not nil, is the posterior of an earlier fit to the same basis points
	// and kernels, perhaps with other targets, samples or priors, to continue from;
	// it takes the place of Start and Seed.
	From *ClassificationPosterior
}

// ClassificationStart is an explicit initial state: the means of the sample
// weights, of the intermediate outputs and of the scores, with identity
// covariances. b starts at 0, e at 1.
type ClassificationStart struct {
	Start
	F la.Matrix[float64] // L×N
}

// ClassificationFit is a fitted classifier.
type ClassificationFit struct {
	Posterior *ClassificationPosterior
	Record    vi.Record

	// PublishedTrace is the bound as the supplement has it, after each sweep. Its
	// entropy of q(f) holds Var(f) where E[(f − m)²] belongs, so that it is less
	// than the bound by ½ Σ (E[f] − m)² and may fall. It is here for comparison
	// with published traces only.
	PublishedTrace []float64

	// Collapsed lists the rows, ascending, whose function is constant on the
	// training samples, as in [RegressionFit].
	Collapsed []int

	state *classification // for the gradients
}

// Fit approximates the posterior given the kernels and the labels y, L×N, each
// −1 or +1, or NaN where missing: that label is left out of the likelihood. It returns errors in
// the same cases as [Regression.Fit].
func (c Classification) Fit(ctx context.Context, k vi.Kernels, y la.Matrix[float64]) (*ClassificationFit, error) {
	m, err := c.model(k, y)
	if err != nil {
		return nil, err
	}
	ascent := c.Ascent
	ascent.Progress = func(p vi.Progress) {
		m.published = append(m.published, p.Bound-float64(0.5*m.shift()))
		if c.Ascent.Progress != nil {
			c.Ascent.Progress(p)
		}
	}
	p, rec, err := climb.Run(ctx, ascent, m, NewClassificationPosterior, ClassificationState.covariances)
	if p == nil {
		return nil, err
	}
	return &ClassificationFit{
		Posterior: p, Record: rec, PublishedTrace: m.published, Collapsed: m.collapsed(m.y),
		state: m,
	}, err
}

// classification is the state of a fit.
type classification struct {
	*outputs
	margin    float64
	sigmaG    float64
	priors    ClassificationPriors
	f         la.Matrix[float64] // L×N, E[f]: the targets
	published []float64          // PublishedTrace
}

// ClassificationPriors holds the priors of a [Classification].
type ClassificationPriors struct {
	Lambda, Gamma, Omega vi.Gamma // of the precisions λ, γ and ω
}

// validate returns an error that names the first prior that is not a distribution.
func (p ClassificationPriors) validate() error {
	return check.Parts(
		conjugate.Prior("Lambda", p.Lambda), conjugate.Prior("Gamma", p.Gamma), conjugate.Prior("Omega", p.Omega),
	)
}

// model checks the arguments and returns the initial state.
func (c Classification) model(k vi.Kernels, y la.Matrix[float64]) (*classification, error) {
	pr := ClassificationPriors{conjugate.Or1(c.Lambda), conjugate.Or1(c.Gamma), conjugate.Or1(c.Omega)}
	if err := pr.validate(); err != nil {
		return nil, err
	}
	sigma, err := checkScoreSettings(c.Margin, c.SigmaG)
	if err != nil {
		return nil, err
	}
	y, observed, err := checkTargets(k, y)
	if err == nil {
		err = vi.RefuseCompressed(k)
	}
	if err != nil {
		return nil, err
	}
	if err := checkLabels(y, observed); err != nil {
		return nil, err
	}
	m := c.newClassification(k, y, observed, pr, sigma)
	if c.From != nil {
		return m, m.resume(c.From)
	}
	return m, m.startAt(c.Start, c.Seed)
}

// checkLabels returns an error that names the first observed label that is not −1 or +1.
func checkLabels(y, observed la.Matrix[float64]) error {
	for o := range y.Rows {
		for i, v := range y.Row(o) {
			missing := observed.Rows > 0 && observed.At(o, i) == 0
			if !missing && !target.IsLabel(v) {
				return fmt.Errorf("vi: y: entry (%d, %d) is %g: labels are −1 and +1, NaN where missing", o, i, v)
			}
		}
	}
	return nil
}

// newClassification returns the factors at their priors, with the updates of the sweeps.
func (c Classification) newClassification(k vi.Kernels, y, observed la.Matrix[float64], pr ClassificationPriors, sigma float64) *classification {
	L, N := y.Rows, y.Cols
	m := &classification{margin: c.Margin, sigmaG: sigma, priors: pr, f: la.NewMatrix[float64](L, N)}
	location := la.NewMatrix[float64](L, N)
	var like []target.Likelihood
	for o := range L {
		row := func(x la.Matrix[float64]) la.Matrix[float64] { return la.MatrixOf(1, N, x.Row(o)) }
		like = append(like, target.NewProbit(row(y), row(location), row(m.f), c.Margin))
	}
	layers := newLayers(k, L, observed, layerPriors{pr.Lambda, pr.Gamma, pr.Omega}, c.Workers)
	m.outputs = newOutputs(layers, y, m.f, location, like)
	m.holdUpsilon(1 / (sigma * sigma))
	m.schedule(c.Plain, leastRounds)
	return m
}

// startAt sets a, G and E[f] to a start, drawn with the seed if it is nil.
func (m *classification) startAt(start *ClassificationStart, seed uint64) error {
	if start == nil {
		start = randomClassificationStart(random.Source(seed), m.y, m.P, m.D, m.margin)
	} else if err := start.validate(m.L, m.P, m.D, m.N); err != nil {
		return err
	}
	for o := range m.L {
		for i, v := range start.F.Row(o) {
			if m.y.At(o, i) != 0 {
				m.f.Set(o, i, v)
			}
		}
	}
	return m.Start(start.A, start.G)
}

// checkScoreSettings returns σ_g with its default, or what is wrong with it or with the margin.
func checkScoreSettings(margin, sigma float64) (float64, error) {
	if err := target.CheckMargin(margin); err != nil {
		return 0, err
	}
	if sigma == 0 {
		sigma = 0.1
	}
	if !(sigma > 0) || math.IsInf(sigma, 0) {
		return 0, fmt.Errorf("vi: SigmaG is %g: it must be positive and finite", sigma)
	}
	return sigma, nil
}

// resume continues from p.
func (m *classification) resume(p *ClassificationPosterior) error {
	if err := m.checkResume(m.L, &p.scorer.core); err != nil {
		return err
	}
	s := p.s
	return m.outputs.resume(&p.core, s.Gamma, s.Omega, s.BEMean, s.BECov)
}

// randomClassificationStart draws A from the standard normal distribution, and G and F as
// y·(|z| + ν) with z standard normal.
func randomClassificationStart(src special.Rand, y la.Matrix[float64], P, D int, margin float64) *ClassificationStart {
	L, N := y.Rows, y.Cols
	s := &ClassificationStart{
		Start: Start{A: la.NewMatrix[float64](L, D), G: la.NewMatrix[float64](L*P, N)},
		F:     la.NewMatrix[float64](L, N),
	}
	random.Normal(src, s.A.Data)
	random.Normal(src, s.G.Data)
	random.Normal(src, s.F.Data)
	for o := range L {
		for i, label := range y.Row(o) {
			if label == 0 {
				continue
			}
			for j := range P {
				g := &s.G.Row(o*P + j)[i]
				*g = label * (math.Abs(*g) + margin)
			}
			f := &s.F.Row(o)[i]
			*f = label * (math.Abs(*f) + margin)
		}
	}
	return s
}

// validate returns an error unless the shapes are those needed and all entries finite.
func (s *ClassificationStart) validate(L, P, D, N int) error {
	if err := s.Start.validate(L, P, D, N); err != nil {
		return err
	}
	return check.Start("F", s.F, L, N)
}
