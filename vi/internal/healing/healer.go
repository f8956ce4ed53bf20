package healing

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/gram"
	"github.com/bmkl/bmkl/vi/internal/predictive"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// Healer is the cure of the outputs that share a row of sample weights;
// docs/theory/healing.md. It sees their targets whitened: R uncorrelated ones with a noise of
// variance 1, of the basis functions φ_r = Σ_m weights_rm·k_m each.
type Healer struct {
	Kernels   []la.Matrix[float64] // R of D×D, F_r = scale·kernels_r
	Scale     float64
	Weights   Whitening
	Residual  la.Matrix[float64] // R×D, the whitened targets less their bias and F_r·E[a], times trust
	A         []float64          // D, E[a] if the residual is to be moved to the mean of sampleWeights
	Trust     []float64          // D, the precision of each sample's targets, 0 where they are missing; nil if all are 1
	Precision float64            // λ*
	S         []float64          // D, Λ^-½

	Outputs []int       // of the posterior
	E       [][]float64 // of each of these outputs, E[e_o]
	Spread  []float64   // of each of these outputs, V_oo: the variance of the target around b + e_oᵀh
	Name    string      // for errors

	// The matrices of a posterior with one healer, computed at first use and kept. With several healers each
	// would take as much memory: they compute the matrices in every call.
	Kept   bool
	once   sync.Once
	only   SampleWeights
	failed error
}

// SampleWeights is the posterior of the sample weights given the whitened targets and the
// means of all else.
type SampleWeights struct {
	Factor   la.Matrix[float64] // D×D, of s·(Λ + Σ_r F_rᵀ·diag(trust)·F_r)·s
	Residual la.Matrix[float64] // R×D, the whitened targets less their bias and F_r·μ, μ the mean or E[a], times trust
}

// trusted multiplies the entries of the samples by their trust.
func (h *Healer) ApplyTrust(x []float64) {
	for i, w := range h.Trust {
		x[i] *= w
	}
}

// rootTrusted multiplies them by the root of it.
func (h *Healer) ApplyRootTrust(x []float64) {
	for i, w := range h.Trust {
		x[i] *= math.Sqrt(w)
	}
}

// rootTrustedRows returns kernels_r with its rows multiplied by the roots of the samples' trust.
func (h *Healer) rootTrustedRows(r int) la.Matrix[float64] {
	if h.Trust == nil {
		return h.Kernels[r]
	}
	x := h.Kernels[r].Clone()
	for i, w := range h.Trust {
		la.Scal(math.Sqrt(w), x.Row(i))
	}
	return x
}

// healScratch is what healers that keep nothing reuse in turn; it is empty at first.
type Scratch struct {
	weights SampleWeights
	gram    la.Matrix[float64] // the memory of healer.gram
}

// SampleWeights returns the posterior of the sample weights. It may lie in scratch.
func (h *Healer) SampleWeights(ws *la.Workspace, scratch *Scratch) (SampleWeights, error) {
	if h.Kept {
		h.once.Do(func() {
			h.only.Factor = la.NewMatrix[float64](len(h.S), len(h.S))
			h.failed = h.infer(ws, &h.only, scratch)
		})
		return h.only, h.failed
	}
	if scratch.weights.Factor.Rows == 0 {
		scratch.weights.Factor = la.NewMatrix[float64](len(h.S), len(h.S))
	}
	return scratch.weights, h.infer(ws, &scratch.weights, scratch)
}

// gram stores the lower triangle of Σ_r kernels_rᵀ·diag(trust)·kernels_r in s.
func (h *Healer) gram(ws *la.Workspace, s la.Matrix[float64]) {
	beta := 0.0
	for r := range h.Kernels {
		la.Syrk(ws, la.Transpose, 1, h.rootTrustedRows(r), beta, s)
		beta = 1
	}
}

// infer stores the posterior of the sample weights in w, whose factor has room for it.
func (h *Healer) infer(ws *la.Workspace, w *SampleWeights, scratch *Scratch) error {
	b := w.Factor
	var err error
	if h.Kept {
		_, err = gram.FactorInPlace(ws, b, func() { h.gram(ws, b) }, h.Scale*h.Scale, h.S)
	} else {
		first := scratch.gram.Rows == 0
		if first {
			scratch.gram = la.NewMatrix[float64](b.Rows, b.Rows)
		}
		if first || h.Trust != nil { // otherwise all healers have the same one
			h.gram(ws, scratch.gram)
		}
		_, err = gram.Factor(ws, b, scratch.gram, h.Scale*h.Scale, h.S)
	}
	if err != nil {
		return fmt.Errorf("vi: healing of %s: %w", h.Name, err)
	}
	w.Residual = h.Residual
	if h.A == nil {
		return nil
	}
	// μ − E[a] = (Λ + Σ_r F_rᵀ·diag(trust)·F_r)⁻¹·(Σ_r F_rᵀ·residual_r − Λ·E[a]).
	move := make([]float64, len(h.S))
	for r, k := range h.Kernels {
		la.Gemv(ws, la.Transpose, h.Scale, k, h.Residual.Row(r), 1, move)
	}
	for d, s := range h.S {
		move[d] = float64(s*move[d]) - h.A[d]/s
	}
	la.CholeskySolveVec(b, move)
	for d, s := range h.S {
		move[d] *= s
	}
	w.Residual = h.Residual.Clone()
	moved := make([]float64, len(h.S))
	for r, k := range h.Kernels {
		la.Gemv(ws, la.NoTrans, h.Scale, k, move, 0, moved)
		h.ApplyTrust(moved)
		la.Axpy(-1, moved, w.Residual.Row(r))
	}
	return nil
}

// Of returns the healer of output o, or nil if output o has no healer.
func Of(healers []*Healer, o int) *Healer {
	for _, h := range healers {
		if slices.Contains(h.Outputs, o) {
			return h
		}
	}
	return nil
}

// predictHealed is PredictHealed with these healers.
func Predict(p *predictive.Scorer, healers []*Healer, k vi.Kernels, self la.Matrix[float64], opt vi.PredictOptions) (*predictive.Prediction, error) {
	ws := &la.Workspace{Workers: opt.Workers} // for both, whose scratch may be half as large as gram
	out, err := p.PredictIn(ws, k, opt)
	if err != nil || opt.Published {
		return out, err
	}
	if healers == nil {
		return nil, fmt.Errorf("vi: the posterior cannot be healed: its basis points are not the samples")
	}
	_, _, T := k.Dims()
	if self.Rows != p.P || self.Cols != T {
		return nil, fmt.Errorf("vi: self: %d×%d where %d×%d is needed", self.Rows, self.Cols, p.P, T)
	}
	var scratch Scratch
	for _, h := range healers {
		if err := h.heal(ws, k, self, out, &scratch); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// heal heals the predictions of its outputs.
func (h *Healer) heal(ws *la.Workspace, k vi.Kernels, self la.Matrix[float64], out *predictive.Prediction, scratch *Scratch) error {
	weights, err := h.SampleWeights(ws, scratch)
	if err != nil {
		return err
	}
	R, D, T := len(h.Kernels), len(h.S), self.Cols
	block := min(T, work.PredictRows)
	one, z, total := la.NewMatrix[float64](block, D), la.NewMatrix[float64](block, D), la.NewMatrix[float64](block, D)
	phi := make([]la.Matrix[float64], R)
	for r := range phi {
		phi[r] = la.NewMatrix[float64](block, D)
	}
	pull, rest := make([]float64, block), make([]float64, block)
	for first := 0; first < T; first += block {
		n := min(block, T-first)
		one, z, total := one.Slice(0, n, 0, D), z.Slice(0, n, 0, D), total.Slice(0, n, 0, D)
		for r, x := range phi {
			for t := range n {
				clear(x.Row(t))
			}
			for m := range self.Rows {
				k.Columns(m, first, one)
				for t := range n {
					h.Weights.Add(r, m, one.Row(t), x.Row(t))
				}
			}
			trusted := x.Slice(0, n, 0, D)
			if h.Trust != nil {
				one.CopyFrom(trusted)
				trusted = one
				for t := range n {
					h.ApplyTrust(one.Row(t))
				}
			}
			la.Gemm(ws, la.NoTrans, la.NoTrans, h.Scale, trusted, h.Kernels[r], min(1, float64(r)), z)
		}
		ScaleColumns(z, h.S)
		la.Trsm(ws, la.Right, la.Transpose, weights.Factor, z)
		la.Trsm(ws, la.Right, la.NoTrans, weights.Factor, z)
		ScaleColumns(z, h.S)
		clear(pull)
		clear(rest)
		for r, x := range phi {
			la.Gemm(ws, la.NoTrans, la.Transpose, h.Scale, z, h.Kernels[r], 0, one)
			for t := range n {
				pull[t] += la.Dot(weights.Residual.Row(r), x.Row(t))
				rest[t] += h.misfit(x.Row(t), one.Row(t))
			}
		}
		for i, o := range h.Outputs {
			weightedSum(k, h.E[i], first, one, total)
			for t := range n {
				apart := -la.Dot(total.Row(t), z.Row(t))
				for m, w := range h.E[i] {
					apart += float64(w * self.At(m, first+t))
				}
				precision := h.Precision + rest[t] + h.length(z.Row(t))
				out.Mean.Row(o)[first+t] += float64(apart / precision * pull[t])
				if out.Variance.Rows > 0 {
					out.Variance.Row(o)[first+t] += float64(apart / precision * apart) // apart² may overflow
				}
			}
		}
	}
	return nil
}

// weightedSum stores Σ_m w_m·k_m of the samples from first on in the rows of dst. It
// overwrites one.
func weightedSum(k vi.Kernels, w []float64, first int, one, dst la.Matrix[float64]) {
	for t := range dst.Rows {
		clear(dst.Row(t))
	}
	for m, v := range w {
		k.Columns(m, first, one)
		for t := range dst.Rows {
			la.Axpy(v, one.Row(t), dst.Row(t))
		}
	}
}

func ScaleColumns(x la.Matrix[float64], s []float64) {
	for i := range x.Rows {
		row := x.Row(i)
		for d := range row {
			row[d] *= s[d]
		}
	}
}

// misfit returns |φ_r − F_r·z|², the squares times the samples' trust, and overwrites fz.
// The least of Σ_r |φ_r − F_r·z|² + zᵀΛz over z is computed as this sum of squares: it
// does not cancel, and at the minimum an error in z counts by its square.
func (h *Healer) misfit(phi, fz []float64) float64 {
	for i, v := range phi {
		fz[i] = v - fz[i]
	}
	h.ApplyRootTrust(fz)
	return la.SumSq(fz)
}

// length returns zᵀΛz.
func (h *Healer) length(z []float64) (sum float64) {
	for d, v := range z {
		w := v / h.S[d]
		sum += float64(w * w)
	}
	return sum
}
