package mkl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/amplitude"
	"github.com/bmkl/bmkl/vi/mgp"
)

// Limits of the corrections, in nats. If no correction of a single view is larger than fewNats, the correction of a set is a sum over the
// views that it leaves out. A view is needed surely if the evidence without it is lower by surelyNeeded: the sets without it do not matter.
const (
	fewNats      = 1.0
	surelyNeeded = 20.0
)

// A view is open if it is not needed surely. All sets of up to mostOpen open views are fitted. The fit of a set takes about setEvaluations Cholesky factors with inverses.
const (
	mostOpen       = 6
	setEvaluations = 40
)

// allSets reports whether all sets of so many views are fitted to n samples. The work of a sampler of the table is the limit.
func allSets(open, n int) bool {
	x := float64(n)
	return open <= mostOpen && math.Ldexp(setEvaluations*x*x*x, open) <= judgeWork
}

// correctionError is by how many nats the evidence of a set of views may be off where its ascent ends.
const correctionError = 0.05

// correction returns by how much more the evidence of a set of views is, compared with the evidence of all views, at its own sites than at the
// sites of all views. Sites that come from a model with a view contain what the view says: without it, the targets seem to be less probable
// than the observations are. It returns nil if the sets are too many. Equation (L24) of docs/theory/likelihoods.md.
func (o *observedViews) correction(ctx context.Context, p amplitude.Problem, t amplitudeTargets, rows []int) (func(included []bool) float64, error) {
	c, err := o.newViewCorrection(ctx, p, t, rows)
	if err != nil {
		return nil, err
	}
	s, largest := sets{single: make([]float64, p.Layout.Views())}, 0.0
	for v := range s.single {
		fixed, moved, err := c.without(ctx, []int{v})
		if err != nil {
			return nil, err
		}
		if s.single[v] = moved - fixed; moved > -surelyNeeded {
			s.open = append(s.open, v)
			largest = max(largest, math.Abs(s.single[v]))
		}
	}
	switch {
	case largest <= fewNats:
		return s.correction, nil
	case !allSets(len(s.open), c.likelihood.Samples()):
		return nil, nil
	}
	s.known = make([]float64, 1<<len(s.open))
	for set := range s.known {
		switch out := s.of(set); len(out) {
		case 0:
		case 1:
			s.known[set] = s.single[out[0]]
		default:
			fixed, moved, err := c.without(ctx, out)
			if err != nil {
				return nil, err
			}
			s.known[set] = moved - fixed
		}
	}
	return s.correction, nil
}

// sets are the corrections of sets of views.
type sets struct {
	single []float64 // of each view, of the set that leaves out this view
	open   []int     // the open views
	known  []float64 // of the sets of open views that are left out, one bit each; nil: the single ones add up
}

// of returns the views of a set.
func (s *sets) of(set int) (views []int) {
	for i, v := range s.open {
		if set>>i&1 == 1 {
			views = append(views, v)
		}
	}
	return views
}

// correction returns the correction of the set of the included views.
func (s *sets) correction(included []bool) (sum float64) {
	out := 0
	for v, is := range included {
		i := slices.Index(s.open, v)
		switch {
		case is:
		case i >= 0 && s.known != nil:
			out |= 1 << i
		default:
			sum += s.single[v]
		}
	}
	if s.known != nil {
		sum += s.known[out]
	}
	return sum
}

// errCorrection says that expectation propagation did not end without some views.
var errCorrection = errors.New("the evidence without some views is not known")

// viewCorrection fits observations without some views.
type viewCorrection struct {
	processSettings
	problem amplitude.Problem
	unit    target             // of the targets of the problem
	ones    la.Matrix[float64] // the constant kernel
	workers int
	ascent  vi.Ascent
	all     *amplitude.Fit // tied, with all views
	fit     *mgp.Fit       // at its amplitudes
}

// newViewCorrection fits the process of all views, of the samples rows, nil for all. Its amplitudes are tied.
func (o *observedViews) newViewCorrection(ctx context.Context, p amplitude.Problem, t amplitudeTargets, rows []int) (*viewCorrection, error) {
	like := o.like
	if rows != nil {
		like = like.Some(rows)
	}
	n := like.Samples()
	c := &viewCorrection{
		processSettings: o.processSettings, problem: p, unit: t.observed.unit, ones: o.ones, workers: o.Workers,
		ascent: vi.Ascent{Tolerance: correctionError / float64(n)},
	}
	if rows != nil {
		c.ones = onesOf(n)
	}
	c.likelihood = like
	var err error
	if c.all, err = p.Fit(ctx, amplitude.Tied, amplitude.Search{Steps: mostAmplitudeSteps}); err != nil {
		return nil, stopped(ctx, err)
	}
	if c.fit, err = c.observe(ctx, inUnits(c.unit, c.all.Amplitudes)); err != nil {
		return nil, err
	}
	s := c.fit.Posterior.State()
	c.start = &mgp.EvidenceStart{Gamma: s.Gamma, Shape: s.Shape}
	return c, nil
}

// observe fits the process with these amplitudes to the observations; nil stands for no function.
func (c *viewCorrection) observe(ctx context.Context, amplitudes []float64) (*mgp.Fit, error) {
	_, fit, err := c.fitSum(ctx, c.problem.Kernels, c.ones, amplitudes, c.workers, c.ascent)
	switch {
	case err != nil && ctx.Err() == nil:
		return nil, fmt.Errorf("%w: %w", errCorrection, err)
	case err != nil:
		return nil, stopped(ctx, err)
	}
	return fit, nil
}

// without returns how the log evidence changes without some views, at the sites of all views and at the sites without these views.
func (c *viewCorrection) without(ctx context.Context, views []int) (fixed, moved float64, err error) {
	less, err := c.problem.FitWith(ctx, c.all, views, 0, changedSearch)
	if err != nil {
		return 0, 0, stopped(ctx, err)
	}
	of, amplitudes := *c, inUnits(c.unit, less.Amplitudes)
	if len(views) == c.problem.Layout.Views() {
		amplitudes = nil
		of.start = &mgp.EvidenceStart{Gamma: c.start.Gamma[1:], Shape: c.start.Shape}
	}
	fit, err := of.observe(ctx, amplitudes)
	if err != nil {
		return 0, 0, err
	}
	return less.LogEvidence - c.all.LogEvidence, fit.LogEvidence - c.fit.LogEvidence, nil
}
