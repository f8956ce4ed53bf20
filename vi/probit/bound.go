package probit

import (
	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
)

// Bound implements [vi.Objective]. With Z the normalisers of q(Y) and m its location,
//
//	Σ_n log Z_n + Σ_{c,n} (E[y](f − m) + ½m²) − ½ Σ_c (tr(E[KKᵀ]V_c) + w_cᵀE[KKᵀ]w_c)
//
// and the terms of W, α and β. The second moments of Y cancel.
func (m *model) Bound() float64 {
	if m.point {
		return m.logJoint()
	}
	var sum float64
	for _, z := range m.logZ {
		sum += z
	}
	for i, y := range m.y.Data {
		l := m.location.Data[i]
		sum += float64(y*(m.f.Data[i]-l)) + float64(0.5*l*l)
	}
	for c := range m.C {
		sum += float64(0.5*(m.logDet[c]-m.spread[c])) + m.alphaBound(c)
	}
	if m.beta != nil {
		sum += m.beta.bound()
	}
	if m.theta != nil {
		sum += m.theta.bound()
	}
	return sum
}

// logJoint returns the logarithm of the joint density of labels, W and β after a sweep,
//
//	Σ_n log P(t_n | W, β) + Σ_{c,d} log p(w_{c,d}) + log p(β),
//
// p(w) being the Student-t density that Gamma(τ, rate ν) leaves of N(0, 1/α),
//
//	Γ(τ+½)/(Γ(τ)·√(2πν))·(1 + w²/2ν)^−(τ+½),
//
// where 1 + w²/2ν is the rate of q(α), ν + ½w², over the rate ν of the prior.
func (m *model) logJoint() float64 {
	var sum float64
	for _, z := range m.logZ {
		sum += z
	}
	for c := range m.C {
		g := &m.alpha[c]
		logs := 0.0
		for _, s := range g.Scale {
			logs += special.Log(s / g.Prior.Scale)
		}
		constant := special.LogGamma(g.Shape) - special.LogGamma(g.Prior.Shape) + float64(0.5*(special.Log(g.Prior.Scale)-conjugate.Log2Pi))
		sum += float64(g.Shape*logs) + float64(float64(m.D)*constant)
	}
	if m.beta != nil {
		sum += m.beta.bound()
	}
	return sum
}

// alphaBound returns what w_c | α and α add for class c, and the constants of the
// entropy of q(w_c).
func (m *model) alphaBound(c int) float64 {
	g := &m.alpha[c]
	sum := g.Bound()
	mean, variance := m.w.Row(c), m.variance.Row(c)
	for d, w := range mean {
		sum += float64(0.5 * (1 + g.MeanLog(d) - float64(g.Mean(d)*(float64(w*w)+variance[d]))))
	}
	return sum
}
