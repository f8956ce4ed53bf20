package amplitude

import (
	"fmt"

	"github.com/bmkl/bmkl/la"
)

// Predict returns the means, C×M, and the variances, with the noise, of the targets of M new samples. Row m of cross holds
// Σ_j a_j·k_j(x_m, x_i) for the N training samples i, self[m] holds Σ_j a_j·k_j(x_m, x_m), where the kernels k_j are centred and scaled
// as the kernels of the fit. The constant is added here. cross is overwritten.
func (p *Process) Predict(w *la.Workspace, cross la.Matrix[float64], self []float64) (mean la.Matrix[float64], variance []float64, err error) {
	if err := p.checkCross(cross, self); err != nil {
		return mean, nil, err
	}
	prior := make([]float64, len(self))
	for m, own := range self {
		prior[m] = 1 + own
		row := cross.Row(m)
		for i := range row {
			row[i]++
		}
	}
	mean, variance = p.moments(w, cross, prior)
	for m, v := range variance {
		variance[m] = max(v, 0) + p.Noise
	}
	return mean, variance, nil
}

// Contribution returns the means, C×M, and the variances, M, of the sum of some kernels' functions at M new samples. Row m of cross holds
// k(x_m, x_i) = Σ_j a_j·k_j(x_m, x_i) over these kernels for the N training samples i, self[m] holds k(x_m, x_m). cross is overwritten.
// It returns an error if the shapes differ.
//
//	E[f_c] = kᵀK⁻¹y_c,   Var[f_c] = k(x, x) − kᵀK⁻¹k, the same for every c.
//
// If each kernel is in one of several groups, the means of the groups add up to the mean of [Process.Predict] less the constant. The
// variances do not add up, since the functions are correlated in the posterior.
func (p *Process) Contribution(w *la.Workspace, cross la.Matrix[float64], self []float64) (mean la.Matrix[float64], variance []float64, err error) {
	if err := p.checkCross(cross, self); err != nil {
		return mean, nil, err
	}
	mean, variance = p.moments(w, cross, self)
	for m, v := range variance {
		variance[m] = max(v, 0)
	}
	return mean, variance, nil
}

// Constant returns the mean of the constant of each of the C targets, E[b_c] = 1ᵀK⁻¹y_c, C×1.
func (p *Process) Constant() la.Matrix[float64] {
	out := la.NewMatrix[float64](p.Alpha.Rows, 1)
	for c := range out.Rows {
		for _, a := range p.Alpha.Row(c) {
			out.Row(c)[0] += a
		}
	}
	return out
}

// checkCross returns an error unless cross and self have the shapes that Predict and Contribution need.
func (p *Process) checkCross(cross la.Matrix[float64], self []float64) error {
	if N := p.Factor.Rows; cross.Cols != N || len(self) != cross.Rows {
		return fmt.Errorf("vi: cross: %d×%d and %d variances where rows of %d training samples are needed", cross.Rows, cross.Cols, len(self), N)
	}
	return nil
}

// moments returns kᵀK⁻¹Y and self − kᵀK⁻¹k for each row k of cross, which is overwritten.
func (p *Process) moments(w *la.Workspace, cross la.Matrix[float64], self []float64) (mean la.Matrix[float64], variance []float64) {
	mean, variance = la.NewMatrix[float64](p.Alpha.Rows, cross.Rows), make([]float64, cross.Rows)
	la.Gemm(w, la.NoTrans, la.Transpose, 1, p.Alpha, cross, 0, mean)
	la.Trsm(w, la.Right, la.Transpose, p.Factor, cross)
	for m, own := range self {
		variance[m] = own - la.SumSq(cross.Row(m))
	}
	return mean, variance
}
