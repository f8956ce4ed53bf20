package slab

import (
	"fmt"

	"github.com/bmkl/bmkl/la"
)

// BoundGradient calls each with the derivative of the lower bound by the entries of
// the covariance of each latent function, N×N and symmetric, in ascending order:
//
//	∂L/∂K_m = ½(α_mα_mᵀ − S·B⁻¹·S),   S = Λ_m^½, B = I + S·K_m·S,
//
// so that a parameter θ on which the covariances depend has
// ∂L/∂θ = Σ_m <∂L/∂K_m, ∂K_m/∂θ>, the sum of the products of all entries. The matrix
// is overwritten by the next. Latent functions that were pruned, or whose covariance is
// no matrix, are left out.
//
// It is exact where the ascent has converged: the bound is then stationary in every
// other factor and in what is learned, and with q(φ_m) at its best its part that
// depends on K_m is ½rᵀK_mα − ½log|B|. The cost is N³ for each latent function. A fit
// with MeanOnly has no gradient.
func (f *MultiTaskFit) BoundGradient(each func(latent int, g la.Matrix[float64])) error {
	s, N := &f.Posterior.s, f.Posterior.dim.N
	if s.Factors == nil {
		return fmt.Errorf("vi: BoundGradient: the fit was MeanOnly")
	}
	ws, g := &la.Workspace{}, la.NewMatrix[float64](N, N)
	for _, m := range s.Active {
		if !s.Dense[m] {
			continue
		}
		g.CopyFrom(s.Factors[m])
		la.CholeskyInv(ws, g)
		root, alpha := s.Root.Row(m), s.Alpha.Row(m)
		for i, a := range alpha {
			row := g.Row(i)[:i+1]
			for j, v := range row {
				row[j] = 0.5 * (float64(a*alpha[j]) - float64(float64(root[i]*root[j])*v))
			}
		}
		g.MirrorLower()
		each(m, g)
	}
	return nil
}
