package stat

import (
	"math"
	"math/bits"
)

// fixed is a number in units of 2⁻⁷², a two's complement integer of 128 bits. Sums are exact and do
// not overflow. An entry of z is at most 2⁷, a product of two entries 2¹⁴, and a sum over 2⁴⁰ samples
// 2⁵⁴, plus the rounding of the float64 sums inside blocks, which is less than 2⁻³⁹ of the sum. The
// largest number is 2⁵⁵. A float64 of at least 2⁻²⁰ is converted exactly, a smaller one to the nearest
// unit.
type fixed struct {
	lo uint64
	hi int64
}

const (
	point = 72                // fractional bits
	upper = 62                // bits of a fixed below the first part, see toFixed
	step  = 1 << (point - 62) // 1/step is the unit of the first part
)

// toFixed returns the number nearest to x, |x| < 2⁵³. Without a branch, it splits x into a whole
// multiple of 2⁻¹⁰ and the rest. Each part fits in an int64.
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
		// Keep the 64 leading bits, and set the last one if any lower bit is set. A float64 has
		// 53 bits, so this bit is enough to round correctly.
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

// within reports whether |a| is at most n·2¹⁴, with an allowance for the rounding of the sums inside
// blocks.
func (a fixed) within(n uint64) bool {
	limit := int64(n) << (14 + point - 64)
	limit += limit>>30 + 1
	return -limit <= a.hi && a.hi <= limit
}
