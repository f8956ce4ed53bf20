// Package nearest finds the nearest of many rows, and the nearest among earlier rows.
//
// The rows lie in about √n cells around centres that a few rounds of k-means place. A query visits
// the cells whose centres are nearest to it. The index measures how many of them a recall of 99 %
// needs, on a sample of its own rows. What a query finds does not depend on other queries, on the
// number of workers or on the processor.
//
// # Files
//
//	nearest.go  Index: what it holds, how it is made
//	cells.go    cells of rows: k-means
//	visits.go   how many cells a query visits
//	search.go   queries
//	few.go      the nearest rows so far
package nearest

import (
	"github.com/bmkl/bmkl/la"
)

const (
	// Recall is the share of the true neighbours that a query finds, on average over the rows.
	Recall = 0.99

	// fewest is the number of rows up to which a query visits all rows: fewer are not worth cells.
	fewest = 2048

	// step is the ratio of the numbers of rows of two levels. A query for earlier rows uses the level
	// whose rows include its own place: at least one row in step is earlier.
	step = 4
)

// Index finds the nearest rows of a matrix. It is safe for concurrent use.
type Index struct {
	rows, features int
	levels         []level // of ever more rows, the last of all
}

// level is the index of the first n rows.
type level struct {
	n       int
	centres la.Matrix[float32]
	start   []int32            // cell c holds places start[c] ≤ i < start[c+1]
	row     []int32            // the row at a place, ascending within a cell
	x       la.Matrix[float32] // row row[i] of the matrix as row i
	visits  int                // cells that a query visits
}

// New returns an index of the rows of x, whose order must be random: the first rows are taken for
// a sample of all. Searches are for about m neighbours. The index holds a copy of x; a level
// needs as much memory again as its rows.
func New(workers int, x la.Matrix[float32], m int) *Index {
	ix := &Index{rows: x.Rows, features: x.Cols}
	sizes := []int{x.Rows}
	for n := x.Rows; n > fewest; {
		n = (n + step - 1) / step
		sizes = append(sizes, n)
	}
	for i := len(sizes) - 1; i >= 0; i-- {
		ix.levels = append(ix.levels, newLevel(workers, x.Slice(0, sizes[i], 0, x.Cols), m))
	}
	return ix
}

// newLevel returns the index of all rows of x.
func newLevel(workers int, x la.Matrix[float32], m int) level {
	l := level{n: x.Rows}
	l.gather(workers, x)
	l.visits = l.enough(workers, x, m)
	return l
}

// levelOf returns the number of the level for a query among the first before rows.
func (ix *Index) levelOf(before int) int {
	for i := range ix.levels {
		if before <= ix.levels[i].n {
			return i
		}
	}
	return len(ix.levels) - 1
}

// Visited returns the share of the cells that a query among all rows visits.
func (ix *Index) Visited() float64 {
	l := &ix.levels[len(ix.levels)-1]
	return float64(l.visits) / float64(max(1, l.centres.Rows))
}
