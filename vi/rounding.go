package vi

import (
	"math"

	"github.com/bmkl/bmkl/la"
)

// SingleFactor bounds by how much q(k) = kᵀ·(L·Lᵀ)⁻¹·k changes, relative to q(k) and for every vector k, if each element of the
// lower triangular matrix L is rounded to float32. least is a lower bound of the eigenvalues of L·Lᵀ. It returns a bound that is
// at most enough where it can, and otherwise the lowest that it finds; +Inf if the rounded matrix might be singular.
//
// With δ the change of L and G = L⁻¹δ, the rounded product is L·(I + E)·Lᵀ, E = G + Gᵀ + GGᵀ. So q changes by at most e/(1−e)
// of itself, e = ‖E‖ ≤ 2g + g², g = ‖δ‖/√least ≥ ‖G‖. The norm of δ is bounded by its Frobenius norm, in N² operations, or by
// ‖δδᵀ‖_F^½, in N³.
func SingleFactor(ws *la.Workspace, l la.Matrix[float64], least, enough float64) float64 {
	n := l.Rows
	var square float64
	for i := range n {
		for _, v := range l.Row(i)[:i+1] {
			d := float64(float32(v)) - v
			square += float64(d * d)
		}
	}
	bound := relative(math.Sqrt(square / least))
	if bound <= enough || math.IsInf(square, 0) || math.IsNaN(square) {
		return bound
	}
	// ‖δδᵀ‖_F^½ is at least ‖δ‖_F/N^¼.
	if relative(math.Sqrt(square/(least*math.Sqrt(float64(n))))) > enough {
		return bound
	}
	delta, product := la.NewMatrix[float64](n, n), la.NewMatrix[float64](n, n)
	scale := 1 / math.Sqrt(square) // against underflow of the squares
	for i := range n {
		row := delta.Row(i)
		for j, v := range l.Row(i)[:i+1] {
			row[j] = (float64(float32(v)) - v) * scale
		}
	}
	la.Syrk(ws, la.NoTrans, 1, delta, 0, product)
	var fourth float64
	for i := range n {
		for j, v := range product.Row(i)[:i+1] {
			if fourth += float64(v * v); j < i {
				fourth += float64(v * v)
			}
		}
	}
	const rounding = 1 + 1e-9 // of the sums above
	return relative(rounding * math.Sqrt(math.Sqrt(fourth)*square/least))
}

// relative is the relative change of q for g.
func relative(g float64) float64 {
	e := float64(g*2) + float64(g*g)
	if !(e < 1) {
		return math.Inf(1)
	}
	return e / (1 - e)
}
