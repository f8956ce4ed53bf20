package mgp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// FeatureLabels are labels ±1 of any number of samples, of one function or of several, in the space of
// features. The sums that do not depend on the weights are given; the rest takes passes over the samples,
// which all functions share.
type FeatureLabels struct {
	Blocks  []int              // D_p, features of each kernel, D in all
	Gram    la.Matrix[float64] // D×D, Σφφᵀ; only the lower triangle is read
	Sums    la.Matrix[float64] // L×D, Σ y·φ for the labels y of each function
	Samples float64            // N

	// Pass goes over all samples, in any order, and hands each to the pass, by [Pass.Add] or in its two
	// parts. An error, also from the context, ends the fit, which returns the same error.
	Pass func(ctx context.Context, p *Pass) error
}

// Settings of FitFeatureLabels.
const (
	passSweeps    = 5    // between two passes
	passTolerance = 1e-5 // nats a sample, by which the evidence still changes
	mostPasses    = 50
	mostScaling   = 7.5 // of a scale between two passes
)

// FitFeatureLabels fits, for each function, the probit model P(y = 1) = Φ(Σ_p w_pᵀφ_p), w_p ~ N(0, a_p·I), to
// labels, by Laplace's approximation of the log evidence with a curvature that all samples share,
//
//	Σ log Φ(y·mᵀφ) − ½ Σ |m_p|²/a_p − ½ log|I + c·A^½·ΦΦᵀ·A^½|,   A = diag(a),
//
// where m is the mode and c the mean of −(log Φ)″ over the samples there. Only the
// first term needs the samples: each pass finds its value, its gradient and c, and
// five sweeps over m and a, on the parabola that these make, choose where the next pass looks. If
// the density of m given a falls, the next pass is a step that cannot let it fall. A function
// whose evidence hardly changes is done, and the passes after that are about the others.
//
// The posterior of w is N(m, (c·ΦΦᵀ + A⁻¹)⁻¹). The noise has the variance 1 of the probit: the probability
// of +1 at a mean and variance that it predicts is Φ(mean/√variance). Ascent.Tolerance is the change of the
// evidence, and of the density of m, in nats a sample at which a function is done, 1e-5 by default,
// MaxSweeps the most passes, 50 by default. Of the settings only Ascent and Workers count; Progress
// describes all functions together. There is no bias: a feature that is 1 for every sample, a block of its
// own, stands for it. Derived in docs/theory/mgp.md, section 19.
func (e Evidence) FitFeatureLabels(ctx context.Context, l FeatureLabels) ([]*FeatureFit, error) {
	all, err := e.labelAscents(ctx, l)
	if err != nil {
		return nil, err
	}
	tolerance, most := e.Ascent.Tolerance, e.Ascent.MaxSweeps
	if tolerance == 0 {
		tolerance = passTolerance
	}
	if most == 0 {
		most = mostPasses
	}
	err = e.climb(ctx, all, most, tolerance*l.Samples)
	if own, ok := errors.AsType[*passError](err); ok {
		err = own.error
	} else if err != nil {
		err = fmt.Errorf("vi: %w", err)
	}
	var fits []*FeatureFit
	for _, m := range all {
		if err != nil && m.record.Reason != vi.Converged {
			m.record.Reason = vi.Failed
			if ctx.Err() != nil {
				m.record.Reason = vi.Cancelled
			}
		}
		if len(m.record.Trace) == 0 { // as for all: the first pass did not end
			return nil, cmp.Or(err, errNoPass)
		}
		gamma := make([]float64, len(m.at.weight))
		for p, a := range m.at.weight {
			gamma[p] = 1 / a
		}
		post, perr := NewLabelPosterior(m.labels.Gram, m.labels.Blocks, gamma, m.at.mean, m.at.curvature, e.Workers)
		if perr != nil {
			return nil, errors.Join(err, perr)
		}
		fits = append(fits, &FeatureFit{Posterior: post, Record: m.record, LogEvidence: m.at.evidence, Curvature: m.at.curvature})
	}
	return fits, err
}

// climb passes over the samples until the evidence of no function changes by more than enough.
func (e Evidence) climb(ctx context.Context, all []*labelAscent, most int, enough float64) error {
	stage, rec := e.Ascent.Journal.Next(), vi.Record{Reason: vi.MaxSweeps, Left: -1} // of all functions together
	visit := func(s *work.Snapshot) {
		all[0].labelWork.snapshot(s)
		for _, m := range all {
			m.snapshot(s)
		}
	}
	known, done, err := stage.Resume(visit, &rec)
	if err != nil {
		for _, m := range all {
			m.record.Trace = nil // of a state that is refused nothing is a fit
		}
		return err
	}
	if done {
		return nil
	}
	if !known {
		for _, m := range all {
			if err := m.begin(enough); err != nil {
				return err
			}
		}
	}
	for pass := len(rec.Trace) + 1; pass <= most; pass++ {
		var open []int
		for o, m := range all {
			if m.record.Reason != vi.Converged {
				open = append(open, o)
			}
		}
		if len(open) == 0 { // so says a state that was put back
			return nil
		}
		p, err := all[0].pass(ctx, all, open)
		if err != nil {
			return err
		}
		done = true
		for k, o := range open {
			if err := all[o].take(p, k, enough); err != nil {
				return err
			}
			done = done && all[o].record.Reason == vi.Converged
		}
		rise, evidence := math.NaN(), 0.0
		for _, m := range all {
			evidence += m.at.evidence
		}
		if pass > 1 {
			rise = evidence - rec.Bound()
		}
		rec.Trace, rec.Changes = append(rec.Trace, evidence), append(rec.Changes, -1)
		if e.Ascent.Progress != nil {
			e.Ascent.Progress(vi.Progress{Sweep: pass, MaxSweeps: most, Bound: evidence, Rise: rise, Left: -1, Change: -1})
		}
		if err := stage.Note(visit, &rec, done); done || err != nil {
			return err
		}
	}
	return nil
}

// snapshot names the numbers by which a journal recognises other data.
func (w *labelWork) snapshot(s *work.Snapshot) {
	for d := range w.labels.Gram.Rows {
		s.Same(la.SumSq(w.labels.Gram.Row(d)[:d+1]))
	}
	for _, first := range w.first {
		s.Same(float64(first))
	}
	s.Same(w.labels.Samples)
}

// snapshot names the state after a pass, and the numbers by which a journal recognises other
// labels.
func (m *labelAscent) snapshot(s *work.Snapshot) {
	s.Same(m.sums...)
	s.Floats(m.at.mean, m.at.weight, m.at.gradient, m.mean, m.weight)
	s.Float(&m.at.curvature)
	s.Float(&m.at.fit)
	s.Float(&m.at.evidence)
	s.Float(&m.damping)
	s.Bool(&m.careful)
	s.List(&m.record.Trace, math.MaxInt32)
	s.List(&m.record.Changes, math.MaxInt32)
	if n := len(m.record.Trace); n != len(m.record.Changes) || n > 0 && m.at.evidence != m.record.Bound() || n == 0 && !math.IsInf(m.at.evidence, -1) {
		s.Refuse(fmt.Errorf("an evidence of %g after a trace of %d and %d changes", m.at.evidence, n, len(m.record.Changes)))
	}
	done := m.record.Reason == vi.Converged
	if s.Bool(&done); done {
		m.record.Reason, m.record.Left = vi.Converged, 0
	}
	n := len(m.moves)
	s.Int(&n, mostMoves)
	for len(m.moves) < n {
		D := len(m.at.mean)
		m.moves = append(m.moves, move{make([]float64, D), make([]float64, D)})
	}
	for _, v := range m.moves {
		s.Floats(v.step, v.fall)
	}
}

// errNoPass is of the state of a fit that claims to be done and has made no pass.
var errNoPass = errors.New("vi: the state of the passes: there was none")

// passError is an error of [FeatureLabels].Pass, which has a prefix of its own.
type passError struct{ error }

// labelState is a point of the ascent where a pass has looked.
type labelState struct {
	mean, weight []float64 // m, D; a, P
	gradient     []float64 // D, of the first term of the evidence
	fit          float64   // that term
	curvature    float64   // c, mean of a sample
	evidence     float64
}

// labelAscent is the state of FitFeatureLabels for one function.
type labelAscent struct {
	*labelWork
	at      labelState
	record  vi.Record
	careful bool      // the next pass is a step that cannot lower the density of m given a
	damping float64   // share of the way of log a that a sweep goes
	sums    []float64 // of the labels, D

	moves        []move
	bend         []rank1   // what the curvature is beyond c·ΦΦᵀ
	mean, weight []float64 // where the next pass looks
}

// labelWork is what the functions share.
type labelWork struct {
	labels      FeatureLabels
	ws          la.Workspace
	first       []int // features; the last is D
	least       []float64
	factor      la.Matrix[float64]
	scale, diag []float64 // D, √a; D, the diagonal of B⁻¹
}

// labelAscents checks the arguments and returns the states of m = 0, which need no pass: there h is
// √(2/π) for every sample.
func (e Evidence) labelAscents(ctx context.Context, l FeatureLabels) (all []*labelAscent, err error) {
	l.Blocks = slices.Clone(l.Blocks) // the posteriors keep them
	w := &labelWork{labels: l, ws: la.Workspace{Workers: e.Workers}}
	if w.first, err = blockStarts(l.Blocks); err != nil {
		return nil, fmt.Errorf("vi: FeatureLabels.%w", err)
	}
	P := len(l.Blocks)
	D := w.first[P]
	switch {
	case ctx == nil:
		return nil, errors.New("vi: ctx is nil")
	case l.Gram.Rows != D || l.Gram.Cols != D || !l.Gram.Valid() || l.Sums.Cols != D || l.Sums.Rows == 0 || !l.Sums.Valid():
		return nil, fmt.Errorf("vi: FeatureLabels: Gram is %d×%d and Sums %d×%d for %d features", l.Gram.Rows, l.Gram.Cols, l.Sums.Rows, l.Sums.Cols, D)
	case !(l.Samples >= 1) || math.IsInf(l.Samples, 1):
		return nil, fmt.Errorf("vi: FeatureLabels.Samples is %g", l.Samples)
	case l.Pass == nil:
		return nil, errors.New("vi: FeatureLabels.Pass is nil")
	case e.Ascent.MaxSweeps < 0:
		return nil, fmt.Errorf("vi: MaxSweeps is %d: it must not be negative", e.Ascent.MaxSweeps)
	}
	for d := range D {
		if j := check.NonFinite(l.Gram.Row(d)[:d+1]); j >= 0 {
			return nil, fmt.Errorf("vi: FeatureLabels.Gram: entry (%d, %d) is %g", d, j, l.Gram.At(d, j))
		}
	}
	w.factor = la.NewMatrix[float64](D, D)
	w.scale, w.diag, w.least = make([]float64, D), make([]float64, D), make([]float64, P)
	start := make([]float64, P)
	for p := range P {
		var trace float64
		for d := w.first[p]; d < w.first[p+1]; d++ {
			trace += l.Gram.At(d, d)
		}
		start[p] = 1 / float64(P)
		if trace > 0 {
			start[p] *= l.Samples / trace
		}
		w.least[p] = 1e-10 * start[p]
	}
	h := math.Sqrt(2 / math.Pi)
	for o := range l.Sums.Rows {
		if d := check.NonFinite(l.Sums.Row(o)); d >= 0 {
			return nil, fmt.Errorf("vi: FeatureLabels.Sums: entry (%d, %d) is %g", o, d, l.Sums.At(o, d))
		}
		m := &labelAscent{labelWork: w, record: vi.Record{Reason: vi.MaxSweeps, Left: -1}, damping: 1}
		m.mean, m.weight, m.sums = make([]float64, D), make([]float64, P), l.Sums.Row(o)
		gradient := make([]float64, D)
		la.Axpy(h, l.Sums.Row(o), gradient)
		m.at = labelState{
			mean: make([]float64, D), weight: slices.Clone(start), gradient: gradient, curvature: float64(h * h),
			fit: -l.Samples * math.Ln2, evidence: math.Inf(-1),
		}
		all = append(all, m)
	}
	return all, nil
}

// blockStarts returns the index of the first feature of each block, and at the end the number of
// all features.
func blockStarts(blocks []int) ([]int, error) {
	if len(blocks) == 0 {
		return nil, errors.New("Blocks: none")
	}
	first := []int{0}
	for p, d := range blocks {
		if d < 1 {
			return nil, fmt.Errorf("Blocks[%d] is %d", p, d)
		}
		first = append(first, first[p]+d)
	}
	return first, nil
}

// begin chooses where the first pass looks.
func (m *labelAscent) begin(enough float64) error {
	copy(m.weight, m.at.weight)
	if err := m.factorise(m.at.curvature); err != nil {
		return err
	}
	m.sweep(enough)
	return nil
}

// pass passes over the samples for the open ones of all functions.
func (w *labelWork) pass(ctx context.Context, all []*labelAscent, open []int) (*Pass, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("stopped: %w", context.Cause(ctx))
	}
	weights := la.NewMatrix[float64](len(open), len(w.scale))
	for k, o := range open {
		copy(weights.Row(k), all[o].mean)
	}
	p := newPass(open, weights, w.ws.Workers)
	if err := w.labels.Pass(ctx, p); err != nil {
		return nil, &passError{err}
	}
	if p.samples != w.labels.Samples {
		return nil, fmt.Errorf("a pass over %g samples where there are %g", p.samples, w.labels.Samples)
	}
	return p, nil
}

// take takes what a pass found out of the function, its row k, and chooses where the next one looks.
func (m *labelAscent) take(p *Pass, k int, enough float64) error {
	now := labelState{
		mean: slices.Clone(m.mean), weight: slices.Clone(m.weight),
		gradient: slices.Clone(p.gradient.Row(k)), fit: p.fit[k], curvature: p.curvature[k] / p.samples,
	}
	m.remember(now)
	rise := m.density(now) - m.density(m.at)
	if !(rise >= 0) && !m.careful { // a careful step falls by no more than rounding
		m.careful = true
		return m.step()
	}
	m.careful = false
	if err := m.factorise(now.curvature); err != nil {
		return err
	}
	now.evidence = m.density(now) - float64(0.5*la.LogDet(m.factor))
	if math.IsNaN(now.evidence) || math.IsInf(now.evidence, 0) {
		return fmt.Errorf("the evidence is %g", now.evidence)
	}
	change := now.evidence - m.at.evidence
	if change < 0 {
		m.damping = min(0.25, m.damping/2)
	} else {
		m.damping = min(1, 2*m.damping)
	}
	m.at = now
	m.record.Trace, m.record.Changes = append(m.record.Trace, now.evidence), append(m.record.Changes, -1)
	if max(math.Abs(change), rise) <= enough {
		m.record.Reason, m.record.Left = vi.Converged, 0
		return nil
	}
	m.sweep(enough)
	return nil
}

// density returns the log density of a point's labels and weights, given the scales that were tried last and but
// for what depends on these alone.
func (m *labelAscent) density(s labelState) float64 {
	sum := s.fit
	for p, a := range m.weight {
		sum -= 0.5 * la.SumSq(s.mean[m.first[p]:m.first[p+1]]) / a
	}
	return sum
}

// NewLabelPosterior returns the posterior of labels, as [Evidence.FitFeatureLabels] has it: of weights w_p of
// prior variance 1/γ_p with these means, given the sums ΦΦᵀ over all samples, from which only the lower
// triangle is read, and their curvature c. It keeps all but the sums, and none may be changed afterwards.
func NewLabelPosterior(gram la.Matrix[float64], blocks []int, gamma, mean []float64, curvature float64, workers int) (*FeaturePosterior, error) {
	first, err := blockStarts(blocks)
	if err != nil {
		return nil, fmt.Errorf("vi: label posterior: %w", err)
	}
	D := first[len(blocks)]
	if gram.Rows != D || gram.Cols != D || !gram.Valid() || len(gamma) != len(blocks) || len(mean) != D {
		return nil, fmt.Errorf("vi: label posterior: sums %d×%d, %d scales and %d means for %d blocks of %d features",
			gram.Rows, gram.Cols, len(gamma), len(mean), len(blocks), D)
	}
	if !(curvature >= 0) || math.IsInf(curvature, 1) {
		return nil, fmt.Errorf("vi: label posterior: the curvature is %g", curvature)
	}
	a := make([]float64, len(gamma))
	for p, g := range gamma {
		if !(g > 0) || math.IsInf(1/g, 1) {
			return nil, fmt.Errorf("vi: label posterior: scale %d is %g", p, g)
		}
		a[p] = 1 / g
	}
	s := FeatureState{Noise: 1, Blocks: blocks, Gamma: gamma, Mean: mean, Factor: la.NewMatrix[float64](D, D)}
	if err := factoriseLabels(&la.Workspace{Workers: workers}, gram, first, a, curvature, make([]float64, D), s.Factor); err != nil {
		return nil, fmt.Errorf("vi: label posterior: %w", err)
	}
	return NewFeaturePosterior(s)
}
