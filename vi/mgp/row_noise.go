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
	typical float64   // h; 0 without weights
}

// newRowNoise returns the noise of n targets with the given weights; nil stands for weights of 1.
func newRowNoise(weights []float64, n int) (r rowNoise, err error) {
	if weights == nil {
		return r, nil
	}
	if len(weights) != n {
		return r, fmt.Errorf("vi: Weights: %d where there are %d targets", len(weights), n)
	}
	var sum float64
	for i, w := range weights {
		if !check.Positive(w) {
			return r, fmt.Errorf("vi: Weights[%d] is %g: it must be positive and finite", i, w)
		}
		sum += special.Log(w)
	}
	r.typical = special.Exp(sum / float64(n))
	for i, w := range weights {
		s := r.typical / w
		if !check.Positive(s) {
			return r, fmt.Errorf("vi: Weights[%d] is %g, beyond double precision beside their mean %g", i, w, r.typical)
		}
		r.share = append(r.share, s)
	}
	return r, nil
}

// shareOf returns s_n.
func (r *rowNoise) shareOf(n int) float64 {
	if r.share == nil {
		return 1
	}
	return r.share[n]
}

// ofOne returns the noise variance of a target of weight 1, given the noise variance of a target of the mean weight.
func (r *rowNoise) ofOne(noise float64) float64 {
	if r.share == nil {
		return noise
	}
	return noise * r.typical
}

// ofTypical returns the noise variance of a target of the mean weight, given the noise variance of a target of weight 1.
func (r *rowNoise) ofTypical(noise float64) float64 {
	if r.share == nil {
		return noise
	}
	return noise / r.typical
}

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

// takeWeights takes weights and the known noise.
func (m *evidence) takeWeights(e Evidence) (err error) {
	if e.Weights != nil && (m.like != nil || m.span != nil) {
		return errors.New("vi: Weights are for targets with noise, and not for samples that a few span")
	}
	if m.rowNoise, err = newRowNoise(e.Weights, m.N); err != nil {
		return err
	}
	m.given = m.ofTypical(e.KnownNoise)
	return nil
}

// noiseOf returns the noise variance of target n.
func (m *evidence) noiseOf(n int) float64 {
	if m.share == nil {
		return m.noise
	}
	return float64(m.noise * m.share[n]) // not fused with what it is added to
}

// setNoise makes sites of the noise in a state, if targets have weights.
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
