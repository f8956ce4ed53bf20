package mkl

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The work of shares is bounded where the sweeps are not the least number. With few samples it is far below the bound.
func TestSweepsOf(t *testing.T) {
	for _, c := range []struct{ n, kernels, views, columns, least, most int }{
		{20, 20, 4, 1, 110, 2200},
		{60, 20, 4, 1, 110, 2200},
		{120, 20, 4, 1, 110, 1804},
		{200, 20, 4, 1, 61, 488},
		{300, 20, 4, 1, 40, 165},
		{450, 20, 4, 1, 40, 54},
		{200, 40, 8, 3, 61, 318},
		{3000, 20, 4, 1, 40, 40},
	} {
		least, most := sweepsOf(c.n, c.kernels, c.views, c.columns)
		assert.Equal(t, c.least, least, "%d samples", c.n)
		assert.Equal(t, c.most, most, "%d samples", c.n)
		if most > least {
			assert.LessOrEqual(t, 1.25*float64(most)*sweepWork(c.n, c.kernels, c.views, c.columns), 1e11)
		}
	}
}
