package mkl

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// Landmarks of observations above DefaultExactSamples: as many as keep N·M², the work of a sweep, below mostSweepWork.
const (
	mostObservationLandmarks  = 2000
	leastObservationLandmarks = 300
	mostSweepWork             = 1e11
)

// ObservationLandmarks returns how many of n samples are landmarks of a fit of [Counts], [Ordinal] or [Survival] without given
// kernels: all of them up to [DefaultExactSamples].
func ObservationLandmarks(n int) int {
	if n <= DefaultExactSamples {
		return n
	}
	return max(leastObservationLandmarks, min(mostObservationLandmarks, int(math.Sqrt(mostSweepWork/float64(n)))))
}

// fitMany is fit for more samples than an exact fit can take. Some samples, the landmarks, are fitted exactly. Their fit gives
// the weights and the widths of the kernels, and the fit of all samples begins with it. targets are as in [processObservations.fit]. With an
// error it returns the fit of the landmarks, if there is one.
func (p *processObservations) fitMany(ctx context.Context, views []View, landmarks int, targets [][]float64, all ...mgp.Likelihood) (*functionOfViews, error) {
	effects, err := p.addLevels(ctx, views, targets, all)
	if err != nil {
		return nil, p.named(err)
	}
	views, all = effects.views, effects.all
	n := all[0].Samples()
	x := distinctInputs(views)
	rows := landmarkRows(rowOrder(rowColumns(views), targets, false, p.seed), landmarks, alikeIn(views, targets[0])...)
	few := slices.Clone(all)
	for i, l := range all {
		few[i] = l.Some(rows)
	}
	known := make([][]float64, len(targets))
	for i, v := range targets {
		known[i] = vec.Picked(v, rows)
	}
	m, err := p.fitExact(ctx, takeRows(views, rows), known, 1, few...)
	if m != nil {
		m.levels, m.about = effects.levels, effects.about
	}
	if m == nil || err != nil {
		return m, err
	}
	start := m.posteriors[0]
	e := mgp.Extension{
		Likelihood: all[slices.IndexFunc(all, func(l mgp.Likelihood) bool { return l.Name() == start.State().Likelihood })],
		Cross:      la.NewMatrix[float64](n, len(rows)), Self: make([]float64, n),
		Progress: p.part(p.fitted+1, p.fitted+1).ascent(1, 1).Progress,
	}
	gamma := start.State().Gamma
	err = m.designs[0].EachBlock(ctx, p.Workers, gram.PredictWords, true, x, n, func(k *vi.Dense, self la.Matrix[float64], first, count int) error {
		block := la.NewMatrix[float64](count, len(rows))
		for i, g := range gamma {
			k.Columns(i, 0, block)
			for r := range count {
				la.Axpy(1/g, block.Row(r), e.Cross.Row(first+r))
			}
			la.Axpy(1/g, self.Row(i), e.Self[first:first+count])
		}
		return nil
	})
	if err != nil {
		return m, err
	}
	e.Among = e.Cross.TakeRows(rows)
	for i, r := range rows {
		e.Among.Set(i, i, e.Self[r]) // a sample that lacks a view has another covariance with others like it
	}
	fit, err := start.Extend(ctx, e, p.Workers)
	if err != nil {
		m.trace.Converged, m.trace.Reason = false, vi.Cancelled.String()
		err = p.named(err)
	}
	if fit == nil {
		return m, err
	}
	m.posteriors[0], m.leaveOneOut[0], m.bounds[0] = fit.Posterior, fit.LeaveOneOut, fit.LogEvidence
	switch {
	case m.trace.Converged && fit.Record.Reason != vi.Converged:
		m.trace.Converged, m.trace.Reason = false, fit.Record.Reason.String()
	case m.trace.Converged && effects.unsettled != "":
		m.trace.Converged, m.trace.Reason = false, effects.unsettled
	}
	return m, err
}

// landmarkRows returns most samples, ascending: the first of the order. Where these are alike in one of the ways, some of the others take
// the places of the last.
func landmarkRows(order []int, most int, alike ...func(i, j int) bool) []int {
	rows := slices.Clone(order[:most])
	at := most - 1
	for _, same := range alike {
		other := func(i int) bool { return !same(i, rows[0]) }
		if slices.ContainsFunc(rows, other) {
			continue
		}
		last := max(at-leastOfClass, most/2)
		for _, i := range order[most:] {
			if at > last && other(i) {
				rows[at] = i
				at--
			}
		}
	}
	slices.Sort(rows)
	return rows
}

// alikeIn returns the ways in which landmarks may not all be alike: in the targets, and in the columns of each view, because kernels take their
// widths from samples that differ.
func alikeIn(views []View, y []float64) []func(i, j int) bool {
	ways := []func(i, j int) bool{func(i, j int) bool { return y[i] == y[j] }}
	for k, v := range views {
		if slices.ContainsFunc(views[:k], func(w View) bool { return w.Input == v.Input && slices.Equal(w.Columns, v.Columns) }) {
			continue
		}
		columns := v.Columns
		if columns == nil {
			columns = vec.UpTo(v.X.Cols)
		}
		ways = append(ways, func(i, j int) bool {
			return !slices.ContainsFunc(columns, func(c int) bool { return cmp.Compare(v.X.At(i, c), v.X.At(j, c)) != 0 })
		})
	}
	return ways
}

// manyMemory returns about how many bytes fitMany takes.
func (p *processObservations) manyMemory(s FitSize, landmarks int) int64 {
	N, M := float64(s.Samples), float64(landmarks)
	s.Samples = landmarks
	return p.exactMemory(s) + inBytes(float64(N*(M+20))+float64(6*M*M)+gram.PredictWords)
}
