package encode

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestBlanks(t *testing.T) {
	b := NewBlanks([]string{"-999", "unknown", "9e9"})
	for _, cell := range []string{"-999", "-999.0", "-9.99e2", "unknown", "9000000000"} {
		assert.Empty(t, b.Text(cell), cell)
	}
	for _, cell := range []string{"999", "-99", "Unknown", "unknown shop", "0", "NA"} {
		assert.Equal(t, cell, b.Text(cell))
	}
	assert.True(t, math.IsNaN(b.Number(-999)))
	assert.Equal(t, 999.0, b.Number(999))

	var none Blanks
	assert.Equal(t, "-999", none.Text("-999"))
	assert.Equal(t, -999.0, none.Number(-999))
}
