package bemkl

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// TestPlaneIsConjugateGradients holds every factor but a, b and G fixed, λ by its prior:
// they then solve a linear system, which conjugate gradients do in as many steps as it
// has unknowns and alternating updates do not.
func TestPlaneIsConjugateGradients(t *testing.T) {
	for _, p := range []problem{problems[0], problems[3], problems[5], problems[6]} {
		p.lambda = vi.Gamma{Shape: 1e14, Scale: 1e-14}
		r, k, y := p.draw(t, 2)
		rest := func(fast bool) float64 {
			m, err := r.model(k, y)
			require.NoError(t, err)
			for range 3 {
				require.NoError(t, m.Sweep(nil))
			}
			for range p.D + 5 {
				if fast {
					require.NoError(t, m.updateIntermediate(m.upsilonMean, m.epsilonMean, m.y))
					require.NoError(t, m.plane.begin())
					require.NoError(t, m.crew.Each(m.plane.moveTask))
					m.plane.keepStep()
					m.plane.staged = false
				} else {
					require.NoError(t, m.updateWeights(m.upsilonMean))
				}
				require.NoError(t, m.updateIntermediate(m.upsilonMean, m.epsilonMean, m.y))
			}
			// The projections kept up to date are those of the weights.
			h := la.NewMatrix[float64](p.L*p.P, p.N)
			k.Project(nil, m.aMean, h)
			testkit.RequireClose(t, "projections", h, m.h, 1e-12)
			// How far the next plain update of a still goes.
			before := m.aMean.Clone()
			require.NoError(t, m.updateWeights(m.upsilonMean))
			la.Axpy(-1, before.Data, m.aMean.Data)
			return la.SumSq(m.aMean.Data) / la.SumSq(before.Data)
		}
		assert.Less(t, rest(true), 1e-18, p.name)
		assert.Greater(t, rest(false), 1e-10, p.name)
	}
}
