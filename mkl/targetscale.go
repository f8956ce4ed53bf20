package mkl

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// targetScale is the scale on which a pool of very many samples learns its target: a value z of a target y. Other scales
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

// scaleRows is the number of samples by which the scales of a target are compared.
const scaleRows = 600

// chooseScale returns the scale on which the pool learns the targets y of the first samples. On each scale one process of
// broad kernels predicts each of some samples from the others. Another scale than the target's own must have the
// clearly higher density of the targets themselves, by two standard errors. Of several the best by
//
//	mean log p(y_n) − ½·log mean (y_n − E y_n)²
//
// counts, as for the weights of members ([stackMoments]), so that a scale does not cost the means.
func (a Auto) chooseScale(r *manyRows, y []float64) (targetScale, error) {
	if slices.Min(y) <= 0 {
		return ownScale, nil
	}
	y = y[:min(len(y), scaleRows)]
	views, _, err := FillViews(KernelsBroad, r.between(0, len(y)))
	if err != nil {
		return ownScale, r.leaveOut("scales of the target", err)
	}
	f := r.stepFitting(1)
	f.Progress, f.Journal = nil, nil
	fit := MultiGP{Fitting: f, Climb: a.Climb, hurried: true}
	best, own, score := ownScale, []float64(nil), 0.0
	var gain float64
	for _, s := range []targetScale{ownScale, rootScale, logScale} {
		density, square, err := fit.densityOn(r.ctx, s, views, y)
		if err != nil {
			return best, r.leaveOut("scales of the target", err)
		}
		r.spent += secondsScale + exactSeconds(len(y), 1, featuresOf(r.views))
		of := vec.Total(density)/float64(len(y)) - float64(0.5*special.Log(square))
		if s == ownScale {
			own, score = density, of
		} else if of > score && clearlyLess(own, density, 2) {
			best, score, gain = s, of, (vec.Total(density)-vec.Total(own))/float64(len(y))
		}
	}
	if best != ownScale {
		r.remarks = append(r.remarks, fmt.Sprintf("the members learn the target's %s: it makes %d targets, each predicted from the others, more probable, by %.2g nats a sample",
			best, len(y), gain))
	}
	return best, nil
}

// densityOn returns the log density of each target y given the others, of a process that learns them on a scale, and the
// mean square error of their means.
func (g MultiGP) densityOn(ctx context.Context, s targetScale, views []View, y []float64) (density []float64, square float64, err error) {
	z := s.all(y)
	m, err := g.Fit(ctx, views, z)
	if err != nil {
		return nil, 0, err
	}
	p := m.LeaveOneOut()
	density = make([]float64, len(y))
	for i, v := range y {
		mean, variance := p.Mean[0][i], p.Variance[0][i]
		e := z[i] - mean
		density[i] = s.logSlope(v) - float64(0.5*(float64(e*e)/variance+special.Log(2*math.Pi*variance)))
		mean, _ = s.moments(mean, variance)
		square += float64((v - mean) * (v - mean) / float64(len(y)))
	}
	return density, square, nil
}
