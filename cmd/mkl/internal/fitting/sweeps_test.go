package fitting

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSweepsForecast(t *testing.T) {
	assert.Equal(t, "forecast: about 40 s of processor time, or 3 minutes if it settles slowly, and 300 MiB of memory: "+
		"a fit of 2000 rows, and then 10 to 60 sweeps over all rows of 3 s each (-time bounds the time)",
		sweepsForecast(4, 3, 0, 2000, 300<<20))
	assert.Equal(t, "forecast: about 60 s of processor time, or 3 minutes if it settles slowly, and 300 MiB of memory: "+
		"effects of levels in 20 s, a fit of 2000 rows, and then 10 to 60 sweeps over all rows of 3 s each (-time bounds the time)",
		sweepsForecast(4, 3, 20, 2000, 300<<20))
	assert.Empty(t, sweepsForecast(1, 0.1, 0, 2000, 300<<20), "a short fit")
}
