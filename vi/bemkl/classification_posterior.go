package bemkl

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/predictive"
	"github.com/bmkl/bmkl/vi/internal/target"
)

// ClassificationState is everything a [ClassificationPosterior] is made of, like
// [RegressionState].
type ClassificationState struct {
	Priors  ClassificationPriors
	Margin  float64 // ν, 0 without a margin
	SigmaG  float64 // σ_g
	Samples int     // N, the training samples

	Lambda la.Matrix[float64] // L×D, scales of q(λ); their shape is Priors.Lambda.Shape + ½
	A      la.Matrix[float64] // L×D, means of the sample weights a
	Gamma  []vi.Gamma         // L
	Omega  []vi.Gamma         // P

	// Mean and covariance of (b_1 … b_L, e_1 … e_P).
	BEMean []float64
	BECov  la.Matrix[float64]

	Gram la.Matrix[float64] // Σ_m K_m·K_mᵀ, D×D; only the upper triangle is read
}

// ClassificationPosterior is the approximate posterior of a [Classification].
// It is immutable and safe for concurrent use.
type ClassificationPosterior struct {
	scorer
	s ClassificationState
}

// NewClassificationPosterior returns the posterior of a state, which it keeps
// and which must not be changed afterwards. The error says what does not fit.
func NewClassificationPosterior(s ClassificationState) (*ClassificationPosterior, error) {
	if err := s.Priors.validate(); err != nil {
		return nil, err
	}
	if !(s.Margin >= 0) || math.IsInf(s.Margin, 0) || !(s.SigmaG > 0) || math.IsInf(s.SigmaG, 0) {
		return nil, fmt.Errorf("vi: classification state: Margin %g, SigmaG %g", s.Margin, s.SigmaG)
	}
	err := layerState{
		samples: s.Samples, lambda: s.Lambda, a: s.A, beMean: s.BEMean, beCov: s.BECov, gram: s.Gram,
		omega: s.Omega, perOutput: []check.Part{conjugate.Factors("Gamma", s.Gamma, s.Lambda.Rows)},
	}.validate(s.Lambda.Rows)
	if err != nil {
		return nil, fmt.Errorf("vi: classification state: %w", err)
	}
	return wrapClassificationState(s), nil
}

// wrapClassificationState returns the posterior of a valid state.
func wrapClassificationState(s ClassificationState) *ClassificationPosterior {
	var upsilon, noise []float64
	for range s.Lambda.Rows {
		upsilon = append(upsilon, 1/(s.SigmaG*s.SigmaG))
		noise = append(noise, 1)
	}
	return &ClassificationPosterior{
		scorer: scorer{core: predictive.Scorer{
			L: s.Lambda.Rows, P: len(s.Omega), D: s.Lambda.Cols, Samples: s.Samples,
			LambdaShape: s.Priors.Lambda.Shape + 0.5, Lambda: s.Lambda, A: s.A, Gram: s.Gram,
			Upsilon: upsilon, Noise: noise,
			Combinations: predictive.SplitCombination(s.BEMean, s.BECov, s.Lambda.Rows),
		}},
		s: s,
	}
}

// State returns what the posterior is made of. Its slices and matrices are the
// posterior's own and must not be changed.
func (p *ClassificationPosterior) State() ClassificationState { return p.s }

// Posterior returns the present state, copied but for the Gram matrix, which never changes.
func (m *classification) Posterior() *ClassificationPosterior {
	s := ClassificationState{
		Priors:  m.priors,
		Margin:  m.margin,
		SigmaG:  m.sigmaG,
		Samples: m.N,
		Lambda:  la.MatrixOf(m.L, m.D, m.Lambda.Scale).Clone(),
		A:       m.AMean.Clone(),
		BEMean:  append([]float64(nil), m.be.Mean...),
		BECov:   m.be.Cov.Clone(),
		Gram:    m.GramUpper,
	}
	for o := range m.L {
		s.Gamma = append(s.Gamma, m.gamma.At(o))
	}
	for j := range m.P {
		s.Omega = append(s.Omega, m.omega.At(j))
	}
	p := wrapClassificationState(s)
	p.core.Room = m.Room()
	return p
}

// ClassPrediction is the predictive distribution of T samples: of their scores f
// (Mean and Variance of the embedded Prediction) and of their labels.
type ClassPrediction struct {
	Prediction

	// Probability of the label +1 in each row, L×T, given that f lies outside the
	// margin's gap.
	Probability la.Matrix[float64]
}

// Normalise returns the probabilities of L classes, L×T, columns summing to one:
// each row's probability divided by the sum over the rows.
func (p *ClassPrediction) Normalise() la.Matrix[float64] {
	out := p.Probability.Clone()
	for t := range out.Cols {
		var sum float64
		for o := range out.Rows {
			sum += out.At(o, t)
		}
		for o := range out.Rows {
			out.Set(o, t, out.At(o, t)/sum)
		}
	}
	return out
}

// Predict returns the predictive distribution of the samples whose kernels with
// the D basis points are the columns of k: P matrices D×T. With s the standard
// deviation of the score the probability of +1 is
//
//	Φ((E[f] − ν)/s) / (Φ((E[f] − ν)/s) + Φ((−ν − E[f])/s)).
//
// opt.Published does as the paper: it takes the variance that leaves out Var(g*), and
// puts it, not its root, in place of s. opt.MeanOnly leaves the probabilities out too,
// and with them the most probable class, which depends on the variances.
func (p *ClassificationPosterior) Predict(k vi.Kernels, opt vi.PredictOptions) (*ClassPrediction, error) {
	score, err := p.scorer.Predict(k, opt)
	if err != nil {
		return nil, err
	}
	out := &ClassPrediction{Prediction: *score}
	if opt.MeanOnly {
		return out, nil
	}
	out.Probability = la.NewMatrix[float64](score.Mean.Rows, score.Mean.Cols)
	for o := range score.Mean.Rows {
		row, variance := out.Probability.Row(o), score.Variance.Row(o)
		for t, mean := range score.Mean.Row(o) {
			s := variance[t]
			if !opt.Published {
				s = math.Sqrt(s)
			}
			row[t] = target.Probability(mean, s, p.s.Margin)
		}
	}
	return out, nil
}
