package la

import "unsafe"

// cacheSizes are the sizes in bytes of the data caches that a core reads through.
type cacheSizes struct{ l1, l2, l3 int }

// blockSizes are the sizes of the packed blocks of a product. Results do not depend on them.
type blockSizes struct {
	mc, nc int // rows of A and columns of B packed at a time
}

// blocks chooses the block sizes from the cache sizes. The packed block of B stays in the second
// cache and takes seven sixteenths of it: its pages are spread unevenly over the sets of the
// cache, and the panels of A pass through it too. The packed block of A takes a quarter of the
// third cache.
func blocks[T Float]() blockSizes {
	var z T
	k := table[T]()
	column := BlockK * int(unsafe.Sizeof(z))
	fit := func(bytes, r, least, most int) int {
		return min(max(bytes/column, least), most) / r * r
	}
	return blockSizes{mc: fit(caches.l3/4, k.mr, 256, 2048), nc: fit(caches.l2/16*7, k.nr, 2*k.nr, 1024)}
}
