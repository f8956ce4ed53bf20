package nearest

import (
	"cmp"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// group is the largest number of queries that are answered together.
const group = 64

// Search stores in near[q·m:(q+1)·m] the m rows nearest to row q of x, from the nearest to the
// furthest. Of rows at equal distances the first is nearer. If before is not nil, only rows
// smaller than before[q] count. Where there are fewer rows than m, −1 stands in the remaining
// places. Distances of NaN do not count.
func (ix *Index) Search(workers int, x la.Matrix[float32], before []int, m int, near []int32) {
	s := &search{ix: ix, x: x, before: before, m: m, near: near}
	s.order(workers)
	each(workers, len(s.groups), func() *searcher { return &searcher{search: s} }, func(w *searcher, task int) {
		w.answer(s.groups[task])
	})
}

// search is a call of Search: queries in the order in which they are answered.
type search struct {
	ix     *Index
	x      la.Matrix[float32]
	before []int
	m      int
	near   []int32

	queries []int32
	groups  []span
}

// span is the queries lo ≤ i < hi in their order, all of one level.
type span struct{ level, lo, hi int }

// order sorts the queries by level and cell, so that queries of a group visit the same cells, and
// cuts them into groups.
func (s *search) order(workers int) {
	n := s.x.Rows
	s.queries = make([]int32, n)
	lev, cell := make([]int32, n), make([]int32, n)
	for i := range n {
		s.queries[i] = int32(i)
		lev[i] = int32(len(s.ix.levels) - 1)
		if s.before != nil {
			lev[i] = int32(s.ix.levelOf(s.before[i]))
		}
	}
	for l := range s.ix.levels {
		if c := s.ix.levels[l].centres; c.Rows > 1 {
			s.cells(workers, lev, int32(l), c, cell)
		}
	}
	slices.SortFunc(s.queries, func(a, b int32) int {
		return cmp.Or(cmp.Compare(lev[a], lev[b]), cmp.Compare(cell[a], cell[b]), cmp.Compare(a, b))
	})
	for lo := 0; lo < n; {
		l := lev[s.queries[lo]]
		hi := lo + 1
		for hi < n && hi < lo+group && lev[s.queries[hi]] == l {
			hi++
		}
		s.groups = append(s.groups, span{int(l), lo, hi})
		lo = hi
	}
}

// cells finds the cells of the queries of a level.
func (s *search) cells(workers int, lev []int32, level int32, centres la.Matrix[float32], cell []int32) {
	var of []int
	for i, l := range lev {
		if l == level {
			of = append(of, i)
		}
	}
	found := make([]int32, len(of))
	assign(workers, s.x.TakeRows(of), centres, found)
	for i, q := range of {
		cell[q] = found[i]
	}
}

// searcher is the scratch of one goroutine.
type searcher struct {
	*search
	assigner
	x, some []float32
	near    [group]few
	visits  few
	visit   []visit
	first   []int32 // the rank of a cell for the query to which it is the nearest
}

// visit is a query's visit to a cell, whose first rows count.
type visit struct{ cell, query, rows int32 }

// answer answers a group of queries.
func (w *searcher) answer(g span) {
	l := &w.ix.levels[g.level]
	n, cols := g.hi-g.lo, w.search.x.Cols
	w.x = grown(w.x, group*cols)
	w.some = grown(w.some, group*cols)
	q := la.MatrixOf(n, cols, w.x)
	for i := range n {
		copy(q.Row(i), w.search.x.Row(int(w.queries[g.lo+i])))
		w.near[i].reset(w.m)
	}
	w.plan(l, q)
	for lo := 0; lo < len(w.visit); {
		hi := lo + 1
		for hi < len(w.visit) && w.visit[hi].cell == w.visit[lo].cell {
			hi++
		}
		w.look(l, g, q, w.visit[lo:hi])
		lo = hi
	}
	for i := range n {
		keys := w.near[i].sorted()
		out := w.search.near[int(w.queries[g.lo+i])*w.m:][:w.m]
		for j := range out {
			out[j] = -1
			if j < len(keys) {
				out[j] = rowOf(keys[j])
			}
		}
	}
}

// plan lists the visits of queries to cells, cell by cell. Cells that are the nearest to a query
// come first: the sooner near rows are found, the fewer others are kept for a while.
func (w *searcher) plan(l *level, q la.Matrix[float32]) {
	w.visit = w.visit[:0]
	d := w.tile(q.Rows, l.centres.Rows)
	la.SqDist(&w.w, q, l.centres, d)
	if len(w.first) < l.centres.Rows {
		w.first = make([]int32, l.centres.Rows)
	}
	for i := range w.first {
		w.first[i] = math.MaxInt32
	}
	for i := range q.Rows {
		for r, k := range w.visits.all(d.Row(i), l.visits) {
			c := rowOf(k)
			w.first[c] = min(w.first[c], int32(r))
			w.visit = append(w.visit, visit{cell: c, query: int32(i)})
		}
	}
	slices.SortFunc(w.visit, func(a, b visit) int {
		return cmp.Or(cmp.Compare(w.first[a.cell], w.first[b.cell]), cmp.Compare(a.cell, b.cell), cmp.Compare(a.query, b.query))
	})
}

// look offers the rows of a cell to the queries that visit it.
func (w *searcher) look(l *level, g span, q la.Matrix[float32], visits []visit) {
	lo, hi := int(l.start[visits[0].cell]), int(l.start[visits[0].cell+1])
	rows := l.row[lo:hi]
	some := la.MatrixOf(len(visits), q.Cols, w.some)
	most := len(rows)
	if w.before != nil {
		most = 0
	}
	for i, v := range visits {
		copy(some.Row(i), q.Row(int(v.query)))
		if w.before != nil {
			k, _ := slices.BinarySearch(rows, int32(w.before[w.queries[g.lo+int(v.query)]]))
			visits[i].rows = int32(k)
			most = max(most, k)
		} else {
			visits[i].rows = int32(most)
		}
	}
	if most == 0 {
		return
	}
	d := w.tile(len(visits), most)
	la.SqDist(&w.w, some, l.x.Slice(lo, lo+most, 0, q.Cols), d)
	for i, v := range visits {
		h := &w.near[v.query]
		for j, u := range d.Row(i)[:v.rows] {
			if u <= h.most {
				h.offer(u, rows[j])
			}
		}
	}
}

// grown returns x or, if it is too short, a new slice of n elements.
func grown(x []float32, n int) []float32 {
	if len(x) < n {
		return make([]float32, n)
	}
	return x
}

// each runs tasks on several goroutines, each with scratch of its own.
func each[W any](workers, tasks int, scratch func() W, task func(W, int)) {
	crew := work.NewCrew(workers, max(1, tasks), func(int) W { return scratch() })
	_ = crew.First(tasks, func(w W, i int) error { task(w, i); return nil })
}
