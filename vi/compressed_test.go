package vi

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

func TestNewCompressed(t *testing.T) {
	k, err := NewDense(la.MatrixOf(1, 2, []float64{1, 2}))
	require.NoError(t, err)
	for _, c := range []struct {
		k    Kernels
		ones []float64
		want string
	}{
		{nil, nil, "vi: kernels: nil"},
		{k, []float64{1}, "vi: ones: 1 values for 2 pseudo-samples"},
		{k, []float64{1, math.NaN()}, "vi: ones: value 1 is NaN"},
		{k, []float64{0, 0.5}, "vi: ones: the squares add up to 0.25 samples"},
	} {
		_, err := NewCompressed(c.k, c.ones)
		assert.EqualError(t, err, c.want)
	}
	c, err := NewCompressed(k, []float64{3, 4})
	require.NoError(t, err)
	assert.Equal(t, []float64{3, 4}, c.Ones())
	assert.NoError(t, RefuseCompressed(k))
	assert.Error(t, RefuseCompressed(c))
}
