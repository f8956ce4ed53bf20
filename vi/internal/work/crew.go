package work

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/bmkl/bmkl/la"
)

// Crew runs tasks, numbered from 0, on several goroutines without allocating, so that a
// sweep can do so many times. W is a worker: the scratch of one goroutine. Tasks must not
// share what they write; the results then do not depend on the number of workers.
type Crew[W any] struct {
	All     la.Workspace // of as many workers as there are, for what is not cut into tasks
	Workers []W

	// Stop, if not nil, keeps tasks from beginning once it has ended: their error is
	// why. It is not for tasks that wait for each other.
	Stop *Stop

	members []member[W]
	errs    []error // by task
	tasks   int     // of the present run
	task    func(W, int) error
	next    atomic.Int64
	wg      sync.WaitGroup
}

// member is a worker with its goroutine's function, made once.
type member[W any] struct {
	worker W
	work   func()
}

// NewCrew returns a crew for at most the given number of tasks. Of n processors (0: all that
// there are) min(n, tasks) run a task each, and every task may use its share of the n.
// worker makes the scratch of a goroutine with that share.
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

// loop runs tasks with w until none is left.
func (c *Crew[W]) loop(w W) {
	for {
		i := int(c.next.Add(1)) - 1
		if i >= c.tasks {
			return
		}
		if c.errs[i] = c.Stop.Ended(); c.errs[i] == nil {
			c.errs[i] = c.task(w, i)
		}
	}
}

// Each runs all the tasks that the crew was made for and returns the error of the first
// that has one.
func (c *Crew[W]) Each(task func(W, int) error) error { return c.First(len(c.errs), task) }

// First is Each for the first of the tasks, as many as given.
func (c *Crew[W]) First(tasks int, task func(W, int) error) error {
	c.tasks, c.task = tasks, task
	c.next.Store(0)
	others := c.members[1:max(1, min(len(c.members), tasks))]
	c.wg.Add(len(others))
	for _, m := range others {
		go m.work()
	}
	c.loop(c.members[0].worker)
	c.wg.Wait()
	for _, err := range c.errs[:tasks] {
		if err != nil {
			return err
		}
	}
	return nil
}
