package random

import (
	"math"
	"math/rand/v2"
)

// Source returns the random numbers of a seed.
func Source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)) }

// Normal fills x with standard normal numbers that are the same on every
// platform: the polar method, which needs nothing but a logarithm and a root,
// rounded to float32 so that the last bits of the platform's logarithm do not
// show.
func Normal(src *rand.Rand, x []float64) {
	for i := 0; i < len(x); {
		u, v := 2*src.Float64()-1, 2*src.Float64()-1
		s := math.FMA(u, u, float64(v*v))
		if s >= 1 || s == 0 {
			continue
		}
		f := math.Sqrt(-2 * math.Log(s) / s)
		x[i] = float64(float32(u * f))
		if i++; i < len(x) {
			x[i] = float64(float32(v * f))
			i++
		}
	}
}
