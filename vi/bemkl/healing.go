package bemkl

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
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
	return m.latent.healing(m.be.Mean[m.L:], m.be.Mean[:m.L], m.y)
}

// healing returns what heals the predictions of outputs that read a row each, with the
// kernel weights e, the biases b and the targets y, R×N; nil if nothing can.
func (l *latent) healing(e, b []float64, y la.Matrix[float64]) *Healing {
	if l.D != l.N || l.ones != nil {
		return nil
	}
	h := &Healing{Kernel: l.square(), Residual: y.Clone(), Precision: make([]float64, l.R)}
	l.k.Sum(&l.crew.All, e, h.Kernel)
	if !isSymmetric(h.Kernel, asymmetry) {
		return nil
	}
	h.Kernel.MirrorLower()
	if l.observed.Rows > 0 {
		h.Observed = l.observed.Clone()
	}
	for o := range l.R {
		r := h.Residual.Row(o)
		for j := range l.P {
			la.Axpy(-e[j], l.h.Row(o*l.P+j), r)
		}
		for i := range r {
			r[i] -= b[o]
			if h.missing(o, i) {
				r[i] = 0
			}
		}
		h.Precision[o] = newWeightPrecision(l.aMean.Row(o), l.aVar.Row(o))
	}
	return h
}

// square returns a D×D matrix, in the memory that the sweeps have left over if there is some.
func (l *latent) square() la.Matrix[float64] {
	if x := l.spare; x.Rows > 0 {
		l.spare = la.Matrix[float64]{}
		return x
	}
	return la.NewMatrix[float64](l.D, l.D)
}

// newWeightPrecision returns the prior precision of a new sample's weight, with which it
// is as large as the others are.
func newWeightPrecision(mean, variance []float64) float64 {
	var squares float64
	for d, v := range mean {
		squares += float64(v*v) + max(0, variance[d])
	}
	return min(float64(len(mean))/squares, math.MaxFloat64) // finite where all weights vanish
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
	return checkNewWeights(h.Precision, L)
}

// checkNewWeights checks the prior precisions of a new sample's weights, which shall be n.
func checkNewWeights(precision []float64, n int) error {
	if len(precision) != n {
		return fmt.Errorf("Healing.Precision: %d entries where %d are needed", len(precision), n)
	}
	for o, v := range precision {
		if !(v > 0) || math.IsInf(v, 1) {
			return fmt.Errorf("Healing.Precision[%d] is %g", o, v)
		}
	}
	return nil
}

// Healable reports whether predictions can be healed.
func (p *RegressionPosterior) Healable() bool { return p.healers != nil }

// PredictHealed is Predict with the cure of docs/healing.md: every new sample is
// given a basis point of its own, whose weight is unknown but for what the targets
// near it tell. That moves the means and raises the variances where the samples do
// not reach. self holds the kernels of the new samples with themselves, P×T.
//
// Beyond Predict it costs a product and a Cholesky factorisation of order D, ⅔·D³
// multiplications, once if there is a single output, and 3·D² multiplications for
// each sample and output. MeanOnly costs the same. opt.Published heals nothing.
func (p *RegressionPosterior) PredictHealed(k vi.Kernels, self la.Matrix[float64], opt vi.PredictOptions) (*Prediction, error) {
	return p.predictHealed(p.healers, k, self, opt)
}

// Healer returns what heals output o. It costs a Cholesky factorisation of order D
// and four products, and takes the memory of a D×D matrix.
func (p *RegressionPosterior) Healer(ws *la.Workspace, o int) (*Healer, error) {
	return newHealer(ws, p.healers, o)
}
