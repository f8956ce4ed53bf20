package slab

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/check"
)

// FactorState is everything a [FactorPosterior] is made of. It is plain data, to
// be saved and restored; slices and matrices of a state that belongs to a
// posterior must not be changed.
type FactorState struct {
	Mean, Variance la.Matrix[float64] // of φ, N×M
	Weights        []Pair             // Q×M, task by task

	// Lengths, M, are the lengths of the factors' covariances; nil without covariances.
	Lengths []float64

	Prior  Prior   // of all weights; unused with views
	Views  []int   // the numbers of tasks of the views; nil without views
	Priors []Prior // of the weights of each view and factor, V×M, view by view; nil without views

	Kinds []FactorKind // of each view; nil if all are Gaussian

	Noise       []float64 // σ_q², Q
	NoiseShared bool      // all tasks have one noise variance

	// The prior of the noise; 0 without one.
	NoiseWeight, NoiseScale float64

	// E[c_q] and Var[c_q]; nil without offsets. Means, and the prior's, count from
	// Base.
	Offset, OffsetVariance []float64
	OffsetPrior            OffsetPrior
	OffsetPriors           []OffsetPrior // of each view instead, with Kinds
	Base                   float64

	// Groups is nil without groups. With groups Noise is 1 for all tasks, and Offset and OffsetVariance are nil: a group has its own.
	Groups *FactorGroups
}

// FactorPosterior is the approximate posterior of [Factors]. It is immutable and
// safe for concurrent use.
type FactorPosterior struct {
	s     FactorState
	dim   factorDims
	kinds []FactorKind       // of each task; nil if all are Gaussian
	e, v  la.Matrix[float64] // E[w], Var[w], Q×M

	byGroup   []*FactorPosterior // see Group; nil without groups
	precision []float64          // 1/τ_gm² of the group; nil without groups, where it is 1
}

// factorDims are the numbers of objects, tasks and factors.
type factorDims struct{ N, Q, M int }

// NewFactorPosterior returns the posterior of a state, which it keeps and which
// must not be changed afterwards. The error says what does not fit.
func NewFactorPosterior(s FactorState) (*FactorPosterior, error) {
	if err := s.validate(); err != nil {
		return nil, fmt.Errorf("vi: factor state: %w", err)
	}
	N, M, Q := s.Mean.Rows, s.Mean.Cols, len(s.Noise)
	p := &FactorPosterior{s: s, dim: factorDims{N, Q, M}, e: la.NewMatrix[float64](Q, M), v: la.NewMatrix[float64](Q, M)}
	if s.Kinds != nil {
		p.kinds = kindsOfTasks(s.Kinds, s.Views)
	}
	for q := range Q {
		e, v := p.e.Row(q), p.v.Row(q)
		for k, w := range s.Weights[q*M:][:M] {
			g, h, _ := w.gate() // the same operations as in a sweep
			e[k], v[k] = w.gated(g, h)
		}
	}
	p.setGroups()
	return p, nil
}

// validate returns an error that names the first part that does not fit.
func (s *FactorState) validate() error {
	N, M, Q := s.Mean.Rows, s.Mean.Cols, len(s.Noise)
	return check.Parts(
		check.That(N > 0 && M > 0 && Q > 0, "%d objects, %d factors, %d tasks", N, M, Q),
		check.Matrix("Mean", s.Mean, N, M, check.Finite),
		check.Matrix("Variance", s.Variance, N, M, check.NotNegative),
		checkPairs("Weights", s.Weights, Q, M),
		s.validatePriors,
		s.validateKinds,
		check.That(s.Lengths == nil || len(s.Lengths) == M, "Lengths: %d for %d factors", len(s.Lengths), M),
		check.Vector("Lengths", s.Lengths, check.Positive),
		check.Vector("Noise", s.Noise, check.Positive),
		func() error {
			if s.NoiseShared && s.Kinds == nil && slices.Min(s.Noise) != slices.Max(s.Noise) {
				return errors.New("Noise: it is shared and not the same everywhere")
			}
			return nil
		},
		check.That(s.NoiseWeight == 0 || check.Positive(s.NoiseWeight) && check.Positive(s.NoiseScale),
			"NoiseWeight is %g and NoiseScale %g", s.NoiseWeight, s.NoiseScale),
		s.validateOffsets,
		s.validateGroups,
	)
}

// validateOffsets checks the offsets of the tasks, if there are any.
func (s *FactorState) validateOffsets() error {
	if s.Offset == nil {
		return nil
	}
	Q := len(s.Noise)
	return check.Parts(
		check.That(len(s.Offset) == Q && len(s.OffsetVariance) == Q,
			"%d offsets and %d variances of them for %d tasks", len(s.Offset), len(s.OffsetVariance), Q),
		check.Vector("Offset", s.Offset, check.Finite),
		check.Vector("OffsetVariance", s.OffsetVariance, check.Positive),
		s.validateOffsetPriors,
		check.Number("Base", s.Base, check.Finite),
	)
}

// posterior returns the present state, whose slices it shares.
func (m *factors) posterior() *FactorPosterior {
	p := &FactorPosterior{
		s: FactorState{
			Mean: m.object.mean.Slice(0, m.N, 0, m.M), Variance: m.object.variance,
			Weights: m.weights, Noise: m.noise, NoiseShared: !m.perTask,
			Base: m.base,
		},
		dim: factorDims{m.N, m.Q, m.M},
		e:   m.task.mean.Slice(0, m.Q, 0, m.M), v: m.task.variance,
	}
	if m.groups != nil {
		own := m.groups.FactorGroups
		p.s.Groups = &own
	}
	if p.s.Prior = m.priors[0]; m.viewOf != nil {
		p.s.Prior, p.s.Views, p.s.Priors = Prior{}, m.views, m.priors
	}
	if m.kinds != nil {
		p.kinds, p.s.Kinds = m.kinds, kindsOfViews(m.kinds, m.views)
	}
	for _, f := range m.functions {
		if f.cov.kind == decayCovariance {
			p.s.Lengths = append(p.s.Lengths, f.length)
		}
	}
	if m.perTask && m.noiseWeight > 0 {
		p.s.NoiseWeight, p.s.NoiseScale = m.noiseWeight, m.noiseScale
	}
	if m.K > m.M {
		p.s.Offset = make([]float64, m.Q)
		for q := range m.Q {
			p.s.Offset[q] = m.task.mean.At(q, m.M)
		}
		p.s.OffsetVariance = m.offsetVar
	}
	switch {
	case m.offsetPriors == nil:
	case m.kinds == nil:
		p.s.OffsetPrior = m.offsetPriors[0]
	default:
		p.s.OffsetPriors = m.offsetPriors
	}
	p.setGroups()
	return p
}

// lengths reports whether the factors have lengths.
func (m *factors) lengths() bool {
	return m.functions != nil && m.functions[0].cov.kind == decayCovariance
}

// State returns what the posterior is made of. Its slices and matrices are the
// posterior's own and must not be changed.
func (p *FactorPosterior) State() FactorState { return p.s }

// Dims returns the numbers of objects, tasks and factors.
func (p *FactorPosterior) Dims() (N, Q, M int) { return p.dim.N, p.dim.Q, p.dim.M }

// Weights returns E[w] and Var[w], Q×M. They are the posterior's own.
func (p *FactorPosterior) Weights() (mean, variance la.Matrix[float64]) { return p.e, p.v }

// Energy returns for each factor Σ_q E[w_qm²]·Σ_n E[φ_nm²] over the same sum of all
// factors: the share of the fitted power that is its own. A factor that the data
// do not need has next to none.
func (p *FactorPosterior) Energy() []float64 {
	energy := make([]float64, p.dim.M)
	var all float64
	for k := range energy {
		var w, f float64
		for q := range p.dim.Q {
			e := p.e.At(q, k)
			w += float64(e*e) + p.v.At(q, k)
		}
		for n := range p.dim.N {
			a := p.s.Mean.At(n, k)
			f += float64(a*a) + p.s.Variance.At(n, k)
		}
		energy[k] = float64(w * f)
		all += energy[k]
	}
	if all > 0 {
		la.Scal(1/all, energy)
	}
	return energy
}

// offset returns E[c_q] and Var[c_q].
func (p *FactorPosterior) offset(q int) (mean, variance float64) {
	if p.s.Offset == nil {
		return p.s.Base, 0
	}
	return p.s.Base + p.s.Offset[q], p.s.OffsetVariance[q]
}

// Entry returns the mean of entry (n, q) and the variance of the function, to
// which the noise σ_q² adds:
//
//	E[f] = E[c] + Σ_m E[w]·a,   Var[f] = Var[c] + Σ_m E[w²]·A + Var[w]·a².
func (p *FactorPosterior) Entry(n, q int) (mean, function float64) {
	return p.at(n).function(q, p.s.Mean.Row(n), p.s.Variance.Row(n))
}

// Reconstruct returns what Entry does for task q of an object with factors of the given means and
// variances; a nil variance means that the factors are certain.
func (p *FactorPosterior) Reconstruct(q int, factors, variance []float64) (mean, function float64) {
	return p.function(q, factors, variance)
}

// function returns the mean and the variance of task q's function at factors with the
// given means and variances.
func (p *FactorPosterior) function(q int, a, variance []float64) (mean, function float64) {
	mean, function = p.offset(q)
	e, v := p.e.Row(q), p.v.Row(q)
	mean += la.Dot(e, a)
	for k, ak := range a {
		function += float64(v[k] * (ak * ak))
		if variance != nil {
			function += float64((float64(e[k]*e[k]) + v[k]) * variance[k])
		}
	}
	return mean, function
}

// Transform returns the means and variances of the factors of a new object, given its entries y of
// the given tasks. Given the weights' posterior, the posterior of the factors is Gaussian, here
// with all its covariances,
//
//	P = I + Σ_q (E[w_q]E[w_q]ᵀ + diag Var[w_q])/σ_q²,   E[φ] = P⁻¹ Σ_q E[w_q](y_q − E[c_q])/σ_q²,
//
// so that the variances are a little larger than for the objects fitted, whose factors count as
// independent. Without entries it is the prior. Under a covariance over the objects the new one is
// taken to be unrelated to them. Entries that are not Gaussian have the targets and precisions of their sites for y and 1/σ², which
// the posterior of the factors and the sites determine together.
func (p *FactorPosterior) Transform(tasks []int, y []float64) (mean, variance []float64, err error) {
	mean, factor, err := p.object(tasks, y)
	if err != nil {
		return nil, nil, err
	}
	variance = make([]float64, p.dim.M)
	la.CholeskyInvDiag(nil, factor, variance)
	return mean, variance, nil
}

// Complete returns for every task the mean of a new object's entry and the variance of its function, to which
// the noise σ_q² adds, given its entries y of the given tasks. With a and C = P⁻¹ the mean and covariance of the
// factors, as Transform has them,
//
//	E[f_q] = E[c_q] + E[w_q]ᵀa,   Var[f_q] = Var[c_q] + E[w_q]ᵀC·E[w_q] + Σ_m Var[w_qm]·(C_mm + a_m²).
func (p *FactorPosterior) Complete(tasks []int, y []float64) (mean, function []float64, err error) {
	a, factor, err := p.object(tasks, y)
	if err != nil {
		return nil, nil, err
	}
	variance, x := make([]float64, p.dim.M), make([]float64, p.dim.M)
	la.CholeskyInvDiag(nil, factor, variance)
	mean, function = make([]float64, p.dim.Q), make([]float64, p.dim.Q)
	for q := range p.dim.Q {
		mean[q], function[q] = p.objectFunction(q, a, variance, factor, x)
	}
	return mean, function, nil
}

// object returns the mean of a new object's factors and the Cholesky factor of their precision.
func (p *FactorPosterior) object(tasks []int, y []float64) (mean []float64, factor la.Matrix[float64], err error) {
	factor = la.NewMatrix[float64](p.dim.M, p.dim.M)
	if p.byGroup != nil {
		return nil, factor, errors.New("vi: the fit has groups: Group selects the group of a new object")
	}
	if len(tasks) != len(y) {
		return nil, factor, fmt.Errorf("vi: tasks: %d for %d entries", len(tasks), len(y))
	}
	mean = make([]float64, p.dim.M)
	sites := false
	target, weight := slices.Clone(y), make([]float64, len(y))
	for i, q := range tasks {
		switch {
		case q < 0 || q >= p.dim.Q:
			return nil, factor, fmt.Errorf("vi: tasks[%d] is %d of %d", i, q, p.dim.Q)
		case math.IsNaN(y[i]) || math.IsInf(y[i], 0):
			return nil, factor, fmt.Errorf("vi: y[%d] is %g", i, y[i])
		}
		if err := p.kind(q).Check(y[i]); err != nil {
			return nil, factor, fmt.Errorf("vi: y[%d] %w", i, err)
		}
		weight[i], sites = 1/p.s.Noise[q], sites || p.kind(q) != Gaussian
	}
	if !sites {
		return mean, factor, p.solveObject(tasks, target, weight, mean, factor)
	}
	for k := range p.dim.M {
		factor.Set(k, k, math.Sqrt(p.priorPrecision(k)))
	}
	before := make([]float64, p.dim.M)
	for range siteRounds {
		p.objectSites(tasks, y, mean, factor, target, weight)
		copy(before, mean)
		if err := p.solveObject(tasks, target, weight, mean, factor); err != nil {
			return nil, factor, err
		}
		var change float64
		for k, v := range mean {
			change = max(change, math.Abs(v-before[k]))
		}
		if change < siteChange {
			return mean, factor, nil
		}
	}
	return nil, factor, fmt.Errorf("vi: y: %w", errUnsettled)
}

// priorPrecision returns the precision of the prior of factor k.
func (p *FactorPosterior) priorPrecision(k int) float64 {
	if p.precision == nil {
		return 1
	}
	return p.precision[k]
}

// solveObject sets mean and factor to the mean of a new object's factors and the Cholesky factor of their precision, given targets of
// the given tasks with the given precisions.
func (p *FactorPosterior) solveObject(tasks []int, target, weight, mean []float64, factor la.Matrix[float64]) error {
	clear(mean)
	factor.Fill(0)
	for k := range p.dim.M {
		factor.Set(k, k, p.priorPrecision(k))
	}
	for i, q := range tasks {
		w := weight[i]
		e, v := p.e.Row(q), p.v.Row(q)
		c, _ := p.offset(q)
		la.Axpy(w*(target[i]-c), e, mean)
		for k := range e {
			la.Axpy(w*e[k], e[:k+1], factor.Row(k)[:k+1])
			factor.Row(k)[k] += float64(w * v[k])
		}
	}
	if err := la.Cholesky(nil, factor); err != nil {
		return fmt.Errorf("vi: precision of the factors: %w", err)
	}
	la.CholeskySolveVec(factor, mean)
	return nil
}

// objectSites sets the targets and precisions of the entries that are not Gaussian, for a new object's factors of the given mean
// and Cholesky factor of the precision.
func (p *FactorPosterior) objectSites(tasks []int, y, mean []float64, factor la.Matrix[float64], target, weight []float64) {
	variance, x := make([]float64, p.dim.M), make([]float64, p.dim.M)
	la.CholeskyInvDiag(nil, factor, variance)
	for i, q := range tasks {
		if k := p.kind(q); k != Gaussian {
			f, v := p.objectFunction(q, mean, variance, factor, x)
			s := k.site(y[i], f, v)
			target[i], weight[i] = s.target, s.precision
		}
	}
}

// objectFunction returns the mean and the variance of the function of task q of a new object, whose factors have the given mean,
// variances and Cholesky factor of the precision. x is room for M numbers.
func (p *FactorPosterior) objectFunction(q int, a, variance []float64, factor la.Matrix[float64], x []float64) (mean, function float64) {
	mean, function = p.offset(q)
	e, v := p.e.Row(q), p.v.Row(q)
	mean += la.Dot(e, a)
	copy(x, e)
	la.Trsv(la.NoTrans, factor, x)
	function += la.SumSq(x)
	for k, ak := range a {
		function += float64(v[k] * (variance[k] + float64(ak*ak)))
	}
	return mean, function
}
