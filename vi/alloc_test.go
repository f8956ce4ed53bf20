package vi

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSweepAllocatesNothing(t *testing.T) {
	for _, p := range []problem{problems[0], problems[5], problems[7]} {
		for _, workers := range []int{1, 2} {
			r, k, y := p.draw(t, 1)
			r.Workers = workers
			m, err := r.model(k, y)
			require.NoError(t, err)
			require.NoError(t, m.sweep(nil))
			allocs := testing.AllocsPerRun(20, func() {
				if err := m.sweep(nil); err != nil {
					t.Error(err)
				}
				m.bound()
			})
			assert.Zero(t, allocs, "%s, %d workers", p.name, workers)
		}
	}
}
