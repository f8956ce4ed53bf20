package nearest

import (
	"math"

	"github.com/bmkl/bmkl/la"
)

// judged is the number of rows whose neighbours are compared with the true ones.
const judged = 256

// enough returns the number of cells to visit for the wanted recall of m neighbours. For each of the
// first rows it finds the true neighbours among half of the rows, as they are what a search for
// earlier rows finds in the middle, and how many centres are nearer than the centre of each neighbour.
func (l *level) enough(workers int, x la.Matrix[float32], m int) int {
	k := l.centres.Rows
	if k <= 1 {
		return k
	}
	n := min(judged, l.n)
	half := l.n / 2
	m = min(m, half-1)
	of := make([]int32, l.n) // the cell of a place
	for c := range k {
		for i := l.start[c]; i < l.start[c+1]; i++ {
			of[i] = int32(c)
		}
	}
	ranks := make([][]int32, n)
	tasks := (n + group - 1) / group
	each(workers, tasks, func() *assigner { return new(assigner) }, func(a *assigner, task int) {
		first := task * group
		q := x.Slice(first, min(n, first+group), 0, x.Cols)
		near := make([]few, q.Rows)
		for i := range near {
			near[i].reset(m)
		}
		for lo := 0; lo < l.n; lo += together {
			hi := min(l.n, lo+together)
			d := a.tile(q.Rows, hi-lo)
			la.SqDist(&a.w, q, l.x.Slice(lo, hi, 0, x.Cols), d)
			for i := range near {
				for j, v := range d.Row(i) {
					if r := int(l.row[lo+j]); v <= near[i].most && r < half && r != first+i {
						near[i].offer(v, int32(lo+j))
					}
				}
			}
		}
		d := a.tile(q.Rows, k)
		la.SqDist(&a.w, q, l.centres, d)
		rank := make([]int32, k)
		var cells few
		for i := range near {
			for r, key := range cells.all(d.Row(i), k) {
				rank[rowOf(key)] = int32(r)
			}
			for _, key := range near[i].sorted() {
				ranks[first+i] = append(ranks[first+i], rank[of[rowOf(key)]])
			}
		}
	})
	found := make([]int, k) // neighbours in the cells of a rank
	total := 0
	for _, r := range ranks {
		for _, v := range r {
			found[v]++
			total++
		}
	}
	want, sum := int(math.Ceil(Recall*float64(total))), 0
	for r, f := range found {
		if sum += f; sum >= want {
			return r + 1
		}
	}
	return k
}
