package la

import (
	"math"
	"unsafe"
)

// Matern computes the Matérn correlation of smoothness 3/2 at squared distances: with s_i = √k_i,
//
//	e_i ← e^−s_i,   k_i ← (1 + s_i)·e_i.
//
// The slices have equal length and must not overlap. Roundings: s_i is rounded, the exponential is as in
// [Exp], and sum and product are rounded one after the other.
func Matern[T Float](k, e []T) {
	checkLen("e", e, len(k))
	checkApart("e", e, "k", k)
	raceWrite(k)
	raceWrite(e)
	f := table[T]()
	for len(k) > 0 {
		n := min(len(k), piece)
		f.negRootPiece(n, &k[0])
		f.expPiece(n, &e[0], &k[0])
		f.restTimesPiece(n, &e[0], &k[0])
		k, e = k[n:], e[n:]
	}
}

func genericNegRoot[T Float](n int, x *T) {
	xs := unsafe.Slice(x, n)
	for i, v := range xs {
		xs[i] = -T(math.Sqrt(float64(v))) // rounded once in effect for float32 too: float64 has 2·24 + 2 bits or more
	}
}

func genericRestTimes[T Float](n int, e, x *T) {
	xs := unsafe.Slice(x, n)
	for i, v := range unsafe.Slice(e, n) {
		xs[i] = T((1 - xs[i]) * v)
	}
}
