package mkl

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi/amplitude"
)

// ViewShare is a row of the table of views: how much one view matters. Sections 9 and 10 of docs/theory/views.md derive the numbers.
type ViewShare struct {
	View string // its name

	// Share is the view's share of the variance of the function over the training samples. Each view may be left out of the function: the
	// share averages over which views are included, over all amplitudes together and over the functions. The shares of all views add
	// up to 1 less the probability that no view is included. SD is the standard deviation of the share, the larger of two: of the
	// posterior, and of how the share varies from one set of as many samples to another, which fits to random halves of the samples show.
	Share, SD float64

	// In is the posterior probability that the view is included, a priori ½. Of two views that tell the same, each may have about
	// one half. NaN if the model was saved before there was one.
	In float64

	// Informative is the probability that the view by itself has information about the targets, rather than none.
	Informative float64

	// Loss is how much lower the log density of a training target, or the log probability of a class, a grade, a count or of what is known of a
	// time, is without the view, in nats for a sample, given the targets of all other samples: the mean over the samples, and LossSE its standard error. Both sides are
	// the mean of the two members with amplitudes that borrow strength, with amplitudes found anew; the other views are as in the pool. Below 0
	// predictions are better without the view. NaN if the model was saved before there was one.
	Loss, LossSE float64
}

// Views returns the table of the views, in their order. It is nil for a model of one view, of landmarks, or of learned widths
// alone, and for a file from before the table existed.
func (t *viewTable) Views() []ViewShare { return slices.Clone(t.views) }

// leastSpread is the spread of shares below which it is rounding: of a view without company.
const leastSpread = 1e-9

// viewTable is what a model says about views and groups of views.
type viewTable struct {
	views  []ViewShare
	groups []ViewGroupShare

	samples int // that it describes; 0 for all
}

// remark says how many of n samples the table describes; empty if it describes all.
func (t *viewTable) remark(n int) []string {
	if t.samples == 0 {
		return nil
	}
	return []string{fmt.Sprintf("the table of the views is learned from %d of the %d samples", t.samples, n)}
}

// viewTable describes the views, and groups of them, by the draws of their probabilities and by fits without each.
func (a *amplitudeKernels) viewTable(ctx context.Context, p amplitude.Problem, fits []amplitudeFit, q viewProbabilities, t amplitudeTargets, groups []placedGroup) (out viewTable, err error) {
	means := make([]float64, len(a.names))
	for v := range means {
		means[v], _ = shareOf(q.shares, []int{v})
	}
	sd := func(posterior float64, views []int) float64 {
		return max(posterior, math.Sqrt(q.halves.Variance(means, views)))
	}
	now := make([][]float64, len(fits))
	for i, f := range fits {
		if now[i], err = t.leftOut(f.Process); err != nil {
			return out, err
		}
	}
	for _, v := range a.told {
		w := ViewShare{View: a.names[v], In: min(q.in[v], 1), Informative: q.alone[v]}
		w.Share, w.SD = shareOf(q.shares, []int{v})
		w.SD = sd(w.SD, []int{v})
		if w.Loss, w.LossSE, err = lossWithout(ctx, p, fits, []int{v}, t, now); err != nil {
			return out, err
		}
		out.views = append(out.views, w)
	}
	for _, g := range groups {
		w := ViewGroupShare{ViewGroup: g.ViewGroup, In: q.any(g.views), Before: 1 - math.Ldexp(1, -len(g.views))}
		w.Share, w.SD = shareOf(q.shares, g.views)
		w.SD = sd(w.SD, g.views)
		if w.Loss, w.LossSE, err = lossWithout(ctx, p, fits, g.views, t, now); err != nil {
			return out, err
		}
		out.groups = append(out.groups, w)
	}
	return out, nil
}

// shareOf returns the posterior mean and standard deviation of the share of some views together.
func shareOf(s *amplitude.Shares, views []int) (mean, sd float64) {
	each := make([]float64, s.Function.Rows)
	for d := range each {
		for _, v := range views {
			each[d] += s.Function.At(d, v)
		}
	}
	mean, sd = vec.MeanSD(each)
	if mean = min(mean, 1); !(sd > leastSpread) {
		sd = 0
	}
	return mean, sd
}

// changedSearch is the search for amplitudes with another view more or less, or of some samples. It begins at the pool's amplitudes.
var changedSearch = amplitude.Search{Steps: 30, Tolerance: 1e-5}

// lossWithout compares the left-out densities of the fits with and without some views. now are the densities of the given fits. A fit
// without any of these views is compared with a fit with all of them.
func lossWithout(ctx context.Context, p amplitude.Problem, fits []amplitudeFit, views []int, t amplitudeTargets, now [][]float64) (mean, se float64, err error) {
	with, without := make([]float64, len(now[0])), make([]float64, len(now[0]))
	for i, f := range fits {
		has := f.Include == nil || slices.ContainsFunc(views, func(v int) bool { return f.Include[v] > 0 })
		multiplier := 1.0
		if has {
			multiplier = 0
		}
		other, err := p.FitWith(ctx, f.Fit, views, multiplier, changedSearch)
		if err != nil {
			return 0, 0, stopped(ctx, err)
		}
		changed, err := t.leftOut(other.Process)
		if err != nil {
			return 0, 0, err
		}
		a, b := now[i], changed
		if !has {
			a, b = b, a
		}
		la.Axpy(1, a, with)
		la.Axpy(1, b, without)
	}
	for n, d := range with {
		with[n] = special.Log(max(d, leastProbability)) - special.Log(max(without[n], leastProbability))
	}
	mean, sd := vec.MeanSD(with)
	return mean, sd / math.Sqrt(float64(len(with))), nil
}

// amplitudeTargets are what amplitudes are fitted to.
type amplitudeTargets struct {
	y       la.Matrix[float64] // rows of mean 0 and variance 1: targets, or standardised indicators of classes
	class   []int              // of each sample; nil of targets
	classes int                // 0 of targets

	// Of targets, as in [amplitude.Problem]: nil, and 0 if it is learned.
	noiseShare, ownNoise []float64
	knownNoise           float64

	observed *observedTargets // what sites stand for; nil of targets and classes

	// correction returns the correction of a problem of these targets, of the samples rows, nil for all: see [amplitude.Problem]. nil of targets and classes.
	correction func(ctx context.Context, p amplitude.Problem, t amplitudeTargets, rows []int) (func(included []bool) float64, error)

	// alone is what each view by itself is fitted to, to learn whether it has information; nil for the targets. Of observations these are the sites of
	// a model without a function. At the sites of a model with one, the mean of a site depends on the function, and every view seems to say something.
	alone *amplitudeTargets
}

// part returns the targets of some samples, y, which are standardised anew.
func (t amplitudeTargets) part(y la.Matrix[float64], rows []int) amplitudeTargets {
	if t.class != nil {
		t.class = vec.Picked(t.class, rows)
	}
	if t.noiseShare != nil {
		t.noiseShare = vec.Picked(t.noiseShare, rows)
	}
	if t.observed != nil {
		before := t.observed.unit.sd
		t.observed = t.observed.part(t.y.Row(0), rows)
		if t.ownNoise != nil {
			scale := before / t.observed.unit.sd
			t.ownNoise = vec.Picked(t.ownNoise, rows)
			la.Scal(scale*scale, t.ownNoise)
		}
	}
	t.y = y
	return t
}

// leftOut returns for each sample the probability of its class, or the density of its standardised targets, given the targets of all others.
func (t *amplitudeTargets) leftOut(p *amplitude.Process) ([]float64, error) {
	if t.observed != nil {
		return t.observed.leftOut(p, t.noiseShare, t.ownNoise), nil
	}
	N := t.y.Cols
	out := make([]float64, N)
	if t.class == nil {
		for n, v := range p.LeftOutVariance {
			var log float64
			for c := range t.y.Rows {
				d := t.y.At(c, n) - p.LeftOutMean.At(c, n)
				log -= float64(0.5 * (d*d/v + special.Log(2*math.Pi*v)))
			}
			out[n] = special.Exp(log)
		}
		return out, nil
	}
	head, err := amplitude.FitHead(p.LeftOutMean, p.LeftOutVariance, t.class, t.classes)
	if err != nil {
		return nil, err
	}
	probability := rows(N, t.classes)
	head.Probabilities(p.LeftOutMean, p.LeftOutVariance, probability)
	for n, c := range t.class {
		out[n] = probability[n][c]
	}
	return out, nil
}
