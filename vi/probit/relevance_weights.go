package probit

import (
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
)

// updateBeta moves the weights of WSum along the gradient of the bound with the regressors
// integrated out,
//
//	∂/∂K_a = Σ_c E[w_c](y_c − f_c)ᵀ − C·V·K_a,   V = (K_aK_aᵀ + A)⁻¹,
//
// on the simplex: log β_p by a multiple of it, as mirror ascent does. Steps that lower the
// bound are taken back and made shorter.
func (m *relevance) updateBeta() error {
	if len(m.active) == 0 {
		return nil
	}
	before := m.explained()
	slope := m.slope()
	mean := la.Dot(slope, m.beta)
	var largest float64
	for p := range slope {
		slope[p] -= mean
		largest = max(largest, math.Abs(slope[p]))
	}
	if !(largest > 0) {
		return nil
	}
	m.stride = min(float64(2*m.stride), 1/largest)
	old := slices.Clone(m.beta)
	for range 8 {
		for p, b := range old {
			m.beta[p] = b * special.Exp(float64(m.stride*slope[p]))
		}
		la.Scal(1/conjugate.Sum(m.beta), m.beta)
		m.setKernel()
		if err := m.settle(); err != nil {
			return err
		}
		if m.explained() >= before {
			return nil
		}
		m.stride /= 4
	}
	copy(m.beta, old)
	m.setKernel()
	return m.settle()
}

// slope returns the derivatives of the bound by β, W integrated out.
func (m *relevance) slope() []float64 {
	m.unexplained()
	m.back = resize(m.back, len(m.active), m.N)
	m.back.CopyFrom(m.span)
	la.Trsm(&m.ws, la.Left, la.Transpose, m.factor, m.back) // B⁻¹·A^-½·K_a
	la.Gemm(&m.ws, la.Transpose, la.NoTrans, 1, m.solve(), m.rest, -float64(m.C), m.back)
	m.byKernel.Fill(0)
	for i, d := range m.active {
		la.Axpy(m.root[i], m.back.Row(i), m.byKernel.Row(d))
	}
	slope := make([]float64, m.P)
	m.composite.Slope(&m.ws, m.beta, m.byKernel, slope)
	return slope
}
