package special

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The quick integrals are the accurate ones but for what they promise, wherever the means are.
func TestQuickCone(t *testing.T) {
	var accurate, quick Cone
	r := rand.New(rand.NewPCG(1, 2))
	for _, C := range []int{2, 3, 10} {
		for _, spread := range []float64{0.5, 5, 100} {
			t.Run(fmt.Sprintf("%d classes, spread %g", C, spread), func(t *testing.T) {
				m, y, g := make([]float64, C), make([]float64, C), make([]float64, C)
				for range 100 {
					for c := range m {
						m[c] = spread * r.NormFloat64()
					}
					i := r.IntN(C)
					want := accurate.LogProbability(i, m, nil)
					assert.InDelta(t, want, quick.QuickLogProbability(i, m), 1e-10*float64(C)+1e-13*math.Abs(want))
					accurate.Mean(i, m, y)
					quick.QuickSlope(i, m, g)
					for c := range g {
						assert.InDelta(t, y[c]-m[c], g[c], 1e-3, "of %v, class %d by %d", m, i, c)
					}
				}
			})
		}
	}
}

// Means beyond the range of numbers give no probability, and come to an end.
func TestQuickConeOfNonsense(t *testing.T) {
	var c Cone
	inf, nan := math.Inf(1), math.NaN()
	for _, m := range [][]float64{{nan, 0, 1}, {0, nan, 1}, {inf, 0, 1}, {0, inf, 1}, {-inf, 0, 1}, {nan, 0}, {0, inf}} {
		assert.True(t, math.IsNaN(c.QuickLogProbability(0, m)), "%v: %g", m, c.QuickLogProbability(0, m))
		c.QuickSlope(0, m, make([]float64, len(m)))
	}
	for _, far := range []float64{1e9, 1e150} {
		assert.False(t, c.QuickLogProbability(0, []float64{0, far, far}) > -far)
	}
}

func BenchmarkQuickCone(b *testing.B) {
	var c Cone
	m, g := []float64{2, 0.3, -1}, make([]float64, 3)
	b.Run("log probability", func(b *testing.B) {
		for b.Loop() {
			c.QuickLogProbability(0, m)
		}
	})
	b.Run("slope", func(b *testing.B) {
		for b.Loop() {
			c.QuickSlope(0, m, g)
		}
	})
	b.Run("accurate", func(b *testing.B) {
		for b.Loop() {
			c.LogProbability(0, m, nil)
		}
	})
}
