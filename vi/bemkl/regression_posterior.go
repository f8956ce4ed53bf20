package bemkl

import (
	"fmt"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/healing"
	"github.com/bmkl/bmkl/vi/internal/predictive"
)

// RegressionState is everything a [RegressionPosterior] is made of. It is plain
// data, to be saved and restored; matrices of a state that belongs to a
// posterior must not be changed.
type RegressionState struct {
	Priors  RegressionPriors
	Samples int // N, the training samples

	Lambda  la.Matrix[float64] // L×D, scales of q(λ); their shape is Priors.Lambda.Shape + ½
	A       la.Matrix[float64] // L×D, means of the sample weights a
	Upsilon []vi.Gamma         // L
	Epsilon []vi.Gamma         // L
	Gamma   []vi.Gamma         // L
	Omega   []vi.Gamma         // P

	// Mean and covariance of (b_1 … b_L, e_1 … e_P).
	BEMean []float64
	BECov  la.Matrix[float64]

	// S = Σ_m K_m·K_mᵀ, D×D; only the upper triangle is read. With Lambda and Upsilon it gives the
	// covariance of a_o, (diag E[λ_o] + E[υ_o]·S)^-1.
	Gram la.Matrix[float64]

	Healing *Healing // nil if predictions cannot be healed

	// GroupNoise holds, of a fit with Groups, q(ε_{o,c}) of each output and group; Epsilon holds
	// the factors of group 0. nil if there are no groups.
	GroupNoise [][]vi.Gamma
}

// RegressionPosterior is the approximate posterior of a [Regression]. It is
// immutable and safe for concurrent use.
type RegressionPosterior struct {
	scorer
	healers []*healing.Healer // of each output; nil if predictions cannot be healed
	s       RegressionState
}

// NewRegressionPosterior returns the posterior of a state, which it keeps and
// which must not be changed afterwards. The error says what does not fit.
func NewRegressionPosterior(s RegressionState) (*RegressionPosterior, error) {
	if err := s.Priors.validate(); err != nil {
		return nil, err
	}
	L := s.Lambda.Rows
	err := layerState{
		samples: s.Samples, lambda: s.Lambda, a: s.A, beMean: s.BEMean, beCov: s.BECov, gram: s.Gram,
		omega: s.Omega, perOutput: []check.Part{
			conjugate.Factors("Upsilon", s.Upsilon, L),
			conjugate.Factors("Epsilon", s.Epsilon, L),
			conjugate.Factors("Gamma", s.Gamma, L),
		},
	}.validate(L)
	if err != nil {
		return nil, fmt.Errorf("vi: regression state: %w", err)
	}
	if err := checkGroupNoise(s.GroupNoise, s.Epsilon); err != nil {
		return nil, fmt.Errorf("vi: regression state: %w", err)
	}
	if h := s.Healing; h != nil {
		if err := h.validate(L, s.Lambda.Cols, s.Samples); err != nil {
			return nil, fmt.Errorf("vi: regression state: %w", err)
		}
	}
	return wrapRegressionState(s), nil
}

// checkGroupNoise reports an error unless every output has as many groups as the others, and
// Epsilon holds the factors of group 0.
func checkGroupNoise(groups [][]vi.Gamma, epsilon []vi.Gamma) error {
	if groups == nil {
		return nil
	}
	if len(groups) != len(epsilon) {
		return fmt.Errorf("GroupNoise: of %d outputs where there are %d", len(groups), len(epsilon))
	}
	for o, own := range groups {
		if len(own) == 0 || len(own) != len(groups[0]) || own[0] != epsilon[o] {
			return fmt.Errorf("GroupNoise[%d]: %d groups, of which the first has Epsilon[%d], are needed for every output", o, len(groups[0]), o)
		}
		for c, g := range own {
			if err := conjugate.CheckPrior(fmt.Sprintf("GroupNoise[%d][%d]", o, c), g); err != nil {
				return err
			}
		}
	}
	return nil
}

// layerState is what the states of all models have in common, to be checked.
type layerState struct {
	samples                int
	lambda, a, beCov, gram la.Matrix[float64]
	beMean                 []float64
	omega                  []vi.Gamma
	perOutput              []check.Part // factors of each output
}

// validate returns an error unless everything has the shape that L outputs need, and
// values that a posterior may have.
func (s layerState) validate(L int) error {
	D, P := s.lambda.Cols, len(s.omega)
	if L < 1 || D < 1 || P < 1 || s.samples < 1 {
		return fmt.Errorf("%d outputs, %d kernels, %d basis points, %d samples: each must be at least 1", L, P, D, s.samples)
	}
	return check.Parts(append(s.perOutput,
		conjugate.Factors("Omega", s.omega, P),
		check.Length("BEMean", len(s.beMean), L+P),
		check.Vector("BEMean", s.beMean, check.Finite),
		check.Matrix("Lambda", s.lambda, L, D, check.Positive),
		check.Matrix("A", s.a, L, D, check.Finite),
		check.Matrix("BECov", s.beCov, L+P, L+P, check.Finite),
		check.Upper("Gram", s.gram, D),
	)...)
}

// wrapRegressionState returns the posterior of a valid state.
func wrapRegressionState(s RegressionState) *RegressionPosterior {
	var upsilon, noise []float64
	for o := range s.Upsilon {
		upsilon = append(upsilon, s.Upsilon[o].Mean())
		noise = append(noise, 1/s.Epsilon[o].Mean())
	}
	p := &RegressionPosterior{
		scorer: scorer{core: predictive.Scorer{
			L: s.Lambda.Rows, P: len(s.Omega), D: s.Lambda.Cols, Samples: s.Samples,
			LambdaShape: s.Priors.Lambda.Shape + 0.5, Lambda: s.Lambda, A: s.A, Gram: s.Gram,
			Upsilon: upsilon, Noise: noise,
			Combinations: predictive.SplitCombination(s.BEMean, s.BECov, s.Lambda.Rows),
		}},
		s: s,
	}
	p.healers = newHealers(s.Healing, &p.scorer.core)
	return p
}

// Posterior returns the present state, copied but for the Gram matrix, which never changes.
func (m *regression) Posterior() *RegressionPosterior {
	s := RegressionState{
		Priors:  m.priors,
		Samples: int(m.Size),
		Lambda:  la.MatrixOf(m.L, m.D, m.Lambda.Scale).Clone(),
		A:       m.AMean.Clone(),
		BEMean:  append([]float64(nil), m.be.Mean...),
		BECov:   m.be.Cov.Clone(),
		Gram:    m.GramUpper,
		Healing: m.healing(),
	}
	for o := range m.L {
		s.Upsilon = append(s.Upsilon, m.upsilon.At(o))
		s.Epsilon = append(s.Epsilon, m.epsilon[o].At(0))
		s.Gamma = append(s.Gamma, m.gamma.At(o))
	}
	for j := range m.P {
		s.Omega = append(s.Omega, m.omega.At(j))
	}
	p := wrapRegressionState(s)
	p.core.Room = m.Room()
	return p
}

// State returns what the posterior is made of. Its slices and matrices are the
// posterior's own and must not be changed.
func (p *RegressionPosterior) State() RegressionState { return p.s }

// collapsed returns the outputs whose fitted function is constant.
func (m *layers) collapsed(y la.Matrix[float64]) []int { return m.latent.collapsed(m.be.Mean[m.L:], y) }

// collapsed returns the rows whose fitted function E[e]ᵀ·E[a_r]ᵀk_i varies over the samples by
// less than collapseShare of the targets' own variation.
func (m *latent) collapsed(e []float64, y la.Matrix[float64]) []int {
	var out []int
	f := make([]float64, m.N)
	for o := range m.R {
		clear(f)
		for j, v := range e {
			la.Axpy(v, m.H.Row(o*m.P+j), f)
		}
		var observed []float64
		if m.Observed.Rows > 0 {
			observed = m.Observed.Row(o)
		}
		if m.IsCollapsed(f, y.Row(o), observed) {
			out = append(out, o)
		}
	}
	return out
}
