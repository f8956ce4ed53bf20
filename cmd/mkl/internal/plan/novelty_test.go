package plan

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/bmkl/bmkl/cmd/internal/table"
)

func TestNovelty(t *testing.T) {
	d := &table.Data{Rows: 5, Numbers: map[int][]float64{2: {-1, 0, 4, 7, math.NaN()}}, Labels: map[int][]string{3: {"a", "c", "", "b", "a"}}}
	assert.Equal(t, []float64{0.25, 0, 0, 0.75, 0}, Novelty(Column{Type: table.Numeric, Range: &[2]float64{0, 4}}, 2, d))
	assert.Equal(t, []float64{0, 0, 0, 0, 0}, Novelty(Column{Type: table.Numeric}, 2, d))
	assert.Equal(t, []float64{0, 1, 0, 0, 0}, Novelty(Column{Type: table.Text, Categories: []string{"a", "b"}}, 3, d))
	assert.Equal(t, []float64{1, 0, 1, 1, 0}, Novelty(Column{Type: table.Numeric, Range: &[2]float64{0, 0}}, 2, d), "a column of one value")
	assert.Equal(t, &[2]float64{-2, 3}, span(table.Numeric, []float64{3, math.NaN(), -2}))
}
