package stat

import (
	"math"
	"math/bits"
)

// fixed is a number in units of 2⁻⁷², a two's complement integer of 128 bits. Its sums are
// exact, and none overflows: an entry of z is at most 2⁷, a product of two 2¹⁴, and a sum
// over 2⁴⁰ samples 2⁵⁴ but for the rounding of the float64 sums inside blocks, which is less
// than 2⁻³⁹ of it; the largest number is 2⁵⁵. A float64 of 2⁻²⁰ or more is converted
// exactly, a smaller one to the nearest unit.
type fixed struct {
	lo uint64
	hi int64
}

const (
	point = 72                // fractional bits
	upper = 62                // bits of a fixed below those of the first part, see toFixed
	step  = 1 << (point - 62) // 1/step is the unit of the first part
)

// toFixed returns the nearest number to x, |x| < 2⁵³: x in two parts, whole multiples of
// 2⁻¹⁰ and what is left, each of which an int64 holds, without a branch.
func toFixed(x float64) fixed {
	whole := int64(x * step)
	rest := int64(math.RoundToEven((x - float64(float64(whole)*(1.0/step))) * (1 << upper * step)))
	lo, carry := bits.Add64(uint64(whole)<<upper, uint64(rest), 0)
	return fixed{lo, whole>>(64-upper) + rest>>63 + int64(carry)}
}

// add adds b to a.
func (a *fixed) add(b fixed) {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	a.lo, a.hi = lo, a.hi+b.hi+int64(carry)
}

// minus returns a − b.
func (a fixed) minus(b fixed) fixed {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	return fixed{lo, a.hi - b.hi - int64(borrow)}
}

// float returns the nearest float64.
func (a fixed) float() float64 {
	sign := 1.0
	if a.hi < 0 {
		a, sign = fixed{}.minus(a), -1
	}
	hi, lo, exp := uint64(a.hi), a.lo, -point
	if hi != 0 {
		// The 64 leading bits, the last of them set if any bit below is: beyond the 53 of a
		// float64 only that decides how it is rounded.
		shift := bits.LeadingZeros64(hi)
		sticky := lo << shift
		lo = hi<<shift | lo>>(64-shift)
		if sticky != 0 {
			lo |= 1
		}
		exp += 64 - shift
	}
	return sign * math.Ldexp(float64(lo), exp)
}

// within reports whether |a| is at most n·2¹⁴, but for the rounding of the sums inside
// blocks.
func (a fixed) within(n uint64) bool {
	limit := int64(n) << (14 + point - 64)
	limit += limit>>30 + 1
	return -limit <= a.hi && a.hi <= limit
}
