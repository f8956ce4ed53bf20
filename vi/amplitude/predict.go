package amplitude

import (
	"fmt"

	"github.com/bmkl/bmkl/la"
)

// Predict returns the means, C×M, and the variances, with the noise, of the targets of M new samples. Row m of cross holds
// Σ_j a_j·k_j(x_m, x_i) for the N training samples i, self[m] holds Σ_j a_j·k_j(x_m, x_m), where the kernels k_j are centred and scaled
// as the kernels of the fit. The constant is added here. cross is overwritten.
func (p *Process) Predict(w *la.Workspace, cross la.Matrix[float64], self []float64) (mean la.Matrix[float64], variance []float64, err error) {
	M, N := cross.Rows, p.Factor.Rows
	if cross.Cols != N || len(self) != M {
		return mean, nil, fmt.Errorf("vi: cross: %d×%d and %d variances where rows of %d training samples are needed", M, cross.Cols, len(self), N)
	}
	for m := range M {
		row := cross.Row(m)
		for i := range row {
			row[i]++
		}
	}
	mean = la.NewMatrix[float64](p.Alpha.Rows, M)
	la.Gemm(w, la.NoTrans, la.Transpose, 1, p.Alpha, cross, 0, mean)
	la.Trsm(w, la.Right, la.Transpose, p.Factor, cross)
	variance = make([]float64, M)
	for m := range M {
		variance[m] = max(1+self[m]-la.SumSq(cross.Row(m)), 0) + p.Noise
	}
	return mean, variance, nil
}

// Contributions are what each of V views adds to the prediction of one sample: column c of the standardised targets is
// the constant plus Σ_v of independent-by-prior functions f_vc(x), whose posterior is normal.
type Contributions struct {
	Mean       la.Matrix[float64] // C×V, E[f_vc(x)]
	Covariance la.Matrix[float64] // V×V, Cov[f_vc(x), f_uc(x)], the same for every c
}

// Contributions returns what each view adds at one new sample. Row v of cross holds Σ_j∈v a_j·k_j(x, x_i) for the N training
// samples, self[v] holds Σ_j∈v a_j·k_j(x, x). cross is overwritten.
//
// With k_v the vector of view v, the moments are E[f_vc] = k_vᵀK⁻¹y_c and Cov[f_v, f_u] = δ_vu·k_v(x, x) − k_vᵀK⁻¹k_u. The means and the
// covariances of all views add up to the prediction's, less the constant.
func (p *Process) Contributions(w *la.Workspace, cross la.Matrix[float64], self []float64) (Contributions, error) {
	V, N := cross.Rows, p.Factor.Rows
	if cross.Cols != N || len(self) != V {
		return Contributions{}, fmt.Errorf("vi: cross: %d×%d and %d variances where rows of %d training samples are needed", V, cross.Cols, len(self), N)
	}
	c := Contributions{Mean: la.NewMatrix[float64](p.Alpha.Rows, V), Covariance: la.NewMatrix[float64](V, V)}
	la.Gemm(w, la.NoTrans, la.Transpose, 1, p.Alpha, cross, 0, c.Mean)
	la.Trsm(w, la.Right, la.Transpose, p.Factor, cross)
	la.Syrk(w, la.NoTrans, -1, cross, 0, c.Covariance)
	for v, s := range self {
		row := c.Covariance.Row(v)
		row[v] = max(row[v]+s, 0)
	}
	c.Covariance.MirrorLower()
	return c, nil
}
