package vecchia

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/bmkl/bmkl/la"
)

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
