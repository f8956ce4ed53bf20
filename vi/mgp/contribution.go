package mgp

import (
	"fmt"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// Contribution returns the posterior mean and variance of the sum of some kernels' functions, at the mean scales, for T samples.
// Arguments are as in [Posterior.Predict], and which lists the kernels. With k̄ and k̄(x,x) summed over these kernels alone:
//
//	E = k̄ᵀα,   Var = k̄(x,x) − k̄ᵀB⁻¹k̄, with sites k̄(x,x) − |L⁻¹S^½k̄|².
//
// The means of groups that have each kernel once add up to the mean of [Posterior.Predict], of a likelihood without its level.
// The variances do not: functions are correlated in the posterior.
func (p *Posterior) Contribution(k vi.Kernels, self la.Matrix[float64], which []int, workers int) (mean, variance []float64, err error) {
	if k == nil {
		return nil, nil, fmt.Errorf("vi: kernels: nil")
	}
	P, N, T := k.Dims()
	if P != p.dim.P || N != p.dim.N {
		return nil, nil, fmt.Errorf("vi: kernels: %d of %d×%d where %d with %d training samples are needed", P, N, T, p.dim.P, p.dim.N)
	}
	if self.Rows != P || self.Cols != T {
		return nil, nil, fmt.Errorf("vi: self: %d×%d where %d×%d is needed", self.Rows, self.Cols, P, T)
	}
	mean, variance = make([]float64, T), make([]float64, T)
	for i, m := range which {
		if m < 0 || m >= P {
			return nil, nil, fmt.Errorf("vi: which[%d] is %d of %d kernels", i, m, P)
		}
		la.Axpy(1/p.s.Gamma[m], self.Row(m), variance)
	}
	ws := &la.Workspace{Workers: workers}
	block := min(T, work.PredictRows)
	kbar, one := la.NewMatrix[float64](block, N), la.NewMatrix[float64](block, N)
	for first := 0; first < T; first += block {
		n := min(block, T-first)
		kn, on := kbar.Slice(0, n, 0, N), one.Slice(0, n, 0, N)
		kn.Fill(0)
		for _, m := range which {
			k.Columns(m, first, on)
			for r := range n {
				la.Axpy(1/p.s.Gamma[m], on.Row(r), kn.Row(r))
			}
		}
		la.Gemv(ws, la.NoTrans, 1, kn, p.s.Alpha, 0, mean[first:first+n])
		p.takeKnown(ws, kn, variance[first:first+n])
	}
	return mean, variance, nil
}
