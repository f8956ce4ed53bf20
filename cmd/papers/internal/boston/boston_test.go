package boston

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/table"
)

func TestSource(t *testing.T) {
	s, err := Source()
	require.NoError(t, err)
	assert.Len(t, s.Columns(), 14)
	assert.Equal(t, "medv", s.Columns()[13])
	d, err := table.Read(s, []table.Want{{Column: 0}, {Column: 13}})
	require.NoError(t, err)
	assert.Equal(t, 506, d.Rows)
	assert.Equal(t, []float64{0.00632, 24, 11.9}, []float64{d.Numbers[0][0], d.Numbers[13][0], d.Numbers[13][505]})
}
