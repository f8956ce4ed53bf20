package motorcycle

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestData(t *testing.T) {
	times, accel, err := Data()
	require.NoError(t, err)
	assert.Len(t, times, 133)
	assert.Len(t, accel, 133)
	assert.True(t, slices.IsSorted(times))
	assert.Len(t, slices.Compact(slices.Clone(times)), 94)
	assert.Equal(t, []float64{2.4, 0, 57.6, 10.7}, []float64{times[0], accel[0], times[132], accel[132]})
}
