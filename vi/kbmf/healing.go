package kbmf

import (
	"fmt"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/healing"
)

// Healing is what a [Posterior] keeps to heal the factors of new rows, or of new columns,
// as [Healing] is for a [RegressionPosterior]; docs/theory/kbmf.md. Given the means of the other side and
// the functions of the other components, all pairs of sample i are one target of the function
// F·a_r of component r, with noise of a precision of its own.
type Healing struct {
	Kernel    la.Matrix[float64] // F = Σ_m E[e_m]·K_m, D×D and symmetric
	Trust     la.Matrix[float64] // R×D, these precisions w; 0 where a sample has no pair
	Residual  la.Matrix[float64] // R×D, w times the target less F·E[a_r]
	Precision []float64          // R, the prior precision λ* of a new sample's weight: D/Σ_d E[a_{r,d}²]
}

// healing returns what heals the factors of new samples of this side, whose targets are the values
// y of pairs with the other side; nil if nothing can.
func (s *side) healing(other *side, epsilon, b float64) *Healing {
	if s.D != s.N {
		return nil
	}
	h := &Healing{
		Kernel: s.Square(), Trust: la.NewMatrix[float64](s.R, s.N), Residual: la.NewMatrix[float64](s.R, s.N),
		Precision: make([]float64, s.R),
	}
	s.K.Sum(&s.Outputs.Crew.All, s.e.Mean, h.Kernel)
	if !healing.IsSymmetric(h.Kernel, healing.Asymmetry) {
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
			la.Axpy(s.e.Mean[m], s.H.Row(r*s.P+m), function.Row(r))
		}
		h.Precision[r] = healing.NewWeightPrecision(s.AMean.Row(r), s.AVar.Row(r))
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
			return nil // not a number: the fit's own factors are not numbers either
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

// newHealers returns the healers of the factors of one side, a component each; none if h is nil.
func newHealers(h *Healing, s *scorer) (all []*healing.Healer) {
	if h == nil {
		return nil
	}
	c := &s.Combinations[0]
	e := c.Mean[1:]
	for r := range s.L {
		spread := s.Noise[r]
		for m := range s.P {
			spread += c.EE.At(m, m) / s.Upsilon[r]
		}
		all = append(all, &healing.Healer{
			Kernels: []la.Matrix[float64]{h.Kernel}, Scale: 1,
			Weights: healing.Whitening{Weights: la.MatrixOf(1, s.P, e), R: 1}, Residual: la.MatrixOf(1, s.D, h.Residual.Row(r)),
			Trust: h.Trust.Row(r), Precision: h.Precision[r], S: s.PriorRoots(r),
			Outputs: []int{r}, E: [][]float64{e}, Spread: []float64{spread},
			Name: fmt.Sprintf("component %d", r), Kept: s.L == 1,
		})
	}
	return all
}

// validate reports what does not fit a side of R components with D basis points and as many
// samples.
func (h *Healing) validate(R, D, samples int) error {
	if samples != D {
		return fmt.Errorf("Healing: %d basis points are not the %d samples", D, samples)
	}
	err := check.Parts(
		check.Matrix("Healing.Kernel", h.Kernel, D, D, check.Finite),
		check.Matrix("Healing.Trust", h.Trust, R, D, check.NotNegative),
		check.Matrix("Healing.Residual", h.Residual, R, D, check.Finite),
	)
	if err != nil {
		return err
	}
	if !healing.IsSymmetric(h.Kernel, 0) {
		return fmt.Errorf("Healing.Kernel is not symmetric")
	}
	return healing.CheckNewWeights(h.Precision, R)
}
