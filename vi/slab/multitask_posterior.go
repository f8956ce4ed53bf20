package slab

import (
	"fmt"
	"math"

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
	s       MultiTaskState
	Q, M, N int                // tasks, kernels and samples
	e, d    la.Matrix[float64] // Q×M, E[w] and E[w²]
	within  la.Matrix[float64] // Q×M, Var[w]
}

// NewMultiTaskPosterior returns the posterior of a state, which it keeps and
// which must not be changed afterwards. The error says what does not fit.
func NewMultiTaskPosterior(s MultiTaskState) (*MultiTaskPosterior, error) {
	fail := func(format string, args ...any) (*MultiTaskPosterior, error) {
		return nil, fmt.Errorf("vi: multi-task state: "+format, args...)
	}
	Q, M, N := len(s.Noise), len(s.Lengths), s.Alpha.Cols
	if Q < 1 || M < 1 || N < 1 {
		return fail("%d tasks, %d latent functions, %d samples: each must be at least 1", Q, M, N)
	}
	if err := s.Prior.validate(); err != nil {
		return fail("%w", err)
	}
	for q, v := range s.Noise {
		if !(v > 0) || math.IsInf(v, 1) {
			return fail("Noise[%d] is %g", q, v)
		}
	}
	if len(s.Weights) != Q*M || len(s.Dense) != M {
		return fail("%d weights and %d covariances where %d and %d are needed", len(s.Weights), len(s.Dense), Q*M, M)
	}
	if i := firstBadPair(s.Weights); i >= 0 {
		return fail("Weights[%d] is %+v", i, s.Weights[i])
	}
	for j, i := range s.Active {
		if i < 0 || i >= M || j > 0 && i <= s.Active[j-1] {
			return fail("Active[%d] is %d: ascending numbers below %d are needed", j, i, M)
		}
	}
	for i, l := range s.Lengths {
		if !(l >= 0) || math.IsInf(l, 1) {
			return fail("Lengths[%d] is %g", i, l)
		}
	}
	for _, x := range []struct {
		name string
		m    la.Matrix[float64]
	}{{"Root", s.Root}, {"Alpha", s.Alpha}, {"Phi", s.Phi}, {"PhiVariance", s.PhiVariance}} {
		if err := checkState(x.name, x.m, M, N); err != nil {
			return fail("%w", err)
		}
		for i := range M {
			if j := check.NonFinite(x.m.Row(i)); j >= 0 {
				return fail("%s: entry (%d, %d) is %g", x.name, i, j, x.m.At(i, j))
			}
		}
	}
	if s.Factors != nil {
		if len(s.Factors) != M {
			return fail("Factors: %d where %d are needed", len(s.Factors), M)
		}
		for _, i := range s.Active {
			if !s.Dense[i] {
				continue
			}
			f := s.Factors[i]
			if err := checkState(fmt.Sprintf("Factors[%d]", i), f, N, N); err != nil {
				return fail("%w", err)
			}
			for n := range N {
				row := f.Row(n)[:n+1]
				if j := check.NonFinite(row); j >= 0 || !(row[n] > 0) {
					return fail("Factors[%d]: row %d is not that of a Cholesky factor", i, n)
				}
			}
		}
	}
	p := &MultiTaskPosterior{s: s, Q: Q, M: M, N: N,
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

// checkState checks the shape of a matrix that somebody else has filled.
func checkState(name string, m la.Matrix[float64], rows, cols int) error {
	if m.Rows != rows || m.Cols != cols || !m.Valid() {
		return fmt.Errorf("%s: %d×%d (stride %d, %d elements) where %d×%d is needed", name, m.Rows, m.Cols, m.Stride, len(m.Data), rows, cols)
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
func (p *MultiTaskPosterior) Dims() (Q, M, N int) { return p.Q, p.M, p.N }

// Weight returns the factor of the weight of latent function m in task q; of a
// pruned function its Logit is −Inf.
func (p *MultiTaskPosterior) Weight(q, m int) Pair { return p.s.Weights[q*p.M+m] }

// Energy returns the mean square over the training samples of what each latent
// function contributes to each task, Q×M: E[w_qm]²·Σ_n E[φ_nm]²/N. The scale of a
// weight alone says little, since the functions' own scales differ.
func (p *MultiTaskPosterior) Energy() la.Matrix[float64] {
	out := la.NewMatrix[float64](p.Q, p.M)
	for _, i := range p.s.Active {
		power := la.SumSq(p.s.Phi.Row(i)) / float64(p.N)
		for q := range p.Q {
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
	dense := false
	for _, i := range p.s.Active {
		dense = dense || p.s.Dense[i]
	}
	T := max(self.Cols, mean.Cols)
	if k != nil {
		M, N, cols := k.Dims()
		if M != p.M || N != p.N {
			return nil, fmt.Errorf("vi: k: %d of %d×%d where %d with %d training samples are needed", M, N, cols, p.M, p.N)
		}
		T = cols
	} else if dense {
		return nil, fmt.Errorf("vi: k: nil")
	}
	if !opt.MeanOnly && (self.Rows != p.M || self.Cols != T) {
		return nil, fmt.Errorf("vi: self: %d×%d where %d×%d is needed", self.Rows, self.Cols, p.M, T)
	}
	if mean.Rows != 0 && (mean.Rows != p.M || mean.Cols != T) {
		return nil, fmt.Errorf("vi: mean: %d×%d where %d×%d is needed", mean.Rows, mean.Cols, p.M, T)
	}
	if !opt.MeanOnly && dense && p.s.Factors == nil {
		return nil, fmt.Errorf("vi: this posterior was made to predict means only")
	}
	ws := &la.Workspace{Workers: opt.Workers}
	phi, variance := la.NewMatrix[float64](p.M, T), la.Matrix[float64]{}
	if !opt.MeanOnly {
		variance = la.NewMatrix[float64](p.M, T)
	}
	block := min(T, work.PredictRows)
	columns := la.NewMatrix[float64](block, p.N)
	for _, i := range p.s.Active {
		if mean.Rows > 0 {
			copy(phi.Row(i), mean.Row(i))
		}
		if !opt.MeanOnly {
			copy(variance.Row(i), self.Row(i))
		}
		if !p.s.Dense[i] {
			continue
		}
		root := p.s.Root.Row(i)
		for first := 0; first < T; first += block {
			n := min(block, T-first)
			kn := columns.Slice(0, n, 0, p.N)
			k.Columns(i, first, kn)
			la.Gemv(ws, la.NoTrans, 1, kn, p.s.Alpha.Row(i), 1, phi.Row(i)[first:first+n])
			if opt.MeanOnly {
				continue
			}
			for r := range n {
				row := kn.Row(r)
				for j, s := range root {
					row[j] *= s
				}
			}
			la.Trsm(ws, la.Right, la.Transpose, p.s.Factors[i], kn)
			v := variance.Row(i)[first : first+n]
			for r := range v {
				v[r] = max(0, v[r]-la.SumSq(kn.Row(r)))
			}
		}
	}
	out := p.combine(ws, phi, variance)
	if opt.Intermediate {
		out.Phi, out.PhiVariance = phi, variance
	}
	return out, nil
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
	out := &MultiTaskPrediction{Mean: la.NewMatrix[float64](p.Q, T)}
	la.Gemm(ws, la.NoTrans, la.NoTrans, 1, p.e, phi, 0, out.Mean)
	if variance.Rows == 0 {
		return out
	}
	square := phi.Clone()
	for i, v := range square.Data {
		square.Data[i] = v * v
	}
	out.Function = la.NewMatrix[float64](p.Q, T)
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
