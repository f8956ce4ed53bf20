package la

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// ToWords, FromWords and Squares do what they say on every instruction set, with the bits of a loop, and touch no other memory.
func TestWordsAreLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(64, 65))
	was := active
	defer func() { active = was }()
	for _, n := range []int{0, 1, 15, 16, 17, 100, 256, wordsPiece + 37} {
		x, dither, step, high, low := make([]float64, n), make([]float64, n), make([]float64, n), make([]int32, n), make([]int32, n)
		words, sums, squared, largest := make([]int16, n+2), make([]float64, n+2), make([]float64, n+2), 0.0
		scale := 32766 / 9.
		for i := range x {
			x[i] = 9 * (2*r.Float64() - 1)
			if i%7 == 0 {
				x[i] = 9 * float64(1-i%2*2)
			}
			dither[i], step[i] = 1<<15+r.Float64(), r.ExpFloat64()
			high[i], low[i] = int32(r.Uint32()), int32(r.Uint32())
			words[i+1] = int16(int64(math.Floor(float64(x[i]*scale)+dither[i])) - 32768)
			sums[i+1] = (float64(high[i])*256 + float64(low[i])) * float64(step[i]*scale)
			squared[i+1], largest = x[i]*x[i], max(largest, math.Abs(x[i]))
		}
		for _, active = range instructionSets {
			w, s, q := make([]int16, n+2), make([]float64, n+2), make([]float64, n+2)
			ToWords(x, scale, dither, w[1:n+1])
			assert.Equal(t, words, w, "%s: %d", active.name, n)
			FromWords(high, low, step, scale, s[1:n+1])
			assert.Equal(t, sums, s, "%s: %d", active.name, n)
			assert.Equal(t, largest, Squares(x, q[1:n+1]), "%s: %d", active.name, n)
			assert.Equal(t, squared, q, "%s: %d", active.name, n)
		}
	}
}

// Elements that are not numbers do not hide the largest of the others.
func TestSquaresWithoutNumbers(t *testing.T) {
	was := active
	defer func() { active = was }()
	for _, n := range []int{16, 40} {
		for i := range n {
			x := make([]float64, n)
			for j := range x {
				x[j] = -float64(j % 5)
			}
			x[i] = math.NaN()
			for _, active = range instructionSets {
				assert.Equal(t, 4., Squares(x, make([]float64, n)), "%s: %d of %d", active.name, i, n)
			}
			x[i] = math.Inf(-1)
			for _, active = range instructionSets {
				assert.Equal(t, math.Inf(1), Squares(x, make([]float64, n)), "%s: %d of %d", active.name, i, n)
			}
		}
	}
}

func TestWordsRefuseBadArguments(t *testing.T) {
	x := make([]float64, 2)
	assert.PanicsWithValue(t, "la: dither: length 1 where 2 is needed", func() { ToWords(x, 1, x[:1], make([]int16, 2)) })
	assert.PanicsWithValue(t, "la: dst: length 1 where 2 is needed", func() { ToWords(x, 1, x, make([]int16, 1)) })
	assert.PanicsWithValue(t, "la: high: length 1 where 2 is needed", func() { FromWords(make([]int32, 1), make([]int32, 2), x, 1, x) })
	assert.PanicsWithValue(t, "la: dst: length 1 where 2 is needed", func() { Squares(x, make([]float64, 1)) })
}
