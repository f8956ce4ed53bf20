// Package pivot is what predictions from a few pivots are made of: a pivoted Cholesky
// factorisation of a kernel that grows, and quadratic forms of the coordinates that it gives
// samples. docs/predictor.md has the mathematics.
//
//	space.go    Space: the subspace of a kernel's feature space that its pivots span
//	forms.go    Forms: quadratic forms of coordinates, by a few combinations of these
package pivot

import (
	"math"

	"github.com/bmkl/bmkl/la"
)

// Unit is the unit of round-off in the allowances for rounding.
const Unit = 0x1p-52

// Space is what the pivoted Cholesky factorisation of a kernel of N samples tells: the pivots,
// each the sample that had the largest residual, and K ≈ WᵀW. Column n of W has the coordinates
// of sample n in the subspace of feature space that the pivots span.
type Space struct {
	Pivots []int
	W      [][]float64 // a row of N for each pivot
	Left   []float64   // N, K_nn less that of WᵀW
	Most   float64     // the largest K_nn

	finished bool
}

// NewSpace returns a space without pivots of the kernel whose diagonal is given, which it keeps.
func NewSpace(diagonal []float64) Space {
	s := Space{Left: diagonal}
	for _, v := range diagonal {
		s.Most = max(s.Most, v)
	}
	return s
}

// Spare is what round-off can hide of a residual.
func (s *Space) Spare() float64 { return float64(8 * Unit * float64(len(s.Left)) * s.Most) }

// The subspace leaves δ(n) = ⟨(I−P)φ(x), (I−P)φ(x_n)⟩ out of the kernel of a sample x with sample n,
// P being the projection on it. With residuals r(x) = |(I−P)φ(x)|², |δ(n)| ≤ √r(x)·√r(x_n).

// Sum returns Σ_n |w_n|·√r(x_n): |Σ_n w_n·δ(n)| is at most √r(x) times that.
func (s *Space) Sum(w []float64) (sum float64) {
	for n, v := range s.Left {
		sum += float64(math.Abs(w[n]) * math.Sqrt(v+s.Spare()))
	}
	return sum
}

// Length returns √(Σ_n w_n²·r(x_n)): √(Σ_n (w_n·δ(n))²) is at most √r(x) times that. If w is nil,
// every w_n is 1.
func (s *Space) Length(w []float64) float64 {
	var sum float64
	for n, v := range s.Left {
		v += s.Spare()
		if w != nil {
			v *= w[n] * w[n]
		}
		sum += v
	}
	return math.Sqrt(sum)
}

// Grow adds pivots, at most so many in all, until the largest residual is at most limit, or
// round-off. column returns the kernels of a sample with all samples.
func (s *Space) Grow(column func(n int) []float64, limit float64, most int) {
	for !s.finished && len(s.Pivots) < min(most, len(s.Left)) {
		pivot := 0
		for n, v := range s.Left {
			if v > s.Left[pivot] {
				pivot = n
			}
		}
		largest := s.Left[pivot]
		if largest <= limit {
			return
		}
		if !(largest > s.Spare()) {
			s.finished = true
			return
		}
		row := append([]float64(nil), column(pivot)...)
		for _, w := range s.W {
			la.Axpy(-w[pivot], w, row)
		}
		la.Scal(1/math.Sqrt(largest), row)
		for _, n := range s.Pivots {
			row[n] = 0
		}
		row[pivot] = math.Sqrt(largest)
		for n, v := range row {
			s.Left[n] = max(0, s.Left[n]-float64(v*v))
		}
		s.Left[pivot] = 0
		s.W, s.Pivots = append(s.W, row), append(s.Pivots, pivot)
	}
}

// Invert stores in l, of the order of the pivots, the lower triangle L⁻¹ with which t = L⁻¹k are
// the coordinates of a sample with the kernels k, and returns what round-off can add to |t|, of
// kernels that are sums of so many terms, per unit of √k(x,x).
func (s *Space) Invert(l la.Matrix[float64], terms int) (shift float64) {
	for i, n := range s.Pivots {
		for j := range i + 1 {
			l.Set(i, j, s.W[j][n])
		}
	}
	if len(s.Pivots) > 0 {
		la.TriInv(nil, l)
	}
	var squares float64
	for i := range s.Pivots {
		squares += la.SumSq(l.Row(i)[:i+1])
	}
	m := float64(len(s.Pivots))
	return float64(Unit * (m + 15 + float64(terms)) * math.Sqrt(squares*m*s.Most))
}

// Hidden returns what round-off can add to the residual k(x,x) − |t|², per unit of k(x,x), where
// shift is that of Invert.
func (s *Space) Hidden(shift float64) float64 {
	return float64(2*shift) + float64(shift*shift) + float64(Unit*float64(len(s.Pivots)+16))
}
