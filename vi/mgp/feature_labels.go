package mgp

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
)

// FeatureLabels are two classes, y = ±1, of any number of samples in the space of features. What needs
// no label but its mean is summed once; the rest takes passes over the samples.
type FeatureLabels struct {
	Blocks  []int              // D_p, features of each kernel, D in all
	Gram    la.Matrix[float64] // D×D, Σφφᵀ, of which the lower triangle is read
	Sum     []float64          // D, Σ y·φ
	Samples float64            // N

	// Pass goes over all samples, in any order, and hands each to [Pass.Add]. An error, also that of
	// the context, ends the fit.
	Pass func(ctx context.Context, p *Pass) error
}

// Pass is what one pass over the samples finds out. Parts of the samples can have a Pass each, as
// [Pass.Part] makes them, to be merged.
type Pass struct {
	weights   []float64 // D, E[w]
	gradient  []float64 // D, Σ y·h·φ with h = φ(z)/Φ(z) at z = y·wᵀφ
	fit       float64   // Σ log Φ(z)
	curvature float64   // Σ h·(h + z), minus the second derivatives of log Φ
	samples   float64
	f, slope  []float64
	ws        la.Workspace
}

// Add adds samples: the features of each kernel, D_p×n, and the labels. The error names a label that
// is neither −1 nor +1, or a block that does not fit.
func (p *Pass) Add(features []la.Matrix[float64], y []float64) error {
	n := len(y)
	if cap(p.f) < n {
		p.f, p.slope = make([]float64, n), make([]float64, n)
	}
	f, slope := p.f[:n], p.slope[:n]
	clear(f)
	first := 0
	for i, phi := range features {
		if phi.Cols != n || first+phi.Rows > len(p.weights) || !phi.Valid() {
			return fmt.Errorf("features: block %d is %d×%d with %d labels and %d weights", i, phi.Rows, phi.Cols, n, len(p.weights)-first)
		}
		la.Gemv(&p.ws, la.Transpose, 1, phi, p.weights[first:first+phi.Rows], 1, f)
		first += phi.Rows
	}
	if first != len(p.weights) {
		return fmt.Errorf("features: %d where there are %d weights", first, len(p.weights))
	}
	for i, label := range y {
		if label != 1 && label != -1 {
			return fmt.Errorf("labels: %d is %g: labels are −1 and +1", i, label)
		}
		z := float64(label * f[i])
		h, logCDF := special.Mills(z)
		slope[i] = label * h
		p.fit += logCDF
		p.curvature += float64(h * (h + z))
	}
	p.samples += float64(n)
	first = 0
	for _, phi := range features {
		la.Gemv(&p.ws, la.NoTrans, 1, phi, slope, 1, p.gradient[first:first+phi.Rows])
		first += phi.Rows
	}
	return nil
}

// LogLikelihood returns Σ log Φ(y·wᵀφ) of the samples added, at the weights of the pass.
func (p *Pass) LogLikelihood() float64 { return p.fit }

// Part returns a pass of the same weights over other samples.
func (p *Pass) Part() *Pass {
	return &Pass{weights: p.weights, gradient: make([]float64, len(p.gradient)), ws: la.Workspace{Workers: p.ws.Workers}}
}

// Merge adds what a part has found out. Results depend on the order of the parts by rounding.
func (p *Pass) Merge(part *Pass) {
	la.Axpy(1, part.gradient, p.gradient)
	p.fit += part.fit
	p.curvature += part.curvature
	p.samples += part.samples
}

// Settings of FitFeatureLabels.
const (
	passSweeps    = 5    // between two passes
	passTolerance = 1e-5 // nats a sample, by which the bound still rises
	mostPasses    = 50
)

// FitFeatureLabels fits the probit model P(y = 1) = Φ(Σ_p w_pᵀφ_p), w_p ~ N(0, a_p·I), to labels. Its bound
//
//	Σ log Φ(y·mᵀφ) − ½ Σ |m_p|²/a_p − ½ log|I + A^½·ΦΦᵀ·A^½|,   A = diag(a),
//
// is that of the variational posterior q(w)q(f), whose covariance of w is the same with all labels. Only the
// first term needs the samples: each pass finds its value, its gradient and its mean curvature, and
// five sweeps over m and a, on the parabola that these make, choose where the next pass looks. If
// the bound falls, the next pass is a step of the variational ascent itself, which cannot.
//
// The posterior's noise is 1, that of the probit: the probability of +1 at a mean and variance
// that it predicts is Φ(mean/√variance). Ascent.Tolerance is the rise of the bound in nats a
// sample at which the fit ends, 1e-5 by default, MaxSweeps the most passes, 50 by default. Of the
// settings Start.Gamma, Ascent and Workers count. There is no bias: a feature that is 1 for every
// sample, a block of its own, stands for it. Derived in docs/mgp.md, section 19.
func (e Evidence) FitFeatureLabels(ctx context.Context, l FeatureLabels) (*FeatureFit, error) {
	m, err := e.labelAscent(ctx, l)
	if err != nil {
		return nil, err
	}
	rec := vi.Record{Reason: vi.MaxSweeps, Left: -1}
	tolerance, most := e.Ascent.Tolerance, e.Ascent.MaxSweeps
	if tolerance == 0 {
		tolerance = passTolerance
	}
	if most == 0 {
		most = mostPasses
	}
	err = m.sweep(passSweeps)
	for pass := 1; err == nil && pass <= most; pass++ {
		var now labelState
		if now, err = m.look(ctx); err != nil {
			break
		}
		m.remember(now)
		rise := now.bound - m.at.bound
		if !(rise >= 0) && !m.careful { // a careful step falls by no more than rounding
			m.careful = true
			err = m.step()
			continue
		}
		m.careful = false
		if rise > 0 {
			m.at = now
		}
		rec.Trace, rec.Changes = append(rec.Trace, m.at.bound), append(rec.Changes, -1)
		if math.IsInf(rise, 1) {
			rise = math.NaN()
		}
		if e.Ascent.Progress != nil {
			e.Ascent.Progress(vi.Progress{Sweep: pass, MaxSweeps: most, Bound: m.at.bound, Rise: rise, Left: -1, Change: -1})
		}
		if rise <= tolerance*l.Samples {
			rec.Reason, rec.Left = vi.Converged, 0
			break
		}
		err = m.sweep(passSweeps)
	}
	if err != nil {
		rec.Reason = vi.Failed
		if ctx.Err() != nil {
			rec.Reason = vi.Cancelled
		}
		err = fmt.Errorf("vi: %w", err)
	}
	if len(rec.Trace) == 0 {
		return nil, err
	}
	post, perr := m.posterior()
	return &FeatureFit{Posterior: post, Record: rec, LogEvidence: m.at.bound}, errors.Join(err, perr)
}

// labelState is a point of the ascent where a pass has looked.
type labelState struct {
	mean, weight []float64 // m, D; a, P
	gradient     []float64 // D, of the first term of the bound
	curvature    float64   // mean of a sample
	bound        float64
}

// labelAscent is the state of FitFeatureLabels.
type labelAscent struct {
	labels  FeatureLabels
	ws      la.Workspace
	first   []int // features; the last is D
	least   []float64
	at      labelState // the best
	careful bool       // the next pass is a step of the variational ascent

	moves        []move
	bend         []rank1   // what the curvature is beyond c·ΦΦᵀ
	mean, weight []float64 // where the next pass looks
	factor       la.Matrix[float64]
	scale, diag  []float64 // D, √a; D, of an inverse

	pass *Pass // its scratch memory serves all passes

	// Scratch of D values: the right-hand side of m, and of conjugate gradients.
	right, residual, image, solved, direction []float64
}

// move is how the gradient of the first term of the bound changed from one pass to the next.
type move struct{ step, fall []float64 } // D, of m; D, of the gradient

// rank1 is a matrix sign·u·uᵀ.
type rank1 struct {
	sign float64
	u    []float64
}

// labelAscent checks the arguments and returns the state of m = 0, which needs no pass: there h is
// √(2/π) for every sample.
func (e Evidence) labelAscent(ctx context.Context, l FeatureLabels) (*labelAscent, error) {
	m := &labelAscent{labels: l, first: []int{0}, pass: &Pass{}}
	m.ws.Workers, m.pass.ws.Workers = e.Workers, e.Workers
	for p, d := range l.Blocks {
		if d < 1 {
			return nil, fmt.Errorf("vi: FeatureLabels.Blocks[%d] is %d", p, d)
		}
		m.first = append(m.first, m.first[p]+d)
	}
	P := len(l.Blocks)
	D := m.first[P]
	switch {
	case ctx == nil:
		return nil, errors.New("vi: ctx is nil")
	case P == 0:
		return nil, errors.New("vi: FeatureLabels.Blocks: none")
	case l.Gram.Rows != D || l.Gram.Cols != D || !l.Gram.Valid() || len(l.Sum) != D:
		return nil, fmt.Errorf("vi: FeatureLabels: Gram is %d×%d and Sum has %d values for %d features", l.Gram.Rows, l.Gram.Cols, len(l.Sum), D)
	case !(l.Samples >= 1) || math.IsInf(l.Samples, 1):
		return nil, fmt.Errorf("vi: FeatureLabels.Samples is %g", l.Samples)
	case l.Pass == nil:
		return nil, errors.New("vi: FeatureLabels.Pass is nil")
	case e.Ascent.MaxSweeps < 0:
		return nil, fmt.Errorf("vi: MaxSweeps is %d: it must not be negative", e.Ascent.MaxSweeps)
	case e.Start != nil && e.Start.Gamma != nil && len(e.Start.Gamma) != P:
		return nil, fmt.Errorf("vi: Start.Gamma: %d values for %d kernels", len(e.Start.Gamma), P)
	}
	for d := range D {
		if j := check.NonFinite(l.Gram.Row(d)[:d+1]); j >= 0 {
			return nil, fmt.Errorf("vi: FeatureLabels.Gram: entry (%d, %d) is %g", d, j, l.Gram.At(d, j))
		}
	}
	if d := check.NonFinite(l.Sum); d >= 0 {
		return nil, fmt.Errorf("vi: FeatureLabels.Sum: value %d is %g", d, l.Sum[d])
	}
	m.factor = la.NewMatrix[float64](D, D)
	for _, v := range []*[]float64{&m.scale, &m.diag, &m.mean, &m.right, &m.residual, &m.image, &m.solved, &m.direction} {
		*v = make([]float64, D)
	}
	m.weight, m.least = make([]float64, P), make([]float64, P)
	for p := range P {
		var trace float64
		for d := m.first[p]; d < m.first[p+1]; d++ {
			trace += l.Gram.At(d, d)
		}
		m.weight[p] = 1 / float64(P)
		if trace > 0 {
			m.weight[p] *= l.Samples / trace
		}
		m.least[p] = 1e-10 * m.weight[p]
		if e.Start != nil && e.Start.Gamma != nil {
			g := e.Start.Gamma[p]
			if !(g > 0) || math.IsInf(g, 1) {
				return nil, fmt.Errorf("vi: Start.Gamma[%d] is %g", p, g)
			}
			m.weight[p] = max(1/g, m.least[p])
		}
	}
	h := math.Sqrt(2 / math.Pi)
	gradient := make([]float64, D)
	la.Axpy(h, l.Sum, gradient)
	m.at = labelState{
		mean: make([]float64, D), weight: append([]float64(nil), m.weight...), gradient: gradient, curvature: float64(h * h), bound: math.Inf(-1),
	}
	return m, nil
}

// factorise factors B = I + c·A^½·ΦΦᵀ·A^½.
func (m *labelAscent) factorise(c float64) error {
	for p, a := range m.weight {
		for d := m.first[p]; d < m.first[p+1]; d++ {
			m.scale[d] = math.Sqrt(a)
		}
	}
	for d, s := range m.scale {
		row := m.factor.Row(d)[:d+1]
		for j, v := range m.labels.Gram.Row(d)[:d+1] {
			row[j] = float64(c*s*m.scale[j]) * v
		}
		row[d]++
	}
	if err := la.Cholesky(&m.ws, m.factor); err != nil {
		return fmt.Errorf("I + A^½ΦΦᵀA^½: %w", err)
	}
	return nil
}

// sweep chooses where the next pass looks: with g the gradient at the best point m₀, the first term of
// the bound is about gᵀ(m − m₀) − ½(m − m₀)ᵀC(m − m₀). C is c·ΦΦᵀ, c the mean curvature, as corrected
// by BFGS for how the gradient changed between passes. The maximum over m, with the prior, and that
// over a (MacKay's rule) take turns.
func (m *labelAscent) sweep(n int) error {
	c := m.at.curvature
	m.correct(c)
	copy(m.right, m.at.gradient)
	m.curve(c, m.at.mean, m.right)
	copy(m.weight, m.at.weight)
	for k := range n {
		if k > 0 {
			if err := m.traces(); err != nil {
				return err
			}
			for p := range m.weight {
				used := float64(m.first[p+1]-m.first[p]) - m.left(p)
				if used > 0 {
					m.weight[p] = max(la.SumSq(m.mean[m.first[p]:m.first[p+1]])/used, m.least[p])
				}
			}
		}
		if err := m.maximum(c); err != nil {
			return err
		}
	}
	return nil
}

// correct sets what BFGS adds to c·ΦΦᵀ so that it maps the steps between passes, the last of them to
// within nothing, to the falls of the gradient.
func (m *labelAscent) correct(c float64) {
	m.bend = m.bend[:0]
	for _, v := range m.moves {
		image := make([]float64, len(v.step))
		m.curve(c, v.step, image)
		before, now := la.Dot(v.step, image), la.Dot(v.step, v.fall)
		if !(before > 0) || !(now > 1e-6*before) {
			continue
		}
		fall := append([]float64(nil), v.fall...)
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

// step is a sweep of the variational ascent from the best point: q(w) with the curvature 1 of q(f),
// then a. Neither lowers the bound.
func (m *labelAscent) step() error {
	m.bend = m.bend[:0]
	copy(m.right, m.at.gradient)
	m.curve(1, m.at.mean, m.right)
	copy(m.weight, m.at.weight)
	if err := m.maximum(1); err != nil {
		return err
	}
	if err := m.traces(); err != nil {
		return err
	}
	for p, a := range m.weight {
		m.weight[p] = max((la.SumSq(m.mean[m.first[p]:m.first[p+1]])+float64(a*m.left(p)))/float64(m.first[p+1]-m.first[p]), m.least[p])
	}
	return nil
}

// maximum sets m to (C + A⁻¹)⁻¹ times the right-hand side, by conjugate gradients with the
// factor of c·ΦΦᵀ + A⁻¹: as many as C has corrections, and one, are enough.
func (m *labelAscent) maximum(c float64) error {
	if err := m.factorise(c); err != nil {
		return err
	}
	residual, image, solved, direction := m.residual, m.image, m.solved, m.direction
	copy(residual, m.right)
	m.solve(residual, solved)
	clear(m.mean)
	copy(direction, solved)
	size := la.Dot(residual, solved)
	enough := 1e-20 * size
	for range len(m.bend) + 1 {
		if !(size > enough) {
			break
		}
		clear(image)
		m.curve(c, direction, image)
		for p, a := range m.weight {
			la.Axpy(1/a, direction[m.first[p]:m.first[p+1]], image[m.first[p]:m.first[p+1]])
		}
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
	return nil
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

// traces stores the diagonal of B⁻¹ at curvature 1.
func (m *labelAscent) traces() error {
	if err := m.factorise(1); err != nil {
		return err
	}
	la.CholeskyInvDiag(&m.ws, m.factor, m.diag)
	return nil
}

// mostMoves is how many moves are remembered.
const mostMoves = 8

// remember keeps the move from the best point to another.
func (m *labelAscent) remember(now labelState) {
	v := move{append([]float64(nil), now.mean...), append([]float64(nil), m.at.gradient...)}
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

// look passes over the samples.
func (m *labelAscent) look(ctx context.Context) (s labelState, err error) {
	if ctx.Err() != nil {
		return s, fmt.Errorf("stopped: %w", context.Cause(ctx))
	}
	// What needs no samples comes first: it may fail, and a pass is long.
	if err := m.factorise(1); err != nil {
		return s, err
	}
	p := m.pass
	p.weights, p.gradient = m.mean, make([]float64, len(m.mean))
	p.fit, p.curvature, p.samples = 0, 0, 0
	if err := m.labels.Pass(ctx, p); err != nil {
		return s, err
	}
	if p.samples != m.labels.Samples {
		return s, fmt.Errorf("a pass over %g samples where there are %g", p.samples, m.labels.Samples)
	}
	s = labelState{
		mean: append([]float64(nil), m.mean...), weight: append([]float64(nil), m.weight...),
		gradient: p.gradient, curvature: p.curvature / p.samples,
	}
	s.bound = p.fit - float64(0.5*la.LogDet(m.factor))
	for i, a := range s.weight {
		s.bound -= 0.5 * la.SumSq(s.mean[m.first[i]:m.first[i+1]]) / a
	}
	if math.IsNaN(s.bound) || math.IsInf(s.bound, 0) {
		return s, fmt.Errorf("the bound is %g", s.bound)
	}
	return s, nil
}

// posterior returns that of the best point.
func (m *labelAscent) posterior() (*FeaturePosterior, error) {
	copy(m.weight, m.at.weight)
	if err := m.factorise(1); err != nil {
		return nil, err
	}
	s := FeatureState{Noise: 1, Mean: m.at.mean, Factor: m.factor.Clone(), Blocks: append([]int(nil), m.labels.Blocks...)}
	for _, a := range m.at.weight {
		s.Gamma = append(s.Gamma, 1/a)
	}
	return NewFeaturePosterior(s)
}
