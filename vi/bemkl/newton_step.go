package bemkl

import (
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/intermediate"
)

// How often newtonStep takes λ anew, the most steps of conjugate gradients with each, and
// the share of the squared residual that suffices.
const (
	newtonPasses = 3
	newtonSteps  = 16
	newtonRest   = 1e-2
)

// formComposite stores the composite kernel K_e = Σ_m E[e_m]·K_m.
func (p *plane) formComposite() {
	p.K.Sum(&p.Crew.All, p.outputs[0].e(), p.composite)
}

// newtonStep replaces the step z = (Λ + υS)⁻¹·υ·response of row r, which the factor of the
// worker has just given, by nearly the one to the maximum of the bound with G, b, λ and Cov[a]
// following. With G following, minus the second derivative is
//
//	M = Λ + Σ_i K_i·W·K_iᵀ,  W = υ·pull·Cov[g],  K_i the D×P matrix of sample i.
//
// Where one output reads G, and its kernel weights are well determined, W is nearly
// w·E[e]E[e]ᵀ, w = E[e]ᵀ·W·E[e]/|E[e]|⁴. With b following too, the function is only held but for
// a constant, and
//
//	M ≈ Λ + w·K_e·(I − 1·1ᵀ/(n + γ/w))·K_eᵀ,
//
// K_e the composite kernel over the n observed samples. Where several do, W has a rank of several,
// and M ≈ Λ + w·S, w = tr W/P. The system is solved by conjugate gradients with the factor as
// preconditioner, then again with the λ that are best at a + z. Any z will do: how far to
// go along it is decided by the true bound.
func (p *plane) newtonStep(w *intermediate.Worker, r int) {
	own := &p.scratch[w.Index]
	weight := p.curvature(w, r)
	if !(weight > 0) {
		return
	}
	prior, upsilon := p.Lambda.Prior, p.Upsilon[r]
	a, z, response, slope := p.AMean.Row(r), p.step.Row(r), p.Response.Row(r), p.Slope.Row(r)
	rest, product, lambda, scale := own.cg[0], own.cg[2], own.cg[3], w.D1
	clear(z)
	for pass := range newtonPasses {
		for d, v := range slope {
			x := a[d] + z[d]
			lambda[d], _ = bestPrecision(prior.Shape, 1/prior.Scale+float64(0.5*float64(x*x)), upsilon*v)
			scale[d] = 1 / math.Sqrt(lambda[d])
			rest[d] = float64(upsilon*response[d]) + float64((p.Lambda.Mean(r*p.D+d)-lambda[d])*a[d])
		}
		if pass > 0 {
			p.multiply(w, r, weight, z)
			la.Axpy(-1, product, rest)
		}
		p.conjugateGradients(w, r, weight)
	}
}

// curvature returns w of newtonStep.
func (p *plane) curvature(w *intermediate.Worker, r int) float64 {
	own := &p.scratch[w.Index]
	var sum float64
	if p.M > 1 {
		for m := range p.P {
			sum += la.Dot(p.Pull[r].Row(m), p.GCov[r].Row(m))
		}
		return p.Upsilon[r] * sum / float64(p.P)
	}
	e := p.outputs[r].e()
	la.Gemv(&w.WS, la.NoTrans, 1, p.GCov[r], e, 0, w.P1)
	la.Gemv(&w.WS, la.NoTrans, p.Upsilon[r], p.Pull[r], w.P1, 0, own.p2)
	norm := la.SumSq(e)
	return la.Dot(e, own.p2) / (norm * norm)
}

// multiply stores the product of the approximate M and x in own.cg[2].
func (p *plane) multiply(w *intermediate.Worker, r int, weight float64, x []float64) {
	own := &p.scratch[w.Index]
	product, lambda := own.cg[2], own.cg[3]
	if p.M > 1 {
		la.Symv(&w.WS, weight, p.latent.Gram, x, 0, product)
	} else {
		la.Gemv(&w.WS, la.Transpose, 1, p.composite, x, 0, w.N1)
		p.MaskMissing(r, w.N1)
		p.Subtract(p.SumOver(w.N1)/(p.Count[r]+p.gamma.Mean(r)/weight), w.N1)
		p.MaskMissing(r, w.N1)
		la.Gemv(&w.WS, la.NoTrans, weight, p.composite, w.N1, 0, product)
	}
	for d, v := range x {
		product[d] += float64(lambda[d] * v)
	}
}

// conjugateGradients adds to z what is left of the solution, given the residual own.cg[0].
func (p *plane) conjugateGradients(w *intermediate.Worker, r int, weight float64) {
	own := &p.scratch[w.Index]
	z, rest, way, product, solved := p.step.Row(r), own.cg[0], own.cg[1], own.cg[2], w.D2
	p.precondition(w, rest, way)
	square := la.Dot(rest, way)
	enough := newtonRest * square
	for range newtonSteps {
		p.multiply(w, r, weight, way)
		bend := la.Dot(way, product)
		if !(bend > 0) {
			return
		}
		length := square / bend
		la.Axpy(length, way, z)
		la.Axpy(-length, product, rest)
		p.precondition(w, rest, solved)
		next := la.Dot(rest, solved)
		if !(next > enough) {
			return
		}
		la.Scal(next/square, way)
		la.Axpy(1, solved, way)
		square = next
	}
}

// precondition stores Λ^-½·B⁻¹·Λ^-½·x in y, with B as of the last factorisation and the present Λ.
func (p *plane) precondition(w *intermediate.Worker, x, y []float64) {
	for d, s := range w.D1 {
		y[d] = s * x[d]
	}
	la.CholeskySolveVec(w.Factor, y)
	for d, s := range w.D1 {
		y[d] *= s
	}
}
