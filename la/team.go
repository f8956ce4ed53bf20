package la

import (
	"runtime"
	"sync/atomic"
)

// team lets the workers of one call go through phases of independent tasks
// together: each takes tasks until none is left, then waits for the others.
type team struct {
	n       int
	next    atomic.Int64
	waiting atomic.Int64
	phase   atomic.Int64
}

func (t *team) reset() {
	t.next.Store(0)
	t.waiting.Store(0)
}

// task returns the next task of the phase, counting from 0.
func (t *team) task() int { return int(t.next.Add(1)) - 1 }

// spins is how often a waiting worker looks before it lets other goroutines run
// in between: some microseconds, more than most phases are uneven by.
const spins = 4000

// wait ends a phase: it returns when all workers have called it.
func (t *team) wait() {
	phase := t.phase.Load()
	if int(t.waiting.Add(1)) == t.n {
		t.reset()
		t.phase.Add(1)
		return
	}
	for i := 0; t.phase.Load() == phase; i++ {
		if i >= spins {
			runtime.Gosched()
		}
	}
}
