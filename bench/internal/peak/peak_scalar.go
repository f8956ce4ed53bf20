package peak

import (
	"math"
	"runtime"
	"unsafe"
)

// fmaScalar is fma64 without assembly: eight independent chains of math.FMA. It serves
// for float32 too, for which Go has no fused multiply-add.
func fmaScalar(bool) float64 {
	const steps = 1000
	var a, b, c, d, e, f, g, h float64
	x, y := 0.999, 0.001
	for range rounds {
		for range steps {
			a, b, c, d = math.FMA(a, x, y), math.FMA(b, x, y), math.FMA(c, x, y), math.FMA(d, x, y)
			e, f, g, h = math.FMA(e, x, y), math.FMA(f, x, y), math.FMA(g, x, y), math.FMA(h, x, y)
		}
	}
	runtime.KeepAlive(a + b + c + d + e + f + g + h)
	return 2 * 8 * steps * rounds
}

// readWords is readChunk without assembly.
func readWords(p *byte) {
	var s [4]uint64
	w := unsafe.Slice((*uint64)(unsafe.Pointer(p)), chunk/8)
	for ; len(w) >= 4; w = w[4:] {
		s[0] += w[0]
		s[1] += w[1]
		s[2] += w[2]
		s[3] += w[3]
	}
	runtime.KeepAlive(s)
}
