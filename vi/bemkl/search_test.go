package bemkl

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
)

// TestSearchIsConjugateGradients holds every other factor fixed: a and G then
// solve a linear system of order D, which conjugate gradients do in D steps and
// alternating updates do not.
func TestSearchIsConjugateGradients(t *testing.T) {
	for _, p := range []problem{problems[0], problems[3], problems[5], problems[6]} {
		r, k, y := p.draw(t, 2)
		rest := func(fast bool) float64 {
			m, err := r.model(k, y)
			require.NoError(t, err)
			for range 3 {
				require.NoError(t, m.Sweep(nil))
			}
			s := newSearch(m.latent)
			for range p.D + 3 {
				if fast {
					require.NoError(t, m.updateIntermediate(m.upsilonMean, m.epsilonMean, m.y))
					require.NoError(t, s.update(m.latent))
				} else {
					require.NoError(t, m.updateWeights(m.upsilonMean))
					require.NoError(t, m.updateIntermediate(m.upsilonMean, m.epsilonMean, m.y))
				}
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
		assert.Less(t, rest(true), 1e-20, p.name)
		assert.Greater(t, rest(false), 1e-10, p.name)
	}
}
