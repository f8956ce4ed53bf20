// Package reuse lets predictions use the memory of earlier ones.
package reuse

import (
	"math/rand/v2"
	"runtime"
	"sync/atomic"
)

// Pool keeps scratch memory between predictions. It needs no lock and, unlike
// sync.Pool, does not give the memory back to the garbage collector.
type Pool[S any] struct {
	slots  []poolSlot[S]
	Create func() *S
}

// poolSlot fills a cache line, so that callers do not disturb each other.
type poolSlot[S any] struct {
	s atomic.Pointer[S]
	_ [56]byte
}

// NewPool returns a pool with room for twice as many callers as there are
// processors, and memory for one caller on each.
func NewPool[S any](create func() *S) Pool[S] {
	n := runtime.GOMAXPROCS(0)
	p := Pool[S]{slots: make([]poolSlot[S], 2*n), Create: create}
	for i := range n {
		p.slots[i].s.Store(create())
	}
	return p
}

// Take returns scratch memory for the caller alone. It creates new memory if the pool is
// empty.
func (p *Pool[S]) Take() *S {
	first := rand.IntN(len(p.slots))
	for i := range p.slots {
		slot := &p.slots[(first+i)%len(p.slots)]
		if s := slot.s.Load(); s != nil && slot.s.CompareAndSwap(s, nil) {
			return s
		}
	}
	return p.Create()
}

// Put gives s back; it is dropped if every slot is full.
func (p *Pool[S]) Put(s *S) {
	first := rand.IntN(len(p.slots))
	for i := range p.slots {
		if p.slots[(first+i)%len(p.slots)].s.CompareAndSwap(nil, s) {
			return
		}
	}
}
