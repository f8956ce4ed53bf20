package la

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMatrixViewsShareElements(t *testing.T) {
	m := NewMatrix[float64](4, 5)
	v := m.Slice(1, 3, 2, 5)
	v.Set(1, 2, 7)
	assert.Equal(t, 7.0, m.At(2, 4))
	assert.Equal(t, 3, len(v.Row(0)))
	assert.Equal(t, 3, cap(v.Row(0)))
	assert.Panics(t, func() { m.Slice(0, 5, 0, 1) })
}

func TestTakeCopiesRowsAndColumns(t *testing.T) {
	m := MatrixOf(3, 4, []float64{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23}).Slice(0, 3, 1, 4)
	taken := m.Take([]int{2, 0}, []int{1, 1, 0})
	assert.Equal(t, MatrixOf(2, 3, []float64{22, 22, 21, 2, 2, 1}), taken)
	assert.Equal(t, MatrixOf(2, 3, []float64{21, 22, 23, 21, 22, 23}), m.TakeRows([]int{2, 2}))
	taken.Fill(-1)
	assert.Equal(t, 22.0, m.At(2, 1), "the elements are copies")
	assert.True(t, m.Take(nil, []int{0}).Valid())
	assert.Equal(t, []int{0, 3}, []int{m.TakeRows(nil).Rows, m.TakeRows(nil).Cols})
	for _, wrong := range []int{-1, 3} {
		assert.Panics(t, func() { m.Take([]int{0}, []int{wrong}) })
		assert.Panics(t, func() { m.TakeRows([]int{wrong}) })
	}
}
