// Package peak measures what this machine can do at best on one core: fused
// multiply-adds in registers and reads from memory. Other measurements are
// quoted as fractions of these.
package peak

import (
	"runtime"
	"time"
	"unsafe"
)

// FMA64 returns the float64 fused multiply-add rate of one core in GFLOP/s, two
// flops each, with the widest vectors this CPU has.
func FMA64() float64 { return best(fma64) }

// FMA32 is FMA64 for float32.
func FMA32() float64 { return best(fma32) }

// ReadBandwidth returns the rate in GB/s (1e9 bytes) at which one core reads a
// buffer of that many bytes, in steps of 16 KiB, again and again.
func ReadBandwidth(bytes int) float64 {
	bytes = max(chunk, bytes/chunk*chunk)
	buf := make([]byte, bytes+63)
	buf = buf[-uintptr(unsafe.Pointer(&buf[0]))&63:][:bytes]
	for i := range buf {
		buf[i] = 1 // a page never written to would be read from one page of zeros
	}
	return best(func() float64 {
		var read int
		for read < max(bytes, 1<<26) {
			for o := 0; o < bytes; o += chunk {
				readChunk(&buf[o])
			}
			read += bytes
		}
		return float64(read)
	})
}

// chunk is the number of bytes one call reads, short enough not to hold up the
// garbage collector.
const chunk = 16 << 10

// best returns the highest of several rates of work, in billions a second.
func best(work func() float64) float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	work()
	var rate float64
	for range 15 {
		t := time.Now()
		n := work()
		rate = max(rate, n/time.Since(t).Seconds()/1e9)
	}
	return rate
}

// rounds is the number of calls of one measurement.
const rounds = 400
