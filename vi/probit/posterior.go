package probit

import (
	"errors"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// State is everything a [Posterior] is made of. It is plain data, to be
// saved and restored; slices and matrices of a state that belongs to a posterior
// must not be changed.
type State struct {
	Rule    Rule
	Samples int // N, the training samples

	Beta    []float64          // P, E[β]
	BetaCov la.Matrix[float64] // P×P, Cov(β)

	W     la.Matrix[float64] // C×D, means of the regressors
	Alpha la.Matrix[float64] // C×D, E[α]; +∞ where a regressor was pruned

	// E[K·Kᵀ], D×D; only the lower triangle is read. With Alpha it gives the covariance of w_c,
	// (E[KKᵀ] + diag E[α_c])⁻¹.
	Gram la.Matrix[float64]

	// Point says that W and Beta are points, the mode of their posterior: there is no
	// covariance, and Gram is empty.
	Point bool

	// Components, after a fit with [WeightUpdateStructured], are the states of β with their
	// regressors; Beta, BetaCov and W then follow from them, and Gram is empty.
	Components []Component
}

// Component is one state of the switches of [RuleBin].
type Component struct {
	Probability float64            // q of the state
	Beta        []float64          // P, 0 or 1
	W           la.Matrix[float64] // C×D, means given the state
	Gram        la.Matrix[float64] // D×D, K·Kᵀ; only the lower triangle is read
}

// Posterior is the approximate posterior of a [Model]. It is immutable and
// safe for concurrent use.
type Posterior struct {
	s     State
	parts []*Posterior // of s.Components
}

// NewPosterior returns the posterior of a state, which it keeps and which
// must not be changed afterwards. The error says what does not fit.
func NewPosterior(s State) (*Posterior, error) {
	if len(s.Components) > 0 {
		if s.Point {
			return nil, errors.New("vi: probit state: components of a point")
		}
		return newMixture(s)
	}
	if err := s.validate(); err != nil {
		return nil, fmt.Errorf("vi: probit state: %w", err)
	}
	p := &Posterior{s: s}
	if s.Point {
		return p, nil
	}
	C, D := s.W.Rows, s.W.Cols
	factor := classFactor{b: la.NewMatrix[float64](D, D)}
	for c := range C {
		if err := factor.set(&la.Workspace{}, p, c); err != nil {
			return nil, fmt.Errorf("vi: probit state: %w", err)
		}
	}
	return p, nil
}

// validate returns an error that names the first part of a state without components that does not
// fit.
func (s *State) validate() error {
	P, C, D := len(s.Beta), s.W.Rows, s.W.Cols
	gram := check.Lower("Gram", s.Gram, D)
	if s.Point {
		gram = check.That(s.Gram.Rows == 0, "Gram: %d×%d beside a point", s.Gram.Rows, s.Gram.Cols)
	}
	return check.Parts(
		check.That(s.Rule >= RuleFixSum && s.Rule <= RuleWProd, "%v is not a combination rule", s.Rule),
		check.That(P > 0 && C >= 2 && D > 0 && s.Samples >= 1,
			"%d kernels, %d classes, %d basis points, %d samples", P, C, D, s.Samples),
		check.Vector("Beta", s.Beta, check.Finite),
		check.Matrix("BetaCov", s.BetaCov, P, P, check.Finite),
		func() error {
			for p := range P {
				if v := s.BetaCov.At(p, p); v < 0 {
					return fmt.Errorf("BetaCov: entry (%d, %d) is %g", p, p, v)
				}
			}
			return nil
		},
		check.Matrix("W", s.W, C, D, check.Finite),
		check.Matrix("Alpha", s.Alpha, C, D, check.AboveZero),
		gram,
	)
}

// newMixture is NewPosterior for a state with components.
func newMixture(s State) (*Posterior, error) {
	fail := func(format string, args ...any) (*Posterior, error) {
		return nil, fmt.Errorf("vi: probit state: "+format, args...)
	}
	if s.Rule != RuleBin {
		return fail("components are of Bin and not of %v", s.Rule)
	}
	p := &Posterior{}
	P := len(s.Components[0].Beta)
	s.Beta, s.BetaCov = make([]float64, P), la.NewMatrix[float64](P, P)
	s.W, s.Gram = la.NewMatrix[float64](s.Alpha.Rows, s.Alpha.Cols), la.Matrix[float64]{}
	var total float64
	for i, c := range s.Components {
		if len(c.Beta) != P {
			return fail("component %d has %d kernels and component 0 %d", i, len(c.Beta), P)
		}
		if !(c.Probability > 0) {
			return fail("component %d has the probability %g", i, c.Probability)
		}
		for m, b := range c.Beta {
			if b != 0 && b != 1 {
				return fail("component %d: Beta[%d] is %g, not 0 or 1", i, m, b)
			}
		}
		part, err := NewPosterior(State{
			Rule: RuleBin, Samples: s.Samples, Beta: c.Beta, BetaCov: la.NewMatrix[float64](P, P), W: c.W, Alpha: s.Alpha, Gram: c.Gram,
		})
		if err != nil {
			return nil, fmt.Errorf("%w (component %d)", err, i)
		}
		p.parts = append(p.parts, part)
		total += c.Probability
		la.Axpy(c.Probability, c.Beta, s.Beta)
		for row := range s.W.Rows {
			la.Axpy(c.Probability, c.W.Row(row), s.W.Row(row))
		}
	}
	if !(math.Abs(total-1) <= 1e-9) {
		return fail("the components' probabilities add up to %g", total)
	}
	d := make([]float64, P)
	for _, c := range s.Components {
		copy(d, c.Beta)
		la.Axpy(-1, s.Beta, d)
		for m, v := range d {
			la.Axpy(c.Probability*v, d, s.BetaCov.Row(m))
		}
	}
	p.s = s
	return p, nil
}

// classFactor is the Cholesky factor of B = I + A^-½·E[KKᵀ]·A^-½ of a class, over the
// regressors that were not pruned.
type classFactor struct {
	active []int
	root   []float64          // of the active regressors' 1/α
	b, l   la.Matrix[float64] // memory, and the factor in it
	jitter float64            // relative, of the diagonal of E[KKᵀ]
}

// set makes f the factor of class c.
func (f *classFactor) set(ws *la.Workspace, p *Posterior, c int) (err error) {
	f.active, f.root = f.active[:0], f.root[:0]
	for d, a := range p.s.Alpha.Row(c) {
		if !math.IsInf(a, 1) {
			f.active, f.root = append(f.active, d), append(f.root, 1/math.Sqrt(a))
		}
	}
	n := len(f.active)
	f.l = f.b.Slice(0, n, 0, n)
	if f.jitter, err = factorB(ws, f.l, p.s.Gram, f.active, f.root); err != nil {
		return fmt.Errorf("class %d: %w", c, err)
	}
	return nil
}

// State returns what the posterior is made of.
func (p *Posterior) State() State { return p.s }

// Dims returns the numbers of classes, of kernels and of basis points.
func (p *Posterior) Dims() (C, P, D int) { return p.s.W.Rows, len(p.s.Beta), p.s.W.Cols }

// KernelWeights returns E[β_p] and its standard deviation, 0 for weights that were
// not learned or that the search left at a bound.
func (p *Posterior) KernelWeights() (mean, sd []float64) {
	mean = append([]float64(nil), p.s.Beta...)
	for i := range mean {
		sd = append(sd, math.Sqrt(p.s.BetaCov.At(i, i)))
	}
	return mean, sd
}

// WeightCovariance returns the covariance of the regressors of class c that rows lists; the
// covariances of pruned regressors are 0, and so are all covariances of a point.
func (p *Posterior) WeightCovariance(ws *la.Workspace, c int, rows []int) (la.Matrix[float64], error) {
	C, _, D := p.Dims()
	if c < 0 || c >= C {
		return la.Matrix[float64]{}, fmt.Errorf("vi: class %d of %d", c, C)
	}
	if p.parts != nil {
		return p.mixtureCovariance(ws, c, rows)
	}
	if p.s.Point {
		return la.NewMatrix[float64](len(rows), len(rows)), nil
	}
	factor := classFactor{b: la.NewMatrix[float64](D, D)}
	if err := factor.set(ws, p, c); err != nil {
		return la.Matrix[float64]{}, fmt.Errorf("vi: %w", err)
	}
	at := make(map[int]int, len(factor.active))
	for i, d := range factor.active {
		at[d] = i
	}
	x := la.NewMatrix[float64](len(factor.active), len(rows))
	for r, d := range rows {
		if d < 0 || d >= D {
			return la.Matrix[float64]{}, fmt.Errorf("vi: row %d of %d", d, D)
		}
		if i, ok := at[d]; ok {
			x.Set(i, r, factor.root[i])
		}
	}
	la.Trsm(ws, la.Left, la.NoTrans, factor.l, x)
	cov := la.NewMatrix[float64](len(rows), len(rows))
	la.Syrk(ws, la.Transpose, 1, x, 0, cov)
	cov.MirrorLower()
	return cov, nil
}

// mixtureCovariance is WeightCovariance of a mixture: the mean of the components'
// covariances and the covariance of their means.
func (p *Posterior) mixtureCovariance(ws *la.Workspace, c int, rows []int) (la.Matrix[float64], error) {
	cov := la.NewMatrix[float64](len(rows), len(rows))
	d := make([]float64, len(rows))
	for i, part := range p.parts {
		one, err := part.WeightCovariance(ws, c, rows)
		if err != nil {
			return cov, err
		}
		for r, row := range rows {
			d[r] = part.s.W.At(c, row) - p.s.W.At(c, row)
		}
		q := p.s.Components[i].Probability
		for r, v := range d {
			la.Axpy(q, one.Row(r), cov.Row(r))
			la.Axpy(q*v, d, cov.Row(r))
		}
	}
	return cov, nil
}

// WeightVariances returns the variances of all regressors of class c, 0 of those that were pruned:
// the diagonal of WeightCovariance, for a fraction of its time. It also returns the share of
// themselves by which rounding may have moved the variances of the class's auxiliary variables,
// given the precisions:
//
//	(4·u·√(D+N) + jitter)·t,   t = Σ_d Q_dd·Cov[w_c]_dd,   u = 2⁻⁵³,
//
// of the precision Q = diag E[α_c] + E[KKᵀ] of w_c; what is factored is Q + E with |E_ij| of the
// order of u·√(D+N)·√(Q_ii·Q_jj). For a mixture it is the largest share of any state. tool/digits
// holds it against 256 bits. The variances of a point are all 0, and so is the share.
func (p *Posterior) WeightVariances(ws *la.Workspace, c int) (variances []float64, rounding float64, err error) {
	C, _, D := p.Dims()
	if c < 0 || c >= C {
		return nil, 0, fmt.Errorf("vi: class %d of %d", c, C)
	}
	variances = make([]float64, D)
	if p.parts != nil {
		for i, part := range p.parts {
			own, r, err := part.WeightVariances(ws, c)
			if err != nil {
				return nil, 0, err
			}
			q := p.s.Components[i].Probability
			for d, v := range own {
				away := part.s.W.At(c, d) - p.s.W.At(c, d)
				variances[d] += float64(q * (v + float64(away*away)))
			}
			rounding = max(rounding, r)
		}
		return variances, rounding, nil
	}
	if p.s.Point {
		return variances, 0, nil
	}
	factor := classFactor{b: la.NewMatrix[float64](D, D)}
	if err := factor.set(ws, p, c); err != nil {
		return nil, 0, fmt.Errorf("vi: %w", err)
	}
	inverse := make([]float64, len(factor.active))
	la.CholeskyInvDiag(ws, factor.l, inverse)
	var condition float64
	for i, d := range factor.active {
		own := factor.root[i] * factor.root[i]
		condition += float64((1 + float64(own*p.s.Gram.At(d, d))) * inverse[i])
		variances[d] = own * inverse[i]
	}
	return variances, float64((float64(4*work.Roundoff(D+p.s.Samples)) + factor.jitter) * condition), nil
}

// posterior returns the present state, copied, after one more update of W.
func (m *model) posterior() (*Posterior, error) {
	if err := m.updates[0].Step(); err != nil {
		return nil, err
	}
	s := State{Rule: m.composite.rule, Samples: m.N, Alpha: la.NewMatrix[float64](m.C, m.D)}
	if q, ok := m.beta.(*structured); ok {
		var err error
		if s.Components, err = q.components(m); err != nil {
			return nil, err
		}
	} else {
		s.Beta, s.BetaCov = append([]float64(nil), m.mean...), la.NewMatrix[float64](m.P, m.P)
		s.W = m.w.Clone()
		if s.Point = m.point; !s.Point {
			s.Gram = m.gram.Clone()
		}
		if m.beta != nil && !s.Point {
			s.BetaCov.CopyFrom(m.beta.covariance(m))
		}
	}
	for c, active := range m.active {
		row := s.Alpha.Row(c)
		for d := range row {
			row[d] = math.Inf(1)
		}
		for _, d := range active {
			row[d] = m.alpha[c].Mean(d)
		}
	}
	return NewPosterior(s)
}

// Prediction is the predictive distribution of T samples. Matrices that were
// not asked for are empty.
type Prediction struct {
	Mean        la.Matrix[float64] // C×T, of the auxiliary variables
	Variance    la.Matrix[float64] // C×T, their noise of 1 included
	Probability la.Matrix[float64] // T×C
}

// Predict returns the predictive distribution of the samples whose kernels with the D basis points
// are the columns of k: P matrices D×T. The probabilities follow equation 1.10, with standard
// deviations where the paper prints ν*; they sum to one but for rounding. After a fit with
// [WeightUpdateStructured] they are the mean of the probabilities given each state, and mean and
// variance are the mixture's. The predictions of a point leave out the uncertainty of the
// regressors. opt.MeanOnly leaves all but the means out; opt's other choices have no meaning here.
func (p *Posterior) Predict(k vi.Kernels, opt vi.PredictOptions) (*Prediction, error) {
	composite, err := NewComposite(p.s.Rule, k)
	if err != nil {
		return nil, err
	}
	C, P, D := p.Dims()
	kp, kd, T := k.Dims()
	if kp != P || kd != D {
		return nil, fmt.Errorf("vi: kernels: %d of %d basis points where %d of %d are needed", kp, kd, P, D)
	}
	if p.parts != nil {
		return p.predictMixture(k, opt)
	}
	ws := &la.Workspace{Workers: opt.Workers}
	x := la.NewMatrix[float64](D, T)
	composite.Combine(ws, p.s.Beta, x)
	out := &Prediction{Mean: la.NewMatrix[float64](C, T)}
	la.Gemm(ws, la.NoTrans, la.NoTrans, 1, p.s.W, x, 0, out.Mean)
	if opt.MeanOnly {
		return out, nil
	}
	out.Variance = la.NewMatrix[float64](C, T)
	out.Variance.Fill(1)
	if !p.s.Point {
		factor := classFactor{b: la.NewMatrix[float64](D, D)}
		block := la.NewMatrix[float64](D, min(T, work.PredictRows))
		for c := range C {
			if err := factor.set(ws, p, c); err != nil {
				return nil, fmt.Errorf("vi: %w", err)
			}
			factor.addVariance(ws, x, block, out.Variance.Row(c))
		}
	}
	out.Probability = la.NewMatrix[float64](T, C)
	return out, newChunks(opt.Workers, T, C).Each(func(w *coneWorker, chunk int) error {
		for t := chunk * chunkSize; t < min(T, (chunk+1)*chunkSize); t++ {
			for c := range C {
				w.in[c], w.out[c] = out.Mean.At(c, t), math.Sqrt(out.Variance.At(c, t))
			}
			for c := range C {
				out.Probability.Set(t, c, special.Exp(w.cone.LogProbability(c, w.in, w.out)))
			}
		}
		return nil
	})
}

// predictMixture is Predict of a mixture.
func (p *Posterior) predictMixture(k vi.Kernels, opt vi.PredictOptions) (*Prediction, error) {
	C, _, _ := p.Dims()
	_, _, T := k.Dims()
	out := &Prediction{Mean: la.NewMatrix[float64](C, T)}
	each := make([]*Prediction, len(p.parts))
	for i, part := range p.parts {
		var err error
		if each[i], err = part.Predict(k, opt); err != nil {
			return nil, err
		}
		la.Axpy(p.s.Components[i].Probability, each[i].Mean.Data, out.Mean.Data)
	}
	if opt.MeanOnly {
		return out, nil
	}
	out.Variance, out.Probability = la.NewMatrix[float64](C, T), la.NewMatrix[float64](T, C)
	for i, one := range each {
		q := p.s.Components[i].Probability
		la.Axpy(q, one.Probability.Data, out.Probability.Data)
		for j, m := range one.Mean.Data {
			d := m - out.Mean.Data[j]
			out.Variance.Data[j] += float64(q * (one.Variance.Data[j] + float64(d*d)))
		}
	}
	return out, nil
}

// addVariance adds k*ᵀ·V_c·k* = |L⁻¹·A^-½·k*|² for the columns k* of x, some at a
// time in the memory of block.
func (f *classFactor) addVariance(ws *la.Workspace, x, block la.Matrix[float64], variance []float64) {
	for first := 0; first < len(variance); first += block.Cols {
		n := min(block.Cols, len(variance)-first)
		b := block.Slice(0, len(f.active), 0, n)
		for i, d := range f.active {
			row := b.Row(i)
			copy(row, x.Row(d)[first:first+n])
			la.Scal(f.root[i], row)
		}
		la.Trsm(ws, la.Left, la.NoTrans, f.l, b)
		for i := range f.active {
			for t, v := range b.Row(i) {
				variance[first+t] += float64(v * v)
			}
		}
	}
}
