//go:build !purego

package peak

import "github.com/klauspost/cpuid/v2"

// fma64 does a fixed number of fused multiply-adds and returns the flops.
func fma64() float64 { return fma(false) }

// fma32 is fma64 for float32.
func fma32() float64 { return fma(true) }

func fma(single bool) float64 {
	const steps = 1000
	// Float64 lanes, chains, and the function that steps them all.
	lanes, chains, f := 4, 12, fmaAVX2
	switch cpu := &cpuid.CPU; {
	case cpu.Supports(cpuid.AVX512F):
		lanes, chains, f = 8, 24, fmaAVX512
	case !cpu.Supports(cpuid.AVX2, cpuid.FMA3):
		return fmaScalar(single)
	}
	if single {
		lanes *= 2
	}
	for range rounds {
		f(steps, single)
	}
	return float64(2 * lanes * chains * steps * rounds)
}

// readChunk reads the chunk of bytes at p with the widest loads.
func readChunk(p *byte) {
	if cpuid.CPU.Supports(cpuid.AVX512F) {
		readAVX512(p)
		return
	}
	if cpuid.CPU.Supports(cpuid.AVX2) {
		readAVX2(p)
		return
	}
	readWords(p)
}

//go:noescape
func fmaAVX512(steps int, single bool)

//go:noescape
func fmaAVX2(steps int, single bool)

//go:noescape
func readAVX512(p *byte)

//go:noescape
func readAVX2(p *byte)
