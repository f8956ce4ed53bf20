//go:build !purego

package peak

// fma64 does a fixed number of fused multiply-adds and returns the flops.
func fma64() float64 { return fma(false) }

// fma32 is fma64 for float32.
func fma32() float64 { return fma(true) }

func fma(single bool) float64 {
	const steps, chains = 1000, 24
	lanes := 2
	if single {
		lanes = 4
	}
	for range rounds {
		fmaNEON(steps, single)
	}
	return float64(2 * lanes * chains * steps * rounds)
}

// readChunk reads the chunk of bytes at p with the widest loads.
func readChunk(p *byte) { readNEON(p) }

//go:noescape
func fmaNEON(steps int, single bool)

//go:noescape
func readNEON(p *byte)
