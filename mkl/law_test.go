package mkl

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The distribution of a prediction has the interval's ends for its quantiles, and the score of its definition, on every scale.
func TestPredictedDistribution(t *testing.T) {
	for _, s := range []targetScale{ownScale, rootScale, logScale} {
		p := &Prediction{Mean: [][]float64{{1.5, 0.4}}, Variance: [][]float64{{0.25, 0.5}}}
		(&poolScale{recorded: recorded{scale: s}}).restore(p)
		for i := range 2 {
			for _, level := range []float64{0.5, 0.9, 0.99} {
				low, high := p.Interval(0, i, level)
				one := (&poolScale{recorded: recorded{scale: s}}).one(BoundedPrediction{Mean: []float64{1.5, 0.4}[i], Variance: []float64{0.25, 0.5}[i]})
				lower, upper := one.Interval(level)
				assert.Equal(t, []float64{low, high}, []float64{lower, upper})
				if low > 0 { // else √y has an atom at 0
					assert.InDelta(t, 0.5-level/2, p.CDF(0, i, low), 1e-12)
				}
				assert.InDelta(t, 0.5+level/2, p.CDF(0, i, high), 1e-12)
			}
			for _, y := range []float64{0.1, 1, 7} {
				const h = 1e-5
				slope := (p.CDF(0, i, y+h) - p.CDF(0, i, y-h)) / (2 * h)
				assert.InDelta(t, slope, math.Exp(p.LogDensity(0, i, y)), 1e-8, "%v %g", s, y)
			}
			for _, y := range []float64{-0.5, 0.1, 1, 7} {
				const steps, from, to = 400_000, -20.0, 180.0
				sum := 0.0
				for k := range steps {
					x := from + (float64(k)+0.5)*(to-from)/steps
					f := p.CDF(0, i, x)
					if x >= y {
						f--
					}
					sum += f * f * (to - from) / steps
				}
				assert.InDelta(t, sum, p.CRPS(0, i, y), 2e-3, "%v %g", s, y)
			}
		}
	}
	moved := &Prediction{Mean: [][]float64{{0.3}}, Variance: [][]float64{{0.2}}}
	(&poolScale{recorded: recorded{scale: logScale}}).restore(moved)
	before := moved.LogDensity(0, 0, 2)
	assert.NoError(t, moved.AddOffset(0, []float64{5}))
	assert.Equal(t, before, moved.LogDensity(0, 0, 7))
	assert.True(t, math.IsInf(moved.LogDensity(0, 0, 5), -1))
	p := &Prediction{Mean: [][]float64{{1}}}
	assert.True(t, math.IsNaN(p.CDF(0, 0, 1)))
	assert.True(t, math.IsNaN(p.CRPS(0, 0, 1)))
	assert.True(t, math.IsNaN(p.LogDensity(0, 0, 1)))
}
