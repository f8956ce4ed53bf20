package sequence

import (
	"context"
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

func (k LocalAlignment) values(ctx context.Context, t *task) error {
	k = k.filled()
	s := newScoring(t.alphabet, k.Gaps)
	return t.compare(ctx, func() comparison { return newAllAlignments(s, k) })
}

// allAlignments sums e^(β·score) over all local alignments, where the empty one counts 1.
// M(i,j) is the sum over alignments that end with the pair of letters i of x and j of y. X is the sum over
// those that then have a gap along y, and Y over those that have a gap along x after either:
//
//	M(i,j) = e^(β·score(i,j))·(1 + M + X + Y)(i−1,j−1)
//	X(i,j) = e^(−β·Open)·M(i,j−1) + e^(−β·Extend)·X(i,j−1)
//	Y(i,j) = e^(−β·Open)·(M + X)(i−1,j) + e^(−β·Extend)·Y(i−1,j)
//	sum    = 1 + Σ_ij M(i,j).
//
// The sum may be far above the largest floating-point number. Whenever it exceeds 2^256,
// all terms are divided by that factor, the 1 as well, and the divisions are counted. So only
// one logarithm is needed, at the end.
type allAlignments struct {
	weights      profile[float64]
	open, extend float64
	beta         float64 // of the logarithm that is returned, 1 to return the logarithm of the sum
	cells        []sumCell
}

// sumCell is the state that the next letter of y needs for a letter of x.
type sumCell struct{ m, x, all float64 }

func newAllAlignments(s scoring, k LocalAlignment) *allAlignments {
	a := &allAlignments{
		weights: profile[float64]{rows: make([][]float64, s.letters+1)},
		open:    special.Exp(-k.Beta * float64(s.gaps.Open)), extend: special.Exp(-k.Beta * float64(s.gaps.Extend)), beta: k.Beta,
	}
	if k.Sum {
		a.beta = 1
	}
	e := make([]float64, len(s.pair))
	for i, v := range s.pair {
		e[i] = special.Exp(k.Beta * float64(v))
	}
	n := s.letters + 1
	a.weights.of = func(c, d uint16) float64 { return e[int(c)*n+int(d)] }
	return a
}

func (a *allAlignments) begin(x []uint16) {
	a.weights.begin(x)
	a.cells = append(a.cells[:0], make([]sumCell, len(x))...)
}

// with returns log(sum)/β, or log(sum).
func (a *allAlignments) with(y []uint16) float64 {
	clear(a.cells)
	open, extend := a.open, a.extend
	start, sum, powers := 1.0, 1.0, 0
	for _, letter := range y {
		weights := a.weights.row(letter)
		cells := a.cells[:len(weights)]
		var diagonal, ended, gap float64 // M+X+Y at (i−1,j−1), M+X and Y at (i−1,j)
		for i, w := range weights {
			c := &cells[i]
			gap = float64(open*ended) + float64(extend*gap)
			m := float64(w * (start + diagonal))
			x := float64(open*c.m) + float64(extend*c.x)
			diagonal = c.all
			ended = m + x
			c.m, c.x, c.all = m, x, ended+gap
			sum += m
		}
		if sum > 0x1p256 {
			start, sum = start*0x1p-256, sum*0x1p-256
			for i := range cells {
				c := &cells[i]
				c.m, c.x, c.all = c.m*0x1p-256, c.x*0x1p-256, c.all*0x1p-256
			}
			powers++
		}
	}
	return (special.Log(sum) + float64(float64(powers)*256*math.Ln2)) / a.beta
}
