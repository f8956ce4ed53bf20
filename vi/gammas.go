package vi

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// gammas is a row of independent gamma factors with a common prior and, as in
// every model here, a common shape.
type gammas struct {
	prior Gamma
	shape float64
	scale []float64

	psi   float64 // ψ(shape)
	fixed float64 // the part of one factor's bound term that no update changes
}

func newGammas(prior Gamma, shape float64, n int) gammas {
	g := gammas{prior: prior, shape: shape, scale: make([]float64, n), psi: special.Digamma(shape)}
	ls, _ := math.Lgamma(shape)
	lp, _ := math.Lgamma(prior.Shape)
	g.fixed = (prior.Shape-shape)*g.psi + (ls - lp) + shape
	for i := range g.scale {
		g.scale[i] = prior.Scale
	}
	return g
}

// observe sets factor i after the data added half to its rate:
// 1/scale = 1/prior scale + half.
func (g *gammas) observe(i int, half float64) { g.scale[i] = 1 / (1/g.prior.Scale + half) }

func (g *gammas) mean(i int) float64    { return g.shape * g.scale[i] }
func (g *gammas) meanLog(i int) float64 { return g.psi + math.Log(g.scale[i]) }
func (g *gammas) at(i int) Gamma        { return Gamma{g.shape, g.scale[i]} }

// resume gives factor i the mean of g.
func (g *gammas) resume(i int, from Gamma) { g.scale[i] = from.Mean() / g.shape }

// bound returns Σ E[log p(x_i)] − E[log q(x_i)], the factors' own term of the
// lower bound (minus their divergence from the prior):
//
//	(α0−α)ψ(α) + log Γ(α)/Γ(α0) + α + α0·log(β/β0) − α·β/β0.
//
// With β ≤ β0 each part stays of moderate size for priors as extreme as
// (1e-10, 1e±10).
func (g *gammas) bound() float64 {
	var logs, ratios float64
	for _, s := range g.scale {
		logs += math.Log(s / g.prior.Scale)
		ratios += s / g.prior.Scale
	}
	return float64(len(g.scale))*g.fixed + g.prior.Shape*logs - g.shape*ratios
}
