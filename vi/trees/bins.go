package trees

import (
	"slices"
	"sort"

	"github.com/bmkl/bmkl/la"
)

// mostBins is the largest number of intervals of a feature.
const mostBins = 256

// binned holds the features of samples as numbers of intervals.
type binned struct {
	of    [][]uint8   // [feature][sample]
	edges [][]float64 // [feature] upper ends of all intervals but the last; a value at an end is below it
}

// bin cuts each feature into intervals of about equally many of the first train samples.
func bin(x la.Matrix[float64], train int) *binned {
	b := &binned{of: make([][]uint8, x.Cols), edges: make([][]float64, x.Cols)}
	values := make([]float64, train)
	for f := range x.Cols {
		for i := range values {
			values[i] = x.At(i, f)
		}
		slices.Sort(values)
		b.edges[f] = cuts(values, mostBins)
		b.of[f] = make([]uint8, x.Rows)
		for i := range x.Rows {
			b.of[f][i] = uint8(sort.SearchFloat64s(b.edges[f], x.At(i, f)))
		}
	}
	return b
}

// cuts returns at most most−1 numbers between distinct neighbours of sorted values: between all of them if they are few, else at equal
// steps of their ranks.
func cuts(sorted []float64, most int) (edges []float64) {
	starts := []int{} // of runs of equal values, without the first run
	for i := 1; i < len(sorted) && len(starts) < most; i++ {
		if sorted[i] > sorted[i-1] {
			starts = append(starts, i)
		}
	}
	if len(starts) == most { // there are too many
		starts = starts[:0]
		for k := 1; k < most; k++ {
			v := sorted[k*len(sorted)/most]
			at := sort.SearchFloat64s(sorted, v)
			if at == 0 {
				at = sort.Search(len(sorted), func(i int) bool { return sorted[i] > v })
			}
			starts = append(starts, at)
		}
	}
	for _, i := range starts {
		if i == len(sorted) {
			break
		}
		if e := between(sorted[i-1], sorted[i]); len(edges) == 0 || e > edges[len(edges)-1] {
			edges = append(edges, e)
		}
	}
	return edges
}

// between returns a number e with a ≤ e < b.
func between(a, b float64) float64 {
	if e := float64(0.5*a) + float64(0.5*b); e < b {
		return max(a, e)
	}
	return a
}
