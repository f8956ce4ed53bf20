package mgp

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/vi/internal/work"
)

// The Gaussian variational bound for a [bounded] likelihood: among all Gaussians q(f) = N(m, V) the one with the highest
//
//	L = E[log p(y | f)] − KL(q(f) ‖ N(0, K)).
//
// At the maximum it has the form of sites with
//
//	λ_n = −2·∂E[log p]/∂v_n,   ν_n = ∂E[log p]/∂m_n + λ_n·m_n,
//
// and a posterior made of sites has
//
//	L = E[log p] − ½log|B| + ½Σ λ_n·v_n − ½·mᵀα.
//
// Source: M. Opper and C. Archambeau, "The variational Gaussian approximation
// revisited", Neural Computation 21 (2009).

// climb climbs the bound of a likelihood from the present sites until a step of the
// sites would move the posterior means by less than tol posterior deviations (root
// mean square), and returns the bound.
//
// The sites that the posterior asks for are as often too far as too near: in some directions a
// whole step turns the error around, or makes it larger, in others it leaves most of the error.
// [work.Mixing] finds both kinds of directions from what the last steps asked for. After two in a
// row below the highest bound, by more than rounding, a short step is made from there.
func (s *sites) climb(tol float64, l bounded) (bound float64, err error) {
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
		bound, err = l.expect(s, s.root, s.diag)
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
