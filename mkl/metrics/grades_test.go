package metrics

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Scores by hand.
func TestRankedProbability(t *testing.T) {
	got, err := RankedProbability([]int{0, 2}, [][]float64{{0.5, 0.3, 0.2}, {0.5, 0.3, 0.2}})
	require.NoError(t, err)
	assert.InDelta(t, ((0.25+0.04)/2+(0.25+0.64)/2)/2, got, 1e-15)
	got, err = RankedProbability([]int{2}, [][]float64{{1, 0, 0}})
	require.NoError(t, err)
	assert.InDelta(t, 1, got, 1e-15)
	for _, p := range [][]float64{{0.5}, {-1, 2, 0}, {2, 0, 0}} {
		_, err = RankedProbability([]int{0}, [][]float64{p})
		assert.Error(t, err)
	}
	_, err = RankedProbability([]int{3}, [][]float64{{1, 0, 0}})
	assert.ErrorContains(t, err, "sample 0 is 3 of 3")
}

// The values of sklearn.metrics.cohen_kappa_score with weights="quadratic", version 1.2.1.
func TestWeightedKappa(t *testing.T) {
	got, err := WeightedKappa([]int{0, 1, 2, 3, 2, 1}, []int{0, 2, 2, 3, 1, 1}, 4)
	require.NoError(t, err)
	assert.InDelta(t, 0.8181818181818181, got, 1e-14)
	got, err = WeightedKappa([]int{0, 2, 0, 2}, []int{2, 0, 2, 0}, 3)
	require.NoError(t, err)
	assert.InDelta(t, -1, got, 1e-15)
	_, err = WeightedKappa([]int{1, 1}, []int{1, 1}, 3)
	assert.ErrorContains(t, err, "all grades are 1")
	_, err = WeightedKappa([]int{1, 3}, []int{1, 1}, 3)
	assert.ErrorContains(t, err, "sample 1")
}
