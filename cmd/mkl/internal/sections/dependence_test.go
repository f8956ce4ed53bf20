package sections

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/bmkl/bmkl/cmd/mkl/internal/page"
)

// TestSurfaceTable demands columns of the first input, rows of the second, and shades from the least mean to the largest.
func TestSurfaceTable(t *testing.T) {
	line := page.Dependence{Target: "y", Mean: []float64{1, 2, 3, 4, 5, 9}, Low: []float64{0, 0, 0, 2, 0, 0}, High: []float64{2, 2, 2, 8, 2, 2}}
	got := surfaceTable("x", "z", []float64{10, 20, 30}, []float64{0.5, 1.5}, line, false)
	assert.Equal(t, "Partial dependence of y on x (columns) and z (rows)", got.Caption)
	assert.Equal(t, []string{"z", "10.00", "20.00", "30.00"}, got.Head)
	assert.Equal(t, []string{"1.500", "4.000 ± 3.000", "5.000 ± 1.000", "9.000 ± 1.000"}, got.Rows[1])
	assert.Equal(t, [][]float64{{0, 0.125, 0.25}, {0.375, 0.5, 1}}, got.Shades)

	chances := surfaceTable("x", "z", []float64{10, 20, 30}, []float64{0.5, 1.5}, line, true)
	assert.Equal(t, []string{"0.5000", "1.000", "2.000", "3.000"}, chances.Rows[0], "probabilities have no interval")
}
