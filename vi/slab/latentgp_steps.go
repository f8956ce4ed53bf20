package slab

import (
	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/roots"
)

// objective returns the bound's part that depends on K once q(φ) is at its best,
// up to a constant, at log ℓ = t, and its derivative by t:
//
//	G = ½rᵀKα − ½log|B| + hᵀm − ½mᵀΛm,
//	dG/dt = ½αᵀK'α − ½tr(S·B⁻¹·S·K'),   K' = K∘d/ℓ.
//
// The last two terms of G do not depend on t and are left out. It leaves f.alpha
// overwritten.
func (f *latentGP) objective(ws *la.Workspace, g *latentScratch, t float64) (value, slope float64, err error) {
	length := special.Exp(t)
	f.fill(g, length)
	logDet, err := f.solve(ws, g)
	if err != nil {
		return 0, 0, err
	}
	for n, s := range g.s {
		value += float64(float64(g.t[n]*s) * g.ka[n])
	}
	value = 0.5 * (value - logDet)
	la.CholeskyInv(ws, g.b)
	for i, si := range g.s {
		k, d, b := g.k.Row(i)[:i+1], f.cov.k.Row(i)[:i+1], g.b.Row(i)[:i+1]
		ai := f.alpha[i]
		var sum float64
		for j, v := range k[:i] {
			sum += float64(float64(v*d[j]) * (float64(ai*f.alpha[j]) - float64(float64(si*g.s[j])*b[j])))
		}
		slope += sum + float64(0.5*float64(float64(k[i]*d[i])*(float64(ai*ai)-float64(float64(si*si)*b[i]))))
	}
	return value, slope / length, nil
}

// Steps of the search for a maximum: the first, by how much they grow, and the
// longest.
const (
	firstLengthStep = 0.25
	lengthGrowth    = 1.5
	lastLengthStep  = 2
)

// climb moves ℓ to a maximum of the bound over ℓ and q(φ) jointly, given f.lambda
// and h. q(φ) must be updated afterwards.
//
// Source: M. Lázaro-Gredilla and M. K. Titsias, "Variational heteroscedastic
// Gaussian process regression", ICML 2011 (the marginalised variational step).
func (f *latentGP) climb(ws *la.Workspace, g *latentScratch, h []float64, tol float64) error {
	f.residual(g, h)
	to, err := uphill(func(t float64) (float64, float64, error) { return f.objective(ws, g, t) },
		special.Log(f.length), special.Log(f.cov.least), special.Log(f.cov.most), tol)
	if err == nil && to != special.Log(f.length) {
		f.length = min(max(special.Exp(to), f.cov.least), f.cov.most)
	}
	return err
}

// slabWeights is what a scale step needs to know of the weights: Σγ and Σγ(μ²+v)
// of the latent function's own weights and of all others, and σ_w², which if it is
// not held moves along.
type slabWeights struct {
	own, rest pairSums
	variance  float64
	held      bool
}

// objective returns the bound's part that depends on the own weights' scale and
// on σ_w² at its best, where the squares of the weights are multiplied by e^x, and
// its derivative by x.
func (w *slabWeights) objective(x float64) (value, slope float64) {
	power := float64(special.Exp(x) * w.own.slabPower)
	if w.held {
		return 0.5 * (float64(w.own.included*x) - power/w.variance), 0.5 * (w.own.included - power/w.variance)
	}
	count, all := w.own.included+w.rest.included, power+w.rest.slabPower
	return 0.5 * (float64(w.own.included*x) - float64(count*special.Log(all))), 0.5 * (w.own.included - float64(count*(power/all)))
}

// scale returns the x for which the bound is highest when the latent function's
// weights are multiplied by e^{x/2} and q(φ) follows, given f.lambda and h of the
// present weights: Λ becomes e^x·Λ and S⁻¹r stays. Coordinate ascent creeps along
// this ridge, on which the likelihood is constant if φ shrinks as w grows. With
// C = e^x·S·K·S and B = I + C
//
//	G = ½rᵀKα − ½log|B|,   dG/dx = ½αᵀKα − ½tr(I − B⁻¹).
//
// The prior's mean must be zero.
func (f *latentGP) scale(ws *la.Workspace, g *latentScratch, h []float64, w slabWeights, tol float64) (float64, error) {
	if f.form != nil {
		if x, ok := f.scaleUniform(g, h, w, tol); ok {
			return x, nil
		}
	}
	f.fill(g, f.length)
	f.residual(g, h)
	copy(g.root, g.s)
	return uphill(func(x float64) (value, slope float64, err error) {
		c := special.Exp(0.5 * x)
		for n, s := range g.root {
			g.s[n] = c * s
		}
		logDet, err := f.solve(ws, g)
		if err != nil {
			return 0, 0, err
		}
		la.CholeskyInvDiag(ws, g.b, g.diag)
		for n, s := range g.s {
			value += float64(float64(g.t[n]*s) * g.ka[n])
			slope -= 1 - g.diag[n]
		}
		v, d := w.objective(x)
		return v + float64(0.5*(value-logDet)), d + float64(0.5*(slope+la.Dot(f.alpha, g.ka))), nil
	}, 0, -maxScale, maxScale, tol)
}

// maxScale is the most that a step changes the logarithm of the weights' squares.
const maxScale = 10

// uphill returns where the function f, given with its derivative, has a maximum
// between least and most: uphill from the given point in growing steps until the
// slope changes its sign, then to the root, within tol, or to the end of the range.
// If that is not higher, it is the point given.
func uphill(f func(t float64) (value, slope float64, err error), from, least, most, tol float64) (float64, error) {
	before, slope, err := f(from)
	if err != nil || slope == 0 {
		return from, err
	}
	up, edge := 1.0, most
	if slope < 0 {
		up, edge = -1, least
	}
	at, to, step := from, from, firstLengthStep
	for at != edge {
		to = at + float64(up*step)
		if up*(to-edge) > 0 {
			to = edge
		}
		if _, slope, err = f(to); err != nil {
			return from, err
		}
		if up*slope <= 0 {
			to = roots.FindWithin(func(t float64) float64 {
				_, s, e := f(t)
				if e != nil {
					err = e
				}
				return -up * s
			}, at, to, tol)
			break
		}
		at, step = to, min(step*lengthGrowth, lastLengthStep)
	}
	if err != nil || to == from {
		return from, err
	}
	after, _, err := f(to)
	if err != nil || after < before-1e-10 {
		return from, err
	}
	return to, nil
}
