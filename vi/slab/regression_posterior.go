package slab

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/check"
)

// RegressionState is everything a [RegressionPosterior] is made of. It is plain
// data, to be saved and restored; slices and matrices of a state that belongs to
// a posterior must not be changed.
type RegressionState struct {
	Prior   Prior
	Noise   float64 // σ²
	Weights []Pair  // M; under standard mean field the marginals of w̃ and s

	// Covariance is the covariance of w̃, M×M, under standard mean field; otherwise empty.
	Covariance la.Matrix[float64]
}

// RegressionPosterior is the approximate posterior of a [Regression]. It is
// immutable and safe for concurrent use.
type RegressionPosterior struct {
	s RegressionState
}

// NewRegressionPosterior returns the posterior of a state, which it keeps and
// which must not be changed afterwards. The error says what does not fit.
func NewRegressionPosterior(s RegressionState) (*RegressionPosterior, error) {
	if err := s.validate(); err != nil {
		return nil, fmt.Errorf("vi: spike-and-slab state: %w", err)
	}
	return &RegressionPosterior{s: s}, nil
}

// validate returns an error that names the first part that does not fit.
func (s *RegressionState) validate() error {
	M := len(s.Weights)
	covariance := check.Matrix("Covariance", s.Covariance, M, M, check.Finite)
	if s.Covariance.Rows == 0 {
		covariance = check.That(true, "")
	}
	return check.Parts(
		check.That(M > 0, "no weights"),
		s.Prior.validate,
		check.Number("Noise", s.Noise, check.Positive),
		checkPairs("Weights", s.Weights, M, 1),
		covariance,
	)
}

// checkPairs checks that there is a distribution q(w̃, s) for each of so many weights.
func checkPairs(name string, q []Pair, rows, cols int) check.Part {
	return func() error {
		if len(q) != rows*cols {
			return fmt.Errorf("%s: %d where %d×%d are needed", name, len(q), rows, cols)
		}
		if i := firstBadPair(q); i >= 0 {
			return fmt.Errorf("%s[%d] is %+v", name, i, q[i])
		}
		return nil
	}
}

// firstBadPair returns the index of the first pair that is not a distribution,
// or −1.
func firstBadPair(q []Pair) int {
	for i, p := range q {
		if math.IsNaN(p.Logit) || !check.Finite(p.Mean) || !check.NotNegative(p.Variance) {
			return i
		}
	}
	return -1
}

// State returns what the posterior is made of. Its slices and matrices are the
// posterior's own and must not be changed.
func (p *RegressionPosterior) State() RegressionState { return p.s }

// Weights returns the mean, the standard deviation and the inclusion probability
// γ of each weight.
func (p *RegressionPosterior) Weights() (mean, sd, inclusion []float64) {
	for _, q := range p.s.Weights {
		m, _ := q.Moments()
		mean = append(mean, m)
		sd = append(sd, math.Sqrt(q.VarW()))
		inclusion = append(inclusion, q.Inclusion())
	}
	return mean, sd, inclusion
}

// RegressionPrediction is the predictive distribution of T samples.
type RegressionPrediction struct {
	Mean     []float64 // of the function, and of the target
	Function []float64 // variance of the function
	Variance []float64 // variance of the target with its noise, Function + σ²
}

// Predict returns the predictive distribution at the rows of x, T×M. Paired mean
// field takes the weights for independent: where inputs are correlated its
// variances are too small.
func (p *RegressionPosterior) Predict(x la.Matrix[float64]) (*RegressionPrediction, error) {
	M := len(p.s.Weights)
	if x.Cols != M {
		return nil, fmt.Errorf("vi: x: %d columns where %d are needed", x.Cols, M)
	}
	mean, sd, gamma := p.Weights()
	out := &RegressionPrediction{make([]float64, x.Rows), make([]float64, x.Rows), make([]float64, x.Rows)}
	scaled := make([]float64, M)
	for i := range x.Rows {
		row := x.Row(i)
		out.Mean[i] = la.Dot(row, mean)
		var f float64
		for m, v := range row {
			s := v * sd[m]
			f += float64(s * s)
			scaled[m] = v * gamma[m]
		}
		if c := p.s.Covariance; c.Rows > 0 {
			for m, v := range scaled {
				cov := c.Row(m)
				f += float64(v * (la.Dot(cov, scaled) - float64(cov[m]*v)))
			}
		}
		out.Function[i] = max(0, f)
		out.Variance[i] = out.Function[i] + p.s.Noise
	}
	return out, nil
}
