package bemkl

import (
	"fmt"
	"math"
	"sync"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// Healing is what a [RegressionPosterior] keeps to heal its predictions, whose
// variances are too small far from the samples; docs/healing.md. There is none if
// the basis points are not the samples: a new sample's kernels with the basis points
// then do not tell its kernels with the samples.
type Healing struct {
	// F = Σ_m E[e_m]·K_m, D×D and symmetric.
	Kernel la.Matrix[float64]

	// L×D, the targets less E[b_o] + F·E[a_o]; 0 where a target is missing.
	Residual la.Matrix[float64]

	// L×D of 0 and 1, 0 where a target is missing; empty if none is.
	Observed la.Matrix[float64]

	// L, the prior precision λ* of a new sample's weight: D/Σ_d E[a_{o,d}²].
	Precision []float64
}

// asymmetry is the share of its largest entry by which F may differ from Fᵀ. It is
// wide enough for kernels rounded to float32.
const asymmetry = 1e-6

// healing returns what heals the present state, nil if nothing can.
func (m *regression) healing() *Healing {
	if m.D != m.N {
		return nil
	}
	h := &Healing{Kernel: la.NewMatrix[float64](m.D, m.D), Residual: m.y.Clone(), Precision: make([]float64, m.L)}
	e := m.be.Mean[m.L:]
	m.k.Sum(&m.crew.All, e, h.Kernel)
	if !isSymmetric(h.Kernel, asymmetry) {
		return nil
	}
	h.Kernel.MirrorLower()
	if m.observed.Rows > 0 {
		h.Observed = m.observed.Clone()
	}
	for o := range m.L {
		r := h.Residual.Row(o)
		for j := range m.P {
			la.Axpy(-e[j], m.h.Row(o*m.P+j), r)
		}
		for i := range r {
			r[i] -= m.be.Mean[o]
			if h.missing(o, i) {
				r[i] = 0
			}
		}
		var squares float64
		for d, v := range m.aMean.Row(o) {
			squares += float64(v*v) + max(0, m.aVar.At(o, d))
		}
		h.Precision[o] = min(float64(m.D)/squares, math.MaxFloat64) // finite where all weights vanish
	}
	return h
}

// isSymmetric reports whether x differs from its transpose by no more than a share
// of its largest entry.
func isSymmetric(x la.Matrix[float64], share float64) bool {
	var largest, apart float64
	for i := range x.Rows {
		for j, v := range x.Row(i)[:i+1] {
			largest = max(largest, math.Abs(v))
			apart = max(apart, math.Abs(v-x.At(j, i)))
		}
	}
	return apart <= share*largest
}

// missing reports whether the target of sample i of output o is missing.
func (h *Healing) missing(o, i int) bool { return h.Observed.Rows > 0 && h.Observed.At(o, i) == 0 }

// mask sets the entries of the samples to 0 whose target of output o is missing.
func (h *Healing) mask(o int, x []float64) {
	if h.Observed.Rows == 0 {
		return
	}
	for i, z := range h.Observed.Row(o) {
		if z == 0 {
			x[i] = 0
		}
	}
}

// validate reports what does not fit a posterior of L outputs and D basis points of
// as many samples.
func (h *Healing) validate(L, D, samples int) error {
	if samples != D {
		return fmt.Errorf("Healing: %d basis points are not the %d samples", D, samples)
	}
	observed := h.Observed
	if observed.Rows == 0 {
		observed = la.NewMatrix[float64](L, D)
	}
	for _, f := range []namedMatrix{
		{"Healing.Kernel", h.Kernel, D, D}, {"Healing.Residual", h.Residual, L, D}, {"Healing.Observed", observed, L, D},
	} {
		if err := f.validate(); err != nil {
			return err
		}
	}
	if !isSymmetric(h.Kernel, 0) {
		return fmt.Errorf("Healing.Kernel is not symmetric")
	}
	for o := range observed.Rows {
		for i, z := range observed.Row(o) {
			if z != 0 && z != 1 {
				return fmt.Errorf("Healing.Observed: entry (%d, %d) is %g", o, i, z)
			}
		}
	}
	if len(h.Precision) != L {
		return fmt.Errorf("Healing.Precision: %d entries where %d are needed", len(h.Precision), L)
	}
	for o, v := range h.Precision {
		if !(v > 0) || math.IsInf(v, 1) {
			return fmt.Errorf("Healing.Precision[%d] is %g", o, v)
		}
	}
	return nil
}

// healer is the cure of a posterior's predictions, docs/healing.md.
type healer struct {
	*Healing
	spread []float64 // L, s² = 1/E[ε_o] + tr E[e·eᵀ]/E[υ_o]

	// The factor of a single output, made when it is first needed and kept; see scorer.
	once   sync.Once
	only   weightFactor
	failed error
}

func newHealer(h *Healing, s *scorer) *healer {
	if h == nil {
		return nil
	}
	r := &healer{Healing: h}
	for o := range s.L {
		var trace float64
		for m := range s.P {
			trace += s.combination[o].ee.At(m, m)
		}
		r.spread = append(r.spread, s.noise[o]+trace/s.upsilon[o])
	}
	return r
}

// Healable reports whether predictions can be healed.
func (p *RegressionPosterior) Healable() bool { return p.healer != nil }

// healScratch is what healing several outputs in turn reuses; it is empty at first.
type healScratch struct {
	factor weightFactor
	gram   la.Matrix[float64] // FᵀF, lower triangle
}

// healFactor returns the factor of s·(Λ_o + FᵀF/s²)·s with s = Λ_o^-½, F without the
// rows of missing targets. It may lie in scratch.
func (p *RegressionPosterior) healFactor(ws *la.Workspace, o int, scratch *healScratch) (weightFactor, error) {
	h := p.healer
	if p.L == 1 {
		h.once.Do(func() {
			h.only = p.newFactor()
			h.failed = p.healFactorise(ws, 0, h.only, scratch)
		})
		return h.only, h.failed
	}
	if scratch.factor.s == nil {
		scratch.factor = p.newFactor()
	}
	return scratch.factor, p.healFactorise(ws, o, scratch.factor, scratch)
}

func (p *RegressionPosterior) healFactorise(ws *la.Workspace, o int, f weightFactor, scratch *healScratch) error {
	h := p.healer
	first := scratch.gram.Rows == 0
	if first {
		scratch.gram = la.NewMatrix[float64](p.D, p.D)
	}
	if first || h.Observed.Rows > 0 {
		la.Syrk(ws, la.Transpose, 1, h.observedRows(o), 0, scratch.gram)
	}
	for d, scale := range p.lambda.Row(o) {
		f.s[d] = 1 / math.Sqrt(p.lambdaShape*scale)
	}
	if _, err := factorB(ws, f.b, scratch.gram, 1/h.spread[o], f.s); err != nil {
		return fmt.Errorf("vi: healing of output %d: %w", o, err)
	}
	return nil
}

// observedRows returns F with zeros in the rows of missing targets.
func (h *healer) observedRows(o int) la.Matrix[float64] {
	if h.Observed.Rows == 0 {
		return h.Kernel
	}
	seen := h.Kernel.Clone()
	for i := range seen.Rows {
		if h.missing(o, i) {
			clear(seen.Row(i))
		}
	}
	return seen
}

// PredictHealed is Predict with the cure of docs/healing.md: every new sample is
// given a basis point of its own, whose weight is unknown but for what the targets
// near it tell. That moves the means and raises the variances where the samples do
// not reach. self holds the kernels of the new samples with themselves, P×T.
//
// Beyond Predict it costs a product and a Cholesky factorisation of order D, ⅔·D³
// multiplications, once if there is a single output, and 3·D² multiplications for
// each sample and output. MeanOnly costs the same. opt.Published heals nothing.
func (p *RegressionPosterior) PredictHealed(k vi.Kernels, self la.Matrix[float64], opt vi.PredictOptions) (*Prediction, error) {
	out, err := p.Predict(k, opt)
	if err != nil || opt.Published {
		return out, err
	}
	if !p.Healable() {
		return nil, fmt.Errorf("vi: the posterior cannot be healed: its basis points are not the samples")
	}
	_, _, T := k.Dims()
	if self.Rows != p.P || self.Cols != T {
		return nil, fmt.Errorf("vi: self: %d×%d where %d×%d is needed", self.Rows, self.Cols, p.P, T)
	}
	return out, p.heal(&la.Workspace{Workers: opt.Workers}, k, self, out)
}

// heal heals the predictions of all outputs.
func (p *RegressionPosterior) heal(ws *la.Workspace, k vi.Kernels, self la.Matrix[float64], out *Prediction) error {
	h, D := p.healer, p.D
	e := p.combination[0].mean[1:]
	T := self.Cols
	block := min(T, work.PredictRows)
	one, phi := la.NewMatrix[float64](block, D), la.NewMatrix[float64](block, D)
	seen, z, rest := la.NewMatrix[float64](block, D), la.NewMatrix[float64](block, D), la.NewMatrix[float64](block, D)
	var scratch healScratch
	for o := range p.L {
		f, err := p.healFactor(ws, o, &scratch)
		if err != nil {
			return err
		}
		for first := 0; first < T; first += block {
			n := min(block, T-first)
			phi, seen, z, rest := phi.Slice(0, n, 0, D), seen.Slice(0, n, 0, D), z.Slice(0, n, 0, D), rest.Slice(0, n, 0, D)
			phi.Fill(0)
			for m, w := range e {
				k.Columns(m, first, one.Slice(0, n, 0, D))
				for t := range n {
					la.Axpy(w, one.Row(t), phi.Row(t))
				}
			}
			for t := range n {
				copy(seen.Row(t), phi.Row(t))
				h.mask(o, seen.Row(t))
			}
			la.Gemm(ws, la.NoTrans, la.NoTrans, 1/h.spread[o], seen, h.Kernel, 0, z)
			scaleColumns(z, f.s)
			la.Trsm(ws, la.Right, la.Transpose, f.b, z)
			la.Trsm(ws, la.Right, la.NoTrans, f.b, z)
			scaleColumns(z, f.s)
			la.Gemm(ws, la.NoTrans, la.NoTrans, 1, z, h.Kernel, 0, rest)
			for t := range n {
				var own float64
				for m, w := range e {
					own += float64(w * self.At(m, first+t))
				}
				mean, variance := h.cure(o, f.s, phi.Row(t), seen.Row(t), z.Row(t), rest.Row(t), own)
				out.Mean.Row(o)[first+t] += mean
				if out.Variance.Rows > 0 {
					out.Variance.Row(o)[first+t] += variance
				}
			}
		}
	}
	return nil
}

func scaleColumns(x la.Matrix[float64], s []float64) {
	for i := range x.Rows {
		row := x.Row(i)
		for d := range row {
			row[d] *= s[d]
		}
	}
}

// cure returns what healing adds to the mean and to the variance of a sample. phi
// are its kernels with the samples, Σ_m E[e_m]·k_m, seen the same but 0 where the
// target is missing, z the weights by which the basis points best stand in for it,
// fz = F·z, which it overwrites, and self its kernel with itself.
func (h *healer) cure(o int, s, phi, seen, z, fz []float64, self float64) (mean, variance float64) {
	// The least of |φ − F·z|²/s² + zᵀΛz over z: as a sum of squares it does not
	// cancel, and at the minimum an error in z counts by its square.
	for i, v := range seen {
		fz[i] = v - fz[i]
	}
	h.mask(o, fz)
	rest := la.SumSq(fz) / h.spread[o]
	for d, v := range z {
		w := v / s[d]
		rest += float64(w * w)
	}
	total := h.Precision[o] + rest
	apart := self - la.Dot(phi, z)
	pull := la.Dot(h.Residual.Row(o), seen) / h.spread[o]
	return apart * pull / total, apart * apart / total
}

// Healer heals the predictions of one output, sample by sample, without allocating.
// It is immutable and safe for concurrent use.
type Healer struct {
	h      *healer
	output int
	s      []float64          // Λ^-½
	z      la.Matrix[float64] // D×D, its transpose takes φ to z
}

// Healer returns what heals output o. It costs a Cholesky factorisation of order D
// and four products, and takes the memory of a D×D matrix.
func (p *RegressionPosterior) Healer(ws *la.Workspace, o int) (*Healer, error) {
	f, err := p.healFactor(ws, o, new(healScratch))
	if err != nil {
		return nil, err
	}
	z := p.healer.observedRows(o).Clone() // becomes F·M⁻¹/s², which is the transpose
	la.Scal(1/p.healer.spread[o], z.Data)
	scaleColumns(z, f.s)
	la.Trsm(ws, la.Right, la.Transpose, f.b, z)
	la.Trsm(ws, la.Right, la.NoTrans, f.b, z)
	scaleColumns(z, f.s)
	return &Healer{p.healer, o, f.s, z}, nil
}

// ScratchSize is the length of the scratch that Heal needs.
func (h *Healer) ScratchSize() int { return 3 * h.z.Rows }

// Heal returns what healing adds to the mean and to the variance of a sample's
// target. phi are its kernels with the basis points, Σ_m E[e_m]·k_m, and self its
// kernel with itself.
func (h *Healer) Heal(ws *la.Workspace, phi []float64, self float64, scratch []float64) (mean, variance float64) {
	D := len(phi)
	seen, z, fz := scratch[:D], scratch[D:2*D], scratch[2*D:3*D]
	copy(seen, phi)
	h.h.mask(h.output, seen)
	la.Gemv(ws, la.Transpose, 1, h.z, seen, 0, z)
	la.Gemv(ws, la.NoTrans, 1, h.h.Kernel, z, 0, fz)
	return h.h.cure(h.output, h.s, phi, seen, z, fz, self)
}

// Sensitivity bounds how far healing moves when the entries of φ and self move: by
// no more than the given mean and standard deviation for each unit of the largest
// move, as long as none of them exceeds the limit before or after. Derived in
// docs/healing.md.
func (h *Healer) Sensitivity(limit float64) (mean, sd float64) {
	var v, n, rho float64
	for d, s := range h.s {
		v += float64(s * s)
		if !h.h.missing(h.output, d) {
			n++
		}
		rho += math.Abs(h.h.Residual.At(h.output, d)) / h.h.spread[h.output]
	}
	root := math.Sqrt(h.h.Precision[h.output])
	reach := 1/root + math.Sqrt(v)                                  // |e*|/√(λ*+s) is at most limit·reach
	drift := math.Sqrt(n/h.h.spread[h.output]) / root               // √(λ*+s) moves by at most drift·√λ*
	sd = reach + limit*drift*(math.Sqrt(v)+reach)                   // of e*/√(λ*+s)
	mean = limit*reach*rho/root*(1+limit*drift) + limit*rho/root*sd // of that times q/√(λ*+s)
	return mean, sd
}
