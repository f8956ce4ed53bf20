package trees

import (
	"slices"
	"sort"

	"github.com/bmkl/bmkl/la"
)

// mostBins is the largest number of intervals of a feature. It is odd, so that an even number of ends lies on both sides of the median and
// the ends of mirrored values are the mirrored ends.
const mostBins = 255

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
// steps of their ranks. The cuts of mirrored values are the mirrored cuts.
func cuts(sorted []float64, most int) (edges []float64) {
	n := len(sorted)
	starts := []int{} // of runs of equal values, without the first run
	for i := 1; i < n && len(starts) < most; i++ {
		if sorted[i] > sorted[i-1] {
			starts = append(starts, i)
		}
	}
	if len(starts) == most { // there are too many
		starts = starts[:0]
		for k := 1; k < most; k++ {
			place := k * n / most
			if 2*k > most {
				place = n - (most-k)*n/most
			}
			if at := nearestStart(sorted, place); len(starts) == 0 || at > starts[len(starts)-1] {
				starts = append(starts, at)
			}
		}
	}
	for _, i := range starts {
		edges = append(edges, between(sorted[i-1], sorted[i]))
	}
	return edges
}

// nearestStart returns the start of a run of equal values, not of the first run, that is nearest to a place in sorted values that are not all
// equal. Of two such starts it returns the one nearer to the median.
func nearestStart(sorted []float64, place int) int {
	n, v := len(sorted), sorted[place]
	low := sort.SearchFloat64s(sorted, v)
	high := low + sort.Search(n-low, func(i int) bool { return sorted[low+i] > v })
	below, above := place-low, high-place
	switch {
	case low == 0:
		return high
	case high == n || below < above:
		return low
	case below == above && max(low, n-low) < max(high, n-high):
		return low
	}
	return high
}

// between returns a number e with a ≤ e < b.
func between(a, b float64) float64 {
	if e := float64(0.5*a) + float64(0.5*b); e < b {
		return max(a, e)
	}
	return a
}
