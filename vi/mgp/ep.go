package mgp

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// Expectation propagation for a [Likelihood]. Each site is set so that the posterior has, at its
// sample, the mean and variance of the tilted distribution: the cavity N(f_n | m₋, v₋) times the true
// likelihood. With the likelihood's g = d log Z/dm₋ and δ = −d² log Z/dm₋² these are
//
//	m̂ = m₋ + v₋·g,   v̂ = v₋ − v₋²·δ,
//
// and the site that leads there, without a difference of large numbers,
//
//	λ = δ/(1 − v₋·δ),   ν = λ·m̂ + g.
//
// All sites are renewed at once, from one factorisation, and once they are near their end
// by what the last renewals tell together (see [work.Mixing]).
//
// Source: T. P. Minka, "Expectation propagation for approximate Bayesian
// inference", UAI 2001; C. E. Rasmussen and C. K. I. Williams, "Gaussian
// Processes for Machine Learning", 2006, section 3.6, which renews one site after
// another.

// epSweeps is the most factorisations of one run of expectation propagation.
const epSweeps = 200

// leastDamping is the smallest step of the sites, nearlyLinear the residual below which they
// are extrapolated, and leastLeft the least share of a precision that an extrapolation leaves, as
// it might make it negative.
const (
	leastDamping = 0.2
	nearlyLinear = 0.03
	leastLeft    = 0.1
)

// roundingResidual is a residual below which one that no longer falls is rounding.
const roundingResidual = 1e-8

// propagate runs expectation propagation from the present sites until the
// moments of posterior and tilted distributions agree to within tol posterior
// standard deviations (root mean square), and returns the approximate log evidence. The posterior
// then belongs to the final sites.
func (s *sites) propagate(l *likelihood, tol float64) (logZ float64, err error) {
	s.settle(tol)
	var mixing work.Mixing
	asked, way := make([]float64, 2*s.N), make([]float64, 2*s.N)
	damping, last := 1.0, math.Inf(1)
	for range epSweeps {
		if err := s.posterior(); err != nil {
			return 0, err
		}
		var square float64
		logZ = 0
		for n := range s.N {
			u := l.tilt(n, s.cavityMean[n], s.cavityVar[n])
			sd := math.Sqrt(s.variance[n])
			dm, dv := s.mean[n]-u.mean, (s.variance[n]-u.variance)/s.variance[n]
			way[n], way[s.N+n] = (u.precision-s.prec[n])*s.variance[n], (u.shift-s.nu[n])*sd
			asked[n], asked[s.N+n] = u.precision, u.shift
			square += dm*dm/s.variance[n] + float64(dv*dv)
			logZ += u.logZ + s.siteNormaliser(n)
		}
		logZ -= float64(0.5 * s.logDet())
		residual := math.Sqrt(square / float64(s.N))
		if math.IsNaN(residual) {
			return 0, fmt.Errorf("expectation propagation: the moments are not finite")
		}
		if residual <= tol || residual < roundingResidual && residual > 0.9*last {
			return logZ, nil
		}
		if residual > last {
			damping = max(leastDamping, 0.5*damping)
			mixing.Forget()
		}
		last = residual
		least := 0.0 // share of a precision that is left
		if residual < nearlyLinear && mixing.Extrapolate(asked, way) {
			least = leastLeft
		}
		for n := range s.N {
			s.prec[n] = max(s.prec[n]+float64(damping*(asked[n]-s.prec[n])), float64(least*s.prec[n]), leastPrecision)
			s.nu[n] += float64(damping * (asked[s.N+n] - s.nu[n]))
		}
	}
	return 0, fmt.Errorf("expectation propagation: the moments differ by %.3g posterior deviations after %d sweeps", last, epSweeps)
}

// siteNormaliser returns site n's part of the log evidence beside the log normaliser of its tilted
// distribution, with cavity precision τ₋ and shift q = τ₋·m₋:
//
//	½·ν·m − ½·v·ν² + ½·q·(q·λ/τ₋ − 2ν)·v + ½·log(1 + λ/τ₋).
func (s *sites) siteNormaliser(n int) float64 {
	v, nu := s.variance[n], s.nu[n]
	ratio := s.prec[n] * s.cavityVar[n]
	q := s.cavityMean[n] / s.cavityVar[n]
	return 0.5 * (float64(nu*s.mean[n]) - float64(v*nu*nu) + float64(q*v*(float64(q*ratio)-2*nu)) + special.Log1p(ratio))
}

// start sets the sites to those that the likelihood begins with, given K.
func (s *sites) start(l *likelihood, k la.Matrix[float64]) {
	for n := range s.N {
		s.prec[n], s.nu[n] = l.begin(n, k.At(n, n))
	}
}

// bend returns −d²/dz² log Φ(z) = h·(z + h) from h = φ(z)/Φ(z). Far out on the left
// the sum cancels, and the asymptotic series has more digits.
func bend(z, h float64) float64 {
	if z < -100 {
		x := 1 / (z * z)
		return 1 - float64(x*(1-float64(x*(6-float64(x*(50-float64(518*x)))))))
	}
	return h * (z + h)
}
