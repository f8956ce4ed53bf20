package bemkl

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/healing"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// SharedHealing is what a [SharedPosterior] keeps to heal its predictions, as [Healing]
// is for a [RegressionPosterior]. Given the sample weights, which the outputs share, their
// targets are correlated, with the covariance V of docs/theory/healing.md. Whitened they are R
// uncorrelated targets with a noise of variance 1, R being the rank of E[e_1 … e_L]; of a sample
// that lacks targets, those that it has are whitened, and may be fewer.
type SharedHealing struct {
	// (C·R)×P, of each of the C patterns of missing targets R rows w_r, 0 for those that it has
	// fewer: Σ_r w_r·w_rᵀ = EᵀV⁻¹E, where the rows of E are the E[e_o] of its outputs, and V
	// is of these.
	Weights la.Matrix[float64]

	// D, the pattern of each sample, from 0; nil if all targets are complete.
	Patterns []int

	// R of F_r, D×D: row i is Σ_m w_rm·K_m's with the pattern of sample i. They are symmetric
	// if there is one pattern.
	Kernels []la.Matrix[float64]

	// R×D, the whitened targets less their biases and F_r·E[a].
	Residual la.Matrix[float64]

	// The prior precision λ* of a new sample's weight: D/Σ_d E[a_d²].
	Precision float64
}

// targetCovariance returns V, the covariance of the outputs' targets at one sample given
// the sample weights: V_oo' = δ_oo'/E[ε_o] + tr E[e_o·e_o'ᵀ]/E[υ].
func (p *scorer) targetCovariance() la.Matrix[float64] {
	v := la.NewMatrix[float64](p.core.L, p.core.L)
	for o := range p.core.L {
		for j := range p.core.L {
			v.Set(o, j, la.Dot(p.core.Combinations[o].Mean[1:], p.core.Combinations[j].Mean[1:])/p.core.Upsilon[0])
		}
		var trace float64
		for m := range p.core.P {
			trace += p.core.Combinations[o].EE.At(m, m)
		}
		v.Set(o, o, p.core.Noise[o]+trace/p.core.Upsilon[0])
	}
	return v
}

// whitened returns W, R×P, and U, R×outputs, which takes the targets of these outputs to
// whitened ones: WᵀW = EᵀV⁻¹E, U·E = W and U·V·Uᵀ = I, with E and V of these outputs. W is the
// transpose of a pivoted Cholesky factor.
func (p *scorer) whitened(outputs []int) (w, u la.Matrix[float64], err error) {
	all, L := p.targetCovariance(), len(outputs)
	v, g := la.NewMatrix[float64](L, L), la.NewMatrix[float64](L, p.core.P) // g: V⁻¹E
	for i, o := range outputs {
		for j, q := range outputs {
			v.Set(i, j, all.At(o, q))
		}
		copy(g.Row(i), p.core.Combinations[o].Mean[1:])
	}
	if err := la.Cholesky(nil, v); err != nil {
		return w, u, fmt.Errorf("vi: covariance of the outputs: %w", err)
	}
	la.CholeskySolve(nil, v, g)
	rest := la.NewMatrix[float64](p.core.P, p.core.P) // EᵀV⁻¹E − WᵀW
	for i, o := range outputs {
		for m, e := range p.core.Combinations[o].Mean[1:] {
			la.Axpy(e, g.Row(i), rest.Row(m))
		}
	}
	most := min(L, p.core.P)
	w, u = la.NewMatrix[float64](most, p.core.P), la.NewMatrix[float64](most, L)
	var floor float64
	for r := range most {
		pivot := 0
		for m := range p.core.P {
			if rest.At(m, m) > rest.At(pivot, pivot) {
				pivot = m
			}
		}
		largest := rest.At(pivot, pivot)
		if r == 0 {
			floor = float64(p.core.P) * 0x1p-52 * largest
		}
		if !(largest > floor) {
			return w.Slice(0, r, 0, p.core.P), u.Slice(0, r, 0, L), nil
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
func (m *shared) healing(p *SharedPosterior) *SharedHealing {
	if m.D != m.N {
		return nil
	}
	w, u, err := p.whitened(upTo(m.L))
	if err != nil || w.Rows == 0 {
		return nil
	}
	h := &SharedHealing{Weights: w, Residual: la.NewMatrix[float64](u.Rows, m.D)}
	for r := range w.Rows {
		f := m.Square()
		m.K.Sum(&m.Crew.All, w.Row(r), f)
		if !healing.IsSymmetric(f, healing.Asymmetry) {
			return nil
		}
		f.MirrorLower()
		h.Kernels = append(h.Kernels, f)
	}
	la.Gemm(&m.Crew.All, la.NoTrans, la.NoTrans, 1, u, m.rest(), 0, h.Residual)
	h.Precision = healing.NewWeightPrecision(m.AMean.Row(0), m.AVar.Row(0))
	return h
}

// rest returns the targets less E[b_o + e_oᵀ·h_i].
func (m *sharedLayers) rest() la.Matrix[float64] {
	rest := m.y.Clone()
	for o := range m.L {
		r := rest.Row(o)
		for j, e := range m.be[o].Mean[1:] {
			la.Axpy(-e, m.H.Row(j), r)
		}
		for i := range r {
			r[i] -= m.be[o].Mean[0]
		}
	}
	return rest
}

// healing returns what heals p, the posterior of the present state; nil if nothing can.
func (m *patterned) healing(p *SharedPosterior) *SharedHealing {
	if m.D != m.N {
		return nil
	}
	all, _, err := p.whitened(upTo(m.L))
	if err != nil || all.Rows == 0 {
		return nil
	}
	f := m.Square()
	for r := range all.Rows { // only whether the kernels are symmetric
		if m.K.Sum(&m.Crew.All, all.Row(r), f); !healing.IsSymmetric(f, healing.Asymmetry) {
			return nil
		}
	}
	R := all.Rows // no pattern has more
	h := &SharedHealing{
		Weights: la.NewMatrix[float64](len(m.patterns)*R, m.P), Patterns: make([]int, m.N),
		Residual: la.NewMatrix[float64](R, m.D), Precision: healing.NewWeightPrecision(m.AMean.Row(0), m.AVar.Row(0)),
	}
	rest := m.rest()
	for c := range m.patterns {
		q := &m.patterns[c]
		for _, i := range q.members {
			h.Patterns[i] = c
		}
		if len(q.outputs) == 0 {
			continue
		}
		w, u, err := p.whitened(q.outputs)
		if err != nil {
			return nil
		}
		for r := range min(R, w.Rows) {
			copy(h.Weights.Row(c*R+r), w.Row(r))
			for j, o := range q.outputs {
				for _, i := range q.members {
					h.Residual.Row(r)[i] += float64(u.At(r, j) * rest.At(o, i))
				}
			}
		}
	}
	f.Fill(0)
	for r := range R {
		if r > 0 {
			f = la.NewMatrix[float64](m.D, m.D)
		}
		h.Kernels = append(h.Kernels, f)
	}
	block := la.NewMatrix[float64](min(m.N, work.PredictRows), m.D)
	for first := 0; first < m.N; first += block.Rows {
		columns := block.Slice(0, min(block.Rows, m.N-first), 0, m.D)
		for j := range m.P {
			m.K.Columns(j, first, columns)
			for t := range columns.Rows {
				for r, f := range h.Kernels {
					la.Axpy(h.Weights.At(h.Patterns[first+t]*R+r, j), columns.Row(t), f.Row(first+t))
				}
			}
		}
	}
	return h
}

// upTo returns the whole numbers below n.
func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
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
	rows := R
	if h.Patterns != nil {
		rows = h.Weights.Rows
		if len(h.Patterns) != D || rows%R != 0 {
			return fmt.Errorf("Healing.Patterns: %d samples and %d rows of weights where there are %d samples and %d rows a pattern",
				len(h.Patterns), rows, D, R)
		}
		for i, c := range h.Patterns {
			if c < 0 || c >= rows/R {
				return fmt.Errorf("Healing.Patterns[%d] is %d of %d", i, c, rows/R)
			}
		}
	}
	parts := []check.Part{
		check.Matrix("Healing.Weights", h.Weights, rows, P, check.Finite),
		check.Matrix("Healing.Residual", h.Residual, R, D, check.Finite),
	}
	for r, f := range h.Kernels {
		parts = append(parts, check.Matrix(fmt.Sprintf("Healing.Kernels[%d]", r), f, D, D, check.Finite))
	}
	if err := check.Parts(parts...); err != nil {
		return err
	}
	for r, f := range h.Kernels {
		if h.Patterns == nil && !healing.IsSymmetric(f, 0) {
			return fmt.Errorf("Healing.Kernels[%d] is not symmetric", r)
		}
	}
	if v := h.Precision; !(v > 0) || math.IsInf(v, 1) {
		return fmt.Errorf("Healing.Precision is %g", v)
	}
	return nil
}

// newSharedHealers returns the healer of all outputs, none if h is nil.
func newSharedHealers(h *SharedHealing, p *scorer) []*healing.Healer {
	if h == nil {
		return nil
	}
	v := p.targetCovariance()
	r := &healing.Healer{
		Kernels: h.Kernels, Scale: 1, Weights: healing.Whitening{Weights: h.Weights, Patterns: h.Patterns, R: len(h.Kernels)}, Residual: h.Residual,
		Precision: h.Precision, S: p.core.PriorRoots(0), A: p.core.A.Row(0), Name: "the outputs", Kept: true,
	}
	for o := range p.core.L {
		r.Outputs, r.E, r.Spread = append(r.Outputs, o), append(r.E, p.core.Combinations[o].Mean[1:]), append(r.Spread, v.At(o, o))
	}
	return []*healing.Healer{r}
}

// Healable reports whether predictions can be healed.
func (p *SharedPosterior) Healable() bool { return p.healers != nil }

// PredictHealed is Predict with the cure of docs/theory/healing.md, as
// [RegressionPosterior.PredictHealed]. It costs 2·(R+1)·D² multiplications for each
// sample of all outputs, R being the rank of their kernel weights' means.
func (p *SharedPosterior) PredictHealed(k vi.Kernels, self la.Matrix[float64], opt vi.PredictOptions) (*Prediction, error) {
	out, err := healing.Predict(&p.core, p.healers, k, self, opt)
	return (*Prediction)(out), err
}

// Healer returns what heals output o, as [RegressionPosterior.Healer]. It takes the memory
// of R matrices D×D.
func (p *SharedPosterior) Healer(ws *la.Workspace, o int) (*Healer, error) {
	return newHealer(nil, ws, p.healers, o)
}
