package healing

import "github.com/bmkl/bmkl/la"

// Whitening is what the basis functions of whitened targets are made of: of target r of a sample
// Σ_m weights_rm·k_m, with weights that depend on which targets the sample has.
type Whitening struct {
	Weights  la.Matrix[float64] // (C·R)×P, R rows for each pattern of missing targets
	Patterns []int              // D, the pattern of each sample; nil: all have the same
	R        int
}

// Add adds weights_rm·k to φ, given the kernels k of a new sample with all D.
func (w *Whitening) Add(r, m int, k, phi []float64) {
	if w.Patterns == nil {
		la.Axpy(w.Weights.At(r, m), k, phi)
		return
	}
	for i, c := range w.Patterns {
		phi[i] += float64(w.Weights.At(c*w.R+r, m) * k[i])
	}
}

// keep returns the weights of these kernels only.
func (w *Whitening) keep(kernels []int) Whitening {
	kept := Whitening{la.NewMatrix[float64](w.Weights.Rows, len(kernels)), w.Patterns, w.R}
	for i, m := range kernels {
		for j := range kept.Weights.Rows {
			kept.Weights.Set(j, i, w.Weights.At(j, m))
		}
	}
	return kept
}

// Size returns the most that any sample has of Σ_r weights_rm².
func (w *Whitening) Size(m int) (most float64) {
	for c := 0; c < w.Weights.Rows; c += w.R {
		var sum float64
		for r := range w.R {
			sum += float64(w.Weights.At(c+r, m) * w.Weights.At(c+r, m))
		}
		most = max(most, sum)
	}
	return most
}
