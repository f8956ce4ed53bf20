package mgp

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// move is how the gradient of the first term of the evidence changed from one pass to the next.
type move struct{ step, fall []float64 } // D, of m; D, of the gradient

// rank1 is a matrix sign·u·uᵀ.
type rank1 struct {
	sign float64
	u    []float64
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
// gradient, and the last step exactly.
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

// maximum sets m = (C + A⁻¹)⁻¹·right by conjugate gradients from the present m. The preconditioner is the factor of B =
// c·ΦΦᵀ + A⁻¹ with the scales of the last pass. Half of what is left is about what the parabola lacks of its maximum:
// it stops below enough nats, or at a thousandth of where it began.
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
