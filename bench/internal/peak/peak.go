// Package peak measures what one core of this machine can do at best: fused
// multiply-adds in registers and reads from memory. Other measurements are quoted as
// fractions of these.
package peak

import (
	"runtime"
	"time"
	"unsafe"
)

// FMA64 returns the rate of float64 fused multiply-adds of one core in GFLOP/s, two
// flops each, with the widest vectors that this CPU has.
func FMA64() float64 { return best(fma64) }

// FMA32 is FMA64 for float32.
func FMA32() float64 { return best(fma32) }

// FMAs64 does a fixed number of float64 fused multiply-adds as fast as one core can
// and returns how many flops that is. Unlike FMA64 it leaves the timing to the caller,
// who can let it take turns with other work: the rate of a shared machine changes by
// the second.
func FMAs64() float64 { return fma64() }

// FMAs32 is FMAs64 for float32.
func FMAs32() float64 { return fma32() }

// ReadBandwidth returns the rate in GB/s (1e9 bytes) at which one core reads a
// buffer of that many bytes again and again.
func ReadBandwidth(bytes int) float64 {
	b := NewBuffer(bytes)
	return best(func() float64 {
		var read int
		for read < max(bytes, 1<<26) {
			read += b.Read()
		}
		return float64(read)
	})
}

// Buffer is memory to read. Only [NewBuffer] makes one.
type Buffer []byte

// NewBuffer returns a buffer of that many bytes, rounded down to a multiple of 16 KiB.
func NewBuffer(bytes int) Buffer {
	b := make([]byte, bytes+64)
	b = b[-uintptr(unsafe.Pointer(&b[0]))&63:]
	for i := range b {
		b[i] = 1 // the system maps all pages that were never written to one page of zeros
	}
	return b[:bytes/chunk*chunk]
}

// Read reads the buffer once, as fast as one core can, and returns its length.
func (b Buffer) Read() int {
	for o := 0; o < len(b); o += chunk {
		readChunk(&b[o])
	}
	return len(b)
}

// chunk is the number of bytes that one call of assembly reads, few enough not to hold
// up the garbage collector.
const chunk = 16 << 10

// best runs work several times and returns its highest rate, in 1e9 per second of what
// work says that it did.
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

// rounds is how many times one measurement runs its loop of fused multiply-adds.
const rounds = 400
