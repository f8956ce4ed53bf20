package healing

import (
	"math"

	"github.com/bmkl/bmkl/la"
)

// Forms are the quadratic forms of healing in the vector f = Σ_m E[e_m]·k_m of a sample's kernels with all samples, where
// whitened targets have one row and φ = Scale·f:
//
//	r = |G·f|²,   fᵀz = fᵀ·L·f,   q = Pullᵀf,
//
// with lower triangles G and L. With X = T^½·F·Λ^-½ and the factor C of I + XXᵀ, G = Scale·C⁻¹·T^½, since
//
//	min_z |T^½(φ − Fz)|² + zᵀΛz = (T^½φ)ᵀ·(I + XXᵀ)⁻¹·(T^½φ).
type Forms struct {
	Rest, Apart la.Matrix[float64] // G and L
	Pull        []float64
	Precision   float64 // λ*
	Condition   float64 // D times the quotient of the diagonal elements of C
}

// Forms returns the forms. ok is false where φ is not a multiple of f, and where I + XXᵀ has no Cholesky factor.
func (h *Single) Forms(ws *la.Workspace) (f Forms, ok bool) {
	if !h.single() {
		return f, false
	}
	D := len(h.h.S)
	x := h.h.rootTrustedRows(0)
	if h.h.Trust == nil {
		x = x.Clone()
	}
	la.Scal(h.h.Scale, x.Data)
	ScaleColumns(x, h.h.S)
	c := la.NewMatrix[float64](D, D)
	la.Syrk(ws, la.NoTrans, 1, x, 0, c)
	for i := range D {
		c.Set(i, i, 1+c.At(i, i))
	}
	if la.Cholesky(ws, c) != nil {
		return f, false
	}
	least, most := math.Inf(1), 0.0
	for i := range D {
		least, most = min(least, c.At(i, i)), max(most, c.At(i, i))
	}
	f.Precision, f.Condition = h.h.Precision, float64(D)*most/least
	la.TriInv(ws, c)
	root := make([]float64, D)
	for i := range root {
		root[i] = h.h.Scale
	}
	h.h.ApplyRootTrust(root)
	f.Rest, f.Apart = c, x // L takes the memory of X
	for i := range D {
		rest, apart := f.Rest.Row(i), f.Apart.Row(i)
		for j := range i {
			rest[j] *= root[j]
			apart[j] = h.h.Scale * (h.z[0].At(i, j) + h.z[0].At(j, i))
		}
		rest[i] *= root[i]
		apart[i] = h.h.Scale * h.z[0].At(i, i)
		clear(rest[i+1:])
		clear(apart[i+1:])
	}
	f.Pull = make([]float64, D)
	la.Axpy(h.h.Scale, h.residual.Row(0), f.Pull)
	return f, true
}

// single reports whether φ = Scale·f.
func (h *Single) single() bool {
	if len(h.z) != 1 || h.weights.Patterns != nil {
		return false
	}
	for m, e := range h.e {
		if !(math.Abs(h.weights.Weights.At(0, m)-float64(h.h.Scale*e)) <= 1e-14*math.Abs(h.h.Scale*e)) {
			return false
		}
	}
	return true
}

// At returns r and fᵀz of the vectors in the rows of f, computed as Heal computes them.
func (h *Single) At(ws *la.Workspace, f la.Matrix[float64]) (rest, apart []float64) {
	T, D := f.Rows, f.Cols
	phi, z, fz := f.Clone(), la.NewMatrix[float64](T, D), la.NewMatrix[float64](T, D)
	la.Scal(h.h.Scale, phi.Data)
	la.Gemm(ws, la.NoTrans, la.NoTrans, 1, phi, h.z[0], 0, z)
	la.Gemm(ws, la.NoTrans, la.Transpose, h.h.Scale, z, h.h.Kernels[0], 0, fz)
	for t := range T {
		rest = append(rest, h.h.length(z.Row(t))+h.h.misfit(phi.Row(t), fz.Row(t)))
		apart = append(apart, la.Dot(f.Row(t), z.Row(t)))
	}
	return rest, apart
}
