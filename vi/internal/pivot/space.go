// Package pivot is what predictions from a few pivots are made of: a pivoted Cholesky
// factorisation of a kernel that grows, and quadratic forms of the coordinates that it gives
// samples. docs/theory/predictor.md has the mathematics.
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

// Space is the result of the pivoted Cholesky factorisation of a kernel of N samples: the pivots,
// each the sample that had the largest residual, and K ≈ WᵀW. Column n of W has the coordinates of
// sample n in the subspace of feature space that the pivots span.
type Space struct {
	Pivots []int
	W      [][]float64 // a row of N for each pivot
	Left   []float64   // N, K_nn less (WᵀW)_nn
	Most   float64     // the largest K_nn

	finished bool

	// The rows of W lie in blocks of memory; room is the memory of the last block.
	blocks []la.Matrix[float64]
	room   []float64
	known  [blockRows]float64
	ws     *la.Workspace
}

// blockRows is how many rows of W a block of memory has.
const blockRows = 32

// NewSpace returns a space without pivots of the kernel whose diagonal is given, which it keeps.
func NewSpace(diagonal []float64) Space {
	s := Space{Left: diagonal, ws: &la.Workspace{}}
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

// Largest returns the sample with the largest residual, and this residual.
func (s *Space) Largest() (sample int, residual float64) {
	for n, v := range s.Left {
		if v > s.Left[sample] {
			sample = n
		}
	}
	return sample, s.Left[sample]
}

// Grow adds pivots, at most so many in all, until the largest residual is at most limit, or
// round-off. The function column stores the kernels of a sample with all samples.
func (s *Space) Grow(column func(n int, dst []float64), limit float64, most int) {
	for !s.finished && len(s.Pivots) < min(most, len(s.Left)) {
		pivot, largest := s.Largest()
		if largest <= limit {
			return
		}
		if !(largest > s.Spare()) {
			s.finished = true
			return
		}
		s.Add(pivot, column)
	}
}

// Add makes a sample with a positive residual the next pivot. The function column is as in Grow.
func (s *Space) Add(pivot int, column func(n int, dst []float64)) {
	residual := s.Left[pivot]
	row := s.newRow()
	column(pivot, row)
	for _, b := range s.blocks { // row −= Σ_i w_i[pivot]·w_i
		known := s.known[:b.Rows]
		for i := range known {
			known[i] = b.At(i, pivot)
		}
		la.Gemv(s.ws, la.Transpose, -1, b, known, 1, row)
	}
	la.Scal(1/math.Sqrt(residual), row)
	for _, n := range s.Pivots {
		row[n] = 0
	}
	row[pivot] = math.Sqrt(residual)
	for n, v := range row {
		s.Left[n] = max(0, s.Left[n]-float64(v*v))
	}
	s.Left[pivot] = 0
	s.W, s.Pivots = append(s.W, row), append(s.Pivots, pivot)
	last := &s.blocks[len(s.blocks)-1]
	*last = la.MatrixOf(last.Rows+1, len(row), s.room[:(last.Rows+1)*len(row)])
}

// newRow returns the memory of the next row of W.
func (s *Space) newRow() []float64 {
	N := len(s.Left)
	if len(s.Pivots)%blockRows == 0 {
		s.room = make([]float64, min(blockRows, N-len(s.Pivots))*N)
		s.blocks = append(s.blocks, la.MatrixOf(0, N, s.room[:0]))
	}
	at := len(s.Pivots) % blockRows * N
	return s.room[at : at+N : at+N]
}

// Matrix returns a copy of the first m rows of W.
func (s *Space) Matrix(m int) la.Matrix[float64] {
	w := la.NewMatrix[float64](m, len(s.Left))
	for i, row := range s.W[:m] {
		copy(w.Row(i), row)
	}
	return w
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
// shift is the shift that Invert returned.
func (s *Space) Hidden(shift float64) float64 {
	return float64(2*shift) + float64(shift*shift) + float64(Unit*float64(len(s.Pivots)+16))
}
