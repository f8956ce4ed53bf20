package probit

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/golden"
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

func goldenPowers(t *testing.T, d probitData, update WeightUpdate, W, Y golden.Mat, setV func(*model), b golden.Mat, prop, epi, echi golden.Vec, check func(*importance)) {
	m := goldenState(t, Model{Rule: WProd, Search: Sampling, Update: update}, d, W, Y)
	setV(m)
	q := m.beta.(*powers)
	q.sample.give(b, prop)
	copy(q.priors.pi, epi)
	copy(q.priors.chi, echi)
	require.NoError(t, q.solve(m))
	check(q.sample)
}

func goldenPowerPriors(t *testing.T, elogb, elogchi golden.Vec, kappa float64, epi, elgamma, elogq, cepi, ceb golden.Vec, xi float64, shape, rate golden.Vec) {
	p := newPowerPriors(kappa, xi, len(elogb))
	for s := range elogb {
		p.solvePi(s, elogchi[s]+elogb[s]-kappa, elogb[s])
	}
	near(t, "E[π]", epi, p.pi, probitWeights)
	near(t, "E[log Γ(π)]", elgamma, p.lgammaPi, probitWeights)
	near(t, "E[log q(π)]", elogq, p.logQ, probitWeights)
	copy(p.pi, cepi)
	p.update(ceb, elogb)
	assert.InDeltaSlice(t, shape, p.shape, probitWeights)
	for s, r := range rate {
		assert.InDelta(t, 1/r, p.scale[s], probitWeights)
	}
}
