package bemkl

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// TestSweepAllocatesNothing counts the allocations of sweeps of either order.
func TestSweepAllocatesNothing(t *testing.T) {
	type fit struct {
		vi.Objective
		updates *work.Schedule
	}
	for name, start := range map[string]func(p problem, workers int) fit{
		"regression": func(p problem, workers int) fit {
			r, k, y := p.draw(t, 1)
			r.Workers = workers
			m, err := r.model(k, y)
			require.NoError(t, err)
			return fit{m, &m.updates}
		},
		"classification": func(p problem, workers int) fit {
			c, k, y := p.labels(t, 1)
			c.Workers = workers
			m, err := c.model(k, y)
			require.NoError(t, err)
			return fit{m, &m.updates}
		},
		"task regression": func(p problem, workers int) fit {
			tasks, _ := drawTasks(t, 1, p.P, p.N, 5, 2*p.N)
			m, err := TaskRegression{Lambda: p.lambda, Omega: p.omega, Workers: workers}.model(tasks)
			require.NoError(t, err)
			return fit{m, &m.updates}
		},
		"shared regression": func(p problem, workers int) fit {
			r, k, y := p.shared(t, 1)
			r.Workers = workers
			m, err := r.model(k, y)
			require.NoError(t, err)
			return fit{m, &m.updates}
		},
		"shared regression with gaps": func(p problem, workers int) fit {
			p.L++
			r, k, y := p.sharedGaps(t, 1)
			r.Workers = workers
			m, err := r.state(k, y)
			require.NoError(t, err)
			return fit{m, &m.common().updates}
		},
	} {
		for _, p := range []problem{problems[0], problems[5], problems[7]} {
			for _, workers := range []int{1, 2} {
				m := start(p, workers)
				for _, done := range []int{0, work.FirstSweeps} {
					allocs := testkit.LeastAllocs(workers, func() {
						m.updates.Done = done
						if err := m.Sweep(nil); err != nil {
							t.Error(err)
						}
						m.Bound()
					})
					assert.Zero(t, allocs, "%s, %s, %d workers, from sweep %d", name, p.name, workers, done)
				}
			}
		}
	}
}
