package mkl

import (
	"math/rand/v2"
	"runtime"
	"sync/atomic"
)

// scratchPool keeps scratch memory between predictions, without a lock and, in
// contrast to sync.Pool, without giving it back to the garbage collector.
type scratchPool struct {
	slots []poolSlot
}

// poolSlot fills a cache line, so that callers do not disturb each other.
type poolSlot struct {
	s atomic.Pointer[scratch]
	_ [56]byte
}

// fill makes room for twice as many callers as there are processors and memory
// for one caller on each.
func (p *scratchPool) fill(make1 func() *scratch) {
	n := runtime.GOMAXPROCS(0)
	p.slots = make([]poolSlot, 2*n)
	for i := range n {
		p.slots[i].s.Store(make1())
	}
}

// take returns scratch memory that nobody else has, or nil if none is left.
func (p *scratchPool) take() *scratch {
	first := rand.IntN(len(p.slots))
	for i := range p.slots {
		slot := &p.slots[(first+i)%len(p.slots)]
		if s := slot.s.Load(); s != nil && slot.s.CompareAndSwap(s, nil) {
			return s
		}
	}
	return nil
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
