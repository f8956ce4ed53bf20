package vi

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/bmkl/bmkl/la"
)

// half is one half of a sweep: for each line, an object or a task, the statistics
// of its observed entries over the other side's moments.
type half struct {
	lines  *lines
	blocks []int

	// Row j of other has the means of the other side in its first columns, as many
	// as means, and M variances from column variances on.
	other               la.Matrix[float64]
	means, variances, M int
	base                float64            // subtracted from every entry
	shift               la.Matrix[float64] // and so is column shiftAt of row j, unless empty
	shiftAt             int
	scale               []float64 // by j; nil means 1
	weight              float64   // of all statistics, applied by whoever uses them
}

// lineStats are the statistics of a line, with u_j and v_j the means and variances
// of the other side and t_j the scale.
type lineStats struct {
	gram     la.Matrix[float64] // Σ t²·u·uᵀ, means×means
	cross    []float64          // Σ t²·u·y
	variance []float64          // Σ t²·v, M
	total    float64            // Σ t²·y²
}

// with returns the statistics that share all but cross, in s.
func (l *lineStats) with(s *lineStats, cross []float64) *lineStats {
	*s = *l
	s.cross = cross
	return s
}

// lineCrew works on blocks of lines side by side. A line is one worker's alone,
// so the results do not depend on how many there are.
type lineCrew struct {
	all     la.Workspace
	workers []*lineWorker
	of      lineStats // of complete data
	gram    []float64
	power   []float64
	gain    []float64 // M

	side *half
	task func(c *lineWorker, block int)
	next atomic.Int64
	wg   sync.WaitGroup
}

// lineWorker is one goroutine's scratch.
type lineWorker struct {
	crew     *lineCrew
	ws       la.Workspace
	gathered la.Matrix[float64] // BlockK×(means+1)
	gram     la.Matrix[float64] // (means+1)×(means+1)
	own      lineStats
	variance []float64
	gain     []float64 // M
	work     func()
}

func newLineCrew(n, M int) *lineCrew {
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	c := &lineCrew{all: la.Workspace{Workers: n}, gain: make([]float64, M)}
	for range n {
		w := &lineWorker{crew: c, ws: la.Workspace{Workers: 1}, gain: make([]float64, M)}
		w.work = func() {
			defer c.wg.Done()
			w.loop()
		}
		c.workers = append(c.workers, w)
	}
	return c
}

func (w *lineWorker) loop() {
	for {
		b := int(w.crew.next.Add(1)) - 1
		if b >= len(w.crew.side.blocks)-1 {
			return
		}
		w.crew.task(w, b)
	}
}

// each runs task for every block of lines.
func (c *lineCrew) each(side *half, task func(c *lineWorker, block int)) {
	c.side, c.task = side, task
	c.next.Store(0)
	n := min(len(c.workers), len(side.blocks)-1)
	c.wg.Add(n - 1)
	for _, w := range c.workers[1:n] {
		go w.work()
	}
	c.workers[0].loop()
	c.wg.Wait()
	c.side, c.task = nil, nil
}

// stats computes the statistics of line i. The entries' means are gathered, with
// the entry itself as one more column, and multiplied by themselves.
func (w *lineWorker) stats(h *half, i int) *lineStats {
	k := h.means
	if w.gathered.Cols != k+1 {
		w.gathered = la.NewMatrix[float64](la.BlockK, k+1)
		w.gram = la.NewMatrix[float64](k+1, k+1)
		w.variance = make([]float64, h.M)
	}
	clear(w.variance)
	index, value := h.lines.line(i)
	if len(index) == 0 {
		w.gram.Fill(0)
	}
	for first := 0; first < len(index); first += la.BlockK {
		last := min(len(index), first+la.BlockK)
		for r, j := range index[first:last] {
			from := h.other.Row(int(j))
			to := w.gathered.Row(r)
			y := value[first+r] - h.base
			if h.shift.Rows > 0 {
				y -= h.shift.At(int(j), h.shiftAt)
			}
			if h.scale == nil {
				copy(to, from[:k])
				to[k] = y
				la.Axpy(1, from[h.variances:], w.variance)
				continue
			}
			t := h.scale[j]
			for c, v := range from[:k] {
				to[c] = t * v
			}
			to[k] = t * y
			la.Axpy(t*t, from[h.variances:], w.variance)
		}
		beta := 1.0
		if first == 0 {
			beta = 0
		}
		la.Syrk(&w.ws, la.Transpose, 1, w.gathered.Slice(0, last-first, 0, k+1), beta, w.gram)
	}
	gram := w.gram.Slice(0, k, 0, k)
	gram.MirrorLower()
	last := w.gram.Row(k)
	w.own = lineStats{gram: gram, cross: last[:k], variance: w.variance, total: last[k]}
	return &w.own
}

// shared returns the statistics of complete data, to be filled.
func (c *lineCrew) shared(means, M int) *lineStats {
	if len(c.gram) < means*means {
		c.gram, c.power = make([]float64, means*means), make([]float64, M)
	}
	c.of = lineStats{gram: la.MatrixOf(means, means, c.gram[:means*means]), variance: c.power}
	clear(c.power)
	return &c.of
}

// completeObjects computes the statistics that every object has when all entries
// are observed, and m.cross.
func (m *factors) completeObjects(h *half, s *lineStats) {
	means := m.task.Slice(0, m.Q, 0, m.M)
	scaled := means
	ws := &m.crew.all
	if h.scale == nil {
		for q := range m.Q {
			la.Axpy(1, m.task.Row(q)[m.K:], s.variance)
		}
	} else {
		scaled = m.scaled
		for q, t := range h.scale {
			row := m.task.Row(q)
			to := scaled.Row(q)
			for k, v := range row[:m.M] {
				to[k] = t * v
			}
			la.Axpy(t*t, row[m.K:], s.variance)
		}
	}
	la.Syrk(ws, la.Transpose, 1, scaled, 0, s.gram)
	s.gram.MirrorLower()
	if h.scale != nil {
		for q, t := range h.scale {
			la.Scal(t, scaled.Row(q))
		}
	}
	cross := m.cross.Slice(0, m.N, 0, m.M)
	la.Gemm(ws, la.NoTrans, la.NoTrans, 1, m.y.dense, scaled, 0, cross)
	if h.shift.Rows > 0 {
		// y − c: Σ_q c_q·w_q/σ_q² is the same for all objects.
		w := m.crew.workers[0]
		shift := w.vector(m.M)
		for q := range m.Q {
			la.Axpy(m.task.At(q, m.M), scaled.Row(q), shift)
		}
		for n := range m.N {
			la.Axpy(-1, shift, cross.Row(n))
		}
	}
}

// completeTasks computes the statistics that every task has when all entries are
// observed, and m.cross.
func (m *factors) completeTasks(_ *half, s *lineStats) {
	for n := range m.N {
		la.Axpy(1, m.object.Row(n)[m.K:], s.variance)
	}
	means := m.object.Slice(0, m.N, 0, m.K)
	ws := &m.crew.all
	la.Syrk(ws, la.Transpose, 1, means, 0, s.gram)
	s.gram.MirrorLower()
	la.Gemm(ws, la.Transpose, la.NoTrans, 1, m.y.dense, means, 0, m.cross.Slice(0, m.Q, 0, m.K))
}

// vector returns n zeros of w's scratch.
func (w *lineWorker) vector(n int) []float64 {
	if len(w.variance) != n {
		w.variance = make([]float64, n)
	}
	clear(w.variance)
	return w.variance
}
