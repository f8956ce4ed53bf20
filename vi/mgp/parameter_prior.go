package mgp

import "github.com/bmkl/bmkl/internal/special"

// ParameterPrior is the prior of one parameter of a kernel, such as the logarithm of a length scale. It is normal below
// its mode. Above the mode it is normal too, or Student's t. Both halves have the same density and slope at the mode.
//
// A feature without influence has no largest length scale. The tail of the normal density
// would keep its scale finite, and the feature in the function.
type ParameterPrior struct {
	Mode    float64 // where an ascent starts
	Scale   float64 // standard deviation of the normal halves, and scale of Student's t
	Freedom float64 // degrees of freedom; 0: both halves are normal
}

// at returns the logarithm of the density at θ but for a constant, its slope, and a curvature for Newton's steps. The
// tail of Student's t is not concave. There the curvature is the curvature of the parabola about the mode that touches the
// logarithm of the density at θ. The parabola is nowhere above it on this side of the mode.
func (p ParameterPrior) at(theta float64) (density, slope, curvature float64) {
	d := (theta - p.Mode) / p.Scale
	if p.Freedom == 0 || d <= 0 {
		density, slope = normalPrior(theta, p.Mode, p.Scale)
		return density, slope, 1 / float64(p.Scale*p.Scale)
	}
	square := float64(d * d)
	w := (p.Freedom + 1) / (p.Freedom + square)
	return -float64(0.5*(p.Freedom+1)) * special.Log1p(square/p.Freedom), -float64(d*w) / p.Scale, w / float64(p.Scale*p.Scale)
}
