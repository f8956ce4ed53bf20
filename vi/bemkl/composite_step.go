package bemkl

import "github.com/bmkl/bmkl/la"

// The most steps of compositeStep, and the share of the squared residual that suffices.
const (
	compositeSteps = 16
	compositeRest  = 1e-2
)

// formComposite stores the composite kernel K_e = Σ_m E[e_m]·K_m.
func (p *plane) formComposite() {
	p.k.Sum(&p.crew.All, p.outputs[0].e(), p.composite)
}

// compositeStep replaces the step z = (Λ + υS)⁻¹·υ·response of row r, which the factor of
// the worker has just given, by nearly that of Newton's method with G following,
// M⁻¹·υ·response. Where the kernel weights are well determined W ≈ w·E[e]E[e]ᵀ, and so
//
//	M = Λ + Σ_i K_i·W·K_iᵀ ≈ Λ + w·K_e·K_eᵀ,  w = E[e]ᵀ·W·E[e] / |E[e]|⁴,
//
// K_e the composite kernel over observed samples. That system is solved by conjugate
// gradients with the factor as preconditioner, each step two products with one matrix of
// D×N and one solve. Any z will do: how far to go along it is decided by the true bound.
func (p *plane) compositeStep(w *worker, r int) {
	e, cov := p.outputs[r].e(), p.gCov[r]
	norm := la.SumSq(e)
	la.Gemv(&w.ws, la.NoTrans, 1, cov, e, 0, w.p1)
	copy(w.p2, w.p1)
	la.Gemv(&w.ws, la.NoTrans, p.upsilon[r], p.pull[r], w.p2, 0, w.p1)
	weight := la.Dot(e, w.p1) / (norm * norm)
	if !(weight > 0) {
		return
	}

	z, scale, lambda := p.step.Row(r), w.d1, p.lambda.Scale[r*p.D:(r+1)*p.D]
	rest, way, curve, solved := w.cg[0], w.cg[1], w.cg[2], w.d2
	for d, v := range p.response.Row(r) {
		rest[d] = p.upsilon[r] * v
	}
	copy(way, z)
	square := la.Dot(rest, way)
	enough := compositeRest * square
	clear(z)
	for range compositeSteps {
		la.Gemv(&w.ws, la.Transpose, 1, p.composite, way, 0, w.n1)
		if p.count[r] < p.size {
			for i, seen := range p.observed.Row(r) {
				w.n1[i] *= seen
			}
		}
		la.Gemv(&w.ws, la.NoTrans, weight, p.composite, w.n1, 0, curve)
		for d, v := range way {
			curve[d] += float64(p.lambda.Shape*lambda[d]) * v
		}
		bend := la.Dot(way, curve)
		if !(bend > 0) {
			return
		}
		length := square / bend
		la.Axpy(length, way, z)
		la.Axpy(-length, curve, rest)
		for d, v := range rest {
			solved[d] = scale[d] * v
		}
		la.CholeskySolveVec(w.factor, solved)
		for d := range solved {
			solved[d] *= scale[d]
		}
		next := la.Dot(rest, solved)
		if !(next > enough) {
			return
		}
		la.Scal(next/square, way)
		la.Axpy(1, solved, way)
		square = next
	}
}
