package bemkl

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// toMixing makes some sweeps and goes on to where a step of the mixing is next.
func toMixing(t *testing.T, m *shared) {
	for range work.FirstSweeps + 1 {
		require.NoError(t, m.Sweep(nil))
	}
	for i, u := range m.updates.Settled {
		if u.Name == "(e,G)" && i > 20 {
			return
		}
		require.NoError(t, u.Step())
	}
	t.Fatal("no mixing")
}

// TestMixingLeavesTheLikelihoodAlone compares residuals, and sums over samples with G
// itself, before and after.
func TestMixingLeavesTheLikelihoodAlone(t *testing.T) {
	r, k, y := problem{P: 4, D: 12, N: 12, L: 3}.shared(t, 1)
	m, err := r.model(k, y)
	require.NoError(t, err)
	toMixing(t, m)
	var want []float64
	for o := range m.L {
		want = append(want, m.residual(o))
	}
	before := m.Bound()
	require.NoError(t, m.updateMixing())
	assert.Greater(t, m.Bound(), before)
	for o := range m.L {
		assert.InEpsilon(t, want[o], m.residual(o), 1e-9)
	}
	for j := range m.P {
		var sum, square, target float64
		for i := range m.N {
			g := meanOfG(m.latent, 0, i)[j]
			sum, square, target = sum+g, square+g*g, target+g*y.At(1, i)
		}
		assert.InDelta(t, sum, m.GSum.At(0, j), 1e-9)
		assert.InEpsilon(t, square, m.GGram[0].At(j, j), 1e-9)
		assert.InDelta(t, target, m.targets.At(1, j), 1e-9)
	}
}

// TestMixingIsBest takes the step of one kernel and compares the bound with the bounds after
// slightly different steps, made by the definition: on every g_i and e_o.
func TestMixingIsBest(t *testing.T) {
	for _, p := range []problem{{P: 3, D: 9, N: 12, L: 4}, {P: 5, D: 12, N: 12, L: 2}, {P: 4, D: 7, N: 15, L: 3, omega: sparse}} {
		for j := range p.P {
			r, k, y := p.shared(t, 3)
			m, err := r.model(k, y)
			require.NoError(t, err)
			toMixing(t, m)
			// The bound's own terms of what changes, from the moments.
			terms := func() float64 {
				sum := -0.5 * m.upsilonMean[0] * m.Distance(0)
				for o := range m.L {
					for n := range m.P {
						sum -= 0.5 * m.omega.Mean(o*m.P+n) * m.be[o].Square(1+n)
					}
				}
				return sum
			}
			before, full := terms(), m.Bound()
			m.mixing.total.Fill(0)
			for n := range m.P {
				m.mixing.total.Set(n, n, 1)
			}
			// What the step should do, sample by sample.
			var g [][]float64
			for i := range m.N {
				g = append(g, meanOfG(m.latent, 0, i))
			}
			cov, h := m.GCov[0].Clone(), m.H
			var be []la.Matrix[float64]
			for o := range m.L {
				be = append(be, m.ee[o].Clone())
			}
			m.beginMixing()
			require.NoError(t, m.mix(j))
			m.GDistance[0] = m.mixing.distance
			tau := append([]float64(nil), m.mixing.tau...)
			require.Zero(t, tau[j])
			at := func(tau []float64) float64 {
				sum := 0.0
				row := func(x la.Matrix[float64], n int) float64 { return la.Dot(tau, x.Row(n)) }
				variance := cov.At(j, j) + 2*row(cov, j)
				for n, v := range tau {
					variance += v * row(cov, n)
				}
				for i := range m.N {
					d := g[i][j] + la.Dot(tau, g[i]) - h.At(j, i)
					sum -= 0.5 * m.upsilonMean[0] * (d*d + variance)
				}
				for o := range m.L {
					for n, v := range tau {
						square := be[o].At(n, n) - 2*v*be[o].At(n, j) + v*v*be[o].At(j, j)
						sum -= 0.5 * m.omega.Mean(o*m.P+n) * square
					}
				}
				return sum
			}
			none := make([]float64, m.P)
			var trace float64
			for n := range m.P {
				trace += m.GCov[0].At(n, n)
			}
			m.GTrace[0] = float64(m.N) * trace
			name := fmt.Sprintf("%v, kernel %d", p, j)
			assert.InDelta(t, at(tau)-at(none), terms()-before, 1e-9*math.Abs(full), name)
			assert.GreaterOrEqual(t, at(tau), at(none), name)
			for n := range tau {
				for _, s := range []float64{-1e-3, 1e-3} {
					beside := append([]float64(nil), tau...)
					if n != j {
						beside[n] += s
						assert.Less(t, at(beside), at(tau), name)
					}
				}
			}
		}
	}
}
