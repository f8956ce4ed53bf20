package evaluation

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/measure"
)

// The baseline of classes is measured like the same probabilities of a model.
func TestFrequencies(t *testing.T) {
	class := []int{0, 2, 2, 0, 2, 1, 2}
	var probability [][]float64
	for range class {
		probability = append(probability, []float64{2. / 7, 1. / 7, 4. / 7})
	}
	want, err := measure.Classes(class, probability)
	require.NoError(t, err)
	got := frequencies(class)
	assert.Len(t, got.Values, 3)
	for name, v := range got.Values {
		assert.InEpsilon(t, want[name], v, 1e-14, name)
	}
}

// The grid of a column has its distinct values, or even steps, also between the largest numbers of both signs.
func TestValueGrid(t *testing.T) {
	assert.Equal(t, []float64{1, 2, 3}, valueGrid([]float64{3, 1, 2, 1}, 3))
	assert.Equal(t, []float64{-4, -2, 0, 2, 4}, valueGrid([]float64{4, -4, 3, -3, 2, 1}, 5))
	assert.Equal(t, []float64{-math.MaxFloat64, 0, math.MaxFloat64}, valueGrid([]float64{1, math.MaxFloat64, 2, -math.MaxFloat64}, 3))
}
