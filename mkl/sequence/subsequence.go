package sequence

import (
	"context"
	"slices"

	"github.com/bmkl/bmkl/la"
)

func (k Subsequence) values(ctx context.Context, t *task) error {
	k = k.filled()
	return t.compare(ctx, func() comparison {
		return &subsequences{letters: k.K, decay: k.Decay, unknown: uint16(t.alphabet.size())}
	})
}

// subsequences sums over common subsequences. P_0 = 1, and P_n(i,j) is the sum over the common subsequences
// of n letters within the first i letters of x and j letters of y. Each counts λ to the power of its length,
// measured from its first letter to i and to j:
//
//	E_n(i,j) = λE_n(i,j−1) + λ²[x_i = y_j]·P_{n−1}(i−1,j−1)   over subsequences that end at x_i
//	P_n(i,j) = λP_n(i−1,j) + E_n(i,j)
//	k(x,y)   = λ² Σ_{x_i = y_j} P_{K−1}(i−1,j−1).
type subsequences struct {
	letters int
	decay   float64
	unknown uint16

	x       []uint16
	p, next []float64 // rows of the matrices of P_n and P_{n+1}
}

func (s *subsequences) begin(x []uint16) { s.x = x }

func (s *subsequences) with(y []uint16) float64 {
	rows, cols := len(s.x)+1, len(y)+1
	s.p = slices.Grow(s.p[:0], rows*cols)
	s.next = slices.Grow(s.next[:0], rows*cols)
	p, next := la.MatrixOf(rows, cols, s.p[:rows*cols]), la.MatrixOf(rows, cols, s.next[:rows*cols])
	for i := range p.Data {
		p.Data[i] = 1
	}
	square := s.decay * s.decay
	for n := 1; ; n++ {
		total := 0.0
		clear(next.Row(0))
		for i, c := range s.x {
			before, above, row := p.Row(i), next.Row(i), next.Row(i+1)
			ending := 0.0
			row[0] = 0
			for j, d := range y {
				ending = float64(ending * s.decay)
				if c == d && c != s.unknown {
					ending += float64(square * before[j])
					total += float64(square * before[j])
				}
				row[j+1] = float64(s.decay*above[j+1]) + ending
			}
		}
		if n == s.letters {
			return total
		}
		p, next = next, p
	}
}
