package special_test

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/bmkl/bmkl/internal/special"
)

// Normal draws equal the draws of math/rand/v2, except for rounding in the tail.
func TestNormalDraws(t *testing.T) {
	const draws = 1_000_000
	got, want := special.NewRand(rand.NewPCG(1, 2)), rand.New(rand.NewPCG(1, 2))
	tail, hash := 0, fnv.New64a()
	for i := range draws {
		x, y := got.NormFloat64(), want.NormFloat64()
		_ = binary.Write(hash, binary.LittleEndian, x) // a hash has no errors
		if math.Abs(y) < 3.442619855899 {
			if x != y {
				t.Fatalf("draw %d is %v, not %v", i, x, y)
			}
			continue
		}
		tail++
		assert.InEpsilon(t, y, x, 1e-15, "draw %d", i)
	}
	assert.Equal(t, uint64(0x23658dac655cc10b), hash.Sum64(), "on every machine")
	// P(|x| > 3.4426) = 5.76e-4, to five standard deviations.
	const share = 5.76e-4
	assert.InDelta(t, share*draws, float64(tail), 5*math.Sqrt(share*draws))
}
