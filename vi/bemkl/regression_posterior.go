package bemkl

import (
	"fmt"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
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

	// S = Σ_m K_m·K_mᵀ, D×D, of which the upper triangle counts: with Lambda and
	// Upsilon it gives the covariance of a_o, (diag E[λ_o] + E[υ_o]·S)^-1.
	Gram la.Matrix[float64]

	Healing *Healing // nil if predictions cannot be healed

	// GroupNoise holds, of a fit with Groups, q(ε_{o,c}) of each output and group; Epsilon
	// are those of group 0. nil if there are no groups.
	GroupNoise [][]vi.Gamma
}

// RegressionPosterior is the approximate posterior of a [Regression]. It is
// immutable and safe for concurrent use.
type RegressionPosterior struct {
	scorer
	healers []*healer // of each output; nil if predictions cannot be healed
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
		omega: s.Omega, perOutput: []namedGammas{{"Upsilon", s.Upsilon}, {"Epsilon", s.Epsilon}, {"Gamma", s.Gamma}},
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

// checkGroupNoise reports factors of groups that are not as many for every output, or do not
// begin with those of all.
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
	perOutput              []namedGammas
}

// namedGammas are the gamma factors or priors of one name.
type namedGammas struct {
	name string
	g    []vi.Gamma
}

// validatePriors checks one prior of each name.
func validatePriors(priors []namedGammas) error {
	for _, p := range priors {
		if err := conjugate.CheckPrior(p.name, p.g[0]); err != nil {
			return err
		}
	}
	return nil
}

// validate returns an error unless everything has the shape that L outputs need, and
// values that a posterior may have.
func (s layerState) validate(L int) error {
	D, P := s.lambda.Cols, len(s.omega)
	if L < 1 || D < 1 || P < 1 || s.samples < 1 {
		return fmt.Errorf("%d outputs, %d kernels, %d basis points, %d samples: each must be at least 1", L, P, D, s.samples)
	}
	for _, f := range append(s.perOutput, namedGammas{"Omega", s.omega}) {
		n := L
		if f.name == "Omega" {
			n = P
		}
		if len(f.g) != n {
			return fmt.Errorf("%s: %d factors where %d are needed", f.name, len(f.g), n)
		}
		for i, g := range f.g {
			if err := conjugate.CheckPrior(fmt.Sprintf("%s[%d]", f.name, i), g); err != nil {
				return err
			}
		}
	}
	if len(s.beMean) != L+P {
		return fmt.Errorf("BEMean: %d entries where %d are needed", len(s.beMean), L+P)
	}
	if j := check.NonFinite(s.beMean); j >= 0 {
		return fmt.Errorf("BEMean[%d] is %g", j, s.beMean[j])
	}
	for _, f := range []namedMatrix{
		{"Lambda", s.lambda, L, D}, {"A", s.a, L, D}, {"BECov", s.beCov, L + P, L + P}, {"Gram", s.gram, D, D},
	} {
		if err := f.validate(); err != nil {
			return err
		}
	}
	return nil
}

// namedMatrix is a part of a state and the size that it must have.
type namedMatrix struct {
	name       string
	x          la.Matrix[float64]
	rows, cols int
}

// validate checks the size and the entries: of Gram the upper triangle counts, and
// those of Lambda are positive.
func (f namedMatrix) validate() error {
	x := f.x
	if x.Rows != f.rows || x.Cols != f.cols || !x.Valid() {
		return fmt.Errorf("%s: %d×%d (stride %d, %d elements) where %d×%d is needed",
			f.name, x.Rows, x.Cols, x.Stride, len(x.Data), f.rows, f.cols)
	}
	for i := range f.rows {
		row := x.Row(i)
		if f.name == "Gram" {
			row = row[i:]
		}
		for j, v := range row {
			if v-v != 0 || f.name == "Lambda" && v <= 0 {
				return fmt.Errorf("%s: entry (%d, %d) is %g", f.name, i, j, v)
			}
		}
	}
	return nil
}

// wrapRegressionState returns the posterior of a valid state.
func wrapRegressionState(s RegressionState) *RegressionPosterior {
	var upsilon, noise []float64
	for o := range s.Upsilon {
		upsilon = append(upsilon, s.Upsilon[o].Mean())
		noise = append(noise, 1/s.Epsilon[o].Mean())
	}
	p := &RegressionPosterior{
		scorer: scorer{
			L: s.Lambda.Rows, P: len(s.Omega), D: s.Lambda.Cols, samples: s.Samples,
			lambdaShape: s.Priors.Lambda.Shape + 0.5, lambda: s.Lambda, a: s.A, gram: s.Gram,
			upsilon: upsilon, noise: noise,
			combination: splitCombination(s.BEMean, s.BECov, s.Lambda.Rows),
		},
		s: s,
	}
	p.healers = newHealers(s.Healing, &p.scorer)
	return p
}

// posterior returns the present state, copied but for the Gram matrix, which never changes.
func (m *regression) posterior() *RegressionPosterior {
	s := RegressionState{
		Priors:  m.priors,
		Samples: int(m.size),
		Lambda:  la.MatrixOf(m.L, m.D, m.lambda.Scale).Clone(),
		A:       m.aMean.Clone(),
		BEMean:  append([]float64(nil), m.be.Mean...),
		BECov:   m.be.Cov.Clone(),
		Gram:    m.gramUpper,
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
	p.room = m.room()
	return p
}

// State returns what the posterior is made of. Its slices and matrices are the
// posterior's own and must not be changed.
func (p *RegressionPosterior) State() RegressionState { return p.s }

// collapseShare is the share of an output's variance below which its fitted
// function counts as constant.
const collapseShare = 1e-6

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
			la.Axpy(v, m.h.Row(o*m.P+j), f)
		}
		var observed []float64
		if m.observed.Rows > 0 {
			observed = m.observed.Row(o)
		}
		if m.isCollapsed(f, y.Row(o), observed) {
			out = append(out, o)
		}
	}
	return out
}

// isCollapsed reports whether the fitted values f vary by less than
// collapseShare of what the observed targets y do. A constant target leaves nothing to
// explain and is no collapse.
func (s samples) isCollapsed(f, y, observed []float64) bool {
	fitted, n := s.variation(f, nil)
	target, seen := s.variation(y, observed)
	return target > 0 && fitted/n < collapseShare*target/seen
}

// variation returns Σ (x − mean)².
func variation(x []float64) float64 {
	var mean, sum float64
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sum += float64((v - mean) * (v - mean))
	}
	return sum
}
