package probit

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func checkPowers(t *testing.T, at func(string) string, b weights, s probitState, tol float64) {
	q, ok := b.(*powers)
	if !ok {
		return
	}
	if s.Elogb != nil {
		near(t, at("E[log β]"), s.Elogb, q.sample.meanLog, tol)
	}
	near(t, at("E[π]"), s.Epi, q.priors.pi, tol)
	near(t, at("E[χ]"), s.Echi, q.priors.chi, tol)
	if s.Ess > 0 {
		near(t, at("ESS"), s.Ess, q.effective(), tol)
	}
}

func givePowers(t *testing.T, b weights, given *probitProposals) {
	q := b.(*powers)
	q.sample.give(given.B, given.BProp)
	q.fixed = true
}

// testProduct compares the weights of a product.
func (g *importanceCase) testProduct(t *testing.T, update WeightUpdate) {
	m := g.state(t, Model{Rule: RuleWProd, Search: WeightSearchSampling, Update: update})
	q := m.beta.(*powers)
	q.sample.give(g.Product.B, g.Product.BProp)
	copy(q.priors.pi, g.Product.Epi)
	copy(q.priors.chi, g.Product.Echi)
	require.NoError(t, q.solve(m))
	moments(update, g.Product.Exact, g.Product.Plugin).check(t, "product", q.sample)
}

// testPowerPriors compares q(π) and q(χ) of a product.
func (g *importanceCase) testPowerPriors(t *testing.T) {
	p := newPowerPriors(g.Pi.Kappa, g.Chi.Xi, len(g.Pi.Elogb))
	for s, b := range g.Pi.Elogb {
		p.solvePi(s, g.Pi.Elogchi[s]+b-g.Pi.Kappa, b)
	}
	near(t, "E[π]", g.Pi.Epi, p.pi, probitWeights)
	near(t, "E[log Γ(π)]", g.Pi.ElgammaPi, p.lgammaPi, probitWeights)
	near(t, "E[log q(π)]", g.Pi.ElogQ, p.logQ, probitWeights)
	copy(p.pi, g.Chi.Epi)
	p.update(g.Chi.Eb, g.Pi.Elogb)
	assert.InDeltaSlice(t, g.Chi.Shape, p.shape, probitWeights)
	for s, r := range g.Chi.Rate {
		assert.InDelta(t, 1/r, p.scale[s], probitWeights)
	}
}
