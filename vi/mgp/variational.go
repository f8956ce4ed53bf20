package mgp

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// The Gaussian variational bound for labels t_n = ±1 with p(t_n | f_n) =
// Φ(t_n·f_n): among all Gaussians q(f) = N(m, V) the one with the highest
//
//	L = Σ E[log Φ(t_n·f_n)] − KL(q(f) ‖ N(0, K)).
//
// At the maximum it has the form of sites with, E over q(f_n) and z = t_n·f_n,
//
//	λ_n = E[h(z)(z + h(z))],   ν_n = E[t_n·h(z)] + λ_n·m_n,   h = φ/Φ,
//
// and a posterior made of sites has
//
//	L = Σ E[log Φ] − ½log|B| + ½Σ λ_n·v_n − ½·mᵀα.
//
// Source: M. Opper and C. Archambeau, "The variational Gaussian approximation
// revisited", Neural Computation 21 (2009).

// ascend climbs the bound of labels from the present sites, as climb does.
func (s *sites) ascend(t []float64, tol float64) (bound float64, err error) {
	return s.climb(tol, func(slope, curvature []float64) (sum float64, err error) {
		for n, label := range t {
			e := expectLikelihood(label, s.mean[n], s.variance[n])
			slope[n], curvature[n] = e.slope, e.curvature
			sum += e.logLik
		}
		return sum, nil
	})
}

// climb climbs the bound of a likelihood from the present sites until a step of the
// sites would move the posterior means by less than tol posterior deviations (root
// mean square), and returns the bound. expect returns the expected log likelihood
// under the present posterior, with its derivatives by the means, and minus twice
// those by the variances.
//
// The sites that the posterior asks for are as often too far as too near: in some directions a
// whole step turns the error around, or makes it larger, in others it leaves most of the error.
// [work.Mixing] finds both kinds of directions from what the last steps asked for. After two in a
// row below the highest bound, by more than rounding, a short step is made from there.
func (s *sites) climb(tol float64, expect func(slope, curvature []float64) (float64, error)) (bound float64, err error) {
	var mixing work.Mixing
	v := make([]float64, 8*s.N)
	kept, plain := v[:2*s.N], v[2*s.N:4*s.N] // λ and ν of the highest bound, and those it asks for
	asked := v[4*s.N : 6*s.N]                // those asked for last, extrapolated
	way := v[6*s.N:]                         // to those asked for, in posterior deviations
	s.settle(tol)
	step, best, before, falls := 1.0, math.Inf(-1), math.Inf(1), 0
	for range epSweeps {
		if err := s.posterior(); err != nil {
			return 0, err
		}
		// What they ask for is left in scratch memory until the bound is known.
		bound, err = expect(s.root, s.diag)
		if err != nil {
			return 0, err
		}
		bound -= float64(0.5 * s.logDet())
		var square float64
		for n, slope := range s.root {
			bound += float64(0.5 * (float64(s.prec[n]*s.variance[n]) - float64(s.mean[n]*s.alpha[n])))
			sd := math.Sqrt(s.variance[n])
			push := (slope - s.alpha[n]) * sd // the gradient by the mean
			s.root[n] = slope + float64(s.diag[n]*s.mean[n])
			way[n] = (s.diag[n] - s.prec[n]) * s.variance[n]
			way[s.N+n] = (s.root[n] - s.nu[n]) * sd
			square += float64(push*push) + float64(way[n]*way[n])
		}
		if math.IsNaN(bound) {
			return 0, fmt.Errorf("Gaussian variational bound: not a number")
		}
		residual := math.Sqrt(square / float64(s.N))
		if residual <= tol || residual < roundingResidual && residual > 0.9*before {
			for i, p := range s.prec {
				s.root[i] = math.Sqrt(p)
			}
			return bound, nil
		}
		before = residual
		copy(asked, s.diag)
		copy(asked[s.N:], s.root)
		if bound < best-float64(lostInBound*(float64(s.N)+math.Abs(best))) {
			falls++
		} else {
			best, step, falls = bound, 1, 0
			copy(kept, s.prec)
			copy(kept[s.N:], s.nu)
			copy(plain, asked)
		}
		if falls > mostFalls && step > 1e-3 {
			step *= 0.5
			mixing.Forget()
			for n := range s.prec {
				s.prec[n] = kept[n] + float64(step*(plain[n]-kept[n]))
				s.nu[n] = kept[s.N+n] + float64(step*(plain[s.N+n]-kept[s.N+n]))
			}
			continue
		}
		least := 0.0 // share of a precision that is left
		if mixing.Extrapolate(asked, way) {
			least = leastLeft
		}
		for n, p := range s.prec {
			s.prec[n] = max(asked[n], float64(least*p), leastPrecision)
			s.nu[n] = asked[s.N+n]
		}
	}
	return 0, fmt.Errorf("Gaussian variational bound: not converged after %d factorisations", epSweeps)
}

// mostFalls is how many steps in a row may stay below the highest bound, and lostInBound a
// share of the sum of the bound's parts that rounding may have taken.
const (
	mostFalls   = 1
	lostInBound = 1e-13
)

// expected are the Gaussian expectations of a label's log likelihood, its slope
// and minus its curvature in f.
type expected struct {
	logLik, slope, curvature float64
	label, weight            float64
}

// expectLikelihood computes the expectations under N(mean, variance) by the
// trapezoidal rule, which converges exponentially for functions analytic in a
// strip around the real line. The zeros of Φ, the singularities of log Φ, lie 2.8 or more
// from the line and more than 45° above or below the positive half of it. Where they are far in
// units of the deviation, the nodes are equally spaced; elsewhere z = 2·sinh u has equally
// spaced u, and the zeros are .78 or more from the line of u, however large the deviation.
// Derived in docs/theory/mgp.md, section 15.
func expectLikelihood(label, mean, variance float64) expected {
	const (
		zeros   = 2.8  // their distance from the real line
		sector  = 0.7  // and the least as a share of a positive z's
		strip   = 0.7  // of u, at a mean of 0
		tail    = 8.5  // where the Gaussian's density has fallen to 1e-16
		digit   = 36.0 // −log of the error
		sinhMap = 0.9  // distance of the zeros, in deviations, below which u is used
	)
	e := expected{label: label}
	sd := math.Sqrt(variance)
	middle := float64(label * mean)
	width, off := zeros/sd, math.Abs(middle)/sd
	if off > tail {
		width = max(width, sector*(off-tail))
	}
	if width > sinhMap {
		// The error is exp(−2π·width/h) from the zeros, and exp(−2π²/h²) from the Gaussian.
		h := min(2*math.Pi*width/digit, math.Pi*math.Sqrt(2/digit))
		for k := -math.Ceil(tail / h); k*h <= tail+h; k++ {
			x := k * h
			e.add(middle+float64(sd*x), special.Exp(-0.5*x*x))
		}
		return e.mean()
	}
	// In a strip of this width the Gaussian grows by no more than exp(½·digit).
	h := 2 * math.Pi * strip / (1.5 * digit * math.Sqrt(1+float64(off*off)/digit))
	last := math.Ceil(special.Asinh(0.5*(middle+float64(tail*sd))) / h)
	for k := math.Floor(special.Asinh(0.5*(middle-float64(tail*sd))) / h); k <= last; k++ {
		up := special.Exp(k * h)
		down := 1 / up
		z := up - down
		x := (z - middle) / sd
		e.add(z, special.Exp(-0.5*x*x)*((up+down)/sd))
	}
	return e.mean()
}

// add adds the values at z = label·f with a weight.
func (e *expected) add(z, weight float64) {
	ratio, logCDF := special.Mills(z)
	e.weight += weight
	e.logLik += float64(weight * logCDF)
	e.slope += float64(weight * e.label * ratio)
	e.curvature += float64(weight * bend(z, ratio))
}

// mean returns the weighted means of what was added.
func (e expected) mean() expected {
	e.logLik /= e.weight
	e.slope /= e.weight
	e.curvature /= e.weight
	return e
}
