package slab

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// MultiTaskState is everything a [MultiTaskPosterior] is made of. It is plain
// data, to be saved and restored; slices and matrices of a state that belongs to
// a posterior must not be changed.
type MultiTaskState struct {
	Prior   Prior
	Noise   []float64 // Q, σ_q²
	Weights []Pair    // Q×M, row after row

	Active  []int     // latent functions in the model, ascending; the others were pruned
	Lengths []float64 // M, of the covariances that have one, otherwise 0
	Dense   []bool    // M, whether the covariance is a matrix, neither zero nor white

	// q(φ): Λ^½, α, and the mean and the variance at the training samples, M×N.
	Root, Alpha, Phi, PhiVariance la.Matrix[float64]

	// Factors holds for every active dense latent function the Cholesky factor of
	// I + Λ^½·K·Λ^½, N×N, in its lower triangle. It is nil in a posterior that
	// predicts means only.
	Factors []la.Matrix[float64]
}

// MultiTaskPosterior is the approximate posterior of a [MultiTask]. It is
// immutable and safe for concurrent use.
type MultiTaskPosterior struct {
	s      MultiTaskState
	dim    taskDims
	e, d   la.Matrix[float64] // Q×M, E[w] and E[w²]
	within la.Matrix[float64] // Q×M, Var[w]
}

// taskDims are the numbers of tasks, latent functions and samples.
type taskDims struct{ Q, M, N int }

// NewMultiTaskPosterior returns the posterior of a state, which it keeps and
// which must not be changed afterwards. The error says what does not fit.
func NewMultiTaskPosterior(s MultiTaskState) (*MultiTaskPosterior, error) {
	if err := s.validate(); err != nil {
		return nil, fmt.Errorf("vi: multi-task state: %w", err)
	}
	Q, M, N := len(s.Noise), len(s.Lengths), s.Alpha.Cols
	p := &MultiTaskPosterior{s: s, dim: taskDims{Q, M, N},
		e: la.NewMatrix[float64](Q, M), d: la.NewMatrix[float64](Q, M), within: la.NewMatrix[float64](Q, M)}
	for _, i := range s.Active {
		for q := range Q {
			w := s.Weights[q*M+i]
			e, d := w.Moments()
			p.e.Set(q, i, e)
			p.d.Set(q, i, d)
			p.within.Set(q, i, w.VarW())
		}
	}
	return p, nil
}

// validate returns an error that names the first part that does not fit.
func (s *MultiTaskState) validate() error {
	Q, M, N := len(s.Noise), len(s.Lengths), s.Alpha.Cols
	return check.Parts(
		check.That(Q >= 1 && M >= 1 && N >= 1, "%d tasks, %d latent functions, %d samples: each must be at least 1", Q, M, N),
		s.Prior.validate,
		check.Vector("Noise", s.Noise, check.Positive),
		checkPairs("Weights", s.Weights, Q, M),
		check.Length("Dense", len(s.Dense), M),
		s.validateActive,
		check.Vector("Lengths", s.Lengths, check.NotNegative),
		check.Matrix("Root", s.Root, M, N, check.Finite),
		check.Matrix("Alpha", s.Alpha, M, N, check.Finite),
		check.Matrix("Phi", s.Phi, M, N, check.Finite),
		check.Matrix("PhiVariance", s.PhiVariance, M, N, check.Finite),
		s.validateFactors,
	)
}

// validateActive checks that the active latent functions are in ascending order.
func (s *MultiTaskState) validateActive() error {
	M := len(s.Lengths)
	for j, i := range s.Active {
		if i < 0 || i >= M || j > 0 && i <= s.Active[j-1] {
			return fmt.Errorf("Active[%d] is %d: ascending numbers below %d are needed", j, i, M)
		}
	}
	return nil
}

// validateFactors checks the factors of the active latent functions, if there are any.
func (s *MultiTaskState) validateFactors() error {
	if s.Factors == nil {
		return nil
	}
	if err := check.Length("Factors", len(s.Factors), len(s.Lengths))(); err != nil {
		return err
	}
	for _, i := range s.Active {
		if !s.Dense[i] {
			continue
		}
		if err := check.Cholesky(fmt.Sprintf("Factors[%d]", i), s.Factors[i], s.Alpha.Cols)(); err != nil {
			return err
		}
	}
	return nil
}

// posterior returns the present state, with what variances need if asked.
func (m *multiTask) posterior(variances bool) (*MultiTaskPosterior, error) {
	s := MultiTaskState{
		Prior: m.prior, Noise: append([]float64(nil), m.noise...), Weights: append([]Pair(nil), m.q...),
		Active: append([]int{}, m.active...), Lengths: make([]float64, m.M), Dense: make([]bool, m.M),
		Root: la.NewMatrix[float64](m.M, m.N), Alpha: la.NewMatrix[float64](m.M, m.N),
		Phi: la.NewMatrix[float64](m.M, m.N), PhiVariance: la.NewMatrix[float64](m.M, m.N),
	}
	if variances {
		s.Factors = make([]la.Matrix[float64], m.M)
	}
	for i := range m.latents {
		f := &m.latents[i]
		s.Lengths[i], s.Dense[i] = f.length, f.dense()
	}
	for _, i := range m.active {
		f := &m.latents[i]
		copy(s.Alpha.Row(i), f.alpha)
		copy(s.Phi.Row(i), f.mean)
		for n, l := range f.lambda {
			s.Root.Set(i, n, math.Sqrt(l))
		}
		if f.uniform || variances && f.dense() {
			if err := f.settle(&m.crew.All, m.scratch); err != nil {
				return nil, fmt.Errorf("vi: latent function %d: %w", i, err)
			}
			if variances {
				s.Factors[i] = m.scratch.b.Clone()
			}
		}
		copy(s.PhiVariance.Row(i), f.variance)
	}
	return NewMultiTaskPosterior(s)
}

// State returns what the posterior is made of. Its slices and matrices are the
// posterior's own and must not be changed.
func (p *MultiTaskPosterior) State() MultiTaskState { return p.s }

// Dims returns the number of tasks, of latent functions and of training samples.
func (p *MultiTaskPosterior) Dims() (Q, M, N int) { return p.dim.Q, p.dim.M, p.dim.N }

// Weight returns the factor of the weight of latent function m in task q; of a
// pruned function its Logit is −Inf.
func (p *MultiTaskPosterior) Weight(q, m int) Pair { return p.s.Weights[q*p.dim.M+m] }

// Energy returns the mean square over the training samples of what each latent
// function contributes to each task, Q×M: E[w_qm]²·Σ_n E[φ_nm]²/N. The scale of a
// weight alone says little, since the functions' own scales differ.
func (p *MultiTaskPosterior) Energy() la.Matrix[float64] {
	out := la.NewMatrix[float64](p.dim.Q, p.dim.M)
	for _, i := range p.s.Active {
		power := la.SumSq(p.s.Phi.Row(i)) / float64(p.dim.N)
		for q := range p.dim.Q {
			e := p.e.At(q, i)
			out.Set(q, i, e*e*power)
		}
	}
	return out
}

// CrossKernels are the covariances between the N training samples and T others, one
// N×T matrix for each of M latent functions: what predictions need of [vi.Kernels].
type CrossKernels interface {
	// Dims returns the number of latent functions, of training samples and of others.
	Dims() (M, N, T int)

	// Columns copies columns first … first+dst.Rows−1 of matrix m into the rows of
	// dst, which has N columns. It is called for latent functions whose covariance is
	// a matrix and that are not pruned.
	Columns(m, first int, dst la.Matrix[float64])
}

// MultiTaskPrediction is the predictive distribution of T samples. Matrices that
// were not asked for are empty.
type MultiTaskPrediction struct {
	Mean     la.Matrix[float64] // Q×T, of the functions f_q, and of the targets
	Function la.Matrix[float64] // Q×T, variance of f_q
	Variance la.Matrix[float64] // Q×T, of the targets with their noise, Function + σ_q²

	// Of the latent functions, M×T; asked for by Intermediate. Rows of pruned
	// functions are zero.
	Phi, PhiVariance la.Matrix[float64]
}

// Predict returns the predictive distribution of T samples, whose covariances with
// the training samples are k's columns and with themselves self, M×T; mean, M×T, holds
// the mean functions there, or is empty for zero ones. k may be nil if no latent
// function in the model is dense. With k* = k_m(X, x)
//
//	E[φ*] = m* + k*ᵀα,   Var[φ*] = k** − |L⁻¹S·k*|²,
//	E[f_q] = Σ_m E[w]·E[φ*],   Var[f_q] = Σ_m E[w²]·Var[φ*] + Var[w]·E[φ*]².
//
// opt.MeanOnly leaves out the variances and needs no self. The cost is N·T for each
// latent function, and N²·T for the variances.
func (p *MultiTaskPosterior) Predict(k CrossKernels, self, mean la.Matrix[float64], opt vi.PredictOptions) (*MultiTaskPrediction, error) {
	T, err := p.checkArguments(k, self, mean, opt)
	if err != nil {
		return nil, err
	}
	ws := &la.Workspace{Workers: opt.Workers}
	phi, variance := la.NewMatrix[float64](p.dim.M, T), la.Matrix[float64]{}
	if !opt.MeanOnly {
		variance = la.NewMatrix[float64](p.dim.M, T)
	}
	columns := la.NewMatrix[float64](min(T, work.PredictRows), p.dim.N)
	for _, i := range p.s.Active {
		if mean.Rows > 0 {
			copy(phi.Row(i), mean.Row(i))
		}
		var v []float64
		if !opt.MeanOnly {
			v = variance.Row(i)
			copy(v, self.Row(i))
		}
		if p.s.Dense[i] {
			p.predictLatent(ws, i, k, columns, phi.Row(i), v)
		}
	}
	out := p.combine(ws, phi, variance)
	if opt.Intermediate {
		out.Phi, out.PhiVariance = phi, variance
	}
	return out, nil
}

// checkArguments checks the arguments of Predict and returns the number of samples.
func (p *MultiTaskPosterior) checkArguments(k CrossKernels, self, mean la.Matrix[float64], opt vi.PredictOptions) (T int, err error) {
	dense := slices.ContainsFunc(p.s.Active, func(i int) bool { return p.s.Dense[i] })
	T = max(self.Cols, mean.Cols)
	if k != nil {
		M, N, cols := k.Dims()
		if M != p.dim.M || N != p.dim.N {
			return 0, fmt.Errorf("vi: k: %d of %d×%d where %d with %d training samples are needed", M, N, cols, p.dim.M, p.dim.N)
		}
		T = cols
	}
	switch {
	case k == nil && dense:
		return 0, fmt.Errorf("vi: k: nil")
	case !opt.MeanOnly && (self.Rows != p.dim.M || self.Cols != T):
		return 0, fmt.Errorf("vi: self: %d×%d where %d×%d is needed", self.Rows, self.Cols, p.dim.M, T)
	case mean.Rows != 0 && (mean.Rows != p.dim.M || mean.Cols != T):
		return 0, fmt.Errorf("vi: mean: %d×%d where %d×%d is needed", mean.Rows, mean.Cols, p.dim.M, T)
	case !opt.MeanOnly && dense && p.s.Factors == nil:
		return 0, fmt.Errorf("vi: this posterior was made to predict means only")
	}
	return T, nil
}

// predictLatent adds k*ᵀα to the means of latent function i, T, and takes |L⁻¹S·k*|² from its
// variances, if these are not nil. It overwrites columns, a block of samples' kernels.
func (p *MultiTaskPosterior) predictLatent(ws *la.Workspace, i int, k CrossKernels, columns la.Matrix[float64], mean, variance []float64) {
	for first := 0; first < len(mean); first += columns.Rows {
		n := min(columns.Rows, len(mean)-first)
		kn := columns.Slice(0, n, 0, p.dim.N)
		k.Columns(i, first, kn)
		la.Gemv(ws, la.NoTrans, 1, kn, p.s.Alpha.Row(i), 1, mean[first:first+n])
		if variance == nil {
			continue
		}
		for r := range n {
			row := kn.Row(r)
			for j, s := range p.s.Root.Row(i) {
				row[j] *= s
			}
		}
		la.Trsm(ws, la.Right, la.Transpose, p.s.Factors[i], kn)
		v := variance[first : first+n]
		for r := range v {
			v[r] = max(0, v[r]-la.SumSq(kn.Row(r)))
		}
	}
}

// Train returns the posterior of the functions at the training samples, which for
// white covariances no new sample shares.
func (p *MultiTaskPosterior) Train(opt vi.PredictOptions) *MultiTaskPrediction {
	variance := p.s.PhiVariance
	if opt.MeanOnly {
		variance = la.Matrix[float64]{}
	}
	out := p.combine(&la.Workspace{Workers: opt.Workers}, p.s.Phi, variance)
	if opt.Intermediate {
		out.Phi = p.s.Phi.Clone()
		if !opt.MeanOnly {
			out.PhiVariance = variance.Clone()
		}
	}
	return out
}

// combine returns the tasks' functions from the latent ones; variance is empty if
// only means are wanted.
func (p *MultiTaskPosterior) combine(ws *la.Workspace, phi, variance la.Matrix[float64]) *MultiTaskPrediction {
	T := phi.Cols
	out := &MultiTaskPrediction{Mean: la.NewMatrix[float64](p.dim.Q, T)}
	la.Gemm(ws, la.NoTrans, la.NoTrans, 1, p.e, phi, 0, out.Mean)
	if variance.Rows == 0 {
		return out
	}
	square := phi.Clone()
	for i, v := range square.Data {
		square.Data[i] = v * v
	}
	out.Function = la.NewMatrix[float64](p.dim.Q, T)
	la.Gemm(ws, la.NoTrans, la.NoTrans, 1, p.d, variance, 0, out.Function)
	la.Gemm(ws, la.NoTrans, la.NoTrans, 1, p.within, square, 1, out.Function)
	out.Variance = out.Function.Clone()
	for q, s := range p.s.Noise {
		row := out.Variance.Row(q)
		for t := range row {
			row[t] += s
		}
	}
	return out
}
