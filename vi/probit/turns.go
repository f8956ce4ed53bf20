package probit

import "sync"

// turns lets tasks add to a common sum in their order.
type turns struct {
	mu   sync.Mutex
	cond sync.Cond
	next int
}

// reset lets task 0 have its turn.
func (t *turns) reset() {
	t.next = 0
	t.cond.L = &t.mu
}

// wait returns when all tasks before i have called done.
func (t *turns) wait(i int) {
	t.mu.Lock()
	for t.next != i {
		t.cond.Wait()
	}
	t.mu.Unlock()
}

// done gives the turn to the next task.
func (t *turns) done() {
	t.mu.Lock()
	t.next++
	t.mu.Unlock()
	t.cond.Broadcast()
}
