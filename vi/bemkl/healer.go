package bemkl

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// healer is the cure of the outputs that share a row of sample weights;
// docs/healing.md. It sees their targets whitened: R uncorrelated ones with a noise of
// variance 1, of the basis functions φ_r = Σ_m weights_rm·k_m each.
type healer struct {
	kernels   []la.Matrix[float64] // R of D×D, F_r = scale·kernels_r
	scale     float64
	weights   whitening
	residual  la.Matrix[float64] // R×D, the whitened targets less their bias and F_r·E[a], times trust
	a         []float64          // D, E[a] if the residual is to be moved to the mean of sampleWeights
	trust     []float64          // D, the precision of each sample's targets, 0 where they are missing; nil if all are 1
	precision float64            // λ*
	s         []float64          // D, Λ^-½

	outputs []int       // of the posterior
	e       [][]float64 // of each of these outputs, E[e_o]
	spread  []float64   // the like, V_oo: the variance of the target around b + e_oᵀh
	name    string      // for errors

	// What the only healer of a posterior knows of the samples, found when it is first
	// needed and kept. Several would take as much memory each, and find it in every call.
	kept   bool
	once   sync.Once
	only   sampleWeights
	failed error
}

// whitening is what the basis functions of whitened targets are made of: of target r of a sample
// Σ_m weights_rm·k_m, with weights that depend on which targets the sample has.
type whitening struct {
	weights  la.Matrix[float64] // (C·R)×P, R rows for each pattern of missing targets
	patterns []int              // D, that of each sample; nil: all have the same
	R        int
}

// add adds weights_rm·k to φ, given the kernels k of a new sample with all D.
func (w *whitening) add(r, m int, k, phi []float64) {
	if w.patterns == nil {
		la.Axpy(w.weights.At(r, m), k, phi)
		return
	}
	for i, c := range w.patterns {
		phi[i] += float64(w.weights.At(c*w.R+r, m) * k[i])
	}
}

// keep returns the weights of these kernels only.
func (w *whitening) keep(kernels []int) whitening {
	kept := whitening{la.NewMatrix[float64](w.weights.Rows, len(kernels)), w.patterns, w.R}
	for i, m := range kernels {
		for j := range kept.weights.Rows {
			kept.weights.Set(j, i, w.weights.At(j, m))
		}
	}
	return kept
}

// size returns the most that any sample has of Σ_r weights_rm².
func (w *whitening) size(m int) (most float64) {
	for c := 0; c < w.weights.Rows; c += w.R {
		var sum float64
		for r := range w.R {
			sum += float64(w.weights.At(c+r, m) * w.weights.At(c+r, m))
		}
		most = max(most, sum)
	}
	return most
}

// sampleWeights is the posterior of the sample weights given the whitened targets and the
// means of all else.
type sampleWeights struct {
	factor   la.Matrix[float64] // D×D, of s·(Λ + Σ_r F_rᵀ·diag(trust)·F_r)·s
	residual la.Matrix[float64] // R×D, the whitened targets less their bias and F_r·μ, μ the mean or E[a], times trust
}

// newHealers returns the healers of a regression's outputs, none if h is nil.
func newHealers(h *Healing, s *scorer) []*healer {
	if h == nil {
		return nil
	}
	var all []*healer
	for o := range s.L {
		var trace float64
		for m := range s.P {
			trace += s.combination[o].ee.At(m, m)
		}
		spread := s.noise[o] + trace/s.upsilon[o]
		e, scale := s.combination[o].mean[1:], 1/math.Sqrt(spread)
		r := &healer{
			kernels: []la.Matrix[float64]{h.Kernel}, scale: scale,
			weights: whitening{la.MatrixOf(1, s.P, slices.Clone(e)), nil, 1}, residual: la.MatrixOf(1, s.D, slices.Clone(h.Residual.Row(o))),
			precision: h.Precision[o], s: s.priorRoots(o),
			outputs: []int{o}, e: [][]float64{e}, spread: []float64{spread},
			name: fmt.Sprintf("output %d", o), kept: s.L == 1,
		}
		la.Scal(scale, r.weights.weights.Data)
		la.Scal(scale, r.residual.Data)
		if h.Observed.Rows > 0 {
			r.trust = h.Observed.Row(o)
		}
		all = append(all, r)
	}
	return all
}

// priorRoots returns Λ^-½ of row r.
func (p *scorer) priorRoots(r int) []float64 {
	s := make([]float64, p.D)
	for d, scale := range p.lambda.Row(r) {
		s[d] = 1 / math.Sqrt(p.lambdaShape*scale)
	}
	return s
}

// trusted multiplies the entries of the samples by their trust.
func (h *healer) trusted(x []float64) {
	for i, w := range h.trust {
		x[i] *= w
	}
}

// rootTrusted multiplies them by the root of it.
func (h *healer) rootTrusted(x []float64) {
	for i, w := range h.trust {
		x[i] *= math.Sqrt(w)
	}
}

// rootTrustedRows returns kernels_r with its rows multiplied by the roots of the samples' trust.
func (h *healer) rootTrustedRows(r int) la.Matrix[float64] {
	if h.trust == nil {
		return h.kernels[r]
	}
	x := h.kernels[r].Clone()
	for i, w := range h.trust {
		la.Scal(math.Sqrt(w), x.Row(i))
	}
	return x
}

// healScratch is what healers that keep nothing reuse in turn; it is empty at first.
type healScratch struct {
	weights sampleWeights
	gram    la.Matrix[float64] // that of healer.gram
}

// sampleWeights returns the posterior of the sample weights. It may lie in scratch.
func (h *healer) sampleWeights(ws *la.Workspace, scratch *healScratch) (sampleWeights, error) {
	if h.kept {
		h.once.Do(func() {
			h.only.factor = la.NewMatrix[float64](len(h.s), len(h.s))
			h.failed = h.infer(ws, &h.only, scratch)
		})
		return h.only, h.failed
	}
	if scratch.weights.factor.Rows == 0 {
		scratch.weights.factor = la.NewMatrix[float64](len(h.s), len(h.s))
	}
	return scratch.weights, h.infer(ws, &scratch.weights, scratch)
}

// gram stores the lower triangle of Σ_r kernels_rᵀ·diag(trust)·kernels_r in s.
func (h *healer) gram(ws *la.Workspace, s la.Matrix[float64]) {
	beta := 0.0
	for r := range h.kernels {
		la.Syrk(ws, la.Transpose, 1, h.rootTrustedRows(r), beta, s)
		beta = 1
	}
}

// infer stores the posterior of the sample weights in w, whose factor has room for it.
func (h *healer) infer(ws *la.Workspace, w *sampleWeights, scratch *healScratch) error {
	b := w.factor
	var err error
	if h.kept {
		_, err = factorBInPlace(ws, b, func() { h.gram(ws, b) }, h.scale*h.scale, h.s)
	} else {
		first := scratch.gram.Rows == 0
		if first {
			scratch.gram = la.NewMatrix[float64](b.Rows, b.Rows)
		}
		if first || h.trust != nil { // otherwise all healers have the same one
			h.gram(ws, scratch.gram)
		}
		_, err = factorB(ws, b, scratch.gram, h.scale*h.scale, h.s)
	}
	if err != nil {
		return fmt.Errorf("vi: healing of %s: %w", h.name, err)
	}
	w.residual = h.residual
	if h.a == nil {
		return nil
	}
	// μ − E[a] = (Λ + Σ_r F_rᵀ·diag(trust)·F_r)⁻¹·(Σ_r F_rᵀ·residual_r − Λ·E[a]).
	move := make([]float64, len(h.s))
	for r, k := range h.kernels {
		la.Gemv(ws, la.Transpose, h.scale, k, h.residual.Row(r), 1, move)
	}
	for d, s := range h.s {
		move[d] = float64(s*move[d]) - h.a[d]/s
	}
	la.CholeskySolveVec(b, move)
	for d, s := range h.s {
		move[d] *= s
	}
	w.residual = h.residual.Clone()
	moved := make([]float64, len(h.s))
	for r, k := range h.kernels {
		la.Gemv(ws, la.NoTrans, h.scale, k, move, 0, moved)
		h.trusted(moved)
		la.Axpy(-1, moved, w.residual.Row(r))
	}
	return nil
}

// predictHealed is PredictHealed with these healers.
func (p *scorer) predictHealed(healers []*healer, k vi.Kernels, self la.Matrix[float64], opt vi.PredictOptions) (*Prediction, error) {
	ws := &la.Workspace{Workers: opt.Workers} // for both, whose scratch may be half as large as gram
	out, err := p.predict(ws, k, opt)
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
	var scratch healScratch
	for _, h := range healers {
		if err := h.heal(ws, k, self, out, &scratch); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// heal heals the predictions of its outputs.
func (h *healer) heal(ws *la.Workspace, k vi.Kernels, self la.Matrix[float64], out *Prediction, scratch *healScratch) error {
	weights, err := h.sampleWeights(ws, scratch)
	if err != nil {
		return err
	}
	R, D, T := len(h.kernels), len(h.s), self.Cols
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
					h.weights.add(r, m, one.Row(t), x.Row(t))
				}
			}
			trusted := x.Slice(0, n, 0, D)
			if h.trust != nil {
				one.CopyFrom(trusted)
				trusted = one
				for t := range n {
					h.trusted(one.Row(t))
				}
			}
			la.Gemm(ws, la.NoTrans, la.NoTrans, h.scale, trusted, h.kernels[r], min(1, float64(r)), z)
		}
		scaleColumns(z, h.s)
		la.Trsm(ws, la.Right, la.Transpose, weights.factor, z)
		la.Trsm(ws, la.Right, la.NoTrans, weights.factor, z)
		scaleColumns(z, h.s)
		clear(pull)
		clear(rest)
		for r, x := range phi {
			la.Gemm(ws, la.NoTrans, la.Transpose, h.scale, z, h.kernels[r], 0, one)
			for t := range n {
				pull[t] += la.Dot(weights.residual.Row(r), x.Row(t))
				rest[t] += h.misfit(x.Row(t), one.Row(t))
			}
		}
		for i, o := range h.outputs {
			weightedSum(k, h.e[i], first, one, total)
			for t := range n {
				apart := -la.Dot(total.Row(t), z.Row(t))
				for m, w := range h.e[i] {
					apart += float64(w * self.At(m, first+t))
				}
				precision := h.precision + rest[t] + h.length(z.Row(t))
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

func scaleColumns(x la.Matrix[float64], s []float64) {
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
func (h *healer) misfit(phi, fz []float64) float64 {
	for i, v := range phi {
		fz[i] = v - fz[i]
	}
	h.rootTrusted(fz)
	return la.SumSq(fz)
}

// length returns zᵀΛz.
func (h *healer) length(z []float64) (sum float64) {
	for d, v := range z {
		w := v / h.s[d]
		sum += float64(w * w)
	}
	return sum
}

// Healer heals the predictions of one output, sample by sample, without allocating.
// It is immutable and safe for concurrent use.
type Healer struct {
	h        *healer
	residual la.Matrix[float64]   // R×D, of the sampleWeights
	e        []float64            // E[e] of the kernels kept
	weights  whitening            // the like
	spread   float64              // V_oo
	z        []la.Matrix[float64] // R of D×D; their transposes take φ_r to parts of z
}

// newHealer returns what heals output o.
func newHealer(ws *la.Workspace, healers []*healer, o int) (*Healer, error) {
	for _, h := range healers {
		i := slices.Index(h.outputs, o)
		if i < 0 {
			continue
		}
		known, err := h.sampleWeights(ws, new(healScratch))
		if err != nil {
			return nil, err
		}
		r := &Healer{h: h, residual: known.residual, e: h.e[i], weights: h.weights, spread: h.spread[i]}
		for j := range h.kernels {
			z := h.kernels[j].Clone() // becomes diag(trust)·F·M⁻¹, which is the transpose
			for i, w := range h.trust {
				la.Scal(w, z.Row(i))
			}
			la.Scal(h.scale, z.Data)
			scaleColumns(z, h.s)
			la.Trsm(ws, la.Right, la.Transpose, known.factor, z)
			la.Trsm(ws, la.Right, la.NoTrans, known.factor, z)
			scaleColumns(z, h.s)
			r.z = append(r.z, z)
		}
		return r, nil
	}
	return nil, fmt.Errorf("vi: output %d cannot be healed", o)
}

// Keep returns the healer of predictions that take these kernels only.
func (h *Healer) Keep(kernels []int) *Healer {
	r := *h
	r.e, r.weights = nil, h.weights.keep(kernels)
	for _, m := range kernels {
		r.e = append(r.e, h.e[m])
	}
	return &r
}

// ScratchSize is the length of the scratch that Heal needs.
func (h *Healer) ScratchSize() int { return (2 + len(h.z)) * len(h.h.s) }

// Heal returns what healing adds to the mean and to the variance of a sample's
// target. k are its kernels with the basis points, a row for each kernel kept, and self
// those with itself.
func (h *Healer) Heal(ws *la.Workspace, k la.Matrix[float64], self, scratch []float64) (mean, variance float64) {
	D := k.Cols
	z, one := scratch[:D], scratch[D:2*D]
	clear(z)
	for r, x := range h.z {
		phi := scratch[(2+r)*D:][:D]
		clear(phi)
		for m := range k.Rows {
			h.weights.add(r, m, k.Row(m), phi)
		}
		la.Gemv(ws, la.Transpose, 1, x, phi, 1, z)
	}
	precision, pull := h.h.precision+h.h.length(z), 0.0
	for r, x := range h.h.kernels {
		phi := scratch[(2+r)*D:][:D]
		la.Gemv(ws, la.NoTrans, h.h.scale, x, z, 0, one)
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
func (h *Healer) Sizes() []float64 {
	sizes := make([]float64, len(h.e))
	for m, e := range h.e {
		sizes[m] = max(math.Abs(e), math.Sqrt(h.spread*h.weights.size(m)))
	}
	return sizes
}

// Sensitivity bounds how far healing moves when the kernels of a sample do: by no more
// than the given mean and standard deviation for each unit of Σ_m Sizes_m·|Δk_m|, the
// largest move of kernel m with any sample or itself, as long as Σ_m Sizes_m·|k_m| does
// not exceed the limit before or after. Derived in docs/healing.md.
func (h *Healer) Sensitivity(limit float64) (mean, sd float64) {
	var v, n, rho float64
	for d, s := range h.h.s {
		v += float64(s * s)
		if h.h.trust == nil {
			n++
		} else {
			n += h.h.trust[d]
		}
		var sum float64
		for r := range h.residual.Rows {
			sum += float64(h.residual.At(r, d) * h.residual.At(r, d))
		}
		rho += math.Sqrt(sum / h.spread)
	}
	root := math.Sqrt(h.h.precision)
	reach := 1/root + math.Sqrt(v)                                                             // |e*|/√(λ*+r) is at most limit·reach
	drift := math.Sqrt(n/h.spread) / root                                                      // √(λ*+r) moves by at most drift·√λ*
	sd = reach + float64(limit*drift*(math.Sqrt(v)+reach))                                     // of e*/√(λ*+r)
	mean = float64(limit*reach*rho/root*(1+float64(limit*drift))) + float64(limit*rho/root*sd) // of that times q/√(λ*+r)
	return mean, sd
}
