package bemkl

import (
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/intermediate"
)

// layers holds what the models with common kernel weights share whose L outputs have the
// same samples, and sample weights and intermediate outputs of their own:
//
//	t_{o,i} | b, e, g ~ N(eᵀ·g_{o,i} + b_o, 1/ε_o)
//
// A model supplies υ, ε and the target t (the observed output, or the latent
// score of a classifier) and decides on the order of the updates.
type layers struct {
	*latent
	*commonWeights

	gTarget la.Matrix[float64] // L×P, Σ_i E[g]·t over observed i

	// Arguments of the present update of G: L values E[ε], and t, L×N.
	epsilon []float64
	target  la.Matrix[float64]
}

// layerPriors are the priors of what layers holds.
type layerPriors struct{ lambda, gamma, omega vi.Gamma }

// newLayers returns the factors at their priors, b at 0 and e at 1.
func newLayers(k vi.Kernels, L int, observed la.Matrix[float64], pr layerPriors, workers int) *layers {
	P, _, _ := k.Dims()
	l := &layers{
		latent:        newLatent(k, L, observed, pr.lambda, workers),
		commonWeights: newCommonWeights(L, P, pr.gamma, pr.omega),
		gTarget:       la.NewMatrix[float64](L, P),
	}
	l.memorise(&l.Memory)
	l.GTask = l.updateIntermediateOf
	return l
}

// resume sets all factors but G to the factors of an earlier posterior.
func (l *layers) resume(lambdaShape float64, lambda, a la.Matrix[float64], upsilon []float64, gamma, omega []vi.Gamma, beMean []float64, beCov la.Matrix[float64]) error {
	if err := l.commonWeights.resume(gamma, omega, beMean, beCov); err != nil {
		return err
	}
	return l.latent.Resume(lambdaShape, lambda, a, upsilon)
}

// updateIntermediate is q(g_{o,i}) = N(Σ(υ_o·h_i + ε_o(t_i·E[e] − E[b_o·e])), Σ),
// Σ = (υ_o·I + ε_o·E[e·eᵀ])^-1, and for missing targets N(h_i, I/υ_o).
func (l *layers) updateIntermediate(upsilon, epsilon []float64, target la.Matrix[float64]) error {
	l.take(upsilon, epsilon, target)
	l.DistanceStale = false // every output's task renews it
	return l.Crew.Each(l.GTask)
}

// take notes the arguments of the update of G, which bounds of their round-off read too.
func (l *layers) take(upsilon, epsilon []float64, target la.Matrix[float64]) {
	l.Upsilon, l.epsilon, l.target = upsilon, epsilon, target
}

// updateIntermediateOf is updateIntermediate for output o.
func (l *layers) updateIntermediateOf(w *intermediate.Worker, o int) error {
	return l.intermediateOf(w, o, &l.reads[o], l.epsilon[o], l.target.Row(o), l.gTarget.Row(o))
}

// residual returns Σ_i E[(t_{o,i} − eᵀg_{o,i} − b_o)²] over observed i, without
// the variance of t.
func (l *layers) residual(o int, target la.Matrix[float64]) float64 {
	return l.latent.residual(o, o, &l.reads[o], target.Row(o))
}

// updateCombination is q(b, e), see [commonWeights].
func (l *layers) updateCombination(epsilon []float64, target la.Matrix[float64]) error {
	l.beginCombination()
	for o := range l.L {
		l.combine(o, l.latent, o, epsilon[o], target.Row(o), l.gTarget.Row(o))
	}
	return l.endCombination(&l.Crew.All)
}

// rescale moves along the posterior's ridge: (a, g) ← c·(a, g), e ← e/c,
// λ ← λ/c², ω ← c²·ω with s = c². The model rescales its υ by 1/s.
func (l *layers) rescale(s float64) {
	l.latent.rescale(s)
	la.Scal(math.Sqrt(s), l.gTarget.Data)
	l.commonWeights.rescale(s)
}

// Roundoff implements [vi.Objective]: it sums the round-off of latent, of the precision of b and e,
// and of the fitted values eᵀg + b.
func (l *layers) Roundoff() float64 {
	sum := l.latent.Roundoff() + l.roundoff()
	for o, eps := range l.epsilon {
		sum += l.fitRoundoff(o, l.latent, o, eps)
	}
	return sum
}

// bound returns the part of the lower bound that does not depend on υ, ε or the
// target: the terms of λ, a, γ, ω, b, e and the entropy of g.
func (l *layers) bound() float64 { return l.latent.Bound() + l.commonWeights.bound() }
