package mgp

import (
	"errors"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/check"
)

// rowNoise says how the noise of targets with weights differs: see [Evidence].Weights. Target n has the noise variance
//
//	σ²/w_n = σ_h²·s_n,   σ_h² = σ²/h,   s_n = h/w_n,   log h = mean log w_n,
//
// where σ_h² is the variance of a target whose weight is the geometric mean h. The fit has σ_h² for its variable, so that the unit of
// the weights has no effect on the prior of the noise.
type rowNoise struct {
	share   []float64 // s_n; nil without weights
	typical float64   // h; 1 without weights
}

// NoiseShares returns the shares s_n = h/w_n of the noise variance of N targets with the given weights, and the geometric mean h of
// the weights: see [Evidence].Weights. It returns nil and 1 without weights. An error names the first weight that is not positive and
// finite, or whose share is not.
func NoiseShares(weights []float64) (shares []float64, typical float64, err error) {
	if weights == nil {
		return nil, 1, nil
	}
	var sum float64
	for i, w := range weights {
		if !check.Positive(w) {
			return nil, 0, fmt.Errorf("vi: Weights[%d] is %g: it must be positive and finite", i, w)
		}
		sum += special.Log(w)
	}
	typical = special.Exp(sum / float64(len(weights)))
	for i, w := range weights {
		s := typical / w
		if !check.Positive(s) {
			return nil, 0, fmt.Errorf("vi: Weights[%d] is %g, beyond double precision beside their mean %g", i, w, typical)
		}
		shares = append(shares, s)
	}
	return shares, typical, nil
}

// shareOf returns s_n.
func (r *rowNoise) shareOf(n int) float64 {
	if r.share == nil {
		return 1
	}
	return r.share[n]
}

// ofOne returns the noise variance of a target of weight 1, given the noise variance of a target of the mean weight.
func (r *rowNoise) ofOne(noise float64) float64 { return noise * r.typical }

// ofTypical returns the noise variance of a target of the mean weight, given the noise variance of a target of weight 1.
func (r *rowNoise) ofTypical(noise float64) float64 { return noise / r.typical }

// squareOf returns Σ s_n·a_n².
func (r *rowNoise) squareOf(a []float64) float64 {
	if r.share == nil {
		return la.SumSq(a)
	}
	var sum float64
	for n, s := range r.share {
		sum += float64(s * a[n] * a[n])
	}
	return sum
}

// takeWeights sets the shares of the noise.
func (m *evidence) takeWeights(weights []float64) (err error) {
	switch {
	case weights != nil && (m.like != nil || m.span != nil):
		return errors.New("vi: Weights are for targets with noise, and not for samples that a few span")
	case weights != nil && len(weights) != m.N:
		return fmt.Errorf("vi: Weights: %d where there are %d targets", len(weights), m.N)
	}
	m.share, m.typical, err = NoiseShares(weights)
	return err
}

// noiseOf returns the noise variance of target n.
func (m *evidence) noiseOf(n int) float64 {
	return float64(m.noise * m.shareOf(n)) // the sum with an element of K is rounded apart
}

// setNoise gives the targets of a state their noise variances, if they have weights.
func (m *evidence) setNoise(s *State) {
	if m.share == nil {
		return
	}
	noise := make([]float64, m.N)
	for n := range noise {
		noise[n] = m.noiseOf(n)
	}
	s.SetNoise(noise)
}

// SetNoise gives the targets of a state, whose Factor is the Cholesky factor of K + diag(noise), these noise variances. Each
// target gets a site of the precision 1/noise_n, and Factor becomes the factor of B = I + S^½·K·S^½, in place.
func (s *State) SetNoise(noise []float64) {
	s.Sites = make([]float64, len(noise))
	for n, v := range noise {
		s.Sites[n] = 1 / v
		la.Scal(1/math.Sqrt(v), s.Factor.Row(n)[:n+1])
	}
}
