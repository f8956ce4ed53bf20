package vi

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// worker is one goroutine's scratch.
type worker struct {
	ws     la.Workspace
	factor la.Matrix[float64]    // D×D, lower triangle
	d1, d2 []float64             // D
	n1     []float64             // N
	p1     []float64             // P
	masked [2]la.Matrix[float64] // P×N, only when targets are missing
	pp     la.Matrix[float64]    // P×P
	small  gaussian              // P
	cone   special.Cone
	work   func()
	crew   *crew
}

// crew runs a task for each output, several outputs side by side, without
// allocating. Outputs never share what they write, so the results do not
// depend on the number of workers.
type crew struct {
	all     la.Workspace // every worker, for passes over the kernels
	workers []*worker
	errs    []error // by output

	task func(*worker, int) error
	next atomic.Int64
	wg   sync.WaitGroup
}

// newCrew shares n workers (0: all processors) among the L outputs: min(n, L)
// tasks at a time, each with an equal share of them.
func newCrew(n, L int) *crew {
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	c := &crew{all: la.Workspace{Workers: n}, errs: make([]error, L)}
	for range min(n, L) {
		w := &worker{crew: c, ws: la.Workspace{Workers: max(1, n/min(n, L))}}
		w.work = func() {
			defer c.wg.Done()
			w.loop()
		}
		c.workers = append(c.workers, w)
	}
	return c
}

func (w *worker) loop() {
	for {
		o := int(w.crew.next.Add(1)) - 1
		if o >= len(w.crew.errs) {
			return
		}
		w.crew.errs[o] = w.crew.task(w, o)
	}
}

// each runs task for every output and returns the error of the first output
// that has one.
func (c *crew) each(task func(*worker, int) error) error {
	c.task = task
	c.next.Store(0)
	c.wg.Add(len(c.workers) - 1)
	for _, w := range c.workers[1:] {
		go w.work()
	}
	c.workers[0].loop()
	c.wg.Wait()
	for _, err := range c.errs {
		if err != nil {
			return err
		}
	}
	return nil
}
