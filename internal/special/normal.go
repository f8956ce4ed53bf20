package special

import (
	"math"
	"math/rand/v2"
)

// Rand is a [rand.Rand] whose normal draws have the same bits on every machine. The normal draws of package
// math/rand/v2 take exponentials and logarithms from package math, and sums of products that a compiler
// may fuse; where these do not matter, which is nearly everywhere, the draws are the same.
type Rand struct{ *rand.Rand }

// NewRand returns the generator that draws from src.
func NewRand(src rand.Source) Rand { return Rand{rand.New(src)} }

// The density e^{−x²/2} of x ≥ 0 is covered by ziggurat strips of equal area: 127 rectangles
// and below them the strip of the tail, beyond ziggurat right.
const (
	zigguratStrips = 128
	zigguratRight  = 3.442619855899
	zigguratArea   = 9.91256303526217e-3
)

// strips says of each strip how wide it is in steps of a 32-bit number, below which step a draw is under
// the density for certain, and how high the density is at its right end.
var strips = newStrips()

func newStrips() (s [zigguratStrips]struct {
	sure        uint32
	step, right float32
}) {
	const steps = 1 << 31
	density := func(x float64) float64 { return Exp(-0.5 * x * x) }
	x, outer := float64(zigguratRight), float64(zigguratRight)
	base := zigguratArea / density(x) // the width of the strip of the tail, were it a rectangle
	last := zigguratStrips - 1
	s[0].sure, s[0].step, s[0].right = uint32(x/base*steps), float32(base/steps), 1
	s[last].step, s[last].right = float32(x/steps), float32(density(x))
	for i := last - 1; i > 0; i-- {
		x = math.Sqrt(-2 * Log(zigguratArea/x+density(x)))
		s[i+1].sure = uint32(x / outer * steps)
		s[i].step, s[i].right = float32(x/steps), float32(density(x))
		outer = x
	}
	return s
}

// NormFloat64 returns a draw from the standard normal distribution.
//
// Source: G. Marsaglia and W. W. Tsang, "The ziggurat method for generating random variables", Journal of
// Statistical Software 5 (2000), no. 8; the tail by G. Marsaglia, "Generating a variable from the tail of the
// normal distribution", Technometrics 6 (1964).
func (r Rand) NormFloat64() float64 {
	for {
		u := r.Uint64()
		at, i := int32(u), u>>32%zigguratStrips
		s := &strips[i]
		x := float64(at) * float64(s.step)
		if size := max(int64(at), -int64(at)); size < int64(s.sure) {
			return x
		}
		if i == 0 {
			return math.Copysign(r.tail(), float64(at))
		}
		// A height between the heights of the density at both ends of the strip.
		rise := float32(float32(r.Float64()) * (strips[i-1].right - s.right))
		if s.right+rise < float32(Exp(-0.5*x*x)) {
			return x
		}
	}
}

// tail returns a draw beyond the last strip.
func (r Rand) tail() float64 {
	for {
		x := -Log(r.Float64()) / zigguratRight
		if y := -Log(r.Float64()); y+y >= x*x {
			return zigguratRight + x
		}
	}
}
