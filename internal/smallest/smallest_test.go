package smallest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFirst(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	orders := map[string]func(n int) float64{
		"random":      func(int) float64 { return r.NormFloat64() },
		"few values":  func(int) float64 { return float64(r.IntN(3)) },
		"one value":   func(int) float64 { return 2 },
		"ascending":   func(n int) float64 { return float64(n) },
		"descending":  func(n int) float64 { return -float64(n) },
		"infinities":  func(n int) float64 { return math.Inf(n%3 - 1) },
		"mountain":    func(n int) float64 { return -math.Abs(float64(n - 20)) },
		"saw":         func(n int) float64 { return float64(n % 7) },
		"signed zero": func(n int) float64 { return math.Copysign(0, float64(n%2)-0.5) },
	}
	for name, value := range orders {
		for _, n := range []int{0, 1, 2, 3, 4, 5, 8, 41, 300} {
			x := make([]float64, n)
			for i := range x {
				x[i] = value(i)
			}
			sorted := slices.Clone(x)
			slices.Sort(sorted)
			for m := range n + 1 {
				y := slices.Clone(x)
				First(y, m)
				slices.Sort(y[:m])
				require.Equal(t, sorted[:m], y[:m], "%s: the %d smallest of %d", name, m, n)
				slices.Sort(y)
				require.Equal(t, sorted, y, "%s: no value is lost", name)
			}
		}
	}
}

// TestFirstEndsWithNaN checks that the search ends with values that have no order, and loses no value.
func TestFirstEndsWithNaN(t *testing.T) {
	for n := range 9 {
		for nan := range 1 << n {
			for m := range n + 1 {
				x := make([]float64, n)
				for i := range x {
					x[i] = float64(i * 5 % 7)
					if nan>>i&1 == 1 {
						x[i] = math.NaN()
					}
				}
				before := slices.Clone(x)
				First(x, m)
				slices.Sort(before) // NaN first
				slices.Sort(x)
				for i, v := range before {
					require.Equal(t, math.Float64bits(v), math.Float64bits(x[i]), "%d of %v", m, before)
				}
			}
		}
	}
}

func BenchmarkMedian(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	x := make([]float64, 500*1000)
	for i := range x {
		x[i] = r.ExpFloat64()
	}
	y := slices.Clone(x)
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			copy(y, x)
			First(y, len(y)/2)
		}
	})
	b.Run("sort", func(b *testing.B) {
		for b.Loop() {
			copy(y, x)
			slices.Sort(y)
		}
	})
}
