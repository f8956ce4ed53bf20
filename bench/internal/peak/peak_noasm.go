//go:build purego || !(amd64 || arm64)

package peak

func fma64() float64 { return fmaScalar(false) }

func fma32() float64 { return fmaScalar(true) }

func readChunk(p *byte) { readWords(p) }
