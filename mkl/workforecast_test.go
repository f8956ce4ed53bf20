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
