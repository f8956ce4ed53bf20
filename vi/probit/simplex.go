package probit

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// simplexMode puts β at the maximum of bᵀβ − ½βᵀAβ on the simplex, its mode when
// its prior is flat.
type simplexMode struct {
	*quadratic
}

// update implements weights.
func (s *simplexMode) update(m *model) error {
	s.measure(m)
	maximiseOnSimplex(s.b, s.a, m.mean)
	s.settle(m)
	return nil
}

// bound implements weights: the logarithm of the flat density, (P−1)!.
func (s *simplexMode) bound() float64 {
	v := special.LogGamma(float64(len(s.b)))
	return v
}

// covariance implements weights: it returns the covariance of the normal density whose exponent the
// quadratic is, on the face of the simplex on which the mode lies; the other weights do not vary.
func (s *simplexMode) covariance(m *model) la.Matrix[float64] {
	mean := m.mean
	var free []int
	for p, b := range mean {
		if b > 0 {
			free = append(free, p)
		}
	}
	n := len(free)
	cov := la.NewMatrix[float64](len(mean), len(mean))
	inverse := la.NewMatrix[float64](n, n)
	for i, p := range free {
		for j, r := range free {
			inverse.Set(i, j, s.a.At(p, r))
		}
		inverse.Row(i)[i] *= 1 + 1e-12
	}
	if n < 2 || la.Cholesky(nil, inverse) != nil {
		return cov
	}
	la.CholeskyInv(nil, inverse)
	inverse.MirrorLower()
	rows := make([]float64, n)
	var all float64
	for i := range rows {
		for _, v := range inverse.Row(i) {
			rows[i] += v
		}
		all += rows[i]
	}
	for i, p := range free {
		for j, r := range free {
			cov.Set(p, r, inverse.At(i, j)-rows[i]*rows[j]/all)
		}
	}
	return cov
}

// maximiseOnSimplex moves x to where bᵀx − ½xᵀAx is highest on the simplex, A
// positive semidefinite, by exact steps between the two weights whose gradients
// differ most.
func maximiseOnSimplex(b []float64, a la.Matrix[float64], x []float64) {
	gradient := make([]float64, len(x))
	scale := 0.0
	for p := range x {
		gradient[p] = b[p] - la.Dot(a.Row(p), x)
		scale = max(scale, math.Abs(b[p]), a.At(p, p))
	}
	for range 100000 {
		up, down := 0, -1
		for p, g := range gradient {
			if g > gradient[up] {
				up = p
			}
			if x[p] > 0 && (down < 0 || g < gradient[down]) {
				down = p
			}
		}
		if down < 0 { // x is NaN
			return
		}
		gap := gradient[up] - gradient[down]
		if !(gap > 1e-14*scale) {
			return
		}
		step := x[down]
		if curve := a.At(up, up) + a.At(down, down) - 2*a.At(up, down); gap < curve*step {
			step = gap / curve
			x[down] -= step
		} else {
			x[down] = 0
		}
		x[up] += step
		for p := range gradient {
			gradient[p] -= float64(step * (a.At(p, up) - a.At(p, down)))
		}
	}
}
