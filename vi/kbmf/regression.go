package kbmf

import (
	"context"
	"fmt"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/climb"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/target"
)

// Regression is kernelised Bayesian matrix factorisation: regression of a value for each pair of a
// row and a column, from the kernels of the rows and the kernels of the columns. Rows x and columns
// z have R factors each, whose inner product the value is; the factors of either side are
// regressions on its kernels that share the kernel weights. Of the rows, and likewise of the
// columns,
//
//	λ_{s,d} ~ Gamma(Lambda)    a_{s,d} | λ   ~ N(0, 1/λ_{s,d})
//	                           g_{s,m,i} | a ~ N(a_sᵀ·k_{m,i}, σ_g²)
//	η_m     ~ Gamma(Eta)       e_m | η       ~ N(0, 1/η_m)
//	                           h_{s,i} | …   ~ N(eᵀ·g_{s,i}, σ_h²)
//
// and of the pairs
//
//	γ ~ Gamma(Gamma)           b | γ    ~ N(0, 1/γ)
//	ε ~ Gamma(Epsilon)         y_ij | … ~ N(h_{x,i}ᵀ·h_{z,j} + b, 1/ε)
//
// The posterior is approximated by q(b)q(γ)q(ε) and, of either side, q(λ)q(a)q(G)q(η)q(e)q(H); q(H)
// has the covariance of a sample's R factors, q(G) the covariance of its P intermediate outputs of
// one component. The zero value but for Components is ready.
//
// Source: M. Gönen, S. A. Khan and S. Kaski, "Kernelized Bayesian matrix factorization", ICML
// 2013; M. Gönen and S. Kaski, of the same title, IEEE TPAMI 36 (2014). There is no bias there
// and the noise is given. Derived in docs/theory/kbmf.md.
type Regression struct {
	Components int // R

	Lambda, Eta, Gamma, Epsilon vi.Gamma // priors

	SigmaG float64 // σ_g; 0 means 0.1
	SigmaH float64 // σ_h; 0 means 0.1
	SigmaY float64 // if positive, the noise is held at this standard deviation and Epsilon not used

	NoBias bool // leaves b out, as in the papers

	Ascent vi.Ascent

	// Plain leaves out the steps along the posterior's ridges that are not in the papers.
	Plain bool

	// Workers is the most goroutines at work; 0 means runtime.GOMAXPROCS(0).
	// Results do not depend on it.
	Workers int

	// Seed selects the random start; it is ignored if Start is given.
	Seed uint64

	// Start, if not nil, is where the ascent starts from.
	Start *Start

	// From, if not nil, is the posterior of an earlier fit of as many components to the same rows,
	// columns, basis points and kernels, perhaps with other values of the pairs or priors, to
	// continue from; it takes the place of Start and Seed.
	From *Posterior
}

// Start is an explicit initial state of the rows X and the columns Z. b starts at 0, every
// e at 1, and ε at its prior scale with its posterior shape.
type Start struct{ X, Z SideStart }

// RegressionFit is a fitted [Regression].
type RegressionFit struct {
	Posterior *Posterior
	Record    vi.Record

	// Collapsed says that the ascent ended in the solution in which all weights vanish and
	// every pair has the same value. Another seed may do better.
	Collapsed bool
}

// Fit approximates the posterior given the kernels of the rows and of the columns, and the
// values y of the pairs, rows × columns, in which NaN marks a missing one. A row or column without
// any value follows from its kernels. Errors name the argument and the place of what is wrong with
// it.
func (p Regression) Fit(ctx context.Context, rows, columns vi.Kernels, y la.Matrix[float64]) (*RegressionFit, error) {
	m, err := p.model(rows, columns, y)
	if err != nil {
		return nil, err
	}
	post, rec, err := climb.Run(ctx, p.Ascent, m, NewPosterior, State.covariances)
	if post == nil {
		return nil, err
	}
	return &RegressionFit{Posterior: post, Record: rec, Collapsed: m.collapsed(m.x.target)}, err
}

// regression is the state of a fit.
type regression struct {
	*model
	noise  *target.Normal
	priors Priors
}

// Priors holds the priors of a [Regression] or [Classification].
type Priors struct {
	Lambda, Eta, Gamma, Epsilon vi.Gamma // of the precisions λ, η, γ and ε
}

// validate returns an error that names the first prior that is not a distribution.
func (p Priors) validate() error {
	return check.Parts(
		conjugate.Prior("Lambda", p.Lambda), conjugate.Prior("Eta", p.Eta),
		conjugate.Prior("Gamma", p.Gamma), conjugate.Prior("Epsilon", p.Epsilon),
	)
}

// model checks the arguments and returns the initial state.
func (p Regression) model(rows, columns vi.Kernels, y la.Matrix[float64]) (*regression, error) {
	pr := Priors{conjugate.Or1(p.Lambda), conjugate.Or1(p.Eta), conjugate.Or1(p.Gamma), conjugate.Or1(p.Epsilon)}
	if err := pr.validate(); err != nil {
		return nil, err
	}
	if p.SigmaY != 0 && !check.Deviation(p.SigmaY) {
		return nil, fmt.Errorf("vi: SigmaY is %g: it must be 0, or it and 1/SigmaY² positive and finite", p.SigmaY)
	}
	set, err := newSettings(p.Components, pr, p.SigmaG, p.SigmaH, p.Workers)
	if err != nil {
		return nil, err
	}
	layers, err := newModel(rows, columns, y, set, pr.Gamma, p.NoBias)
	if err != nil {
		return nil, err
	}
	m := &regression{model: layers, priors: pr, noise: target.NewNormal(pr.Epsilon, layers.observed)}
	if p.SigmaY > 0 {
		m.noise = target.KnownNormal(1/(p.SigmaY*p.SigmaY), layers.observed)
	}
	m.like = m.noise
	m.noise.Memorise(&m.memory)
	m.order(p.Plain)
	if p.From != nil {
		return m, m.resume(p.From)
	}
	if p.Start != nil {
		return m, m.start(p.Start)
	}
	level := 0.0
	if !p.NoBias {
		for i := range m.x.target.Rows {
			level += conjugate.Sum(m.x.target.Row(i)) / m.observed
		}
	}
	return m, m.startRandom(p.Seed, level)
}

// resume continues from p.
func (m *regression) resume(p *Posterior) error {
	if err := m.checkResume(p, false); err != nil {
		return err
	}
	if m.noise.Learns() {
		noise := p.s.Epsilon
		if noise.Scale == 0 { // it was held
			noise = vi.Gamma{Shape: 1, Scale: 1 / (p.s.Noise * p.s.Noise)}
		}
		m.noise.Resume(0, noise)
	}
	return m.model.resume(p)
}

// newSettings checks the settings that both models of pairs have.
func newSettings(components int, pr Priors, sigmaG, sigmaH float64, workers int) (settings, error) {
	set := settings{components: components, lambda: pr.Lambda, eta: pr.Eta, sigmaG: sigmaG, sigmaH: sigmaH, workers: workers}
	for _, s := range []struct {
		name  string
		value *float64
	}{{"SigmaG", &set.sigmaG}, {"SigmaH", &set.sigmaH}} {
		if *s.value == 0 {
			*s.value = 0.1
		}
		if !check.Deviation(*s.value) {
			return set, fmt.Errorf("vi: %s is %g: it and 1/%[1]s² must be positive and finite", s.name, *s.value)
		}
	}
	return set, nil
}
