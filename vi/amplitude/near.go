package amplitude

import (
	"context"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/lbfgs"
)

// near is a normal density near the posterior of θ of some views and the noise, given that these views are included and no others: Laplace's
// approximation with the expected information, as in [Problem.Screen].
type near struct {
	places     []int     // in θ, the noise first
	mean       []float64 // in this order
	covariance la.Matrix[float64]
	prior      []float64          // the mean of the prior
	priorRoot  la.Matrix[float64] // the Cholesky factor of the prior's covariance
	ordered    map[int]carried    // with the kernels of a view last
}

// Limits of the normal densities. Each takes a search, and the expected information takes a matrix of order N for each kernel.
const (
	mostCarried   = 4       // views, which have 16 sets
	mostElements  = 1 << 22 // of the matrices
	nearSteps     = 40      // of the search
	nearTolerance = 1e-5    // of the search, as in [Search].Tolerance
)

// hasNear reports whether there are normal densities: the views and samples must be few enough.
func (s *selector) hasNear() bool {
	J, N := s.p.Kernels.Dims()
	return s.carried && !s.tied && len(s.viewOn) <= mostCarried && (J+1)*N*N <= mostElements
}

// nearOf returns the density of the views that are on; nil if K is not positive definite where a search ends.
func (s *selector) nearOf(ctx context.Context, on []bool) *near {
	key := 0
	for v, is := range on {
		if is {
			key |= 1 << v
		}
	}
	if q, ok := s.near[key]; ok {
		return q
	}
	if s.near == nil {
		s.near = map[int]*near{}
		s.mode = s.modeOf(ctx, slices.Repeat([]bool{true}, len(on)), make([]float64, s.prior.dims()))
	}
	q := s.newNear(on, s.modeOf(ctx, on, s.mode))
	s.near[key] = q
	return q
}

// modeOf returns the most probable z if these views are on, or about that; the start, if the search cannot begin there.
func (s *selector) modeOf(ctx context.Context, on []bool, start []float64) []float64 {
	pr := s.prior
	pr.mean = slices.Clone(s.prior.mean)
	for j, v := range s.p.Layout.View {
		if !on[v] {
			pr.mean[j] = math.Inf(-1)
		}
	}
	c := s.p.newClimb(&pr)
	r, err := lbfgs.Minimize(slices.Clone(start), func(z, g []float64) (float64, error) {
		return c.cost(z, g), ctx.Err()
	}, lbfgs.Settings{
		Iterations: nearSteps, Tolerance: nearTolerance, Scale: float64(s.p.Y.Rows * s.p.Y.Cols), Gradient: 1e-2, LongestStep: longestStep,
	})
	if err != nil {
		return start
	}
	return r.X
}

// newNear returns the density about z: θ = mean + L·z has the covariance L(I + LᵀFL)⁻¹Lᵀ with the expected information F.
func (s *selector) newNear(on []bool, z []float64) *near {
	variables, places := s.included(func(v int) bool { return on[v] })
	n, m := len(variables), len(places)
	q := &near{places: places, covariance: la.NewMatrix[float64](m, m), priorRoot: la.NewMatrix[float64](m, m)}
	l := s.slopes(variables, places)
	theta := slices.Repeat([]float64{math.Inf(-1)}, len(s.theta))
	for r, j := range places {
		theta[j] = s.prior.mean[j]
		for k, i := range variables {
			theta[j] += float64(l.At(r, k) * z[i])
		}
		q.mean, q.prior = append(q.mean, theta[j]), append(q.prior, s.prior.mean[j])
	}
	if math.IsInf(s.e.value(theta), -1) {
		return nil
	}
	whole, info := s.e.information(theta), la.NewMatrix[float64](m, m)
	for r, j := range places {
		for c, i := range places {
			info.Row(r)[c] = whole.At(j, i)
		}
	}
	half, h := la.NewMatrix[float64](m, n), la.NewMatrix[float64](n, n)
	la.Gemm(nil, la.NoTrans, la.NoTrans, 1, info, l, 0, half)
	la.Gemm(nil, la.Transpose, la.NoTrans, 1, l, half, 0, h)
	for i := range n {
		h.Row(i)[i]++
	}
	la.Syrk(nil, la.NoTrans, 1, l, 0, q.priorRoot)
	if la.Cholesky(nil, h) != nil || la.Cholesky(nil, q.priorRoot) != nil {
		return nil
	}
	la.Trsm(nil, la.Right, la.Transpose, h, l)
	la.Syrk(nil, la.NoTrans, 1, l, 0, q.covariance)
	q.covariance.MirrorLower()
	return q
}

// in returns the mean and the Cholesky factor of the covariance with the places in another order, in which the kernels of view v are last.
func (q *near) in(places []int, v int) (carried, error) {
	if c, ok := q.ordered[v]; ok {
		return c, nil
	}
	c := carried{places: places, root: la.NewMatrix[float64](len(places), len(places))}
	var at []int
	for r, j := range places {
		at = append(at, slices.Index(q.places, j))
		c.mean = append(c.mean, q.mean[at[r]])
		for k, i := range at {
			c.root.Row(r)[k] = q.covariance.At(at[r], i)
		}
	}
	if err := la.Cholesky(nil, c.root); err != nil {
		return c, err
	}
	if q.ordered == nil {
		q.ordered = map[int]carried{}
	}
	q.ordered[v] = c
	return c, nil
}

// logPrior returns the log density of the prior at θ, times a power of 2π.
func (q *near) logPrior(theta []float64) float64 {
	var gap []float64
	for r, j := range q.places {
		gap = append(gap, theta[j]-q.prior[r])
	}
	la.Trsv(la.NoTrans, q.priorRoot, gap)
	return -0.5 * (la.SumSq(gap) + la.LogDet(q.priorRoot))
}
