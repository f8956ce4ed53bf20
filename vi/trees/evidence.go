package trees

import (
	"math"

	"github.com/bmkl/bmkl/la"
)

// group is heights with a prior of their own: w ~ N(0, (τ·R)⁻¹). For leaves R is the identity. For a curve it is
//
//	R = Σ_k (w_k − w_{k−1})² + δ·Σ_k w_k²,
//
// a random walk along the knots.
type group struct {
	first, size int
	curve       bool
	precision   float64 // τ
}

// walkLevel is δ.
const walkLevel = 0.01

// addPrior adds τ·R to the lower triangle of a.
func (g *group) addPrior(a la.Matrix[float64], by float64) {
	for k := range g.size {
		i := g.first + k
		if !g.curve {
			a.Set(i, i, a.At(i, i)+by)
			continue
		}
		d := walkLevel
		if k > 0 {
			d++
			a.Set(i, i-1, a.At(i, i-1)-by)
		}
		if k < g.size-1 {
			d++
		}
		a.Set(i, i, a.At(i, i)+float64(by*d))
	}
}

// penalty returns wᵀ·R·w.
func (g *group) penalty(w []float64) (s float64) {
	w = w[g.first : g.first+g.size]
	if !g.curve {
		return la.Dot(w, w)
	}
	s = float64(walkLevel * la.Dot(w, w))
	for k := 1; k < len(w); k++ {
		d := w[k] - w[k-1]
		s += float64(d * d)
	}
	return s
}

// trace returns tr(R·C), where the lower triangle of c is the covariance C of all heights.
func (g *group) trace(c la.Matrix[float64]) (s float64) {
	for k := range g.size {
		i := g.first + k
		d := 1.0
		if g.curve {
			d = walkLevel
			if k > 0 {
				d++
				s -= 2 * c.At(i, i-1)
			}
			if k < g.size-1 {
				d++
			}
		}
		s += float64(d * c.At(i, i))
	}
	return s
}

// heights is the posterior of all heights: normal, with the noise variance.
type heights struct {
	groups     []group
	noise      float64
	mean       []float64
	covariance la.Matrix[float64] // lower triangle
}

// Bounds of a precision, for targets of variance 1.
const (
	leastPrecision = 1e-4
	mostPrecision  = 1e8
	leastNoise     = 1e-8
)

// update computes the posterior given the precisions and the noise.
func (h *heights) update(s *sums, w *la.Workspace) error {
	a := h.covariance
	for i := range a.Rows {
		for j, v := range s.squares.Row(i)[:i+1] {
			a.Set(i, j, v/h.noise)
		}
		h.mean[i] = s.targets[i] / h.noise
	}
	for k := range h.groups {
		h.groups[k].addPrior(a, h.groups[k].precision)
	}
	if err := la.Cholesky(w, a); err != nil {
		return err
	}
	la.CholeskySolveVec(a, h.mean)
	la.CholeskyInv(w, a)
	return nil
}

// reweigh updates the precisions and the noise given the posterior, by D. J. C. MacKay's fixed point. It returns the largest change
// of a logarithm.
func (h *heights) reweigh(s *sums) (change float64) {
	known := 0.0 // the number of heights that the samples determine
	for k := range h.groups {
		g := &h.groups[k]
		// The last guard is against rounding.
		determined := max(float64(g.size)-float64(g.precision*g.trace(h.covariance)), 1e-6)
		known += determined
		to := min(max(determined/max(g.penalty(h.mean), 1e-300), leastPrecision), mostPrecision)
		change = max(change, math.Abs(to-g.precision)/g.precision)
		g.precision = to
	}
	to := max(h.residual(s)/max(float64(s.n)-known, 0.1*float64(s.n)), leastNoise)
	change = max(change, math.Abs(to-h.noise)/h.noise)
	h.noise = to
	return change
}

// residual returns Σ (y_i − φ_iᵀw)² at the mean w.
func (h *heights) residual(s *sums) float64 {
	e := s.target
	for i, v := range h.mean {
		row := s.squares.Row(i)[:i]
		e += float64(v * (float64(2*la.Dot(row, h.mean[:i])) + float64(s.squares.At(i, i)*v) - float64(2*s.targets[i])))
	}
	return max(0, e)
}

// learn updates the precisions and the noise until they change by less than a tenth, at most so many times, and the posterior.
func (h *heights) learn(s *sums, times int, w *la.Workspace) error {
	for range times {
		if err := h.update(s, w); err != nil {
			return err
		}
		if h.reweigh(s) < 0.1 {
			break
		}
	}
	return h.update(s, w)
}
