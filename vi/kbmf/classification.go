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

// Classification is [Regression] with labels ±1 in place of the values, as in
// [Classification]:
//
//	f_ij | … ~ N(h_{x,i}ᵀ·h_{z,j} + b, 1),   y_ij | f : f_ij·y_ij > ν
//
// It predicts which drugs act on which targets, say, from kernels of the drugs and of the
// targets.
//
// Source: M. Gönen, "Predicting drug–target interactions from chemical and genomic kernels using
// Bayesian matrix factorization", Bioinformatics 28 (2012), and the sources of [Regression]. These
// models have no bias, so a pair about which nothing is known has the probability ½. Derived in
// docs/theory/kbmf.md.
type Classification struct {
	Components int // R

	Lambda, Eta, Gamma vi.Gamma // priors

	SigmaG float64 // σ_g; 0 means 0.1
	SigmaH float64 // σ_h; 0 means 0.1
	Margin float64 // ν, as in [Classification]

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
	Start *ClassificationStart

	// From, if not nil, is the posterior of an earlier fit of as many components to the same rows,
	// columns, basis points and kernels, perhaps with other labels of the pairs or priors, to
	// continue from; it takes the place of Start and Seed.
	From *Posterior
}

// ClassificationStart is an explicit initial state, with the means of the scores.
type ClassificationStart struct {
	Start
	F la.Matrix[float64] // rows × columns
}

// ClassificationFit is a fitted [Classification].
type ClassificationFit struct {
	Posterior *Posterior
	Record    vi.Record
	Collapsed bool // as in [RegressionFit]
}

// Fit approximates the posterior given the kernels of the rows and of the columns, and the labels y
// of the pairs, rows × columns, each −1 or +1, or NaN where it is missing. It returns the same
// errors as [Regression.Fit].
func (p Classification) Fit(ctx context.Context, rows, columns vi.Kernels, y la.Matrix[float64]) (*ClassificationFit, error) {
	m, err := p.model(rows, columns, y)
	if err != nil {
		return nil, err
	}
	post, rec, err := climb.Run(ctx, p.Ascent, m, NewPosterior, State.covariances)
	if post == nil {
		return nil, err
	}
	return &ClassificationFit{Posterior: post, Record: rec, Collapsed: m.collapsed(m.y)}, err
}

// classification is the state of a fit.
type classification struct {
	*model
	margin float64
	priors Priors
}

// model checks the arguments and returns the initial state.
func (p Classification) model(rows, columns vi.Kernels, y la.Matrix[float64]) (*classification, error) {
	pr := Priors{conjugate.Or1(p.Lambda), conjugate.Or1(p.Eta), conjugate.Or1(p.Gamma), vi.Gamma{Shape: 1, Scale: 1}}
	if err := pr.validate(); err != nil {
		return nil, err
	}
	if err := target.CheckMargin(p.Margin); err != nil {
		return nil, err
	}
	set, err := newSettings(p.Components, pr, p.SigmaG, p.SigmaH, p.Workers)
	if err != nil {
		return nil, err
	}
	layers, err := newModel(rows, columns, y, set, pr.Gamma, p.NoBias)
	if err != nil {
		return nil, err
	}
	m := &classification{model: layers, margin: p.Margin, priors: pr}
	m.y = m.x.target.Clone()
	m.t, m.at = la.NewMatrix[float64](y.Rows, y.Cols), la.NewMatrix[float64](y.Rows, y.Cols)
	m.like = target.NewProbit(m.y, m.at, m.t, p.Margin)
	m.memory.Of(m.x.target.Data, m.z.target.Data)
	for i, partners := range m.x.partners {
		for _, j := range partners {
			if !target.IsLabel(m.y.At(i, j)) {
				return nil, fmt.Errorf("vi: y: entry (%d, %d) is %g: labels are −1 and +1, NaN where missing", i, j, m.y.At(i, j))
			}
		}
	}
	m.order(p.Plain)
	if p.From != nil {
		return m, m.resume(p.From)
	}
	if p.Start != nil {
		if err := check.Start("F", p.Start.F, y.Rows, y.Cols); err != nil {
			return nil, err
		}
		m.setTarget(p.Start.F)
		return m, m.start(&p.Start.Start)
	}
	m.setTarget(m.y)
	// Were the bias to begin at the labels' mean, it would leave too little of a table with few labels of
	// one kind to keep the factors from collapse; they leave to it what pairs have in common.
	return m, m.startRandom(p.Seed, 0)
}

// resume continues from p.
func (m *classification) resume(p *Posterior) error {
	if err := m.checkResume(p, true); err != nil {
		return err
	}
	if err := m.model.resume(p); err != nil {
		return err
	}
	m.updateTargets()
	return nil
}
