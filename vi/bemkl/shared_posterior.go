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

// SharedState is everything a [SharedPosterior] is made of, like
// [RegressionState].
type SharedState struct {
	Priors  RegressionPriors
	Samples int // N, the training samples

	Lambda  la.Matrix[float64]   // 1×D, scales of q(λ); their shape is Priors.Lambda.Shape + ½
	A       la.Matrix[float64]   // 1×D, means of the sample weights a
	Upsilon vi.Gamma             // q(υ)
	Epsilon []vi.Gamma           // L
	Gamma   []vi.Gamma           // L
	Omega   []vi.Gamma           // L·P, output by output
	BEMean  [][]float64          // L of the means of (b_o, e_{o,1} … e_{o,P})
	BECov   []la.Matrix[float64] // L of their covariances
	Gram    la.Matrix[float64]   // Σ_m K_m·K_mᵀ, D×D; only the upper triangle is read

	Healing *SharedHealing // nil if predictions cannot be healed
}

// SharedPosterior is the approximate posterior of a [SharedRegression]. It is
// immutable and safe for concurrent use.
type SharedPosterior struct {
	scorer
	healers []*healing.Healer // one of all outputs; nil if predictions cannot be healed
	s       SharedState
}

// NewSharedPosterior returns the posterior of a state, which it keeps and which
// must not be changed afterwards. The error says what does not fit.
func NewSharedPosterior(s SharedState) (*SharedPosterior, error) {
	if err := s.Priors.validate(); err != nil {
		return nil, err
	}
	fail := func(err error) (*SharedPosterior, error) {
		return nil, fmt.Errorf("vi: shared regression state: %w", err)
	}
	L := len(s.BEMean)
	if L == 0 || len(s.BECov) != L || len(s.Epsilon) != L || len(s.Gamma) != L || len(s.Omega)%L != 0 {
		return fail(fmt.Errorf("BEMean, BECov, Epsilon, Gamma and Omega have %d, %d, %d, %d and %d entries",
			L, len(s.BECov), len(s.Epsilon), len(s.Gamma), len(s.Omega)))
	}
	P := len(s.Omega) / L
	for o := range L {
		err := layerState{
			samples: s.Samples, lambda: s.Lambda, a: s.A, beMean: s.BEMean[o], beCov: s.BECov[o], gram: s.Gram,
			omega: s.Omega[o*P : (o+1)*P],
			perOutput: []check.Part{
				conjugate.Factors("Upsilon", []vi.Gamma{s.Upsilon}, 1),
				conjugate.Factors("Epsilon", s.Epsilon[o:o+1], 1),
				conjugate.Factors("Gamma", s.Gamma[o:o+1], 1),
			},
		}.validate(1)
		if err != nil {
			return fail(fmt.Errorf("output %d: %w", o, err))
		}
	}
	if h := s.Healing; h != nil {
		if err := h.validate(L, P, s.A.Cols, s.Samples); err != nil {
			return fail(err)
		}
	}
	return wrapSharedState(s), nil
}

// wrapSharedState returns the posterior of a valid state.
func wrapSharedState(s SharedState) *SharedPosterior {
	L := len(s.BEMean)
	p := &SharedPosterior{
		scorer: scorer{core: predictive.Scorer{
			L: L, P: len(s.Omega) / L, D: s.A.Cols, Samples: s.Samples,
			LambdaShape: s.Priors.Lambda.Shape + 0.5, Lambda: s.Lambda, A: s.A, Gram: s.Gram,
			Upsilon: []float64{s.Upsilon.Mean()},
		}},
		s: s,
	}
	for o := range L {
		p.core.Noise = append(p.core.Noise, 1/s.Epsilon[o].Mean())
		p.core.Combinations = append(p.core.Combinations, predictive.NewCombination(s.BEMean[o], s.BECov[o]))
	}
	p.healers = newSharedHealers(s.Healing, &p.scorer)
	return p
}

// wrap returns the posterior of the present state, copied but for the Gram matrix, which never
// changes. healing returns what heals it, nil if nothing can.
func (m *sharedLayers) wrap(healing func(*SharedPosterior) *SharedHealing) *SharedPosterior {
	s := SharedState{
		Priors:  m.priors,
		Samples: int(m.Size),
		Lambda:  la.MatrixOf(1, m.D, m.Lambda.Scale).Clone(),
		A:       m.AMean.Clone(),
		Upsilon: m.upsilonQ.At(0),
		Gram:    m.GramUpper,
	}
	for o := range m.L {
		s.Epsilon = append(s.Epsilon, m.epsilon[o].At(0))
		s.Gamma = append(s.Gamma, m.gamma.At(o))
		s.BEMean = append(s.BEMean, append([]float64(nil), m.be[o].Mean...))
		s.BECov = append(s.BECov, m.be[o].Cov.Clone())
	}
	for j := range m.L * m.P {
		s.Omega = append(s.Omega, m.omega.At(j))
	}
	s.Healing = healing(wrapSharedState(s))
	p := wrapSharedState(s)
	p.core.Room = m.Room()
	return p
}

// State returns what the posterior is made of. Its slices and matrices are the
// posterior's own and must not be changed.
func (p *SharedPosterior) State() SharedState { return p.s }

// KernelWeights returns the mean and the standard deviation of each kernel
// weight e_{o,m} of output o.
func (p *SharedPosterior) KernelWeights(o int) (mean, sd []float64) {
	return p.core.Combinations[o].Weights()
}
