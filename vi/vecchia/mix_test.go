package vecchia

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// logDensity is of a normal distribution.
func logDensity(y, mean, variance float64) float64 {
	return math.Log(math.Exp(-(y-mean)*(y-mean)/(2*variance)) / math.Sqrt(2*math.Pi*variance))
}

// The factors of the variances have the highest mean log density, which is the score. Means without errors have the least factor.
func TestFactorsOfVariances(t *testing.T) {
	s := drawSamples(50, 3, 15)
	mean, variance := s.x.Slice(0, 50, 1, 3).Clone(), s.noise
	density := func(factor []float64) (sum float64) {
		for i, v := range variance {
			for c, y := range s.y.Row(i) {
				sum += logDensity(y, mean.At(i, c), factor[c]*v) / 100
			}
		}
		return sum
	}
	factor, score := spread(s.y, mean, variance)
	require.Len(t, factor, 2)
	assert.InDelta(t, density(factor), score, 1e-12)
	for _, by := range [][]float64{{0.9, 1}, {1.1, 1}, {1, 0.9}, {1, 1.1}} {
		assert.Less(t, density([]float64{by[0] * factor[0], by[1] * factor[1]}), score)
	}
	factor, _ = spread(s.y, s.y, variance)
	assert.Equal(t, []float64{leastFactor, leastFactor}, factor)

	squares := meanSquares(s.y, mean)
	for c, got := range squares {
		var want float64
		for i := range 50 {
			want += math.Pow(s.y.At(i, c)-mean.At(i, c), 2) / 50
		}
		assert.InDelta(t, want, got, 1e-12)
	}
}

// The score of a covariance is the mean log density of the rows held out. With all other rows for neighbours the dense process has it.
func TestScoreOfRowsHeldOut(t *testing.T) {
	const train = 40
	f := &fitting{s: drawSamples(55, 3, 16), train: train, stop: new(work.Stop)}
	c := &candidate{cov: twoParts}
	require.NoError(t, f.judge(c, train))
	d := newDense(t, f.s.between(0, train), twoParts)
	var want float64
	for i := train; i < 55; i++ {
		mean, v := d.predict(f.s.x.Row(i))
		v += twoParts.Noise * (f.s.relative(i) - 1)
		for c, y := range f.s.y.Row(i) {
			want += logDensity(y, mean[c], v) / 30
		}
	}
	assert.InDelta(t, want, c.score, 1e-9)
}

// Beside solutions that take most of the time, more neighbours make a prediction little longer and need bring little.
func TestWhatMoreNeighboursAreWorth(t *testing.T) {
	const n = 200_000
	f := &fitting{s: &samples{x: la.Matrix[float64]{Rows: n, Cols: 8}, y: la.Matrix[float64]{Rows: n, Cols: 1}}, train: n - 4000}
	assert.InDelta(t, worthNeighbours, f.worthMore(choice{64, 0, 0}, 128, 0), 1e-15)
	assert.InDelta(t, worthNeighbours, f.worthMore(choice{128, 0, 0}, 256, 0), 1e-15)
	solved := []Solved{{Covariance: Covariance{Parts: make([]Part, 2)}}, {Covariance: Covariance{Parts: make([]Part, 1)}}}
	beside := f.meansSeconds(solved, []float64{0.1, 0})
	assert.InDelta(t, f.productSeconds(2, n)/(0.5*n), beside, 1e-9, "a row of a product that is not symmetric")
	assert.InDelta(t, 1.5*beside, f.meansSeconds(solved, []float64{0.1, 0.1}), 1e-12)
	more := f.worthMore(choice{128, 0, beside}, 256, beside)
	assert.Less(t, more, 0.7*worthNeighbours)
	assert.Positive(t, more)
	assert.Zero(t, f.worthMore(choice{64, 0, 1}, 128, 0), "without the solution the prediction is shorter")
	assert.Greater(t, f.worthMore(choice{64, 0, 0}, 128, beside), float64(worthNeighbours), "with the solution it is longer")
}
