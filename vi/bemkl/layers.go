package bemkl

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// layers holds what the models with common kernel weights share, for L outputs
// with sample weights and intermediate outputs of their own:
//
//	γ_o, ω_m ~ Gamma, b_o | γ ~ N(0, 1/γ_o), e_m | ω ~ N(0, 1/ω_m)
//	t_{o,i} | b, e, g ~ N(eᵀ·g_{o,i} + b_o, 1/ε_o)
//
// A model supplies υ, ε and the target t (the observed output, or the latent
// score of a classifier) and decides on the order of the updates.
type layers struct {
	*latent
	L int

	gTarget la.Matrix[float64] // L×P, Σ_i E[g]·t over observed i
	gamma   conjugate.Gammas   // L
	omega   conjugate.Gammas   // P
	be      conjugate.Gaussian // of (b_1 … b_L, e_1 … e_P)
	ee      la.Matrix[float64] // P×P, E[e·eᵀ]
	rhs     []float64          // L+P, scratch

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
		latent:  newLatent(k, L, observed, pr.lambda, workers),
		L:       L,
		gTarget: la.NewMatrix[float64](L, P),
		gamma:   conjugate.NewGammas(pr.gamma, pr.gamma.Shape+0.5, L),
		omega:   conjugate.NewGammas(pr.omega, pr.omega.Shape+0.5, P),
		be:      conjugate.NewGaussian(L + P),
		ee:      la.NewMatrix[float64](P, P),
		rhs:     make([]float64, L+P),
	}
	l.memory.Of(l.gamma.Scale, l.omega.Scale, l.be.Mean, l.be.Cov.Data)
	l.gTask = l.updateIntermediateOf
	for m := range P {
		l.be.Mean[L+m] = 1
	}
	l.updateEE()
	return l
}

// resume sets all factors but G to those of an earlier posterior.
func (l *layers) resume(lambdaShape float64, lambda, a la.Matrix[float64], upsilon []float64, gamma, omega []vi.Gamma, beMean []float64, beCov la.Matrix[float64]) error {
	for o := range l.L {
		l.gamma.Resume(o, gamma[o])
	}
	for m := range l.P {
		l.omega.Resume(m, omega[m])
	}
	if err := l.be.Resume(beMean, beCov); err != nil {
		return fmt.Errorf("vi: From: covariance of bias and kernel weights: %w", err)
	}
	l.updateEE()
	return l.latent.resume(lambdaShape, lambda, a, upsilon)
}

// updateIntermediate is q(g_{o,i}) = N(Σ(υ_o·h_i + ε_o(t_i·E[e] − E[b_o·e])), Σ),
// Σ = (υ_o·I + ε_o·E[e·eᵀ])^-1, and for missing targets N(h_i, I/υ_o).
func (l *layers) updateIntermediate(upsilon, epsilon []float64, target la.Matrix[float64]) error {
	l.upsilon, l.epsilon, l.target = upsilon, epsilon, target
	l.distanceStale = false // every output's task renews it
	return l.crew.Each(l.gTask)
}

// updateIntermediateOf is updateIntermediate for output o.
func (l *layers) updateIntermediateOf(w *worker, o int) error {
	P, epsilon := l.P, l.epsilon[o]
	e, b := l.be.Mean[l.L:], l.be.Mean[o]
	l.pull[o].CopyFrom(l.ee)
	for m := range P {
		la.Scal(epsilon, l.pull[o].Row(m))
		w.p1[m] = epsilon * (float64(b*e[m]) + l.be.Cov.At(o, l.L+m)) // ε·E[b·e]
	}
	if err := l.beginIntermediate(w, o, w.p1); err != nil {
		return err
	}
	g, t := l.rows(l.gMean, o), l.target.Row(o)
	for m := range P {
		row := g.Row(m)
		la.Axpy(epsilon*la.Dot(w.small.Cov.Row(m), e), t, row)
		l.subtract(w.small.Mean[m], row)
	}
	if err := l.endIntermediate(w, o); err != nil {
		return err
	}
	la.Gemv(&w.ws, la.NoTrans, 1, g, t, 0, l.gTarget.Row(o)) // t is 0 where it is missing
	return nil
}

// updateGamma is q(γ_o) = Gamma(α_γ + ½, (1/β_γ + E[b_o²]/2)^-1).
func (l *layers) updateGamma() {
	for o := range l.L {
		l.gamma.Observe(o, float64(0.5*l.be.Square(o)))
	}
}

// updateOmega is q(ω_m) = Gamma(α_ω + ½, (1/β_ω + E[e_m²]/2)^-1).
func (l *layers) updateOmega() {
	for m := range l.P {
		l.omega.Observe(m, float64(0.5*l.be.Square(l.L+m)))
	}
}

// residual returns Σ_i E[(t_{o,i} − eᵀg_{o,i} − b_o)²] over observed i, without
// the variance of t. With x = (1, g) and w = (b_o, e) it is
// Σ (t − E[w]ᵀE[x])² + tr(Cov[w]·ΣE[x]E[x]ᵀ) + n·tr(Cov[g]·E[eeᵀ]),
// a sum of parts that are not negative.
func (l *layers) residual(o int, target la.Matrix[float64]) float64 {
	P, r := l.P, l.crew.Workers[0].n1
	b := l.be.Mean[o]
	copy(r, target.Row(o))
	l.addFit(o, o, l.be.Mean[l.L:], -1, r)
	l.subtract(b, r)
	if l.observed.Rows > 0 {
		for i, z := range l.observed.Row(o) {
			r[i] *= z
		}
	}
	var spread, within float64
	for m := range P {
		cov := l.be.Cov.Row(l.L + m)
		spread += 2 * float64(cov[o]*l.gSum.At(o, m))
		spread += la.Dot(cov[l.L:], l.gGram[o].Row(m))
		within += la.Dot(l.gCov[o].Row(m), l.ee.Row(m))
	}
	spread += float64(l.count[o] * l.be.Cov.At(o, o))
	return la.SumSq(r) + spread + float64(l.count[o]*within)
}

// updateCombination is q(b, e): precision
//
//	[ diag(γ) + diag(n_o·ε_o)   ε_o·ΣE[g_o]ᵀ              ]
//	[ .                         diag(ω) + Σ_o ε_o·E[G_o G_oᵀ] ]
//
// and right side [ε_o·Σt_o ; Σ_o ε_o·ΣE[g_o]·t_o], sums over observed samples.
func (l *layers) updateCombination(epsilon []float64, target la.Matrix[float64]) error {
	L, P, prec := l.L, l.P, l.be.Cov
	prec.Fill(0)
	for m := range P {
		prec.Set(L+m, L+m, l.omega.Mean(m))
		l.rhs[L+m] = 0
	}
	for o := range L {
		eps := epsilon[o]
		prec.Set(o, o, l.gamma.Mean(o)+float64(l.count[o]*eps))
		l.rhs[o] = eps * l.sumOver(target.Row(o))
		la.Axpy(eps, l.gTarget.Row(o), l.rhs[L:])
		for m := range P {
			row := prec.Row(L + m)
			row[o] = eps * l.gSum.At(o, m)
			la.Axpy(eps, l.gGram[o].Row(m), row[L:])
			la.Axpy(float64(eps*l.count[o]), l.gCov[o].Row(m), row[L:])
		}
	}
	if err := l.be.SetPrecision(&l.crew.All, l.rhs); err != nil {
		return fmt.Errorf("bias and kernel weights: %w", err)
	}
	l.updateEE()
	return nil
}

// updateEE forms E[e·eᵀ].
func (l *layers) updateEE() {
	e := l.be.Mean[l.L:]
	for m := range l.P {
		row := l.ee.Row(m)
		copy(row, l.be.Cov.Row(l.L + m)[l.L:])
		la.Axpy(e[m], e, row)
	}
}

// rescale moves along the posterior's ridge: (a, g) ← c·(a, g), e ← e/c,
// λ ← λ/c², ω ← c²·ω with s = c². The model rescales its υ by 1/s.
func (l *layers) rescale(s float64) {
	l.latent.rescale(s)
	c := math.Sqrt(s)
	la.Scal(c, l.gTarget.Data)
	la.Scal(s, l.omega.Scale)
	l.be.Rescale(1/c, l.L)
	la.Scal(1/s, l.ee.Data)
}

// Roundoff implements [vi.Objective]: that of latent, of the precision of b and e, and
// of the fitted values eᵀg + b, whose residuals are of the size of the noise.
func (l *layers) Roundoff() float64 {
	sum := l.latent.Roundoff() + float64(work.Roundoff(l.L+l.P)*2*l.be.Spread)
	for o, eps := range l.epsilon {
		size := float64(l.count[o] * l.be.Mean[o] * l.be.Mean[o])
		for m := range l.P {
			e := l.be.Mean[l.L+m]
			size += float64(float64(e*e) * l.gGram[o].At(m, m))
		}
		sum += work.Difference(l.P+1, eps, l.count[o]/eps, size)
	}
	return sum
}

// readouts returns how the outputs read their intermediate outputs.
func (l *layers) readouts() []readout {
	q := make([]readout, l.L)
	for o := range q {
		q[o] = readout{be: &l.be, bias: o, weights: l.L, ee: l.ee}
	}
	return q
}

// bound returns the part of the lower bound that does not depend on υ, ε or the
// target: the terms of λ, a, γ, ω, b, e and the entropy of g.
func (l *layers) bound() float64 {
	sum := l.latent.bound() + l.gamma.Bound() + l.omega.Bound()
	for o := range l.L {
		sum += float64(0.5 * (l.gamma.MeanLog(o) - conjugate.Log2Pi - float64(l.gamma.Mean(o)*l.be.Square(o))))
	}
	for m := range l.P {
		sum += float64(0.5 * (l.omega.MeanLog(m) - conjugate.Log2Pi - float64(l.omega.Mean(m)*l.be.Square(l.L+m))))
	}
	return sum + l.be.Entropy()
}
