package la

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestExp2SumEntriesEqualThePortableOne(t *testing.T) {
	for _, s := range instructionSets {
		t.Run(s.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(31, 32))
			for _, n := range []int{exp2SumStep, 3 * exp2SumStep} {
				for _, terms := range []int{0, 1, 2, 5, 13} {
					for _, add := range []bool{false, true} {
						coef, amp, src := hard[float32](r, terms+1, terms == 5), hard[float32](r, terms+1, false), hard[float32](r, n, terms == 1)
						for i := range src {
							if i%3 == 0 {
								src[i] = float32(r.Float64()*260 - 130)
							}
						}
						coef[0] = 1
						_, got := fenced[float32](r, n)
						want := slices.Clone(got)
						s.exp2Sum(n, terms, &coef[0], &amp[0], &src[0], &got[8], add)
						genericExp2Sum(n, terms, &coef[0], &amp[0], &src[0], &want[8], add)
						sameBits(t, want, got, "n=%d terms=%d add=%v", n, terms, add)
					}
				}
			}
		})
	}
}

func TestExp2Sum(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 34))
	for _, n := range []int{0, 1, 63, 64, 65, 200, exp2SumPiece + 70} {
		src, coef, amp := make([]float32, n), []float32{-1, -0.25}, []float32{0.5, -3}
		for i := range src {
			src[i] = float32(120 * r.Float64())
		}
		everywhere(t, serial, func(*Workspace) []float32 {
			dst, twice := make([]float32, n), make([]float32, n)
			Exp2Sum(coef, amp, src, dst, false)
			copy(twice, dst)
			Exp2Sum(coef, amp, src, twice, true)
			for i, v := range src {
				x := float64(v)
				a, b := 0.5*math.Exp2(-x), 3*math.Exp2(-x/4)
				bound := a*(0.7*x+1.7) + b*(0.7*x/4+1.7)
				assert.InDelta(t, a-b, float64(dst[i]), (bound+b)*0x1p-24, "2^ of %v", v) // b: the last rounding
				assert.InDelta(t, 2*dst[i], twice[i], (bound+2*b)*0x1p-24)
			}
			return dst
		}, "n=%d", n)
	}
}

// The bound that Exp2Sum states, at hundreds of thousands of powers, and the ends of its range.
func TestExp2IsAsExactAsStated(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 36))
	src, dst := make([]float32, 200_000), make([]float32, 200_000)
	for i := range src {
		src[i] = float32(r.Float64() * 125)
		if i%2 == 0 {
			src[i] = float32(r.ExpFloat64() * 2)
		}
	}
	const coef = -1.0 / 3
	Exp2Sum([]float32{coef}, []float32{1}, src, dst, false)
	worst := 0.0
	for i, v := range src {
		x := float64(float32(coef)) * float64(v)
		want := math.Exp2(x)
		worst = max(worst, math.Abs(float64(dst[i])-want)/want/((0.7*math.Abs(x)+1.7)*0x1p-24))
	}
	assert.LessOrEqual(t, worst, 1.0)
	t.Log(worst)

	src, dst = []float32{0, 1, -100, 125, 126, float32(math.Inf(1)), float32(math.NaN())}, make([]float32, 7)
	Exp2Sum([]float32{-1}, []float32{1}, src, dst, false)
	assert.Equal(t, []float32{1, 0.5, 0x1p100, 0x1p-125, 0x1p-125, 0x1p-125}, dst[:6])
	assert.True(t, dst[6] != dst[6], "NaN")
}

func TestExp2SumRefusesBadArguments(t *testing.T) {
	x := make([]float32, 4)
	assert.PanicsWithValue(t, "la: amp: length 4 where 2 is needed", func() { Exp2Sum(x[:2], x, x, x, false) })
	assert.PanicsWithValue(t, "la: dst: length 2 where 4 is needed", func() { Exp2Sum(x, x, x, x[:2], false) })
	assert.PanicsWithValue(t, "la: dst overlaps src", func() { Exp2Sum(x, x, x, x, false) })
	y := make([]float32, 4)
	assert.PanicsWithValue(t, "la: dst overlaps amp", func() { Exp2Sum(y[:1], x[:1], y, x, false) })
}

func BenchmarkExp2Sum(b *testing.B) {
	src, dst, c := make([]float32, 704), make([]float32, 704), make([]float32, 12)
	for b.Loop() {
		Exp2Sum(c, c, src, dst, false)
	}
}
