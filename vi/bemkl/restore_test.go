package bemkl

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// requireRestored sweeps, and demands that state is after Restore what it was at Keep.
func requireRestored(t *testing.T, m vi.Objective, state func() any) {
	for range 15 {
		require.NoError(t, m.Sweep(nil))
	}
	m.Keep()
	want := state()
	require.NoError(t, m.Sweep(nil))
	assert.NotEqual(t, want, state())
	m.Restore()
	assert.Equal(t, want, state())
}

func TestRestore(t *testing.T) {
	p := problem{P: 3, D: 20, N: 20, L: 2}
	r, k, y := p.draw(t, 1)
	m, err := r.model(k, y)
	require.NoError(t, err)
	requireRestored(t, m, func() any {
		// The residuals follow from the state, up to the last digits of the functions
		// aᵀk, which Restore computes anew.
		s := m.posterior().State()
		precision := s.Healing.Precision
		s.Healing = nil
		return []any{s, precision}
	})

	c, k, y := p.labels(t, 1)
	mc, err := c.model(k, y)
	require.NoError(t, err)
	requireRestored(t, mc, func() any { return mc.posterior().State() })

	for _, draw := range []func(testing.TB, uint64) (SharedRegression, *vi.Dense, la.Matrix[float64]){p.shared, p.sharedGaps} {
		s, k, y := draw(t, 1)
		ms, err := s.state(k, y)
		require.NoError(t, err)
		requireRestored(t, ms, func() any {
			s := ms.posterior().State()
			s.Healing = nil // as above
			return s
		})
	}

	for _, labels := range []bool{false, true} {
		p := pairProblems["missing"]
		p.labels = labels
		kx, kz, y := p.draw(t, 1)
		x, z := testkit.Must(vi.NewDense(kx...)), testkit.Must(vi.NewDense(kz...))
		var m pairFit
		if labels {
			m, err = PairClassification{Components: p.R}.model(x, z, y)
		} else {
			m, err = PairRegression{Components: p.R}.model(x, z, y)
		}
		require.NoError(t, err)
		requireRestored(t, m, func() any {
			s := m.posterior().State()
			own := [][]float64{s.X.Healing.Precision, s.Z.Healing.Precision}
			s.X.Healing, s.Z.Healing = nil, nil // as above
			return []any{s, own}
		})
	}
}
