package mgp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
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
	Gram    la.Matrix[float64] // D×D, Σφφᵀ, of which the lower triangle is read
	Sums    la.Matrix[float64] // L×D, Σ y·φ for the labels y of each function
	Samples float64            // N

	// Pass goes over all samples, in any order, and hands each to the pass, by [Pass.Add] or in its two
	// parts. An error, also that of the context, ends the fit, which returns it as it is.
	Pass func(ctx context.Context, p *Pass) error
}

// Pass is what one pass over the samples finds out of the functions that still rise. Parts of the
// samples can have a Pass each, as [Pass.Part] makes them, to be merged.
type Pass struct {
	functions []int              // which, F of them
	weights   la.Matrix[float64] // F×D, E[w]
	gradient  la.Matrix[float64] // F×D, Σ y·h·φ with h = φ(z)/Φ(z) at z = y·wᵀφ
	fit       []float64          // F, Σ log Φ(z)
	curvature []float64          // F, Σ h·(h + z), minus the second derivatives of log Φ
	samples   float64
	f         []float64
	ws        la.Workspace
}

// newPass returns a pass over no samples yet.
func newPass(functions []int, weights la.Matrix[float64], workers int) *Pass {
	F := len(functions)
	return &Pass{
		functions: functions, weights: weights, gradient: la.NewMatrix[float64](F, weights.Cols),
		fit: make([]float64, F), curvature: make([]float64, F), ws: la.Workspace{Workers: workers},
	}
}

// Weights returns E[w] of the functions that the pass is about, F×D. It must not be changed.
func (p *Pass) Weights() la.Matrix[float64] { return p.weights }

// Add adds samples: the features of each kernel, D_p×n, and the labels of every function, L×n. The error
// names a label that is neither −1 nor +1, or a block that does not fit.
func (p *Pass) Add(features []la.Matrix[float64], y la.Matrix[float64]) error {
	n, F := y.Cols, len(p.functions)
	if cap(p.f) < F*n {
		p.f = make([]float64, F*n)
	}
	f := la.MatrixOf(F, n, p.f[:F*n])
	first, beta := 0, 0.0
	for i, phi := range features {
		last := first + phi.Rows
		if phi.Cols != n || last > p.weights.Cols || !phi.Valid() {
			return fmt.Errorf("vi: features: block %d is %d×%d with %d labels and %d weights", i, phi.Rows, phi.Cols, n, p.weights.Cols-first)
		}
		la.Gemm(&p.ws, la.NoTrans, la.NoTrans, 1, p.weights.Slice(0, F, first, last), phi, beta, f)
		first, beta = last, 1
	}
	if first != p.weights.Cols {
		return fmt.Errorf("vi: features: %d where there are %d weights", first, p.weights.Cols)
	}
	if err := p.Look(f, y); err != nil {
		return err
	}
	first = 0
	for _, phi := range features {
		last := first + phi.Rows
		la.Gemm(&p.ws, la.NoTrans, la.Transpose, 1, f, phi, 1, p.gradient.Slice(0, F, first, last))
		first = last
	}
	return nil
}

// Look is the first part of Add, for those who know a shorter way to wᵀφ than the features: f, F×n, has
// that of each sample, in the order of the rows of Weights, and becomes the slopes y·h. y, L×n, has the
// labels of every function.
func (p *Pass) Look(f, y la.Matrix[float64]) error {
	n := y.Cols
	if f.Rows != len(p.functions) || f.Cols != n || !f.Valid() || !y.Valid() || p.functions[len(p.functions)-1] >= y.Rows {
		return fmt.Errorf("vi: labels: %d×%d with values %d×%d of %d functions", y.Rows, n, f.Rows, f.Cols, len(p.functions))
	}
	for k, o := range p.functions {
		row := f.Row(k)
		for i, label := range y.Row(o) {
			if label != 1 && label != -1 {
				return fmt.Errorf("vi: labels: %d of function %d is %g: labels are −1 and +1", i, o, label)
			}
			z := float64(label * row[i])
			h, logCDF := special.Mills(z)
			row[i] = label * h
			p.fit[k] += logCDF
			p.curvature[k] += float64(h * (h + z))
		}
	}
	p.samples += float64(n)
	return nil
}

// AddGradient is the second part of Add: g, F×D, is the sum of slope·φᵀ over samples that were looked at.
func (p *Pass) AddGradient(g la.Matrix[float64]) error {
	if g.Rows != p.gradient.Rows || g.Cols != p.gradient.Cols || !g.Valid() {
		return fmt.Errorf("vi: gradient: %d×%d where %d×%d is needed", g.Rows, g.Cols, p.gradient.Rows, p.gradient.Cols)
	}
	for k := range g.Rows {
		la.Axpy(1, g.Row(k), p.gradient.Row(k))
	}
	return nil
}

// LogLikelihood returns Σ log Φ(y·wᵀφ) of the samples added, at the weights of the pass, for each of its
// functions.
func (p *Pass) LogLikelihood() []float64 { return p.fit }

// Part returns a pass of the same weights over other samples.
func (p *Pass) Part() *Pass { return newPass(p.functions, p.weights, p.ws.Workers) }

// Merge adds what a part has found out. Results depend on the order of the parts by rounding.
func (p *Pass) Merge(part *Pass) {
	la.Axpy(1, part.gradient.Data, p.gradient.Data)
	la.Axpy(1, part.fit, p.fit)
	la.Axpy(1, part.curvature, p.curvature)
	p.samples += part.samples
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
// The posterior of w is N(m, (c·ΦΦᵀ + A⁻¹)⁻¹), its noise 1, that of the probit: the probability of +1 at a
// mean and variance that it predicts is Φ(mean/√variance). Ascent.Tolerance is the change of the evidence,
// and of the density of m, in nats a sample at which a function is done, 1e-5 by default, MaxSweeps the most
// passes, 50 by default. Of the settings Ascent and Workers count; Progress tells of all functions together.
// There is no bias: a feature that is 1 for every sample, a block of its own, stands for it. Derived in
// docs/mgp.md, section 19.
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

// snapshot names what tells other data.
func (w *labelWork) snapshot(s *work.Snapshot) {
	for d := range w.labels.Gram.Rows {
		s.Same(la.SumSq(w.labels.Gram.Row(d)[:d+1]))
	}
	for _, first := range w.first {
		s.Same(float64(first))
	}
	s.Same(w.labels.Samples)
}

// snapshot names the state after a pass, and what tells other labels.
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

// move is how the gradient of the first term of the evidence changed from one pass to the next.
type move struct{ step, fall []float64 } // D, of m; D, of the gradient

// rank1 is a matrix sign·u·uᵀ.
type rank1 struct {
	sign float64
	u    []float64
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

// blockStarts returns the number of the first feature of each block, and that of all features.
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

// factorise factors B = I + c·A^½·ΦΦᵀ·A^½.
func (m *labelAscent) factorise(c float64) error {
	return factoriseLabels(&m.ws, m.labels.Gram, m.first, m.weight, c, m.scale, m.factor)
}

// factoriseLabels stores the diagonal of A^½, and the Cholesky factor of I + c·A^½·ΦΦᵀ·A^½.
func factoriseLabels(ws *la.Workspace, gram la.Matrix[float64], first []int, weight []float64, c float64, scale []float64, factor la.Matrix[float64]) error {
	for p, a := range weight {
		for d := first[p]; d < first[p+1]; d++ {
			scale[d] = math.Sqrt(a)
		}
	}
	for d, s := range scale {
		row := factor.Row(d)[:d+1]
		for j, v := range gram.Row(d)[:d+1] {
			row[j] = float64(c*s*scale[j]) * v
		}
		row[d]++
	}
	if err := la.Cholesky(ws, factor); err != nil {
		return fmt.Errorf("I + A^½ΦΦᵀA^½: %w", err)
	}
	return nil
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

// sweep chooses where the next pass looks, with the factor of B at the point where the last one has: with g the
// gradient there, at m₀, the first term of the evidence is about gᵀ(m − m₀) − ½(m − m₀)ᵀC(m − m₀). C is c·ΦΦᵀ as
// corrected by BFGS for how the gradient changed between passes. The maximum over m, with the prior,
// and that over a take turns. That over a is MacKay's rule a_p = |m_p|²/(D_p − l_p), with l_p, which is
// Σ(B⁻¹)_dd, taken to be D_p·s_p/(a_p + s_p): s_p is what makes it right at the point.
func (m *labelAscent) sweep(enough float64) {
	c := m.at.curvature
	la.CholeskyInvDiag(&m.ws, m.factor, m.diag)
	m.correct(c)
	right := slices.Clone(m.at.gradient)
	m.curve(c, m.at.mean, right)
	copy(m.mean, m.at.mean)
	for k := range passSweeps {
		m.maximum(c, right, 0.1*enough)
		if k == passSweeps-1 {
			break
		}
		for p, was := range m.at.weight {
			D, left := float64(m.first[p+1]-m.first[p]), m.left(p)
			if !(left < D) {
				continue
			}
			s, a := was*left/(D-left), m.weight[p]
			a = la.SumSq(m.mean[m.first[p]:m.first[p+1]]) * (a + s) / (D * a)
			a = min(max(a, was/mostScaling), was*mostScaling)
			if m.damping < 1 {
				a = was * special.Exp(m.damping*special.Log(a/was))
			}
			m.weight[p] = max(a, m.least[p])
		}
	}
}

// correct sets what BFGS adds to c·ΦΦᵀ so that it maps the steps between passes to the falls of the
// gradient, that of the last pass exactly.
func (m *labelAscent) correct(c float64) {
	m.bend = m.bend[:0]
	for _, v := range m.moves {
		image := make([]float64, len(v.step))
		m.curve(c, v.step, image)
		before, now := la.Dot(v.step, image), la.Dot(v.step, v.fall)
		if !(before > 0) || !(now > 1e-6*before) {
			continue
		}
		fall := slices.Clone(v.fall)
		la.Scal(1/math.Sqrt(before), image)
		la.Scal(1/math.Sqrt(now), fall)
		m.bend = append(m.bend, rank1{-1, image}, rank1{1, fall})
	}
}

// curve adds C·x to y.
func (m *labelAscent) curve(c float64, x, y []float64) {
	la.Symv(&m.ws, c, m.labels.Gram, x, 1, y)
	for _, b := range m.bend {
		la.Axpy(b.sign*la.Dot(b.u, x), b.u, y)
	}
}

// step chooses, for the scales that the last pass has tried, the maximum of the parabola with the curvature 1 of
// every sample, the most that there is: the density of m given a does not fall on the way.
func (m *labelAscent) step() error {
	if err := m.factorise(1); err != nil {
		return err
	}
	right := slices.Clone(m.at.gradient)
	la.Symv(&m.ws, 1, m.labels.Gram, m.at.mean, 1, right)
	m.solve(right, m.mean)
	return nil
}

// maximum sets m = (C + A⁻¹)⁻¹·right, from m as it is, by conjugate gradients with the factor of B, that of
// c·ΦΦᵀ + A⁻¹ with the scales of the last pass. Half of what is left is about what the parabola lacks of its maximum: it stops
// below enough nats, or at a thousandth of where it began.
func (m *labelAscent) maximum(c float64, right []float64, enough float64) {
	D := len(m.mean)
	residual, image, solved := slices.Clone(right), make([]float64, D), make([]float64, D)
	m.image(c, m.mean, image)
	la.Axpy(-1, image, residual)
	m.solve(residual, solved)
	direction := slices.Clone(solved)
	size := la.Dot(residual, solved)
	enough = max(enough, 1e-3*size, 1e-20*la.Dot(right, m.mean))
	for range mostSolves {
		if !(size > enough) {
			break
		}
		m.image(c, direction, image)
		bend := la.Dot(direction, image)
		if !(bend > 0) {
			break
		}
		la.Axpy(size/bend, direction, m.mean)
		la.Axpy(-size/bend, image, residual)
		m.solve(residual, solved)
		next := la.Dot(residual, solved)
		la.Scal(next/size, direction)
		la.Axpy(1, solved, direction)
		size = next
	}
}

// mostSolves is the most steps of conjugate gradients.
const mostSolves = 30

// image stores (C + A⁻¹)·x in y.
func (m *labelAscent) image(c float64, x, y []float64) {
	clear(y)
	m.curve(c, x, y)
	for p, a := range m.weight {
		la.Axpy(1/a, x[m.first[p]:m.first[p+1]], y[m.first[p]:m.first[p+1]])
	}
}

// solve stores A^½·B⁻¹·A^½·x in y, with the factor of B.
func (m *labelAscent) solve(x, y []float64) {
	for d, s := range m.scale {
		y[d] = s * x[d]
	}
	la.CholeskySolveVec(m.factor, y)
	for d, s := range m.scale {
		y[d] *= s
	}
}

// mostMoves is how many moves are remembered.
const mostMoves = 8

// remember keeps the move from the point to another.
func (m *labelAscent) remember(now labelState) {
	v := move{slices.Clone(now.mean), slices.Clone(m.at.gradient)}
	la.Axpy(-1, m.at.mean, v.step)
	la.Axpy(-1, now.gradient, v.fall)
	if m.moves = append(m.moves, v); len(m.moves) > mostMoves {
		m.moves = m.moves[1:]
	}
}

// left returns the sum of the diagonal of B⁻¹ over the features of a kernel.
func (m *labelAscent) left(p int) (sum float64) {
	for _, v := range m.diag[m.first[p]:m.first[p+1]] {
		sum += v
	}
	return sum
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
// prior variance 1/γ_p with these means, given the sums ΦΦᵀ over all samples, of which the lower triangle is
// read, and their curvature c. It keeps all but the sums, and none may be changed afterwards.
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
