package mkl

import (
	"math/rand/v2"
	"runtime"
	"sync/atomic"
)

// scratchPool keeps scratch memory between predictions, without a lock and, in
// contrast to sync.Pool, without giving it back to the garbage collector.
type scratchPool struct {
	slots  []poolSlot
	create func() *scratch
}

// poolSlot fills a cache line, so that callers do not disturb each other.
type poolSlot struct {
	s atomic.Pointer[scratch]
	_ [56]byte
}

// newScratchPool returns a pool with room for twice as many callers as there are
// processors, and memory for one caller on each.
func newScratchPool(create func() *scratch) scratchPool {
	n := runtime.GOMAXPROCS(0)
	p := scratchPool{slots: make([]poolSlot, 2*n), create: create}
	for i := range n {
		p.slots[i].s.Store(create())
	}
	return p
}

// take returns scratch memory that nobody else has: new memory if the pool is
// empty.
func (p *scratchPool) take() *scratch {
	first := rand.IntN(len(p.slots))
	for i := range p.slots {
		slot := &p.slots[(first+i)%len(p.slots)]
		if s := slot.s.Load(); s != nil && slot.s.CompareAndSwap(s, nil) {
			return s
		}
	}
	return p.create()
}

// put gives s back; it is dropped if every slot is full.
func (p *scratchPool) put(s *scratch) {
	first := rand.IntN(len(p.slots))
	for i := range p.slots {
		if p.slots[(first+i)%len(p.slots)].s.CompareAndSwap(nil, s) {
			return
		}
	}
}
