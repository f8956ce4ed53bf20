package mkl

import (
	"math/rand/v2"
	"runtime"
	"sync/atomic"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mcmc"
	"github.com/bmkl/bmkl/vi/probit"
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

// scratch is the memory of one prediction.
type scratch struct {
	ws      la.Workspace
	z       [][]float64        // by group: the sample as its kernels see it
	stat    []float64          // statistics of one group
	raw     []float64          // kernels of one view before centring
	k       la.Matrix[float64] // P×D
	self    []float64          // P: the kernels of the sample with itself, if wanted
	g       []float64          // P
	v       la.Matrix[float64] // R×D
	ordered la.Matrix[float64] // the like, with the samples in the order of the covariance's factor
	cv      la.Matrix[float64] // R×ρ

	spread, picked, solved []float64 // of a MultiTaskPredictor
	phi                    []float64 // of a processFunction: the composite kernels
	heal                   []float64 // the Healer's own

	probit    *probit.PointScratch      // of a ProbitPredictor after variational inference
	projected *probit.ProjectionScratch // the like, from pivots
	draws     *mcmc.ProbitPointScratch  // after sampling

	missing []bool      // of a ProbitPredictor: which inputs the sample lacks
	filled  [][]float64 // its inputs, with a stand-in's in place of these
	mean    []float64   // of the probabilities over the stand-ins

	_ [64]byte // scratch of different callers shares no cache line
}
