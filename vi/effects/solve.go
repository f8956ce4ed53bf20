package effects

import (
	"context"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
)

// system is the normal equations of the unknowns x = (β, u), A·x = b/σ²,
//
//	A = ⎛ΦᵀΦ/σ² + P   ΦᵀZ/σ²    ⎞
//	    ⎝ZᵀΦ/σ²      ZᵀZ/σ² + D⎠,   b = (Φᵀy, Zᵀy).
//
// P and D are diagonal, with the inverse variances of the priors. ZᵀZ is never stored: its product with u is a sum over samples. With
// weights W of the samples, ΦᵀWΦ, ZᵀWΦ, ZᵀWZ and (Φ, Z)ᵀWy take the places of the products.
type system struct {
	m       int // features
	columns []Column
	first   []int     // the place of a column's first effect in x
	weight  []float64 // of each sample; nil: 1

	gram   la.Matrix[float64] // ΦᵀΦ
	cross  la.Matrix[float64] // ZᵀΦ, levels × features
	count  []float64          // the diagonal of ZᵀZ
	right  []float64          // b
	square float64            // yᵀy
	noises la.Matrix[float64] // (Φ, Z)ᵀξ for each probe, ξ ~ N(0, I)
	priors la.Matrix[float64] // η ~ N(0, I) for each probe

	noise     float64
	precision []float64          // of the priors, for each unknown
	diagonal  []float64          // of A, for effects
	factor    la.Matrix[float64] // of the block of β
	inverse   []float64          // the diagonal of the inverse of the block of β
	scratch   [5][]float64
}

func newSystem(m int, columns []Column) *system {
	s := &system{m: m, columns: columns}
	size := m
	for _, c := range columns {
		s.first = append(s.first, size)
		size += c.Levels
	}
	s.gram, s.factor = la.NewMatrix[float64](m, m), la.NewMatrix[float64](m, m)
	s.cross, s.count = la.NewMatrix[float64](size-m, m), make([]float64, size-m)
	s.right, s.precision, s.diagonal, s.inverse = make([]float64, size), make([]float64, size), make([]float64, size-m), make([]float64, m)
	s.noises, s.priors = la.NewMatrix[float64](probes, size), la.NewMatrix[float64](probes, size)
	for i := range s.scratch {
		s.scratch[i] = make([]float64, size)
	}
	return s
}

// size returns the number of unknowns.
func (s *system) size() int { return len(s.right) }

// prepare sets the priors and the preconditioner: the block of β, and the diagonal for effects.
func (s *system) prepare(parts []part) error {
	clear(s.precision)
	for _, p := range parts {
		for j := p.first; j < p.end; j++ {
			s.precision[j] = 1 / p.prior
		}
	}
	for i, n := range s.count {
		s.diagonal[i] = n/s.noise + s.precision[s.m+i]
	}
	for i := range s.m {
		for j := range i + 1 {
			s.factor.Set(i, j, s.gram.At(i, j)/s.noise)
		}
		s.factor.Set(i, i, float64(s.factor.At(i, i)*(1+1e-10))+s.precision[i])
	}
	if err := la.Cholesky(nil, s.factor); err != nil {
		return fmt.Errorf("effects: the features: %w", err)
	}
	la.CholeskyInvDiag(nil, s.factor, s.inverse)
	return nil
}

// times stores A·x in out.
func (s *system) times(x, out []float64) {
	m := s.m
	la.Symv(nil, 1, s.gram, x[:m], 0, out[:m])
	u, of := x[m:], out[m:]
	la.Gemv(nil, la.Transpose, 1, s.cross, u, 1, out[:m])
	la.Gemv(nil, la.NoTrans, 1, s.cross, x[:m], 0, of)
	s.products(nil, u, of)
	for j, v := range out {
		out[j] = v/s.noise + float64(s.precision[j]*x[j])
	}
}

// products adds ZᵀZ·u, or ZᵀWZ·u, to out. With kept, only the samples that it names count.
func (s *system) products(kept []bool, u, out []float64) {
	if len(s.columns) == 1 && kept == nil { // each sample has one level
		for i, n := range s.count {
			out[i] += float64(n * u[i])
		}
		return
	}
	for n := range s.columns[0].Of {
		if kept != nil && !kept[n] {
			continue
		}
		var sum float64
		for c, column := range s.columns {
			sum += u[s.first[c]-s.m+column.Of[n]]
		}
		if s.weight != nil {
			sum *= s.weight[n]
		}
		for c, column := range s.columns {
			out[s.first[c]-s.m+column.Of[n]] += sum
		}
	}
}

// condition stores the product of r and the inverse of the preconditioner in out.
func (s *system) condition(r, out []float64) {
	copy(out[:s.m], r)
	la.CholeskySolveVec(s.factor, out[:s.m])
	for i, d := range s.diagonal {
		out[s.m+i] = r[s.m+i] / d
	}
}

// accuracy is the ratio of norms, residual to right-hand side, at which conjugate gradients end, in the metric of the preconditioner.
const accuracy = 1e-5

// solve solves A·x = b by conjugate gradients from x.
func (s *system) solve(ctx context.Context, b, x []float64) error {
	return gradients(ctx, b, x, s.times, s.condition, s.scratch[:4])
}

// gradients solves a system with the matrix and the inverse of the preconditioner that are given, by conjugate gradients from x. After
// 500 steps the solution so far counts. It returns an error if numbers overflow, or if ctx ends.
func gradients(ctx context.Context, b, x []float64, times, condition func(x, out []float64), scratch [][]float64) error {
	const most = 500
	r, z, p, q := scratch[0], scratch[1], scratch[2], scratch[3]
	condition(b, z)
	enough := float64(accuracy * accuracy * la.Dot(b, z))
	times(x, q)
	for j := range r {
		r[j] = b[j] - q[j]
	}
	condition(r, z)
	copy(p, z)
	rz := la.Dot(r, z)
	for range most {
		if rz <= enough {
			return nil
		}
		if err := context.Cause(ctx); err != nil {
			return fmt.Errorf("effects: %w", err)
		}
		times(p, q)
		step := rz / la.Dot(p, q)
		if math.IsNaN(step) || math.IsInf(step, 0) {
			return fmt.Errorf("effects: a step of conjugate gradients has the length %g", step)
		}
		la.Axpy(step, p, x)
		la.Axpy(-step, q, r)
		condition(r, z)
		next := la.Dot(r, z)
		la.Scal(next/rz, p)
		la.Axpy(1, z, p)
		rz = next
	}
	return nil
}

// posterior stores the posterior mean of the unknowns in x and estimates of their variances. The rows of errors are draws of x less its
// mean from the probes before, from which the iterations begin. A draw x solves A·x = w, w ~ N(0, A). Given all other unknowns the
// unknown j has the variance s = 1/A_jj and the mean x_j − s·w_j, so that V_jj = s + E(x_j − s·w_j)². For β a block takes the place
// of s.
func (s *system) posterior(ctx context.Context, x []float64, errors la.Matrix[float64], variance []float64) error {
	w, given := make([]float64, s.size()), make([]float64, s.size())
	for j, b := range s.right {
		w[j] = b / s.noise
	}
	if err := s.solve(ctx, w, x); err != nil {
		return err
	}
	copy(variance, s.inverse)
	for i, d := range s.diagonal {
		variance[s.m+i] = 1 / d
	}
	sd := math.Sqrt(s.noise)
	for k := range errors.Rows {
		e := errors.Row(k)
		for j, v := range s.noises.Row(k) {
			w[j] = v/sd + float64(math.Sqrt(s.precision[j])*s.priors.At(k, j))
		}
		if err := s.solve(ctx, w, e); err != nil {
			return err
		}
		s.condition(w, given)
		for j, v := range e {
			d := v - given[j]
			variance[j] += float64(d*d) / float64(errors.Rows)
		}
	}
	return nil
}

// residual returns ‖y − Φβ − Zu‖².
func (s *system) residual(x []float64) float64 {
	out := s.scratch[4]
	s.times(x, out)
	sum := s.square
	for j, v := range x {
		// (A − prior)·x·σ² is (Φ, Z)ᵀ(Φ, Z)·x.
		of := float64(s.noise * (out[j] - float64(s.precision[j]*v)))
		sum += float64(v * (of - float64(2*s.right[j])))
	}
	return max(sum, 0)
}
