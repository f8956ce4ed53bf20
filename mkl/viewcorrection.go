package mkl

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/amplitude"
	"github.com/bmkl/bmkl/vi/mgp"
)

// Limits of the corrections, in nats. Corrections of single views add up for the sets that leave out several if no correction is larger than
// fewNats. A view is needed surely if the evidence without it is lower by surelyNeeded: its sets do not matter. All sets of at most mostOpen other views are fitted.
const (
	fewNats      = 1.0
	surelyNeeded = 20.0
	mostOpen     = 4
)

// correctionError is by how many nats the evidence of a set of views may be off where its ascent ends.
const correctionError = 0.05

// correction returns by how much more the evidence of a set of views is, compared with the evidence of all views, at sites of its own than at the
// sites of all views. Sites that come from a model with a view contain what the view says: without it, the targets seem to be less probable
// than the observations are. Equation (L24) of docs/theory/likelihoods.md.
func (o *observedViews) correction(ctx context.Context, p amplitude.Problem, t amplitudeTargets, rows []int) (func(included []bool) float64, error) {
	c, err := o.newViewCorrection(ctx, p, t, rows)
	if err != nil {
		return nil, err
	}
	single, largest, open := make([]float64, p.Layout.Views()), 0.0, []int(nil)
	for v := range single {
		fixed, moved, err := c.without(ctx, []int{v})
		if err != nil {
			return nil, err
		}
		if single[v] = moved - fixed; moved > -surelyNeeded {
			open = append(open, v)
			largest = max(largest, math.Abs(single[v]))
		}
	}
	sets := map[int]float64{} // by the open views that are left out, one bit each
	if largest > fewNats && len(open) <= mostOpen {
		for set := range 1 << len(open) {
			var out []int
			for i, v := range open {
				if set>>i&1 == 1 {
					out = append(out, v)
				}
			}
			if len(out) < 2 {
				continue
			}
			fixed, moved, err := c.without(ctx, out)
			if err != nil {
				return nil, err
			}
			sets[set] = moved - fixed
		}
	}
	return func(included []bool) (sum float64) {
		var openSum float64
		set := 0
		for i, v := range open {
			if !included[v] {
				set |= 1 << i
				openSum += single[v]
			}
		}
		for v, is := range included {
			if !is {
				sum += single[v]
			}
		}
		if known, ok := sets[set]; ok {
			sum += known - openSum
		}
		return sum
	}, nil
}

// errCorrection says that expectation propagation did not end without some views.
var errCorrection = errors.New("the evidence without some views is not known")

// viewCorrection fits observations without some views.
type viewCorrection struct {
	processSettings
	problem amplitude.Problem
	unit    target // of the targets of the problem
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
	n := float64(like.Samples())
	c := &viewCorrection{processSettings: o.processSettings, problem: p, unit: t.observed.unit, workers: o.Workers, ascent: vi.Ascent{Tolerance: correctionError / n}}
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
	_, fit, err := c.fitSum(ctx, c.problem.Kernels, onesOf(c.likelihood.Samples()), amplitudes, c.workers, c.ascent)
	switch {
	case err != nil && ctx.Err() == nil:
		return nil, fmt.Errorf("%w: %w", errCorrection, err)
	case err != nil:
		return nil, stopped(ctx, err)
	}
	return fit, nil
}

// without returns how the log evidence changes without some views, at the sites of all views and at sites of its own.
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
