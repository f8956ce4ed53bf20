package bemkl

import (
	"fmt"

	"github.com/bmkl/bmkl/la"
)

// PairHealing is what a [PairPosterior] keeps to heal the factors of new rows, or of new columns,
// as [Healing] is for a [RegressionPosterior]; docs/kbmf.md. Given the means of the other side and
// the functions of the other components, all pairs of sample i are one target of the function
// F·a_r of component r, with noise of a precision of its own.
type PairHealing struct {
	Kernel    la.Matrix[float64] // F = Σ_m E[e_m]·K_m, D×D and symmetric
	Trust     la.Matrix[float64] // R×D, these precisions w; 0 where a sample has no pair
	Residual  la.Matrix[float64] // R×D, w times the target less F·E[a_r]
	Precision []float64          // R, the prior precision λ* of a new sample's weight: D/Σ_d E[a_{r,d}²]
}

// healing returns what heals the factors of new samples of this side, whose targets are the values
// y of pairs with the other side; nil if nothing can.
func (s *pairSide) healing(other *pairSide, epsilon, b float64) *PairHealing {
	if s.D != s.N {
		return nil
	}
	h := &PairHealing{
		Kernel: s.square(), Trust: la.NewMatrix[float64](s.R, s.N), Residual: la.NewMatrix[float64](s.R, s.N),
		Precision: make([]float64, s.R),
	}
	s.k.Sum(&s.latent.crew.All, s.e.Mean, h.Kernel)
	if !isSymmetric(h.Kernel, asymmetry) {
		return nil
	}
	h.Kernel.MirrorLower()
	noise := 1 / s.tau // of a factor around its function
	for m := range s.P {
		noise += s.ee.At(m, m) / s.precision[0]
	}
	function := la.NewMatrix[float64](s.R, s.N)
	for r := range s.R {
		for m := range s.P {
			la.Axpy(s.e.Mean[m], s.h.Row(r*s.P+m), function.Row(r))
		}
		h.Precision[r] = newWeightPrecision(s.aMean.Row(r), s.aVar.Row(r))
	}
	told, factor := la.NewMatrix[float64](s.R, s.R), la.NewMatrix[float64](s.R, s.R)
	rest, column := make([]float64, s.R), make([]float64, s.R)
	for i := range s.N {
		// What the pairs say of h_i: the precision Ψ, and Ψ·(target − f_i).
		told.Fill(0)
		clear(rest)
		s.addPairs(i, other, epsilon, b, told.Data, rest)
		for r := range s.R {
			la.Axpy(-function.At(r, i), told.Row(r), rest)
		}
		// What they say of f_i has the precision (noise·I + Ψ⁻¹)⁻¹ = (I + noise·Ψ)⁻¹·Ψ.
		factor.CopyFrom(told)
		la.Scal(noise, factor.Data)
		for r := range s.R {
			factor.Row(r)[r]++
		}
		if err := la.Cholesky(nil, factor); err != nil {
			return nil // no number: the fit's own factors are none either
		}
		la.CholeskySolveVec(factor, rest)
		for r := range s.R {
			copy(column, told.Row(r))
			la.CholeskySolveVec(factor, column)
			h.Trust.Set(r, i, max(0, column[r]))
			h.Residual.Set(r, i, rest[r])
		}
	}
	return h
}

// newPairHealers returns the healers of the factors of one side, a component each; none if h is nil.
func newPairHealers(h *PairHealing, s *scorer) (all []*healer) {
	if h == nil {
		return nil
	}
	c := &s.combination[0]
	e := c.mean[1:]
	for r := range s.L {
		spread := s.noise[r]
		for m := range s.P {
			spread += c.ee.At(m, m) / s.upsilon[r]
		}
		all = append(all, &healer{
			kernels: []la.Matrix[float64]{h.Kernel}, scale: 1,
			weights: whitening{la.MatrixOf(1, s.P, e), nil, 1}, residual: la.MatrixOf(1, s.D, h.Residual.Row(r)),
			trust: h.Trust.Row(r), precision: h.Precision[r], s: s.priorRoots(r),
			outputs: []int{r}, e: [][]float64{e}, spread: []float64{spread},
			name: fmt.Sprintf("component %d", r), kept: s.L == 1,
		})
	}
	return all
}

// validate reports what does not fit a side of R components with D basis points and as many
// samples.
func (h *PairHealing) validate(R, D, samples int) error {
	if samples != D {
		return fmt.Errorf("Healing: %d basis points are not the %d samples", D, samples)
	}
	for _, f := range []namedMatrix{
		{"Healing.Kernel", h.Kernel, D, D}, {"Healing.Trust", h.Trust, R, D}, {"Healing.Residual", h.Residual, R, D},
	} {
		if err := f.validate(); err != nil {
			return err
		}
	}
	if !isSymmetric(h.Kernel, 0) {
		return fmt.Errorf("Healing.Kernel is not symmetric")
	}
	for r := range R {
		for i, w := range h.Trust.Row(r) {
			if w < 0 {
				return fmt.Errorf("Healing.Trust: entry (%d, %d) is %g", r, i, w)
			}
		}
	}
	return checkNewWeights(h.Precision, R)
}
