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
