package healing

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/archive"
	"github.com/bmkl/bmkl/la"
)

// Single heals the predictions of one output, sample by sample, without allocating.
// It is immutable and safe for concurrent use.
type Single struct {
	h        *Healer
	residual la.Matrix[float64]   // R×D, of the sampleWeights
	e        []float64            // E[e] of the kernels kept
	weights  Whitening            // whitening for the kernels kept
	spread   float64              // V_oo
	z        []la.Matrix[float64] // R of D×D; their transposes take φ_r to parts of z
}

// NewSingle returns what heals output o. Its matrices come from the archive if this is for reading, and go to it if it is for writing. The
// archive may be nil.
func NewSingle(a *archive.Archive, ws *la.Workspace, healers []*Healer, o int) (*Single, error) {
	for _, h := range healers {
		i := slices.Index(h.Outputs, o)
		if i < 0 {
			continue
		}
		r := &Single{h: h, e: h.E[i], weights: h.Weights, spread: h.Spread[i], z: make([]la.Matrix[float64], len(h.Kernels))}
		if a == nil || !a.Reading() {
			if err := r.prepare(ws); err != nil {
				return nil, err
			}
		}
		if a == nil {
			return r, nil
		}
		a.Matrix(&r.residual, len(h.Kernels), len(h.S))
		for j := range r.z {
			a.Matrix(&r.z[j], len(h.S), len(h.S))
		}
		return r, a.Err()
	}
	return nil, fmt.Errorf("vi: output %d cannot be healed", o)
}

// prepare computes the residual and the matrices of z.
func (h *Single) prepare(ws *la.Workspace) error {
	known, err := h.h.SampleWeights(ws, new(Scratch))
	if err != nil {
		return err
	}
	h.residual = known.Residual
	for j, k := range h.h.Kernels {
		z := k.Clone() // becomes diag(trust)·F·M⁻¹, which is the transpose
		for i, w := range h.h.Trust {
			la.Scal(w, z.Row(i))
		}
		la.Scal(h.h.Scale, z.Data)
		ScaleColumns(z, h.h.S)
		la.Trsm(ws, la.Right, la.Transpose, known.Factor, z)
		la.Trsm(ws, la.Right, la.NoTrans, known.Factor, z)
		ScaleColumns(z, h.h.S)
		h.z[j] = z
	}
	return nil
}

// Keep returns the healer of predictions that take these kernels only.
func (h *Single) Keep(kernels []int) *Single {
	r := *h
	r.e, r.weights = nil, h.weights.keep(kernels)
	for _, m := range kernels {
		r.e = append(r.e, h.e[m])
	}
	return &r
}

// Bytes returns the number of bytes of the matrices that Heal reads.
func (h *Single) Bytes() (n int) {
	for i := range h.z {
		n += 8 * (len(h.z[i].Data) + len(h.h.Kernels[i].Data))
	}
	return n
}

// ScratchSize is the length of the scratch that Heal needs.
func (h *Single) ScratchSize() int { return (2 + len(h.z)) * len(h.h.S) }

// Heal returns what healing adds to the mean and to the variance of a sample's
// target. k are its kernels with the basis points, a row for each kernel kept, and self
// those with itself.
func (h *Single) Heal(ws *la.Workspace, k la.Matrix[float64], self, scratch []float64) (mean, variance float64) {
	D := k.Cols
	z, one := scratch[:D], scratch[D:2*D]
	clear(z)
	for r, x := range h.z {
		phi := scratch[(2+r)*D:][:D]
		clear(phi)
		for m := range k.Rows {
			h.weights.Add(r, m, k.Row(m), phi)
		}
		la.Gemv(ws, la.Transpose, 1, x, phi, 1, z)
	}
	precision, pull := h.h.Precision+h.h.length(z), 0.0
	for r, x := range h.h.Kernels {
		phi := scratch[(2+r)*D:][:D]
		la.Gemv(ws, la.NoTrans, h.h.Scale, x, z, 0, one)
		precision += h.h.misfit(phi, one)
		pull += la.Dot(h.residual.Row(r), phi)
	}
	combine(h.e, k, one)
	apart := -la.Dot(one, z)
	for m, w := range h.e {
		apart += float64(w * self[m])
	}
	return apart / precision * pull, apart / precision * apart
}

// combine stores Σ_m w_m·k_m in dst.
func combine(w []float64, k la.Matrix[float64], dst []float64) {
	clear(dst)
	for m, v := range w {
		la.Axpy(v, k.Row(m), dst)
	}
}

// Sizes returns how much each kernel counts in Sensitivity: |E[e_m]|, or more where other
// outputs that share the sample weights look at the kernel closer.
func (h *Single) Sizes() []float64 {
	sizes := make([]float64, len(h.e))
	for m, e := range h.e {
		sizes[m] = max(math.Abs(e), math.Sqrt(h.spread*h.weights.Size(m)))
	}
	return sizes
}

// Sensitivity bounds how far healing moves when the kernels of a sample do: by no more
// than the given mean and standard deviation for each unit of Σ_m Sizes_m·|Δk_m|, the
// largest move of kernel m with any sample or itself, as long as Σ_m Sizes_m·|k_m| does
// not exceed the limit before or after. Derived in docs/theory/healing.md.
func (h *Single) Sensitivity(limit float64) (mean, sd float64) {
	var v, n, rho float64
	for d, s := range h.h.S {
		v += float64(s * s)
		if h.h.Trust == nil {
			n++
		} else {
			n += h.h.Trust[d]
		}
		var sum float64
		for r := range h.residual.Rows {
			sum += float64(h.residual.At(r, d) * h.residual.At(r, d))
		}
		rho += math.Sqrt(sum / h.spread)
	}
	root := math.Sqrt(h.h.Precision)
	reach := 1/root + math.Sqrt(v)                                                             // |e*|/√(λ*+r) is at most limit·reach
	drift := math.Sqrt(n/h.spread) / root                                                      // √(λ*+r) moves by at most drift·√λ*
	sd = reach + float64(limit*drift*(math.Sqrt(v)+reach))                                     // of e*/√(λ*+r)
	mean = float64(limit*reach*rho/root*(1+float64(limit*drift))) + float64(limit*rho/root*sd) // of that times q/√(λ*+r)
	return mean, sd
}
