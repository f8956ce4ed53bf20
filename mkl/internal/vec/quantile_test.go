package vec

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		sorted      []float64
		share, want float64
	}{
		{[]float64{3}, 0.7, 3},
		{[]float64{1, 2}, 0.5, 1.5},
		{[]float64{1, 2, 4}, 0.5, 2},
		{[]float64{1, 2, 4, 9}, 0.25, 1.5},
		{[]float64{1, 2, 4, 9}, 0, 1},
		{[]float64{1, 2, 4, 9}, 1, 9},
		{[]float64{-1.5e308, 1.5e308}, 0.5, 0},
		{[]float64{1.5e308, 1.7e308}, 0.5, 1.6e308},
	} {
		assert.Equal(t, c.want, Quantile(c.sorted, c.share), "%v at %g", c.sorted, c.share)
	}
}

// Sums and squares of numbers whose differences are beyond the largest number.
func TestMeanSD(t *testing.T) {
	for _, c := range []struct {
		x        []float64
		mean, sd float64
	}{
		{[]float64{1, 2, 3}, 2, 1},
		{[]float64{7, 7}, 7, 0},
		{[]float64{-1e308, 0, 1e308}, 0, 1e308},
		{[]float64{1.7e308, -1.7e308, -1.7e308}, -1.7e308 / 3, math.Inf(1)},
	} {
		mean, sd := MeanSD(c.x)
		assert.InEpsilon(t, 1+c.mean, 1+mean, 1e-12, "%v", c.x)
		assert.Equal(t, c.sd, sd, "%v", c.x)
	}
}

func TestQuantileMirrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 1; n < 40; n++ {
		var x, mirrored []float64
		for range n {
			x = append(x, rng.NormFloat64())
			mirrored = append(mirrored, -x[len(x)-1])
		}
		slices.Sort(x)
		slices.Sort(mirrored)
		for _, share := range []float64{0, 0.25, 0.5, 0.75, 1} {
			assert.Equal(t, Quantile(x, share), -Quantile(mirrored, 1-share), "%d values at %g", n, share)
		}
	}
}
