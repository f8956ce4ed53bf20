package nearest

import (
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/smallest"
)

// few keeps the m nearest of the rows that it is offered. It gathers rows that may be among them
// and, when it has many, drops the others.
type few struct {
	keys []uint64
	m    int
	most float32 // a row at a larger distance is not among the nearest
}

// key orders rows by distance and rows at equal distances by number: distances are not negative, so
// that their bits have their order.
func key(d float32, row int32) uint64 { return uint64(math.Float32bits(d))<<32 | uint64(uint32(row)) }

// rowOf returns the row of a key.
func rowOf(key uint64) int32 { return int32(uint32(key)) }

// reset forgets all rows.
func (f *few) reset(m int) {
	f.keys, f.m, f.most = f.keys[:0], m, math.MaxFloat32
	if m == 0 {
		f.most = -1
	}
}

// offer adds a row whose distance is at most f.most, which excludes NaN and infinity.
func (f *few) offer(d float32, row int32) {
	f.keys = append(f.keys, key(d, row))
	if len(f.keys) >= 4*f.m+32 {
		f.drop()
	}
}

// drop keeps the m nearest rows, if there are as many.
func (f *few) drop() {
	if len(f.keys) <= f.m {
		return
	}
	smallest.First(f.keys, f.m)
	f.keys = f.keys[:f.m]
	last := slices.Max(f.keys)
	f.most = math.Float32frombits(uint32(last >> 32))
}

// sorted returns the keys of the m nearest rows in order.
func (f *few) sorted() []uint64 {
	f.drop()
	slices.Sort(f.keys)
	return f.keys
}

// all returns the keys of the m nearest of all rows in order.
func (f *few) all(d []float32, m int) []uint64 {
	f.reset(m)
	for i, v := range d {
		if v <= f.most {
			f.offer(v, int32(i))
		}
	}
	return f.sorted()
}
