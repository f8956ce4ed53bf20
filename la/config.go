package la

import (
	"fmt"
	"unsafe"
)

// Blocks are the block sizes of the products for one element type. Results do
// not depend on them, except on K, which is the same everywhere.
type Blocks struct {
	MR, NR int // rows and columns of C that one call of the innermost kernel computes
	MC, NC int // rows of A and columns of B packed at a time
	K      int // terms of the inner sum in one chain of fused multiply-adds
}

// Configuration is what la runs with on this machine.
type Configuration struct {
	InstructionSet string // avx512, avx2, neon or generic
	L1, L2, L3     int    // data cache sizes in bytes, as used for the block sizes
	F64, F32       Blocks // of float64 and of float32
}

// Config returns the instruction set and the block sizes in use.
func Config() Configuration {
	return Configuration{InstructionSet: InstructionSet(), L1: caches.l1, L2: caches.l2, L3: caches.l3,
		F64: blocks[float64](), F32: blocks[float32]()}
}

func (c Configuration) String() string {
	return fmt.Sprintf("%s, caches %d/%d/%d KiB, float64 %v, float32 %v",
		c.InstructionSet, c.L1>>10, c.L2>>10, c.L3>>10, c.F64, c.F32)
}

func (b Blocks) String() string {
	return fmt.Sprintf("tile %d×%d, block %d×%d, chain %d", b.MR, b.NR, b.MC, b.NC, b.K)
}

// cacheSizes are the sizes in bytes of the data caches that a core reads through.
type cacheSizes struct{ l1, l2, l3 int }

// blocks chooses the block sizes from those of the caches. The packed block of B stays in
// the second cache and takes seven sixteenths of it: its pages are spread unevenly over the
// sets of the cache, and the panels of A pass through it too. The packed block of A takes a
// quarter of the third cache.
func blocks[T Float]() Blocks {
	var z T
	k := table[T]()
	column := BlockK * int(unsafe.Sizeof(z))
	fit := func(bytes, r, least, most int) int {
		return min(max(bytes/column, least), most) / r * r
	}
	return Blocks{MR: k.mr, NR: k.nr, K: BlockK,
		MC: fit(caches.l3/4, k.mr, 256, 2048), NC: fit(caches.l2/16*7, k.nr, 2*k.nr, 1024)}
}
