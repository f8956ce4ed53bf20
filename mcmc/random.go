package mcmc

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/bmkl/bmkl/internal/special"
)

// random is the source of a sampler's random numbers: a [special.Rand], or in tests a
// list of numbers.
type random interface {
	Float64() float64     // uniform on [0, 1)
	NormFloat64() float64 // standard normal
}

// newStream returns the random stream of a chain: the ChaCha8 cipher with the seed
// and the chain as its key. Streams of different keys are as good as independent.
func newStream(seed uint64, chain int) *rand.ChaCha8 {
	key := [32]byte{16: 'b', 'm', 'k', 'l', ' ', 'm', 'c', 'm', 'c'}
	binary.LittleEndian.PutUint64(key[0:], seed)
	binary.LittleEndian.PutUint64(key[8:], uint64(chain))
	return rand.NewChaCha8(key)
}

// uniform returns a draw from the open interval (0, 1).
func uniform(r random) float64 {
	for {
		if u := r.Float64(); u > 0 {
			return u
		}
	}
}

// normals fills x with independent standard normal draws.
func normals(r random, x []float64) {
	for i := range x {
		x[i] = r.NormFloat64()
	}
}

// logGamma returns the logarithm of a draw from the gamma distribution of the
// given shape and scale 1. For small shapes the draw itself may be too small for a
// float64. A shape that is negative or not a finite number gives NaN.
//
// Source: G. Marsaglia and W. W. Tsang, "A simple method for generating gamma
// variables", ACM TOMS 26 (2000), 363–372.
func logGamma(r random, shape float64) float64 {
	if !(shape >= 0) || math.IsInf(shape, 1) {
		return math.NaN()
	}
	if shape < 1 {
		return logGamma(r, shape+1) + special.Log(uniform(r))/shape
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.NormFloat64()
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v *= v * v
		if special.Log(uniform(r)) < float64(0.5*x*x)+d-float64(d*v)+float64(d*special.Log(v)) {
			return special.Log(d * v)
		}
	}
}

// below turns u, uniform on (0, 1), into a draw from N(mean, 1) restricted to values
// below limit, by inverting the distribution function. It works in logarithms and is
// fully accurate however far in the tail the limit is.
func below(limit, mean, u float64) float64 {
	y := mean + special.LogNormalQuantile(special.Log(u)+special.LogNormalCDF(limit-mean))
	if y < limit && !math.IsInf(y, -1) {
		return y
	}
	return math.Nextafter(limit, math.Inf(-1)) // rounding reached limit, or limit² overflowed
}

// dirichlet fills x with a draw from the Dirichlet distribution of the given
// parameters (one each, as long as x), and logs with the logarithms of x, which are
// finite also where x underflows.
func dirichlet(r random, shape, x, logs []float64) {
	top := math.Inf(-1)
	for s, a := range shape {
		logs[s] = logGamma(r, a)
		top = max(top, logs[s])
	}
	var sum float64
	for s := range shape {
		sum += special.Exp(logs[s] - top)
	}
	for s := range shape {
		logs[s] -= top + special.Log(sum)
		x[s] = special.Exp(logs[s])
	}
}
