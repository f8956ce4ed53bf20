package mgp

import (
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// Rounding returns the share of a prediction's standard deviation by which rounding may
// have moved its mean, and at most that share of its variance, given the scales and the
// noise of the fit:
//
//	4·u·√N·κ·max(1, √q),   κ = max_n B_nn·τ,   q = yᵀB⁻¹y,   u = 2⁻⁵³,
//
// κ being the largest prior variance of a training target in units of the noise's. What is
// factored is B + E with |E_ij| of the order of u·√N·√(B_ii·B_jj), which moves a mean by
// k̄ᵀB⁻¹·E·α; see [model.Roundoff]. The factor 4 is held by tool/digits, against 256
// bits, for noise that is normal and constant. With noise of a covariance of its own, see
// [Evidence.FitSpanned], tr B⁻¹ ≥ ‖B⁻¹‖ stands for τ ≥ ‖B⁻¹‖.
func (p *Posterior) Rounding() float64 {
	var most float64
	product := make([]float64, p.dim.N) // Lᵀα
	for n := range p.dim.N {
		row := p.s.Factor.Row(n)[:n+1]
		most = max(most, la.SumSq(row))
		la.Axpy(p.s.Alpha[n], row, product[:n+1])
	}
	inverse := 1 / p.identity()
	if p.s.Samples != 0 {
		diagonal := make([]float64, p.dim.N)
		la.CholeskyInvDiag(nil, p.s.Factor, diagonal)
		inverse = conjugate.Sum(diagonal)
	}
	return 4 * work.Roundoff(p.dim.N) * most * inverse * max(1, math.Sqrt(la.SumSq(product)))
}
