package mgp

import (
	"fmt"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// Joint returns the posterior covariance, T×T, of the function at T samples, at the mean scales. k is as in
// [Posterior.Predict], and among has the P kernels between the samples, T×T each. With k̄ and k̄(x,x') summed over
// the kernels
//
//	Cov[f(x), f(x')] = k̄(x,x') − k̄(x)ᵀB⁻¹k̄(x'), with sites k̄(x,x') − (L⁻¹S^½k̄(x))ᵀ(L⁻¹S^½k̄(x')).
//
// Its diagonal is the variance of the function that Predict returns. The cost is N²·T + N·T².
func (p *Posterior) Joint(k vi.Kernels, among []la.Matrix[float64], workers int) (la.Matrix[float64], error) {
	none := la.Matrix[float64]{}
	if k == nil {
		return none, fmt.Errorf("vi: kernels: nil")
	}
	P, N, T := k.Dims()
	if P != p.dim.P || N != p.dim.N {
		return none, fmt.Errorf("vi: kernels: %d of %d×%d where %d with %d training samples are needed", P, N, T, p.dim.P, p.dim.N)
	}
	if len(among) != P {
		return none, fmt.Errorf("vi: among: %d matrices where %d are needed", len(among), P)
	}
	cov, kbar, one := la.NewMatrix[float64](T, T), la.NewMatrix[float64](T, N), la.NewMatrix[float64](T, N)
	for i, g := range p.s.Gamma {
		if among[i].Rows != T || among[i].Cols != T {
			return none, fmt.Errorf("vi: among[%d]: %d×%d where %d×%d is needed", i, among[i].Rows, among[i].Cols, T, T)
		}
		k.Columns(i, 0, one)
		for r := range T {
			la.Axpy(1/g, one.Row(r), kbar.Row(r))
			la.Axpy(1/g, among[i].Row(r), cov.Row(r))
		}
	}
	ws := &la.Workspace{Workers: workers}
	p.whiten(ws, kbar)
	la.Syrk(ws, la.NoTrans, -1, kbar, 1, cov)
	for i := range T {
		cov.Set(i, i, max(0, cov.At(i, i)))
	}
	cov.MirrorLower()
	return cov, nil
}
