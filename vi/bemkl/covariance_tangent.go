package bemkl

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// Between two factorisations Cov[a] follows λ and υ by a tangent. With Cov[a] at its best,
// (Λ + υS)⁻¹, Λ = diag(E[λ]), and p_d = υ/λ_d, P = diag(p), the bound has
//
//	−½·log|Λ + υS| = −½·Σ_d ln λ_d − ½·log|I + PS|.
//
// The last log determinant is concave in p: its tangent at the last factorisation, of slopes v_d =
// [S(I + PS)⁻¹]_dd, is above it everywhere. With the tangent instead of the log determinant the
// bound is a plain sum over the weights, at most the true bound, and equal to it at the
// factorisation. Derived in docs/theory/acceleration.md.

// bestPrecision returns the E[λ_d] that is best with Cov[a] following, given
// half = 1/β_λ + ½·E[a_d]² and pull = υ·v_d. The terms of the bound in it are
//
//	α_λ·ln λ − half·λ − ½·pull/λ,
//
// highest where half·λ² − α_λ·λ − ½·pull = 0, and there α_λ·ln λ − pull/λ − α_λ. With
// half, λ changes by −λ²/root.
func bestPrecision(alpha, half, pull float64) (lambda, root float64) {
	root = math.Sqrt(float64(alpha*alpha) + float64(float64(2*half)*pull))
	return (alpha + root) / (2 * half), root
}

// updateLambdaAndCovariance updates λ and Cov[a] jointly.
func (l *latent) updateLambdaAndCovariance() {
	prior := l.Lambda.Prior
	for r := range l.R {
		a, scale, upsilon := l.AMean.Row(r), l.Lambda.Scale[r*l.D:(r+1)*l.D], l.Upsilon[r]
		for d, v := range l.Slope.Row(r) {
			lambda, _ := bestPrecision(prior.Shape, 1/prior.Scale+float64(0.5*float64(a[d]*a[d])), upsilon*v)
			scale[d] = lambda / l.Lambda.Shape
		}
		l.followCovariance(r)
	}
}

// followCovariance gives aLogDet, aVar and aTrace the values with which the terms of Cov[a],
// ½·aLogDet − ½·Σ_d E[λ_d]·aVar_d − ½·υ·aTrace, and their derivatives by λ and υ, equal the tangent
// and its derivatives. At the factorisation they are the moments of Cov[a]; elsewhere no covariance
// need have them, and where λ_d has fallen far aVar_d can be negative.
func (l *latent) followCovariance(r int) {
	variance, upsilon := l.AVar.Row(r), l.Upsilon[r]
	var trace float64
	var logs logSum
	for d, v := range l.Slope.Row(r) {
		lambda := l.Lambda.Mean(r*l.D + d)
		ratio := v / lambda
		trace += ratio
		variance[d] = (1 - float64(upsilon*ratio)) / lambda
		logs.add(lambda)
	}
	l.ATrace[r] = trace
	l.ALogDet[r] = -logs.value() - l.Level[r] - float64(upsilon*trace)
}

// logSum is a sum of logarithms, taken of the products of a few hundred numbers at a time.
type logSum struct{ sum, product float64 }

// add adds ln x, x within 1e±200.
func (s *logSum) add(x float64) {
	if s.product == 0 {
		s.product = 1
	}
	if s.product *= x; !(s.product > 1e-100 && s.product < 1e100) {
		s.sum += special.Log(s.product)
		s.product = 1
	}
}

func (s *logSum) value() float64 {
	if s.product == 0 {
		return 0
	}
	return s.sum + special.Log(s.product)
}
