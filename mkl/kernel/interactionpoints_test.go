package kernel

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/bmkl/bmkl/la"
)

// The kernels of all orders are the kernels of one order at a time, to the bit, whatever the scratch memory holds from a sample before.
func TestInteractionPoints(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 4))
	for _, c := range []struct{ rows, d, most int }{{1, 1, 1}, {63, 2, 1}, {64, 3, 2}, {65, 3, 3}, {200, 6, 4}, {130, 9, 8}} {
		b := la.NewMatrix[float64](c.rows, c.d+2).Slice(0, c.rows, 1, c.d+1)
		for i := range b.Rows {
			for j := range b.Cols {
				b.Set(i, j, 2*rng.NormFloat64())
			}
		}
		points := NewInteractionPoints(1.3, c.most, b)
		s := points.NewScratch()
		for range 3 {
			x := make([]float64, c.d)
			for j := range x {
				x[j] = 3 * rng.NormFloat64()
			}
			points.Compute(s, x)
			for order := 1; order <= c.most; order++ {
				stat := Interaction{Order: order, Width: 1.3}.Statistic()
				got := points.Of(s, order)
				assert.Len(t, got, c.rows)
				for i, v := range got {
					assert.Equal(t, stat.Of(x, b.Row(i)), v, "%v, order %d, row %d", c, order, i)
				}
			}
		}
	}
}

func BenchmarkInteractionPoints(b *testing.B) {
	x := la.NewMatrix[float64](500, 8)
	for i := range x.Data {
		x.Data[i] = float64(i%17) / 8
	}
	one, all, out := x.Slice(0, 1, 0, 8), x, la.NewMatrix[float64](1, 500)
	b.Run("shared", func(b *testing.B) {
		p := NewInteractionPoints(1, 4, all)
		s := p.NewScratch()
		for b.Loop() {
			p.Compute(s, one.Row(0))
		}
	})
	b.Run("apart", func(b *testing.B) {
		var stats []Statistic
		for order := 1; order <= 4; order++ {
			stats = append(stats, Interaction{Order: order}.Statistic())
		}
		for b.Loop() {
			for _, s := range stats {
				s.Compute(nil, one, all, out)
			}
		}
	})
}
