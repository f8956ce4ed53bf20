package la

import "github.com/klauspost/cpuid/v2"

// caches are the sizes of this machine's caches. If cpuid does not know a size, or reports one out of
// range, caches has the size of a modest machine.
var caches = func() cacheSizes {
	within := func(size, least int, most int64, otherwise int) int {
		if size < least || int64(size) > most {
			return otherwise
		}
		return size
	}
	c := cpuid.CPU.Cache
	return cacheSizes{
		l1: within(c.L1D, 16<<10, 1<<20, 32<<10),
		l2: within(c.L2, 128<<10, 64<<20, 256<<10),
		l3: within(c.L3, 1<<20, 4<<30, 2<<20),
	}
}()
