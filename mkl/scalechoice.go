package mkl

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// Limits of the choice of a scale.
const (
	scaleRows      = 600 // of more than twice as many samples this many compare the scales
	leastScaleRows = 20  // fewer do not estimate a standard error

	// leastRatio is the ratio of the largest to the least target below which the target keeps its scale. dz/dy then changes by
	// less than this factor over all targets, so that other scales are nearly linear in y.
	leastRatio = 2
)

// scalesMember is what remarks call the choice of a scale.
const scalesMember = "scales of the target"

// mayScale reports whether targets may be learned on another scale than their own: they are positive and spread.
func mayScale(y []float64) bool {
	least := slices.Min(y)
	return len(y) >= leastScaleRows && least > 0 && slices.Max(y)/least >= leastRatio
}

// scaleChoice is the scale on which a pool learns its targets.
type scaleChoice struct {
	scale  targetScale
	gain   float64       // in nats a sample, over the target's own scale
	bar    float64       // the score of the process on the target's own scale
	member *MultiGPModel // the process that learned the targets on this scale
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
// counts, as for the weights of members ([stackMoments]), so that a scale does not cost the means. A scale is not tried if the errors on the
// target's own scale do not speak for it: see [targetScale.promise].
func (g MultiGP) chooseScale(ctx context.Context, views []View, y []float64) (best scaleChoice, err error) {
	var own []float64
	var left []float64 // the mean of each target given the others
	var score float64
	for _, s := range []targetScale{ownScale, rootScale, logScale} {
		if s != ownScale && !(s.promise(left, y) > 0) {
			continue
		}
		member, density, mean, err := g.densityOn(ctx, s, views, y)
		if err != nil {
			return best, err
		}
		of := scaleScore(y, mean, density)
		if s == ownScale {
			own, left, score, best.bar, best.member = density, mean, of, of, member
		} else if of > score && clearlyLess(own, density, 2) {
			best.scale, score, best.member = s, of, member
			best.gain = (vec.Total(density) - vec.Total(own)) / float64(len(y))
		}
	}
	return best, nil
}

// scaleScore returns the mean of the log densities less half of the logarithm of the mean square error.
func scaleScore(y, mean, density []float64) float64 {
	n := float64(len(y))
	var square float64
	for i, v := range y {
		square += float64((v - mean[i]) * (v - mean[i]) / n)
	}
	return vec.Total(density)/n - float64(0.5*special.Log(square))
}

// worthy reports for each member of a pool on another scale than the target's own whether the member is better than the process on the target's
// own scale, by the score that chose the scale. A member may fail although it predicts z well: where z = log y is uncertain, as beside noise
// that varies, E y = exp(E z + ½·Var z) can exceed all targets. The member of the highest score is worthy in any case. density holds the
// logarithms of the members' leave-one-out densities of z, as [MultiGPModel.leftOutDensity] returns them.
func (c *scaleChoice) worthy(members []*MultiGPModel, density [][]float64, z []float64) []bool {
	score, best := make([]float64, len(members)), 0
	y := make([]float64, len(z))
	for n, v := range z {
		y[n] = c.scale.target(v)
	}
	for i, m := range members {
		p := m.LeaveOneOut()
		mean, own := make([]float64, len(z)), make([]float64, len(z))
		for n := range z {
			mean[n], _ = c.scale.moments(p.Mean[0][n], p.Variance[0][n])
			own[n] = density[i][n] - special.Log(m.target.sd) + c.scale.logSlope(y[n])
		}
		if score[i] = scaleScore(y, mean, own); score[i] > score[best] {
			best = i
		}
	}
	out := make([]bool, len(members))
	for i, s := range score {
		out[i] = s >= c.bar || i == best
	}
	return out
}

// promise returns what a scale promises to add to the mean log density of targets y, by means that predict each target from the others. It is
// the gain of the model z(y) = z(mean) + noise with the best constant variance, over z = y. Means below all targets count as the least.
//
// Source: R. J. Carroll and D. Ruppert, "Power transformations when fitting theoretical models to data", JASA 79, 1984.
func (s targetScale) promise(mean, y []float64) float64 {
	least, n := slices.Min(y), float64(len(y))
	var slope, scaled, plain float64
	for i, v := range y {
		e := s.learned(v) - s.learned(max(mean[i], least))
		slope += s.logSlope(v)
		scaled += float64(e * e)
		plain += float64((v - mean[i]) * (v - mean[i]))
	}
	return slope/n - float64(0.5*(special.Log(scaled)-special.Log(plain)))
}

// densityOn returns a process that learns the targets y on a scale, its log density of each target given the others, and the
// mean of each.
func (g MultiGP) densityOn(ctx context.Context, s targetScale, views []View, y []float64) (m *MultiGPModel, density, mean []float64, err error) {
	z := s.all(y)
	if m, err = g.Fit(ctx, views, z); err != nil {
		return nil, nil, nil, err
	}
	p := m.LeaveOneOut()
	density, mean = make([]float64, len(y)), make([]float64, len(y))
	for i, v := range y {
		density[i] = s.logSlope(v) + normalLogDensity(z[i]-p.Mean[0][i], p.Variance[0][i])
		mean[i], _ = s.moments(p.Mean[0][i], p.Variance[0][i])
	}
	return m, density, mean, nil
}

// chooseScale returns the scale of very many targets y, by the first samples and a process of broad kernels. Each of the targets must be
// positive, those held out too.
func (m *manyRows) chooseScale(climb Climb, y []float64) (targetScale, error) {
	few := y[:min(len(y)-m.held, scaleRows)]
	if slices.Min(y) <= 0 {
		return ownScale, nil
	}
	m.spent += float64(3 * (secondsScale + exactSeconds(len(few), 1, featuresOf(m.views)))) // often less
	if !mayScale(few) {
		return ownScale, nil
	}
	views, _, err := FillViews(KernelsBroad, m.between(0, len(few)))
	if err != nil {
		return ownScale, m.leaveOut(scalesMember, err)
	}
	f := m.stepFitting(1)
	f.Progress, f.Journal = nil, nil
	c, err := MultiGP{Fitting: f, Climb: climb, hurried: true}.chooseScale(m.ctx, views, few)
	if err != nil {
		return ownScale, m.leaveOut(scalesMember, err)
	}
	if c.scale != ownScale {
		m.remarks = append(m.remarks, c.remark(len(few)))
	}
	return c.scale, nil
}

// chooseScale returns the scale of the targets y of the samples of an exact pool, by its first member. If the choice learns from all samples
// the returned choice has that member, else it has none. Noise that is known and noise by weights is noise of the target itself, which
// keeps its scale. So does a target of more than 2·scaleRows samples whose views hold given kernels.
func (p *poolPlan) chooseScale(ctx context.Context, a *Auto, y []float64) (c scaleChoice, err error) {
	if ctx == nil || a.part || a.OwnScale || a.Weights != nil || a.KnownNoise != 0 || !mayScale(y) {
		return c, nil
	}
	views, few := p.members[0].views, y
	if len(y) > 2*scaleRows {
		if slices.ContainsFunc(views, isGiven) {
			return c, nil
		}
		rows := rowOrder(rowColumns(views), [][]float64{y}, false, a.Seed)[:scaleRows]
		if views, few = takeRows(views, rows), vec.Picked(y, rows); !mayScale(few) {
			return c, nil
		}
	}
	if a.Time > 0 {
		spent := time.Duration(float64(3*exactSeconds(len(few), 1, featuresOf(views))) * float64(time.Second))
		if spent > a.Time/4 {
			p.notes = append(p.notes, scalesMember+": not compared, for lack of time")
			return c, nil
		}
		a.Time -= spent
	}
	f := a.Fitting
	f.Notes, f.Progress, f.Journal = nil, nil, nil
	c, err = MultiGP{Fitting: f, Climb: a.Climb, MissingViews: a.MissingViews, hurried: true}.chooseScale(ctx, views, few)
	switch {
	case err != nil && ctx.Err() != nil:
		return scaleChoice{}, err
	case err != nil: // a member that cannot be fitted says why
		p.notes = append(p.notes, fmt.Sprintf("%s: left out (%v)", scalesMember, err))
		return scaleChoice{}, nil
	}
	if c.scale != ownScale {
		p.notes = append(p.notes, c.remark(len(few)))
	}
	if len(y) > len(few) {
		c.member = nil
	}
	return c, nil
}
