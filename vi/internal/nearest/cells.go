package nearest

import (
	"math"

	"github.com/bmkl/bmkl/la"
)

const (
	rounds   = 4    // of k-means
	sample   = 64   // rows for each centre that k-means looks at
	together = 1024 // rows assigned in one task
)

// gather places the centres and sorts the rows of x into cells.
func (l *level) gather(workers int, x la.Matrix[float32]) {
	k := 1
	if l.n > fewest {
		k = int(math.Sqrt(float64(l.n)))
	}
	l.centres = x.Slice(0, min(k, x.Rows), 0, x.Cols).Clone()
	cell := make([]int32, l.n)
	if k > 1 {
		some := x.Slice(0, min(l.n, sample*k), 0, x.Cols)
		for range rounds {
			assign(workers, some, l.centres, cell)
			move(some, cell, l.centres)
		}
		assign(workers, x, l.centres, cell)
	}
	l.drop(cell)
	l.start = make([]int32, l.centres.Rows+1)
	for _, c := range cell {
		l.start[c+1]++
	}
	for c := range l.centres.Rows {
		l.start[c+1] += l.start[c]
	}
	next := append([]int32(nil), l.start...)
	l.row = make([]int32, l.n)
	l.x = la.NewMatrix[float32](l.n, x.Cols)
	for i, c := range cell {
		at := next[c]
		next[c]++
		l.row[at] = int32(i)
		copy(l.x.Row(int(at)), x.Row(i))
	}
}

// drop removes the centres of cells without rows and numbers the others anew.
func (l *level) drop(cell []int32) {
	number := make([]int32, l.centres.Rows)
	for _, c := range cell {
		number[c] = 1
	}
	var kept []int
	for c, some := range number {
		if some > 0 {
			number[c] = int32(len(kept))
			kept = append(kept, c)
		}
	}
	l.centres = l.centres.TakeRows(kept)
	for i, c := range cell {
		cell[i] = number[c]
	}
}

// assign stores in cell[i] the index of the centre nearest to row i of x. Of centres at equal
// distances the first counts.
func assign(workers int, x, centres la.Matrix[float32], cell []int32) {
	tasks := (x.Rows + together - 1) / together
	each(workers, tasks, func() *assigner { return new(assigner) }, func(a *assigner, task int) {
		lo := task * together
		hi := min(x.Rows, lo+together)
		d := a.tile(hi-lo, centres.Rows)
		la.SqDist(&a.w, x.Slice(lo, hi, 0, x.Cols), centres, d)
		for i := range hi - lo {
			best, least := 0, float32(math.Inf(1))
			for c, v := range d.Row(i) {
				if v < least {
					best, least = c, v
				}
			}
			cell[lo+i] = int32(best)
		}
	})
}

// assigner is the scratch of one goroutine.
type assigner struct {
	w la.Workspace
	d []float32
}

func (a *assigner) tile(rows, cols int) la.Matrix[float32] {
	a.w.Workers = 1
	if len(a.d) < rows*cols {
		a.d = make([]float32, rows*cols)
	}
	return la.MatrixOf(rows, cols, a.d[:rows*cols])
}

// move replaces each centre by the mean of the rows of its cell. A centre without rows stays.
func move(x la.Matrix[float32], cell []int32, centres la.Matrix[float32]) {
	sum := la.NewMatrix[float64](centres.Rows, centres.Cols)
	count := make([]int, centres.Rows)
	for i := range x.Rows {
		c := cell[i]
		count[c]++
		s := sum.Row(int(c))
		for f, v := range x.Row(i) {
			s[f] += float64(v)
		}
	}
	for c, n := range count {
		if n > 0 {
			to := centres.Row(c)
			for f, v := range sum.Row(c) {
				to[f] = float32(v / float64(n))
			}
		}
	}
}
