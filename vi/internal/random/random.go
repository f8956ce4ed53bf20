// Package random gives the random numbers of starts, the same on every machine.
package random

import (
	"math"
	"math/rand/v2"

	"github.com/bmkl/bmkl/internal/special"
)

// Source returns the stream of random numbers of a seed.
func Source(seed uint64) special.Rand { return special.NewRand(Stream(seed)) }

// Stream returns the generator behind Source, whose place in the stream can be noted.
func Stream(seed uint64) *rand.PCG { return rand.NewPCG(seed, 0x9e3779b97f4a7c15) }

// Normal fills x with standard normal numbers by Marsaglia's polar method, which needs
// no function but a logarithm and a square root. The numbers are rounded to float32.
func Normal(src special.Rand, x []float64) {
	for i := 0; i < len(x); {
		u, v := float64(2*float64(src.Float64()))-1, float64(2*float64(src.Float64()))-1
		s := math.FMA(u, u, float64(v*v))
		if s >= 1 || s == 0 {
			continue
		}
		f := math.Sqrt(-2 * special.Log(s) / s)
		x[i] = float64(float32(u * f))
		if i++; i < len(x) {
			x[i] = float64(float32(v * f))
			i++
		}
	}
}
