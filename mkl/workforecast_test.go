package mkl

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestExactRowsOfFeatures leaves tables of few features alone and uses fewer samples of wide ones, within the seconds.
func TestExactRowsOfFeatures(t *testing.T) {
	free := func(int) int64 { return 0 }
	const members, seconds = 5, 5.0 / 3
	rows := func(features int) int { return exactRows(10_000, members, 1, features, seconds, free, 1) }
	assert.Equal(t, rows(1), rows(fewFeatures))
	last := rows(1)
	for _, features := range []int{400, 1400, 10_000} {
		n := rows(features)
		assert.Less(t, n, last)
		assert.True(t, n == leastExactRows || members*exactSeconds(n, 1, features) <= seconds)
		last = n
	}
	x := Features{Rows: 2, Cols: 3, Stride: 3, Data: make([]float64, 6)}
	assert.Equal(t, 6, featuresOf([]View{{X: x, Input: "a"}, {X: x, Input: "a"}, {X: x, Input: "b"}}), "a view for each kernel of an input counts once")
}

// The effects of levels take time in proportion to samples and laws, and none without a column of many levels.
func TestForecastOfEffectsOfLevels(t *testing.T) {
	of := func(n, laws int, counts bool) float64 {
		x, _ := codedFunction(1, n, 100, 1)
		return ObservationLevelSeconds(functionCodes(x), laws, counts)
	}
	assert.InDelta(t, 1, of(6000, 1, true), 0.9)
	assert.Less(t, of(6000, 1, false), of(6000, 1, true)/2)
	assert.InEpsilon(t, 2, of(12000, 1, true)/of(6000, 1, true), 0.1)
	assert.InEpsilon(t, 2, of(6000, 2, false)/of(6000, 1, false), 0.2)
	x, _ := codedFunction(1, 4000, 100, 1)
	assert.Zero(t, ObservationLevelSeconds(functionCodes(x)[:1], 1, true))
	x, _ = codedFunction(1, 4000, 30, 1)
	assert.Zero(t, ObservationLevelSeconds(functionCodes(x), 1, true))
}
