package work

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/bmkl/bmkl/la"
)

// crew runs the tasks 0 … n−1, several side by side, without allocating. W is a
// worker: the scratch of one goroutine. Tasks never share what they write, so the
// results do not depend on the number of workers.
type Crew[W any] struct {
	All     la.Workspace // every worker, for passes over the kernels
	Workers []W

	members []member[W]
	errs    []error // by task
	task    func(W, int) error
	next    atomic.Int64
	wg      sync.WaitGroup
}

// member is a worker with its goroutine's function, made once.
type member[W any] struct {
	worker W
	work   func()
}

// NewCrew shares n workers (0: all processors) among the given number of tasks:
// min(n, tasks) at a time, each made by worker with an equal share of them.
func NewCrew[W any](n, tasks int, worker func(share int) W) *Crew[W] {
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	c := &Crew[W]{All: la.Workspace{Workers: n}, errs: make([]error, tasks)}
	for range min(n, tasks) {
		w := worker(max(1, n/min(n, tasks)))
		c.Workers = append(c.Workers, w)
		c.members = append(c.members, member[W]{w, func() {
			defer c.wg.Done()
			c.loop(w)
		}})
	}
	return c
}

func (c *Crew[W]) loop(w W) {
	for {
		i := int(c.next.Add(1)) - 1
		if i >= len(c.errs) {
			return
		}
		c.errs[i] = c.task(w, i)
	}
}

// each runs task for every i and returns the error of the first that has one.
func (c *Crew[W]) Each(task func(W, int) error) error {
	c.task = task
	c.next.Store(0)
	c.wg.Add(len(c.members) - 1)
	for _, m := range c.members[1:] {
		go m.work()
	}
	c.loop(c.members[0].worker)
	c.wg.Wait()
	for _, err := range c.errs {
		if err != nil {
			return err
		}
	}
	return nil
}
