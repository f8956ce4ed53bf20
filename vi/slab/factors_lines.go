package slab

import (
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// lineMoments are the variances and means of every object's factors, or of every
// task's weights: of the lines of one side of the matrix. The other half of a sweep
// reads lines in no order, so the variances and means of a line lie side by side.
type lineMoments struct {
	both           la.Matrix[float64] // n×(M+K): a line's variances, then its means
	variance, mean la.Matrix[float64] // n×M and n×K, parts of both
}

// newMoments returns the moments of n lines, all zero.
func newMoments(n, M, K int) lineMoments {
	both := la.NewMatrix[float64](n, M+K)
	return lineMoments{both, both.Slice(0, n, 0, M), both.Slice(0, n, M, M+K)}
}

// scaleFrom sets m to the moments of line j of from times scale_j, for every j.
func (m *lineMoments) scaleFrom(from *lineMoments, scale []float64) {
	for j, t := range scale {
		v, mean := from.variance.Row(j), from.mean.Row(j)
		to := m.both.Row(j)
		for k, x := range v {
			to[k] = t * t * x
		}
		for k, x := range mean {
			to[len(v)+k] = t * x
		}
	}
}

// half is one half of a sweep: for each line, an object or a task, the statistics
// of its observed entries over the other side's moments.
type half struct {
	lines   *lines
	blocks  []int
	other   *lineMoments
	means   int       // how many of other's means enter, from the first on
	shifted bool      // the mean after those is an offset, subtracted from the entries
	base    float64   // subtracted from all entries
	scale   []float64 // t_j, with which other's moments have been multiplied; nil means 1
	weight  float64   // a factor of all statistics that is left to whoever uses them
}

// lineStats are the statistics of a line, with u_j and v_j the means and variances
// of the other side and t_j the scale. With sites t has the root of the entry's precision as a factor.
type lineStats struct {
	gram     la.Matrix[float64] // Σ t²·u·uᵀ, means×means
	cross    []float64          // Σ t²·u·y
	variance []float64          // Σ t²·v, M
	total    float64            // Σ t²·y²
}

// with stores in s, and returns, the statistics of a line that shares all but cross.
func (l *lineStats) with(s *lineStats, cross []float64) *lineStats {
	*s = *l
	s.cross = cross
	return s
}

// lineCrew works on blocks of lines side by side. A line is one worker's alone,
// so the results do not depend on how many there are.
type lineCrew struct {
	*work.Crew[*lineWorker]

	of    lineStats // what shared returns
	gram  []float64 // K×K, of complete data
	power []float64 // M, the variances of complete data
	gain  []float64 // M
}

// lineWorker is the scratch of one goroutine.
type lineWorker struct {
	ws       la.Workspace
	gathered []float64 // BlockK×(M+K+1)
	ones     []float64 // BlockK
	gram     []float64 // (K+1)×(K+1)
	own      lineStats
	variance []float64 // M
	gain     []float64 // M
}

// newLineCrew shares n workers (0: all processors) among at most the given number of
// blocks.
func newLineCrew(stop *work.Stop, n, blocks, M, K int) *lineCrew {
	worker := func(int) *lineWorker {
		w := &lineWorker{
			ws:       la.Workspace{Workers: 1},
			gathered: make([]float64, la.BlockK*(M+K+1)), ones: make([]float64, la.BlockK), gram: make([]float64, (K+1)*(K+1)),
			variance: make([]float64, M), gain: make([]float64, M),
		}
		for i := range w.ones {
			w.ones[i] = 1
		}
		return w
	}
	crew := work.NewCrew(n, blocks, worker)
	crew.Stop = stop
	return &lineCrew{
		Crew: crew,
		gram: make([]float64, K*K), power: make([]float64, M), gain: make([]float64, M),
	}
}

// each runs task for every block of lines; [lines.blocks] makes the blocks.
func (c *lineCrew) each(blocks []int, task func(w *lineWorker, block int)) {
	// The only error says that the sweep is to end, which the sweep sees itself.
	_ = c.First(len(blocks)-1, func(w *lineWorker, block int) error {
		task(w, block)
		return nil
	})
}

// stats computes the statistics of line i. The entries' rows of moments are
// gathered, with the entry itself as one more column; the means and it are
// multiplied by themselves, and the variances are summed.
func (w *lineWorker) stats(h *half, i int) *lineStats {
	M, k := len(w.variance), h.means
	width := M + k
	gathered := la.MatrixOf(la.BlockK, width+1, w.gathered[:la.BlockK*(width+1)])
	gram := la.MatrixOf(k+1, k+1, w.gram[:(k+1)*(k+1)])
	index, value := h.lines.line(i)
	if len(index) == 0 {
		gram.Fill(0)
		clear(w.variance)
	}
	var beta float64
	for first := 0; first < len(index); first += la.BlockK {
		rows := min(len(index)-first, la.BlockK)
		// A loop that does little else has several rows on their way at once.
		from, stride := h.other.both.Data, h.other.both.Stride
		for r, j := range index[first : first+rows] {
			copy(w.gathered[r*(width+1):][:width], from[int(j)*stride:])
		}
		for r, j := range index[first : first+rows] {
			y := value[first+r] - h.base
			if h.scale != nil {
				y *= h.scale[j]
			}
			if h.shifted {
				y -= from[int(j)*stride+width]
			}
			w.gathered[r*(width+1)+width] = y
		}
		if roots := h.lines.root; roots != nil {
			w.weigh(roots[h.lines.start[i]+first:][:rows], M, width+1)
		}
		la.Syrk(&w.ws, la.Transpose, 1, gathered.Slice(0, rows, M, width+1), beta, gram)
		la.Gemv(&w.ws, la.Transpose, 1, gathered.Slice(0, rows, 0, M), w.ones[:rows], beta, w.variance)
		beta = 1
	}
	last := gram.Row(k)
	w.own = lineStats{gram: gram.Slice(0, k, 0, k), cross: last[:k], variance: w.variance, total: last[k]}
	w.own.gram.MirrorLower()
	return &w.own
}

// weigh multiplies the variances of gathered rows by the precisions of their entries, whose roots are given, and the means and
// the entries by the roots.
func (w *lineWorker) weigh(roots []float64, variances, width int) {
	for r, t := range roots {
		row := w.gathered[r*width:][:width]
		la.Scal(t*t, row[:variances])
		la.Scal(t, row[variances:])
	}
}

// shared returns the room for the statistics that all lines of complete data have in
// common: gram, to be filled, and variance, zero.
func (c *lineCrew) shared(means int) *lineStats {
	c.of = lineStats{gram: la.MatrixOf(means, means, c.gram[:means*means]), variance: c.power}
	clear(c.power)
	return &c.of
}

// completeObjects computes the statistics that every object has when all entries
// are observed, and m.cross.
func (m *factors) completeObjects(h *half, s *lineStats) {
	ws := &m.crew.All
	for q := range m.Q {
		la.Axpy(1, h.other.variance.Row(q), s.variance)
	}
	means := h.other.mean.Slice(0, m.Q, 0, m.M)
	la.Syrk(ws, la.Transpose, 1, means, 0, s.gram)
	s.gram.MirrorLower()
	for q, t := range h.scale {
		la.Scal(t, means.Row(q))
	}
	cross := m.cross.Slice(0, m.N, 0, m.M)
	la.Gemm(ws, la.NoTrans, la.NoTrans, 1, m.y.dense, means, 0, cross)
	if h.shifted {
		// y − c: Σ_q c_q·w_q/σ_q² is the same for all objects.
		shift := m.crew.Workers[0].variance
		clear(shift)
		for q := range m.Q {
			la.Axpy(m.task.mean.At(q, m.M), means.Row(q), shift)
		}
		for n := range m.N {
			la.Axpy(-1, shift, cross.Row(n))
		}
	}
}

// completeTasks computes the statistics that every task has when all entries are
// observed, and m.cross.
func (m *factors) completeTasks(s *lineStats) {
	for n := range m.N {
		la.Axpy(1, m.object.variance.Row(n), s.variance)
	}
	means := m.object.mean
	ws := &m.crew.All
	la.Syrk(ws, la.Transpose, 1, means, 0, s.gram)
	s.gram.MirrorLower()
	la.Gemm(ws, la.Transpose, la.NoTrans, 1, m.y.dense, means, 0, m.cross.Slice(0, m.Q, 0, m.K))
}
