//go:build !purego

package la

import "math"

// exp2Vectors holds the constants of exp2.go for the assembly: min, round and the coefficients. Each
// fills a vector of 256 bits.
//
//lint:ignore U1000 exp2_amd64.s reads it
var exp2Vectors = func() (v [8 * (2 + len(exp2Coef))]uint32) {
	for i, c := range append([]float32{exp2Min, exp2Round}, exp2Coef[:]...) {
		for j := range 8 {
			v[8*i+j] = math.Float32bits(c)
		}
	}
	return
}()

//go:noescape
func avx512Exp2Sum(n, terms int, coef, amp, src, dst *float32, add bool)

//go:noescape
func avx2Exp2Sum(n, terms int, coef, amp, src, dst *float32, add bool)
