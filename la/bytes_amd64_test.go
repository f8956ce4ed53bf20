//go:build !purego

package la

import (
	"math/rand/v2"
	"testing"

	"github.com/klauspost/cpuid/v2"
	"github.com/stretchr/testify/assert"
)

// A machine with VNNI does not choose the product of bytes without it: both have the sums of the portable routine.
func TestBytesWithAndWithoutVNNI(t *testing.T) {
	cpu := &cpuid.CPU
	if !cpu.Supports(cpuid.AVX512F, cpuid.AVX512DQ, cpuid.AVX512BW, cpuid.AVX512VL) {
		t.Skip("this CPU has no AVX-512")
	}
	entries := map[string]bytesEntry{"avx512": avx512MulBytes}
	if cpu.Supports(cpuid.AVX512VNNI) {
		entries["avx512vnni"] = avx512MulBytesVNNI
	}
	r := rand.New(rand.NewPCG(63, 64))
	for _, pairs := range []int{1, 2, 3, 64, bytesPiece} {
		a, x := make([]int8, 2*PanelRows*pairs), make([]int16, 2*pairs)
		for i := range a {
			a[i] = int8(r.Uint32())
		}
		for i := range x {
			x[i] = int16(r.Uint32())
		}
		a[0], a[1], x[0], x[1] = -128, -128, -32768, -32768
		var start [PanelRows]int32
		for i := range start {
			start[i] = int32(r.Uint32()) // sums wrap around
		}
		for _, add := range []bool{false, true} {
			want := start
			genericMulBytes(pairs, &a[0], &x[0], &want[0], add)
			for name, f := range entries {
				got := start
				f(pairs, &a[0], &x[0], &got[0], add)
				assert.Equal(t, want, got, "%s: %d pairs, %v", name, pairs, add)
			}
		}
	}
}
