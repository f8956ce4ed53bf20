package mgp

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// probit is the likelihood of labels t_n = ±1, P(t_n | f_n) = Φ(t_n·f_n). It has no level.
type probit []float64

// Name implements [Likelihood].
func (probit) Name() string { return "probit" }

// Samples implements [Likelihood].
func (t probit) Samples() int { return len(t) }

// Some implements [Likelihood].
func (t probit) Some(rows []int) Likelihood { return probit(picked(t, rows)) }

func (t probit) check() error { return checkLabels(t) }

func (t probit) identity() []float64 { return t }

func (probit) prior() (mean, sd []float64) { return nil, nil }

// moments returns, with r = √(1+v), z = t·m/r and h = φ(z)/Φ(z), the slope t·h/r and the bend h(z+h)/r².
func (t probit) moments(n int, mean, variance float64, _, _ []float64) moments {
	r := math.Sqrt(1 + variance)
	z := t[n] * mean / r
	h, logCDF := special.Mills(z)
	return moments{logCDF, t[n] * h / r, bend(z, h) / (r * r)}
}

// site returns a weak push towards the label.
func (t probit) site(n int, _, _ float64, _ []float64) (precision, shift float64) {
	return 0.3, 0.5 * t[n]
}

func (t probit) logProbability(n int, mean, variance float64, _ []float64) float64 {
	return special.LogNormalCDF(t[n] * mean / math.Sqrt(1+variance))
}

// expect implements [bounded]. With h = φ/Φ at z = t_n·f_n the derivative of E[log Φ(z)] by the mean is E[t_n·h(z)], and minus twice
// that by the variance E[h(z)(z + h(z))].
func (t probit) expect(s *sites, slope, curvature []float64) (sum float64, err error) {
	for n, label := range t {
		e := expectLikelihood(label, s.mean[n], s.variance[n])
		slope[n], curvature[n] = e.slope, e.curvature
		sum += e.logLik
	}
	return sum, nil
}

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
