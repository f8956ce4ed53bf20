package bemkl

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/healing"
	"github.com/bmkl/bmkl/vi/internal/predictive"
)

// Healing is what a [RegressionPosterior] keeps to heal its predictions, whose variances are too
// small far from the samples; docs/theory/healing.md. A posterior has no Healing if the basis
// points are not the samples: a new sample's kernels with the samples are then not known from its
// kernels with the basis points.
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

// healing returns what heals the present state, nil if nothing can.
func (m *regression) healing() *Healing {
	return m.latent.healing(m.be.Mean[m.L:], m.be.Mean[:m.L], m.y)
}

// healing returns what heals the predictions of outputs that read a row each, with the
// kernel weights e, the biases b and the targets y, R×N; nil if nothing can.
func (l *latent) healing(e, b []float64, y la.Matrix[float64]) *Healing {
	if l.D != l.N || l.Ones != nil {
		return nil
	}
	h := &Healing{Kernel: l.Square(), Residual: y.Clone(), Precision: make([]float64, l.R)}
	l.K.Sum(&l.Crew.All, e, h.Kernel)
	if !healing.IsSymmetric(h.Kernel, healing.Asymmetry) {
		return nil
	}
	h.Kernel.MirrorLower()
	if l.Observed.Rows > 0 {
		h.Observed = l.Observed.Clone()
	}
	for o := range l.R {
		r := h.Residual.Row(o)
		for j := range l.P {
			la.Axpy(-e[j], l.H.Row(o*l.P+j), r)
		}
		for i := range r {
			r[i] -= b[o]
			if h.missing(o, i) {
				r[i] = 0
			}
		}
		h.Precision[o] = healing.NewWeightPrecision(l.AMean.Row(o), l.AVar.Row(o))
	}
	return h
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
	err := check.Parts(
		check.Matrix("Healing.Kernel", h.Kernel, D, D, check.Finite),
		check.Matrix("Healing.Residual", h.Residual, L, D, check.Finite),
		check.Matrix("Healing.Observed", observed, L, D, check.Finite),
	)
	if err != nil {
		return err
	}
	if !healing.IsSymmetric(h.Kernel, 0) {
		return fmt.Errorf("Healing.Kernel is not symmetric")
	}
	for o := range observed.Rows {
		for i, z := range observed.Row(o) {
			if z != 0 && z != 1 {
				return fmt.Errorf("Healing.Observed: entry (%d, %d) is %g", o, i, z)
			}
		}
	}
	return healing.CheckNewWeights(h.Precision, L)
}

// Healable reports whether predictions can be healed.
func (p *RegressionPosterior) Healable() bool { return p.healers != nil }

// PredictHealed is Predict with the cure of docs/theory/healing.md: every new sample is
// given a basis point of its own, whose weight is unknown but for what the targets
// near it tell. That moves the means and raises the variances where the samples do
// not reach. self holds the kernels of the new samples with themselves, P×T.
//
// Beyond Predict it costs a product and a Cholesky factorisation of order D, ⅔·D³
// multiplications, once if there is a single output, and 3·D² multiplications for
// each sample and output. MeanOnly costs the same. opt.Published heals nothing.
func (p *RegressionPosterior) PredictHealed(k vi.Kernels, self la.Matrix[float64], opt vi.PredictOptions) (*Prediction, error) {
	out, err := healing.Predict(&p.core, p.healers, k, self, opt)
	return (*Prediction)(out), err
}

// Healer returns what heals output o. It costs a Cholesky factorisation of order D
// and four products, and takes the memory of a D×D matrix.
func (p *RegressionPosterior) Healer(ws *la.Workspace, o int) (*Healer, error) {
	return newHealer(nil, ws, p.healers, o)
}

// newHealers returns the healers of a regression's outputs, none if h is nil.
func newHealers(h *Healing, s *predictive.Scorer) []*healing.Healer {
	if h == nil {
		return nil
	}
	var all []*healing.Healer
	for o := range s.L {
		var trace float64
		for m := range s.P {
			trace += s.Combinations[o].EE.At(m, m)
		}
		spread := s.Noise[o] + trace/s.Upsilon[o]
		e, scale := s.Combinations[o].Mean[1:], 1/math.Sqrt(spread)
		r := &healing.Healer{
			Kernels: []la.Matrix[float64]{h.Kernel}, Scale: scale,
			Weights: healing.Whitening{Weights: la.MatrixOf(1, s.P, slices.Clone(e)), R: 1}, Residual: la.MatrixOf(1, s.D, slices.Clone(h.Residual.Row(o))),
			Precision: h.Precision[o], S: s.PriorRoots(o),
			Outputs: []int{o}, E: [][]float64{e}, Spread: []float64{spread},
			Name: fmt.Sprintf("output %d", o), Kept: s.L == 1,
		}
		la.Scal(scale, r.Weights.Weights.Data)
		la.Scal(scale, r.Residual.Data)
		if h.Observed.Rows > 0 {
			r.Trust = h.Observed.Row(o)
		}
		all = append(all, r)
	}
	return all
}
