//go:build !purego

package la

import "github.com/klauspost/cpuid/v2"

// machineSets returns the instruction sets with assembly that this CPU, and the
// operating system, which has to save the registers, can run, best first.
func machineSets() []*instructionSet {
	var sets []*instructionSet
	cpu := &cpuid.CPU
	if cpu.Supports(cpuid.AVX512F, cpuid.AVX512DQ, cpuid.AVX512BW, cpuid.AVX512VL) {
		sets = append(sets, avx512Set())
	}
	return sets
}

func avx512Set() *instructionSet {
	s := newSet("avx512")
	s.f64.mr, s.f64.nr = 8, 24
	s.f64.gemm = gemmAVX512
	s.f64.dist = distAVX512
	return s
}

//go:noescape
func gemmAVX512(k int, alpha float64, a, b, c *float64, ldc int, add bool)

//go:noescape
func distAVX512(k int, a, b, c *float64, ldc int, add bool)
