package bemkl

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/fittest"
)

func TestRestore(t *testing.T) {
	p := problem{P: 3, D: 20, N: 20, L: 2}
	r, k, y := p.draw(t, 1)
	m, err := r.model(k, y)
	require.NoError(t, err)
	fittest.RequireRestored(t, m, 15, func() any {
		// The residuals follow from the state, up to the last digits of the functions
		// aᵀk, which Restore computes anew.
		s := m.Posterior().State()
		precision := s.Healing.Precision
		s.Healing = nil
		return []any{s, precision}
	})

	c, k, y := p.labels(t, 1)
	mc, err := c.model(k, y)
	require.NoError(t, err)
	fittest.RequireRestored(t, mc, 15, func() any { return mc.Posterior().State() })

	for _, draw := range []func(testing.TB, uint64) (SharedRegression, *vi.Dense, la.Matrix[float64]){p.shared, p.sharedGaps} {
		s, k, y := draw(t, 1)
		ms, err := s.state(k, y)
		require.NoError(t, err)
		fittest.RequireRestored(t, ms, 15, func() any {
			s := ms.Posterior().State()
			s.Healing = nil // as above
			return s
		})
	}
}
