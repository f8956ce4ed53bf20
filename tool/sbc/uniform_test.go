package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// uniform returns n uniform numbers.
func uniform(src *rand.Rand, n int) []float64 {
	u := make([]float64, n)
	for i := range u {
		u[i] = src.Float64()
	}
	return u
}

// The chance to stay inside of a band agrees with simulation, and so does the distribution of p-values.
func TestChance(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 1))
	const n, trials = 40, 20000
	b := newBand(n, 0.02)
	inside, below := 0, 0
	for range trials {
		u := uniform(src, n)
		in := true
		for k, c := range counts(u) {
			in = in && c >= b.low[k] && c <= b.high[k]
		}
		if in {
			inside++
		}
	}
	want := b.chance()
	assert.InDelta(t, want, float64(inside)/trials, 4*math.Sqrt(want*(1-want)/trials))
	const fewer = 2000
	for range fewer {
		if pValue(uniform(src, n)) <= 0.1 {
			below++
		}
	}
	assert.InDelta(t, 0.1, float64(below)/fewer, 0.03) // at most 0.1, and near it since n is not tiny
}

// Numbers that are not uniform are seen.
func TestPValue(t *testing.T) {
	src := rand.New(rand.NewPCG(2, 1))
	for name, f := range map[string]func(u float64) float64{
		"too high":   func(u float64) float64 { return math.Sqrt(u) },
		"too narrow": func(u float64) float64 { return 0.25 + u/2 },
		"too wide":   func(u float64) float64 { return 0.5 + 0.5*math.Copysign(math.Sqrt(math.Abs(2*u-1)), u-0.5) },
		"few values": func(u float64) float64 { return math.Floor(4*u) / 4 },
	} {
		u := uniform(src, 200)
		assert.Greater(t, pValue(u), 0.01, name)
		for i := range u {
			u[i] = f(u[i])
		}
		assert.Less(t, pValue(u), 1e-4, name)
	}
}

// A band of a given chance has it, as nearly as counts allow.
func TestBandOf(t *testing.T) {
	chance := bandOf(100, 0.95).chance()
	assert.GreaterOrEqual(t, chance, 0.95)
	assert.Less(t, chance, 0.97)
}
