package slab

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
)

// Observed holds the observed entries of a matrix of N objects and Q tasks:
// samples and outputs, users and films, pixels and patches. It is immutable.
//
// Complete data take 8 bytes an entry. Data with gaps take 24: value and index
// by object and again by task, since the two halves of a sweep read them in
// these two orders.
type Observed struct {
	n, q  int
	dense la.Matrix[float64] // N×Q, if every entry is observed

	byObject, byTask lines // otherwise
}

// Entry is one observed entry.
type Entry struct {
	Object, Task int32   // row and column of the table
	Value        float64 // y_nq
}

// lines are the observed entries of each row, or of each column, of a matrix.
type lines struct {
	start []int   // line i has the entries start[i] … start[i+1]−1
	index []int32 // the other coordinate, ascending within a line
	value []float64
	root  []float64 // with sites the roots of the entries' precisions; else nil
}

// ObserveMatrix observes the entries of y, N×Q, that are not NaN.
func ObserveMatrix(y la.Matrix[float64]) (*Observed, error) {
	count := 0
	for n := range y.Rows {
		for q, v := range y.Row(n) {
			if math.IsInf(v, 0) {
				return nil, fmt.Errorf("vi: y: entry (%d, %d) is %g", n, q, v)
			}
			if !math.IsNaN(v) {
				count++
			}
		}
	}
	if count == 0 {
		return nil, fmt.Errorf("vi: y: %d×%d, and no entry is observed", y.Rows, y.Cols)
	}
	if count == y.Rows*y.Cols {
		return &Observed{n: y.Rows, q: y.Cols, dense: y.Clone()}, nil
	}
	entries := make([]Entry, 0, count)
	for n := range y.Rows {
		for q, v := range y.Row(n) {
			if !math.IsNaN(v) {
				entries = append(entries, Entry{int32(n), int32(q), v})
			}
		}
	}
	return ObserveEntries(y.Rows, y.Cols, entries)
}

// ObserveEntries observes the entries, in any order, of an N×Q matrix. An entry
// that is given twice is an error.
func ObserveEntries(N, Q int, entries []Entry) (*Observed, error) {
	if N < 1 || Q < 1 || N > math.MaxInt32 || Q > math.MaxInt32 {
		return nil, fmt.Errorf("vi: y: %d×%d", N, Q)
	}
	if len(entries) == 0 {
		return nil, fmt.Errorf("vi: entries: there is none")
	}
	for i, e := range entries {
		switch {
		case e.Object < 0 || int(e.Object) >= N || e.Task < 0 || int(e.Task) >= Q:
			return nil, fmt.Errorf("vi: entries[%d]: (%d, %d) in a matrix of %d×%d", i, e.Object, e.Task, N, Q)
		case math.IsNaN(e.Value) || math.IsInf(e.Value, 0):
			return nil, fmt.Errorf("vi: entries[%d]: the value is %g", i, e.Value)
		}
	}
	// Two counting sorts: by task in the order given, then by object from that,
	// which leaves the tasks of an object ascending, and back.
	task := newLines(Q, len(entries), func(yield func(line, other int32, value float64)) {
		for _, e := range entries {
			yield(e.Task, e.Object, e.Value)
		}
	})
	y := &Observed{n: N, q: Q, byObject: task.turned(N)}
	for n := range N {
		row, _ := y.byObject.line(n)
		for i := 1; i < len(row); i++ {
			if row[i] == row[i-1] {
				return nil, fmt.Errorf("vi: entries: (%d, %d) is there twice", n, row[i])
			}
		}
	}
	y.byTask = y.byObject.turned(Q)
	return y, nil
}

// newLines sorts entries into n lines; each passes them all to its argument, and
// is called twice.
func newLines(n, entries int, each func(yield func(line, other int32, value float64))) lines {
	l := lines{start: make([]int, n+1), index: make([]int32, entries), value: make([]float64, entries)}
	each(func(line, _ int32, _ float64) { l.start[line+1]++ })
	for i := range n {
		l.start[i+1] += l.start[i]
	}
	next := append([]int(nil), l.start[:n]...)
	each(func(line, other int32, value float64) {
		at := next[line]
		next[line]++
		l.index[at], l.value[at] = other, value
	})
	return l
}

// turned returns the same entries by the other coordinate, which has n values.
func (l *lines) turned(n int) lines {
	return newLines(n, len(l.index), func(yield func(line, other int32, value float64)) {
		for i := range len(l.start) - 1 {
			index, value := l.line(i)
			for k, j := range index {
				yield(j, int32(i), value[k])
			}
		}
	})
}

// line returns the entries of line i.
func (l *lines) line(i int) ([]int32, []float64) {
	a, b := l.start[i], l.start[i+1]
	return l.index[a:b], l.value[a:b]
}

// Dims returns the numbers of objects, tasks and observed entries.
func (y *Observed) Dims() (N, Q, entries int) {
	if y.complete() {
		return y.n, y.q, y.n * y.q
	}
	return y.n, y.q, len(y.byObject.index)
}

// complete reports whether every entry is observed.
func (y *Observed) complete() bool { return y.dense.Rows > 0 }

// InUnits returns the same entries in other units, (y_nq − center_q)/scale_q for y_nq. center and scale hold Q values.
func (y *Observed) InUnits(center, scale []float64) *Observed {
	return y.InUnitsOf(make([]int, y.n), [][]float64{center}, scale)
}

// InUnitsOf is InUnits with centers of groups: center[group[n]] holds the centers of object n.
func (y *Observed) InUnitsOf(group []int, center [][]float64, scale []float64) *Observed {
	to := *y
	if y.complete() {
		to.dense = y.dense.Clone()
		for n := range y.n {
			row := to.dense.Row(n)
			for q, v := range row {
				row[q] = (v - center[group[n]][q]) / scale[q]
			}
		}
		return &to
	}
	to.byObject.value, to.byTask.value = slices.Clone(y.byObject.value), slices.Clone(y.byTask.value)
	for n := range y.n {
		index, value := to.byObject.line(n)
		for i, q := range index {
			value[i] = (value[i] - center[group[n]][q]) / scale[q]
		}
	}
	for q := range y.q {
		index, value := to.byTask.line(q)
		for i, n := range index {
			value[i] = (value[i] - center[group[n]][q]) / scale[q]
		}
	}
	return &to
}

// moments returns the mean of the entries and their variance.
func (y *Observed) moments() (mean, variance float64) {
	_, _, count := y.Dims()
	each := func(do func(float64)) {
		for _, v := range y.byObject.value {
			do(v)
		}
		for _, v := range y.dense.Data {
			do(v)
		}
	}
	each(func(v float64) { mean += v / float64(count) })
	each(func(v float64) { variance += float64((v-mean)*(v-mean)) / float64(count) })
	return mean, variance
}

// blocks cuts the lines into blocks of consecutive ones of similar work, which do
// not depend on the number of workers; block b ends before line cuts[b+1]. Of
// complete data l is empty and every line has the same length.
func (l *lines) blocks(n, length int) (cuts []int) {
	const entries, most = 16384, 256
	cuts = []int{0}
	work := 0
	for i := range n {
		if len(l.start) > 0 {
			length = l.start[i+1] - l.start[i]
		}
		work += length
		if work >= entries || i+1-cuts[len(cuts)-1] == most || i+1 == n {
			cuts = append(cuts, i+1)
			work = 0
		}
	}
	return cuts
}

// Object returns the tasks observed in object n and the entries.
func (y *Observed) Object(n int) (tasks []int, entries []float64) {
	if y.complete() {
		for q := range y.q {
			tasks = append(tasks, q)
		}
		return tasks, append([]float64(nil), y.dense.Row(n)...)
	}
	index, value := y.byObject.line(n)
	for _, q := range index {
		tasks = append(tasks, int(q))
	}
	return tasks, append([]float64(nil), value...)
}
