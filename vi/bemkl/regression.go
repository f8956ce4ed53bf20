package bemkl

import (
	"context"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/climb"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/target"
)

// Regression is Bayesian multiple kernel learning for regression (BMKLR) with
// one or several outputs that share the kernel weights:
//
//	λ_{o,d} ~ Gamma(Lambda)    a_{o,d} | λ     ~ N(0, 1/λ_{o,d})
//	υ_o     ~ Gamma(Upsilon)   g_{o,m,i} | a,υ ~ N(a_oᵀ·k_{m,i}, 1/υ_o)
//	γ_o     ~ Gamma(Gamma)     b_o | γ         ~ N(0, 1/γ_o)
//	ω_m     ~ Gamma(Omega)     e_m | ω         ~ N(0, 1/ω_m)
//	ε_o     ~ Gamma(Epsilon)   y_{o,i} | …     ~ N(eᵀ·g_{o,i} + b_o, 1/ε_o)
//
// The posterior is approximated by q(λ)q(υ)q(a)q(G)q(γ)q(ω)q(ε)q(b,e). The zero
// value is ready: Gamma(1, 1) priors.
//
// If Lambda and Omega are sparse, with shapes of at most 1e-5 and rates no larger, a fit starts with
// twenty sweeps under Lambda = Gamma(1, 1), which are not in its record. Plain, Start, From and Groups
// leave them out.
//
// Source: M. Gönen, "A Bayesian multiple kernel learning framework for single
// and multiple output regression", ECAI 2012, sections 3 and 4. The order of
// the updates is λ, υ, a, G, γ, ω, ε, (b,e).
type Regression struct {
	Lambda, Upsilon, Gamma, Omega, Epsilon vi.Gamma // priors

	Ascent vi.Ascent

	// Plain leaves out the steps along the posterior's ridges that are not in
	// the paper; sweeps then do exactly the published updates. See
	// docs/theory/acceleration.md.
	Plain bool

	// Workers is the most goroutines at work; 0 means runtime.GOMAXPROCS(0).
	// Results do not depend on it.
	Workers int

	// Groups, if not nil, is the group of each of the N samples, counted from 0, and the
	// noise has a precision for each output and group,
	//
	//	y_{o,i} | … ~ N(eᵀ·g_{o,i} + b_o, 1/ε_{o,c}), c = Groups[i], ε_{o,c} ~ Gamma(Epsilon):
	//
	// of samples, say, that lack some of the views (docs/guide/missing-views.md). Predictions are of
	// group 0 and not healed. It excludes From.
	Groups []int

	// Seed selects the random start; it is ignored if Start is given.
	Seed uint64

	// Start, if not nil, is where the ascent starts from.
	Start *Start

	// From, if not nil, is the posterior of an earlier fit to the same basis points
	// and kernels, perhaps with other targets, samples or priors, to continue from;
	// it takes the place of Start and Seed.
	From *RegressionPosterior
}

// Start is an explicit initial state: the means of the sample weights and of
// the intermediate outputs, with identity covariances. b starts at 0, e at 1
// and ε at its prior scale with its posterior shape, which keeps sparse priors
// from collapsing onto the all-zero solution.
type Start struct {
	A la.Matrix[float64] // L×D
	G la.Matrix[float64] // (L·P)×N, row o·P+m is output o's share of kernel m
}

// RegressionFit is a fitted regression.
type RegressionFit struct {
	Posterior *RegressionPosterior
	Record    vi.Record

	// Collapsed lists the outputs, ascending, whose fitted function is constant
	// on the training samples: the ascent ended in the solution in which all
	// weights vanish. Another seed may do better.
	Collapsed []int

	state   *latent // for BoundGradient, with E[υ]
	upsilon []float64
}

// Fit approximates the posterior given the kernels and the targets y, L×N, in
// which NaN marks a missing value: it is left out of that output's likelihood.
//
// Errors name the argument and the place of what is wrong with it. If the
// context ends, the bound falls by more than round-off (a *[vi.BoundError]) or an update fails, the
// error says so and the fit is the one after the last good sweep; it is nil if no sweep was good.
func (r Regression) Fit(ctx context.Context, k vi.Kernels, y la.Matrix[float64]) (*RegressionFit, error) {
	if r.Groups != nil {
		return r.fitGroups(ctx, k, y)
	}
	m, err := r.model(k, y)
	if err != nil {
		return nil, err
	}
	if err := r.start(ctx, m); err != nil {
		return nil, err
	}
	p, rec, err := climb.Run(ctx, r.Ascent, m, NewRegressionPosterior, RegressionState.covariances)
	if p == nil {
		return nil, err
	}
	return &RegressionFit{Posterior: p, Record: rec, Collapsed: m.collapsed(m.y), state: m.latent, upsilon: m.upsilonMean}, err
}

// regression is the state of a fit.
type regression struct {
	*outputs
	priors  RegressionPriors
	epsilon []*target.Normal // L: shapes differ when values are missing
}

// RegressionPriors holds the priors of a [Regression].
type RegressionPriors struct {
	Lambda, Upsilon, Gamma, Omega, Epsilon vi.Gamma // of the precisions λ, υ, γ, ω and ε
}

// model checks the arguments and returns the initial state.
func (r Regression) model(k vi.Kernels, y la.Matrix[float64]) (*regression, error) {
	pr := priorsOr1(r.Lambda, r.Upsilon, r.Gamma, r.Omega, r.Epsilon)
	if err := pr.validate(); err != nil {
		return nil, err
	}
	y, observed, err := checkTargets(k, y)
	if err != nil {
		return nil, err
	}
	L := y.Rows
	P, D, N := k.Dims()
	layers := newLayers(k, L, observed, layerPriors{pr.Lambda, pr.Gamma, pr.Omega}, r.Workers)
	m := &regression{priors: pr}
	var like []target.Likelihood
	for o := range L {
		m.epsilon = append(m.epsilon, target.NewNormal(pr.Epsilon, layers.Count[o]))
		like = append(like, m.epsilon[o])
	}
	m.outputs = newOutputs(layers, y, y, la.Matrix[float64]{}, like)
	m.learnUpsilon(pr.Upsilon)
	m.schedule(r.Plain, severalRounds(L, D, P))
	if r.From != nil {
		return m, m.resume(r.From)
	}
	start := r.Start
	if start == nil && m.Ones != nil {
		start = compressedStart(r.Seed, y, P, D)
	} else if start == nil {
		start = randomStart(r.Seed, L, P, D, N)
	} else if err := start.validate(L, P, D, N); err != nil {
		return nil, err
	}
	return m, m.Start(start.A, start.G)
}

// priorsOr1 returns these priors, with Gamma{1, 1} in place of each zero prior.
func priorsOr1(lambda, upsilon, gamma, omega, epsilon vi.Gamma) RegressionPriors {
	return RegressionPriors{
		Lambda: conjugate.Or1(lambda), Upsilon: conjugate.Or1(upsilon), Gamma: conjugate.Or1(gamma),
		Omega: conjugate.Or1(omega), Epsilon: conjugate.Or1(epsilon),
	}
}

// validate returns an error that names the first prior that is not a distribution.
func (p RegressionPriors) validate() error {
	return check.Parts(
		conjugate.Prior("Lambda", p.Lambda), conjugate.Prior("Upsilon", p.Upsilon),
		conjugate.Prior("Gamma", p.Gamma), conjugate.Prior("Omega", p.Omega),
		conjugate.Prior("Epsilon", p.Epsilon),
	)
}

// resume continues from p.
func (m *regression) resume(p *RegressionPosterior) error {
	if err := m.checkResume(m.L, &p.scorer.core); err != nil {
		return err
	}
	s := p.s
	for o := range m.L {
		m.upsilon.Resume(o, s.Upsilon[o])
		m.epsilon[o].Resume(0, s.Epsilon[o])
		m.upsilonMean[o], m.epsilonMean[o] = m.upsilon.Mean(o), m.epsilon[o].Mean(0)
	}
	return m.outputs.resume(&p.core, s.Gamma, s.Omega, s.BEMean, s.BECov)
}
