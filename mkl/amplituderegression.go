package mkl

import (
	"context"
	"errors"
	"fmt"

	"github.com/bmkl/bmkl/vi/amplitude"
	"github.com/bmkl/bmkl/vi/mgp"
)

// addAmplitudes fits the members with amplitudes that borrow strength to several views and the targets y. It appends their
// densities to density and returns it. There are no such members where all kernels are given: no kernel is then a constant.
func (a Auto) addAmplitudes(ctx context.Context, m *AutoModel, views []View, y []float64, density [][]float64) ([][]float64, error) {
	if countViews(views) < 2 || !hasAmplitudes(views) {
		return density, nil
	}
	f := a.fitting()
	k, err := newAmplitudeKernels(ctx, f, kernelsOfView, views)
	if err != nil || k == nil || !k.hasConstant() {
		return density, err
	}
	targets, z := standardizeWeighted(y, a.Weights, false)
	shares, typical, err := mgp.NoiseShares(a.Weights)
	if err != nil {
		return nil, fmt.Errorf("mkl: %w", err)
	}
	known := a.KnownNoise / targets[0].sd
	t := amplitudeTargets{y: z, noiseShare: shares, knownNoise: known * known / typical}
	fits, table, err := k.fitAmplitudes(ctx, f, t)
	switch {
	case errors.Is(err, amplitude.ErrIndefinite): // processes add jitter
		m.remarks = append(m.remarks, leftOutRemark(err))
		return density, nil
	case err != nil:
		return nil, err
	}
	m.views, m.groups = table.views, table.groups
	for _, fit := range fits {
		member, err := k.regression(fit.Fit, targets[0], shares, typical)
		if err != nil {
			return nil, err
		}
		m.names, m.members = append(m.names, fit.name), append(m.members, member)
		m.add(member)
		density = append(density, member.leftOutDensity(y))
	}
	return density, nil
}

// regression returns the multiple Gaussian process with the amplitudes of a fit to one standardised target. The noise of sample n has the
// given share of the noise variance of a sample with the typical weight.
func (a *amplitudeKernels) regression(f *amplitude.Fit, t target, shares []float64, typical float64) (*MultiGPModel, error) {
	s := mgp.State{Family: FamilyFlat, Tau: 1 / (f.Noise * typical), Alpha: f.Alpha.Row(0), Factor: f.Factor}
	for _, w := range a.weights(f.Amplitudes, 1) {
		s.Gamma = append(s.Gamma, 1/max(w, leastWeight))
	}
	if shares != nil {
		noise := make([]float64, len(shares))
		for i, share := range shares {
			noise[i] = f.Noise * share
		}
		s.SetNoise(noise)
	}
	posterior, err := mgp.NewPosterior(s)
	if err != nil {
		return nil, err
	}
	m := &MultiGPModel{target: t}
	m.onViews = onViews{record{trace: amplitudeTrace(f)}, a.design}
	m.designs, m.posteriors, m.limits = append(m.designs, a.design), append(m.posteriors, posterior), []bool{false}
	m.bounds, m.evidence = []float64{f.LogEvidence}, true
	m.leaveOneOut = []*mgp.LeaveOneOut{{Mean: f.LeftOutMean.Row(0), Variance: f.LeftOutVariance}}
	return m, nil
}

// leastWeight stands for the weight 0 of a kernel that is left out, since one over a weight is kept. No prediction
// shows the difference.
const leastWeight = 1e-200
