package mgp

import (
	"math"

	"github.com/bmkl/bmkl/la"
)

// BoundGradient calls each with the derivative of the bound by the entries of each
// kernel, N×N and symmetric, in their order:
//
//	∂L/∂K_p = ½(ααᵀ − R)/E[γ_p],   R = B⁻¹, or S^½·B⁻¹·S^½ with sites,
//
// so that a parameter θ on which the kernels depend has ∂L/∂θ = Σ_p <∂L/∂K_p, ∂K_p/∂θ>,
// the sum of the products of all entries. The matrix is overwritten by the next. After a
// fit by the [Evidence] L is the log evidence at the scales that were found.
//
// It is exact where the ascent has converged: the posterior is then stationary, and
// only the kernels' own part of (D19) is left. It costs one inverse, and N² for each
// kernel.
func (f *Fit) BoundGradient(each func(kernel int, g la.Matrix[float64])) error {
	s, N := &f.Posterior.s, f.Posterior.dim.N
	inverse, g := s.Factor.Clone(), la.NewMatrix[float64](N, N)
	la.CholeskyInv(&la.Workspace{}, inverse)
	for p, gamma := range s.Gamma {
		c := 0.5 / gamma
		for i, a := range s.Alpha {
			row, r := g.Row(i), inverse.Row(i)
			for j, b := range s.Alpha[:i+1] {
				v := r[j]
				if s.Sites != nil {
					v *= math.Sqrt(s.Sites[i] * s.Sites[j])
				}
				row[j] = c * (float64(a*b) - v)
			}
		}
		g.MirrorLower()
		each(p, g)
	}
	return nil
}
