package mkl

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/mkl/internal/gram"
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

// Limits of the choice of a scale.
const (
	scaleRows      = 600 // the most samples by which scales are compared
	leastScaleRows = 20  // fewer do not estimate a standard error

	// leastRatio is the ratio of the largest to the least target below which the target keeps its scale. dz/dy then changes by
	// less than this factor over all targets, so that other scales are nearly linear in y.
	leastRatio = 2
)

// mayScale reports whether targets may be learned on another scale than their own: they are positive and spread.
func mayScale(y []float64) bool {
	least := slices.Min(y)
	return len(y) >= leastScaleRows && least > 0 && slices.Max(y)/least >= leastRatio
}

// scaleChoice is the scale on which a pool learns its targets.
type scaleChoice struct {
	scale  targetScale
	gain   float64       // in nats a sample, over the target's own scale
	member *MultiGPModel // the process that learned the targets on this scale
	fits   int           // the number of processes that were fitted
}

// remark says why the scale is not the target's own.
func (c *scaleChoice) remark(samples int) string {
	return fmt.Sprintf("the members learn the target's %s: it makes %d targets, each predicted from the others, more probable, by %.2g nats a sample",
		c.scale, samples, c.gain)
}

// chooseScale returns the scale on which a pool learns its targets, by the targets y of some samples. On each scale a process predicts
// each target from the others. Another scale than the target's own must have the clearly higher density of the targets themselves, by
// two standard errors. Of several the best by
//
//	mean log p(y_n) − ½·log mean (y_n − E y_n)²
//
// counts, as for the weights of members ([stackMoments]), so that a scale does not cost the means.
func (g MultiGP) chooseScale(ctx context.Context, views []View, y []float64) (best scaleChoice, err error) {
	var own []float64
	var score float64
	for _, s := range []targetScale{ownScale, rootScale, logScale} {
		member, density, square, err := g.densityOn(ctx, s, views, y)
		if err != nil {
			return best, err
		}
		best.fits++
		of := vec.Total(density)/float64(len(y)) - float64(0.5*special.Log(square))
		if s == ownScale {
			own, score, best.member = density, of, member
		} else if of > score && clearlyLess(own, density, 2) {
			best.scale, score, best.member = s, of, member
			best.gain = (vec.Total(density) - vec.Total(own)) / float64(len(y))
		}
	}
	return best, nil
}

// densityOn returns a process that learns the targets y on a scale, its log density of each target given the others, and the
// mean square error of its means.
func (g MultiGP) densityOn(ctx context.Context, s targetScale, views []View, y []float64) (m *MultiGPModel, density []float64, square float64, err error) {
	z := s.all(y)
	if m, err = g.Fit(ctx, views, z); err != nil {
		return nil, nil, 0, err
	}
	p := m.LeaveOneOut()
	density = make([]float64, len(y))
	for i, v := range y {
		mean, variance := p.Mean[0][i], p.Variance[0][i]
		density[i] = s.logSlope(v) + normalLogDensity(z[i]-mean, variance)
		mean, _ = s.moments(mean, variance)
		square += float64((v - mean) * (v - mean) / float64(len(y)))
	}
	return m, density, square, nil
}

// chooseScale returns the scale of very many targets y, by the first samples and a process of broad kernels.
func (m *manyRows) chooseScale(climb Climb, y []float64) (targetScale, error) {
	if y = y[:min(len(y), scaleRows)]; !mayScale(y) {
		return ownScale, nil
	}
	views, _, err := FillViews(KernelsBroad, m.between(0, len(y)))
	if err != nil {
		return ownScale, m.leaveOut(scalesMember, err)
	}
	f := m.stepFitting(1)
	f.Progress, f.Journal = nil, nil
	c, err := MultiGP{Fitting: f, Climb: climb, hurried: true}.chooseScale(m.ctx, views, y)
	m.spent += float64(float64(c.fits) * (secondsScale + exactSeconds(len(y), 1, featuresOf(m.views))))
	if err != nil {
		return c.scale, m.leaveOut(scalesMember, err)
	}
	if c.scale != ownScale {
		m.remarks = append(m.remarks, c.remark(len(y)))
	}
	return c.scale, nil
}

// scalesMember is what remarks call the choice of a scale.
const scalesMember = "scales of the target"

// chooseScale returns the scale of the targets y of the samples of an exact pool, by its first member. The member that it returns is the
// first member of the pool, if that learns from no more samples than the choice; else it is nil. Noise that is known and noise by weights is
// noise of the target itself, which keeps its scale.
func (p *poolPlan) chooseScale(ctx context.Context, a *Auto, y []float64) (s targetScale, first *MultiGPModel, err error) {
	switch {
	case ctx == nil:
		return ownScale, nil, gram.ErrNoContext
	case a.part || a.Weights != nil || a.KnownNoise != 0:
		return ownScale, nil, nil
	}
	views, few := p.members[0].views, y
	all := len(y) <= scaleRows
	switch {
	case all:
	case slices.ContainsFunc(views, isGiven): // kernels of all samples: the processes would take as long as the members
		return ownScale, nil, nil
	default:
		x := distinctInputs(views)
		rows := rowOrder(x, func(i int) float64 { return y[i] }, a.Seed)[:scaleRows]
		views, few = takeRows(views, rows), vec.Picked(y, rows)
	}
	if !mayScale(few) || slices.Min(y) <= 0 {
		return ownScale, nil, nil
	}
	f := a.Fitting
	f.Notes, f.Progress, f.Journal = nil, nil, nil
	c, err := MultiGP{Fitting: f, Climb: a.Climb, MissingViews: a.MissingViews, hurried: true}.chooseScale(ctx, views, few)
	switch {
	case err != nil && ctx.Err() != nil:
		return ownScale, nil, err
	case err != nil:
		p.notes = append(p.notes, fmt.Sprintf("%s: left out (%v)", scalesMember, err))
		return ownScale, nil, nil
	}
	if c.scale != ownScale {
		p.notes = append(p.notes, c.remark(len(few)))
	}
	if !all {
		c.member = nil
	}
	return c.scale, c.member, nil
}
