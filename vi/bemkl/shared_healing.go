package bemkl

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// SharedHealing is what a [SharedPosterior] keeps to heal its predictions, as [Healing]
// is for a [RegressionPosterior]. Given the sample weights, which the outputs share, their
// targets are correlated, with the covariance V of docs/healing.md. Whitened they are R
// uncorrelated targets with a noise of variance 1, R being the rank of E[e_1 … e_L].
type SharedHealing struct {
	// R×P, Σ_r w_r·w_rᵀ = EᵀV⁻¹E, where the rows of E are the E[e_o].
	Weights la.Matrix[float64]

	// R of F_r = Σ_m w_rm·K_m, D×D and symmetric.
	Kernels []la.Matrix[float64]

	// R×D, the whitened targets less their biases and F_r·E[a].
	Residual la.Matrix[float64]

	// The prior precision λ* of a new sample's weight: D/Σ_d E[a_d²].
	Precision float64
}

// targetCovariance returns V, the covariance of the outputs' targets at one sample given
// the sample weights: V_oo' = δ_oo'/E[ε_o] + tr E[e_o·e_o'ᵀ]/E[υ].
func (p *scorer) targetCovariance() la.Matrix[float64] {
	v := la.NewMatrix[float64](p.L, p.L)
	for o := range p.L {
		for j := range p.L {
			v.Set(o, j, la.Dot(p.combination[o].mean[1:], p.combination[j].mean[1:])/p.upsilon[0])
		}
		var trace float64
		for m := range p.P {
			trace += p.combination[o].ee.At(m, m)
		}
		v.Set(o, o, p.noise[o]+trace/p.upsilon[0])
	}
	return v
}

// whitened returns W, R×P, and U, R×L, which takes the targets to whitened ones:
// WᵀW = EᵀV⁻¹E, U·E = W and U·V·Uᵀ = I. W is the transpose of a pivoted Cholesky factor.
func (p *scorer) whitened() (w, u la.Matrix[float64], err error) {
	v, g := p.targetCovariance(), la.NewMatrix[float64](p.L, p.P) // V⁻¹E
	if err := la.Cholesky(nil, v); err != nil {
		return w, u, fmt.Errorf("vi: covariance of the outputs: %w", err)
	}
	for o := range p.L {
		copy(g.Row(o), p.combination[o].mean[1:])
	}
	la.CholeskySolve(nil, v, g)
	rest := la.NewMatrix[float64](p.P, p.P) // EᵀV⁻¹E − WᵀW
	for o := range p.L {
		for m, e := range p.combination[o].mean[1:] {
			la.Axpy(e, g.Row(o), rest.Row(m))
		}
	}
	most := min(p.L, p.P)
	w, u = la.NewMatrix[float64](most, p.P), la.NewMatrix[float64](most, p.L)
	var floor float64
	for r := range most {
		pivot := 0
		for m := range p.P {
			if rest.At(m, m) > rest.At(pivot, pivot) {
				pivot = m
			}
		}
		largest := rest.At(pivot, pivot)
		if r == 0 {
			floor = float64(p.P) * 0x1p-52 * largest
		}
		if !(largest > floor) {
			return w.Slice(0, r, 0, p.P), u.Slice(0, r, 0, p.L), nil
		}
		// The next row of U is what is new in the pivot's row of EᵀV⁻¹.
		row, from := w.Row(r), u.Row(r)
		copy(row, rest.Row(pivot))
		for o := range from {
			from[o] = g.At(o, pivot)
		}
		for i := range r {
			la.Axpy(-w.At(i, pivot), u.Row(i), from)
		}
		la.Scal(1/math.Sqrt(largest), row)
		la.Scal(1/math.Sqrt(largest), from)
		for m, x := range row {
			la.Axpy(-x, row, rest.Row(m))
		}
	}
	return w, u, nil
}

// healing returns what heals p, the posterior of the present state; nil if nothing can.
func (m *sharedLayers) healing(p *SharedPosterior) *SharedHealing {
	if m.D != m.N || m.observed.Rows > 0 {
		return nil
	}
	w, u, err := p.whitened()
	if err != nil || w.Rows == 0 {
		return nil
	}
	h := &SharedHealing{Weights: w, Residual: la.NewMatrix[float64](u.Rows, m.D)}
	for r := range w.Rows {
		f := m.square()
		m.k.Sum(&m.crew.All, w.Row(r), f)
		if !isSymmetric(f, asymmetry) {
			return nil
		}
		f.MirrorLower()
		h.Kernels = append(h.Kernels, f)
	}
	rest := m.y.Clone()
	for o := range m.L {
		r := rest.Row(o)
		for j, e := range m.be[o].Mean[1:] {
			la.Axpy(-e, m.h.Row(j), r)
		}
		for i := range r {
			r[i] -= m.be[o].Mean[0]
		}
	}
	la.Gemm(&m.crew.All, la.NoTrans, la.NoTrans, 1, u, rest, 0, h.Residual)
	h.Precision = newWeightPrecision(m.aMean.Row(0), m.aVar.Row(0))
	return h
}

// validate reports what does not fit a posterior of L outputs, P kernels and D basis
// points of as many samples.
func (h *SharedHealing) validate(L, P, D, samples int) error {
	if samples != D {
		return fmt.Errorf("Healing: %d basis points are not the %d samples", D, samples)
	}
	R := len(h.Kernels)
	if R == 0 || R > min(L, P) {
		return fmt.Errorf("Healing.Kernels: %d of %d outputs and %d kernels", R, L, P)
	}
	parts := []namedMatrix{{"Healing.Weights", h.Weights, R, P}, {"Healing.Residual", h.Residual, R, D}}
	for r, f := range h.Kernels {
		parts = append(parts, namedMatrix{fmt.Sprintf("Healing.Kernels[%d]", r), f, D, D})
	}
	for _, f := range parts {
		if err := f.validate(); err != nil {
			return err
		}
	}
	for r, f := range h.Kernels {
		if !isSymmetric(f, 0) {
			return fmt.Errorf("Healing.Kernels[%d] is not symmetric", r)
		}
	}
	if v := h.Precision; !(v > 0) || math.IsInf(v, 1) {
		return fmt.Errorf("Healing.Precision is %g", v)
	}
	return nil
}

// newSharedHealers returns the healer of all outputs, none if h is nil.
func newSharedHealers(h *SharedHealing, p *scorer) []*healer {
	if h == nil {
		return nil
	}
	v := p.targetCovariance()
	r := &healer{
		kernels: h.Kernels, scale: 1, weights: h.Weights, residual: h.Residual,
		precision: h.Precision, s: p.priorRoots(0), a: p.a.Row(0), name: "the outputs", kept: true,
	}
	for o := range p.L {
		r.outputs, r.e, r.spread = append(r.outputs, o), append(r.e, p.combination[o].mean[1:]), append(r.spread, v.At(o, o))
	}
	return []*healer{r}
}

// Healable reports whether predictions can be healed.
func (p *SharedPosterior) Healable() bool { return p.healers != nil }

// PredictHealed is Predict with the cure of docs/healing.md, as
// [RegressionPosterior.PredictHealed]. It costs 2·(R+1)·D² multiplications for each
// sample of all outputs, R being the rank of their kernel weights' means.
func (p *SharedPosterior) PredictHealed(k vi.Kernels, self la.Matrix[float64], opt vi.PredictOptions) (*Prediction, error) {
	return p.predictHealed(p.healers, k, self, opt)
}

// Healer returns what heals output o, as [RegressionPosterior.Healer]. It takes the memory
// of R matrices D×D.
func (p *SharedPosterior) Healer(ws *la.Workspace, o int) (*Healer, error) {
	return newHealer(ws, p.healers, o)
}
