package mkl

import (
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
)

// targetScale is the scale on which a pool learns its target: a value z of a target y. Other scales
// than the target's own are for positive targets. They are members of the family of G. E. P. Box and D. R. Cox, "An analysis of
// transformations", JRSS B 26, 1964.
type targetScale string

const (
	ownScale  targetScale = ""            // z = y
	rootScale targetScale = "square root" // z = √y
	logScale  targetScale = "logarithm"   // z = log y
)

// learned returns the value that is learned of a target.
func (s targetScale) learned(y float64) float64 {
	switch s {
	case rootScale:
		return math.Sqrt(y)
	case logScale:
		return special.Log(y)
	}
	return y
}

// all returns the values that are learned of targets.
func (s targetScale) all(y []float64) []float64 {
	if s == ownScale {
		return y
	}
	z := make([]float64, len(y))
	for i, v := range y {
		z[i] = s.learned(v)
	}
	return z
}

// largestTarget returns the largest of the targets that are learned on a scale; 0 on their own scale.
func largestTarget(s targetScale, y []float64) float64 {
	if s == ownScale {
		return 0
	}
	return slices.Max(y)
}

// logSlope returns log dz/dy: what a log density of z has less than a log density of y.
func (s targetScale) logSlope(y float64) float64 {
	switch s {
	case rootScale:
		return float64(-0.5*special.Log(y)) - math.Ln2
	case logScale:
		return -special.Log(y)
	}
	return 0
}

// Limits of exponents, so that moments are finite.
const (
	mostLogTarget   = 300
	mostLogVariance = 100
)

// target returns the target of a learned value. Learned values that no positive target has mean a target of 0.
func (s targetScale) target(z float64) float64 {
	switch s {
	case rootScale:
		z = max(z, 0)
		return z * z
	case logScale:
		return special.Exp(min(z, mostLogTarget))
	}
	return z
}

// slope returns dy/dz.
func (s targetScale) slope(z float64) float64 {
	switch s {
	case rootScale:
		return 2 * max(z, 0)
	case logScale:
		return s.target(z)
	}
	return 1
}

// moments returns the mean and the variance of a target whose learned value is normal with the moments given.
func (s targetScale) moments(mean, variance float64) (m, v float64) {
	switch s {
	case rootScale: // E z² and Var z²
		square := float64(mean * mean)
		return square + variance, float64(2*variance*variance) + float64(4*square*variance)
	case logScale: // log-normal
		variance = min(variance, mostLogVariance)
		m = special.Exp(min(mean+float64(0.5*variance), mostLogTarget))
		return m, float64(special.Expm1(variance) * m * m)
	}
	return mean, variance
}
