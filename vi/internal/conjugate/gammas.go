package conjugate

import (
	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// Gammas is a row of independent gamma factors with a common prior and, as in
// every model here, a common shape.
type Gammas struct {
	Prior vi.Gamma
	Shape float64
	Scale []float64

	Psi   float64 // ψ(Shape)
	fixed float64 // the part of one factor's bound term that no update changes
}

// NewGammas returns n factors of the given prior and shape, at the prior's scale.
func NewGammas(prior vi.Gamma, shape float64, n int) Gammas {
	g := Gammas{Scale: make([]float64, n)}
	g.SetPrior(prior, shape)
	for i := range g.Scale {
		g.Scale[i] = prior.Scale
	}
	return g
}

// SetPrior changes the prior and the shape of all factors. Their scales stay.
func (g *Gammas) SetPrior(prior vi.Gamma, shape float64) {
	g.Prior, g.Shape, g.Psi = prior, shape, special.Digamma(shape)
	ls := special.LogGamma(shape)
	lp := special.LogGamma(prior.Shape)
	g.fixed = float64((prior.Shape-shape)*g.Psi) + (ls - lp) + shape
}

// Observe sets factor i to its optimum given the other factors: to the rate of its
// prior, 1/Scale, the data add half, in most models half an expected sum of squares.
func (g *Gammas) Observe(i int, half float64) { g.Scale[i] = 1 / (1/g.Prior.Scale + half) }

// Mean returns E[x_i].
func (g *Gammas) Mean(i int) float64 { return float64(g.Shape * g.Scale[i]) }

// MeanLog returns E[log x_i].
func (g *Gammas) MeanLog(i int) float64 { return g.Psi + special.Log(g.Scale[i]) }

// At returns factor i.
func (g *Gammas) At(i int) vi.Gamma { return vi.Gamma{Shape: g.Shape, Scale: g.Scale[i]} }

// Resume gives factor i the mean of another distribution; its shape stays.
func (g *Gammas) Resume(i int, from vi.Gamma) { g.Scale[i] = from.Mean() / g.Shape }

// Bound returns Σ E[log p(x_i)] − E[log q(x_i)], the factors' own term of the
// lower bound (minus their divergence from the prior):
//
//	(α0−α)ψ(α) + log Γ(α)/Γ(α0) + α + α0·log(β/β0) − α·β/β0.
//
// With β ≤ β0 each part stays of moderate size for priors as extreme as
// (1e-10, 1e±10).
func (g *Gammas) Bound() float64 {
	var logs, ratios float64
	for _, s := range g.Scale {
		logs += special.Log(s / g.Prior.Scale)
		ratios += s / g.Prior.Scale
	}
	return float64(float64(len(g.Scale))*g.fixed) + float64(g.Prior.Shape*logs) - float64(g.Shape*ratios)
}

// Snapshot names the factors and what they are made of.
func (g *Gammas) Snapshot(s *work.Snapshot) {
	s.Same(g.Prior.Shape, g.Prior.Scale, g.Shape)
	s.Floats(g.Scale)
}
