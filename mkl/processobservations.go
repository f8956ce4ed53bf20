package mkl

import (
	"context"
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/vi/mgp"
)

// processObservations is a fit of a multiple Gaussian process to observations with a likelihood of their own: by
// [Survival], [Counts] or [Ordinal].
type processObservations struct {
	*fitting
	processSettings
	landmarks int // as the estimators' Landmarks
	before    int // parts of the fit before the fits of the landmarks: 1 for effects of levels

	levelLimit int // of sweeps of a fit of effects of levels; 0 means the usual one

	rival  *rivalLaw // nil: every likelihood is fitted, and the one with the highest evidence is chosen
	fitted int       // likelihoods that were fitted
}

// rivalLaw says when likelihoods beside the first are fitted, and by how much their evidence has to be higher.
type rivalLaw struct {
	worth  func(shape []float64, n int) bool // given the parameters of the first likelihood, fitted to n samples
	margin float64
}

// certain returns the likelihoods that are fitted in any case.
func (p *processObservations) certain(all []mgp.Likelihood) []mgp.Likelihood {
	if p.rival != nil {
		return all[:1]
	}
	return all
}

// newProcessObservations returns a fit with the settings that the estimators share.
func newProcessObservations(f Fitting, c Climb, groups []ViewGroup, gaps bool, storage KernelStorage, landmarks int) *processObservations {
	return &processObservations{
		fitting:         &fitting{Fitting: f, Ascent: c.ascent(), limit: "MaxSteps", groups: groups, missingViews: gaps, storage: storage},
		processSettings: processSettings{pointScales: true, seed: f.Seed},
		landmarks:       landmarks,
	}
}

// fit fits a function to the views of observations under each of the likelihoods, or those that the rival says, and returns the fit with the highest
// evidence. If one ends with an error, it returns the error and the best fit before. targets are
// numbers by which samples with the same features differ, the first of them the targets themselves.
func (p *processObservations) fit(ctx context.Context, views []View, targets [][]float64, all ...mgp.Likelihood) (*functionOfViews, error) {
	n, given := all[0].Samples(), slices.ContainsFunc(views, isGiven)
	switch {
	case p.landmarks < 0:
		return nil, fmt.Errorf("mkl: Landmarks is %d: it must not be negative", p.landmarks)
	case p.landmarks > 0 && given:
		return nil, fmt.Errorf("mkl: Landmarks is %d: views of given kernels take none", p.landmarks)
	}
	landmarks := p.landmarksOf(n, given)
	if landmarks == 0 {
		return p.fitExact(ctx, views, targets, 0, all...)
	}
	if _, err := bindViews(views, n, p.missingViews); err != nil {
		return nil, err
	}
	if err := p.check(p.memory(FitSize{Samples: n, Kernels: len(views), Views: countViews(views)})); err != nil {
		return nil, err
	}
	return p.fitMany(ctx, views, landmarks, targets, all...)
}

// landmarksOf returns how many of n samples are landmarks; 0 means that the fit is exact.
func (p *processObservations) landmarksOf(n int, given bool) int {
	switch {
	case p.landmarks > 0 && p.landmarks < n:
		return p.landmarks
	case p.landmarks == 0 && atScale(n, 0, given):
		return ObservationLandmarks(n)
	}
	return 0
}

// part returns the settings of part k of n of a fit, which its progress names as starts.
func (p *processObservations) part(k, n int) *fitting {
	f := *p.fitting
	if f.Progress != nil {
		f.Progress = func(q Progress) {
			q.Start, q.Starts = p.before+k, p.before+n
			p.Progress(q)
		}
	}
	return &f
}

// fitExact is fit without landmarks. So many parts of the fit come after it.
func (p *processObservations) fitExact(ctx context.Context, views []View, targets [][]float64, after int, all ...mgp.Likelihood) (best *functionOfViews, err error) {
	n := all[0].Samples()
	t, err := bindViews(views, n, p.missingViews)
	if err != nil {
		return nil, err
	}
	best, remark, err := p.fitViews(ctx, views, targets, after, all...)
	if best != nil || err != nil {
		return best, err
	}
	p.fitted = 0
	k, err := p.processKernels(ctx, t, 1, func(s FitSize) int64 { return p.processMemory(s, 1, false) })
	if err != nil {
		return nil, err
	}
	defer gram.Release(k, &best, &err)
	parts, margin := len(p.certain(all)), 0.0
	for i, l := range all {
		if i == parts {
			if best == nil || !p.rival.worth(best.posteriors[0].State().Shape, n) {
				break
			}
			parts, margin = i+1, p.rival.margin
		}
		p.likelihood = l
		m := &functionOfViews{processes: processes{onViews: onViews{p.record(Trace{}), t.Design}}}
		whole, err := p.processSettings.fit(ctx, p.part(i+1, parts+after), &m.processes, k, la.NewMatrix[float64](1, n), false)
		p.fitted++
		if whole && (best == nil || m.Bound() > best.Bound()+margin) {
			best = m
		}
		if err != nil && (margin == 0 || ctx.Err() != nil) { // the fit in hand stands if a rival has none
			return best, err
		}
	}
	if remark != "" {
		best.remarks = append(best.remarks, remark)
	}
	if len(p.groups) > 0 {
		best.remarks = append(best.remarks, groupsRemark)
	}
	return best, nil
}

// memory returns about how many bytes a fit of the given size takes.
func (p *processObservations) memory(s FitSize) int64 {
	if landmarks := p.landmarksOf(s.Samples, s.Basis > 0); landmarks > 0 {
		return p.manyMemory(s, landmarks)
	}
	return p.exactMemory(s)
}

// exactMemory is memory without landmarks.
func (p *processObservations) exactMemory(s FitSize) int64 {
	need := p.processMemory(s, 1, false)
	if s.Views > 1 {
		need += p.amplitudeMemory(s) - inBytes(p.storage.held().Words(float64(s.Kernels), float64(s.Samples), float64(s.Samples)))
	}
	return need
}
