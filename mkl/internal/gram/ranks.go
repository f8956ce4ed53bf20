package gram

import (
	"slices"
	"sort"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// Ranks turns the values of features into the normal scores of their ranks
// among N samples.
type Ranks struct {
	Sorted [][]float64 // by feature, N
	score  []float64   // 2N+1: of #{x_i < v} + #{x_i ≤ v}
}

// leastRank limits the normal scores of extreme samples and of values
// beyond them.
const leastRank = 0.01

// NewRanks returns the ranks of values among the samples x.
func NewRanks(x la.Matrix[float64]) *Ranks {
	r := &Ranks{score: make([]float64, 2*x.Rows+1)}
	for k := range r.score {
		p := float64(k) / float64(2*x.Rows)
		r.score[k] = special.NormalQuantile(min(max(p, leastRank), 1-leastRank))
	}
	for j := range x.Cols {
		column := make([]float64, x.Rows)
		for i := range column {
			column[i] = x.At(i, j)
		}
		slices.Sort(column)
		r.Sorted = append(r.Sorted, column)
	}
	return r
}

// of returns the normal score of value v of feature j.
func (r *Ranks) of(j int, v float64) float64 {
	x := r.Sorted[j]
	below := sort.SearchFloat64s(x, v)
	equal := sort.Search(len(x)-below, func(i int) bool { return x[below+i] > v })
	return r.score[2*below+equal]
}
