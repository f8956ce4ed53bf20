package mkl

import (
	"context"
	"errors"
	"fmt"

	"github.com/bmkl/bmkl/vi/amplitude"
	"github.com/bmkl/bmkl/vi/mgp"
)

// amplitudeRegressions are the members of a pool whose amplitudes borrow strength.
type amplitudeRegressions struct {
	names   []string
	members []*MultiGPModel
	table   viewTable
	remark  string // why there are no members; empty if that goes without saying
}

// fitAmplitudes fits the members with amplitudes that borrow strength to several views and the targets y. There are no such
// members where all kernels are given: no kernel is then a constant.
func (a Auto) fitAmplitudes(ctx context.Context, views []View, y []float64) (out amplitudeRegressions, err error) {
	if countViews(views) < 2 || !hasAmplitudes(views) {
		return out, nil
	}
	f := a.fitting()
	k, err := newAmplitudeKernels(ctx, f, KernelsOfView, views, [][]float64{y}, false)
	if err != nil || k == nil || !k.hasConstant() {
		return out, err
	}
	targets, z := standardizeWeighted(y, a.Weights, false)
	shares, typical, err := mgp.NoiseShares(a.Weights)
	if err != nil {
		return out, fmt.Errorf("mkl: %w", err)
	}
	known := a.KnownNoise / targets[0].sd
	t := amplitudeTargets{y: z, noiseShare: shares, knownNoise: known * known / typical}
	fits, table, err := k.fitAmplitudes(ctx, f, t)
	switch {
	case errors.Is(err, amplitude.ErrIndefinite): // processes add jitter
		out.remark = leftOutRemark(err)
		return out, nil
	case err != nil:
		return out, err
	}
	out.table = table
	for _, fit := range fits {
		member, err := k.regression(fit.Fit, targets[0], shares, typical)
		if err != nil {
			return out, err
		}
		out.names, out.members = append(out.names, fit.name), append(out.members, member)
	}
	return out, nil
}

// addAmplitudes adds the members to the pool. It appends their densities of the targets y to density and returns it.
func (m *AutoModel) addAmplitudes(of amplitudeRegressions, y []float64, density [][]float64) [][]float64 {
	if of.remark != "" {
		m.remarks = append(m.remarks, of.remark)
	}
	m.viewTable = of.table
	m.remarks = append(m.remarks, of.table.remark(len(y))...)
	for i, member := range of.members {
		m.names, m.members = append(m.names, of.names[i]), append(m.members, member)
		m.add(member)
		density = append(density, member.leftOutDensity(y))
	}
	return density
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
