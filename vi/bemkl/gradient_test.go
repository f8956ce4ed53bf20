package bemkl

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// The gradients of the bound against differences of bounds of converged fits, which
// go on from a fit at the middle so that they end at the same optimum.

var gradientProblems = []problem{
	{name: "one output", P: 2, D: 9, N: 9, L: 1},
	{name: "missing", P: 2, D: 8, N: 8, L: 3, missing: 0.3},
	{name: "rectangular", P: 2, D: 4, N: 10, L: 2, missing: 0.2},
}

var tight = vi.Ascent{Tolerance: -1, MaxSweeps: 100}

// along returns the kernels K_m + x·D_m for one kernel, and D_m.
func along(t *testing.T, k *vi.Dense, m int, seed uint64) (at func(x float64) vi.Kernels, d la.Matrix[float64]) {
	src := rand.New(rand.NewPCG(seed, uint64(m)))
	P, D, N := k.Dims()
	d = la.NewMatrix[float64](D, N)
	for i := range d.Data {
		d.Data[i] = 0.1 * src.NormFloat64()
	}
	return func(x float64) vi.Kernels {
		var ks []la.Matrix[float64]
		for p := range P {
			ks = append(ks, k.At(p).Clone())
		}
		la.Axpy(x, d.Data, ks[m].Data)
		out, err := vi.NewDense(ks...)
		require.NoError(t, err)
		return out
	}, d
}

// requireGradients compares the derivative in a direction for each kernel.
func requireGradients(t *testing.T, k *vi.Dense, gradient func(func(int, la.Matrix[float64])) error, bound func(k vi.Kernels) float64) {
	t.Helper()
	var g []la.Matrix[float64]
	require.NoError(t, gradient(func(m int, gm la.Matrix[float64]) {
		assert.Equal(t, len(g), m)
		g = append(g, gm.Clone())
	}))
	P, _, _ := k.Dims()
	require.Len(t, g, P)
	for m := range P {
		at, d := along(t, k, m, 4)
		want := testkit.Slope(func(x float64) float64 { return bound(at(x)) }, 2e-2)
		assert.InEpsilon(t, want, la.Dot(g[m].Data, d.Data), 1e-6, "kernel %d", m)
	}
}

func TestRegressionBoundGradient(t *testing.T) {
	testkit.NotShort(t)
	for _, p := range gradientProblems {
		for _, plain := range []bool{false, true}[:max(1, 3-p.L)] { // plain updates are slow
			t.Run(p.name, func(t *testing.T) {
				r, k, y := p.draw(t, 3)
				r.Ascent, r.Plain = tight, plain
				if plain {
					r.Ascent.MaxSweeps = 300
				}
				fit, err := r.Fit(context.Background(), k, y)
				require.NoError(t, err)
				r.From = fit.Posterior
				requireGradients(t, k, fit.BoundGradient, func(k vi.Kernels) float64 {
					fit, err := r.Fit(context.Background(), k, y)
					require.NoError(t, err)
					return fit.Record.Bound()
				})
			})
		}
	}
}

func TestSharedBoundGradient(t *testing.T) {
	testkit.NotShort(t)
	for _, p := range gradientProblems {
		t.Run(p.name, func(t *testing.T) {
			r, k, y := p.shared(t, 3)
			if p.missing > 0 {
				r, k, y = p.sharedGaps(t, 3)
			}
			r.Ascent = tight
			fit, err := r.Fit(context.Background(), k, y)
			require.NoError(t, err)
			r.From = fit.Posterior
			requireGradients(t, k, fit.BoundGradient, func(k vi.Kernels) float64 {
				fit, err := r.Fit(context.Background(), k, y)
				require.NoError(t, err)
				return fit.Record.Bound()
			})
		})
	}
}

func TestClassificationGradients(t *testing.T) {
	testkit.NotShort(t)
	for _, p := range gradientProblems {
		t.Run(p.name, func(t *testing.T) {
			c, k, y := p.labels(t, 3)
			c.Ascent, c.Margin, c.SigmaG = tight, 0.7, 0.3
			fit, err := c.Fit(context.Background(), k, y)
			require.NoError(t, err)
			c.From = fit.Posterior
			bound := func(c Classification, k vi.Kernels) float64 {
				fit, err := c.Fit(context.Background(), k, y)
				require.NoError(t, err)
				return fit.Record.Bound()
			}
			requireGradients(t, k, fit.BoundGradient, func(k vi.Kernels) float64 { return bound(c, k) })
			sigma, margin := fit.SettingsGradient()
			assert.InEpsilon(t, testkit.Slope(func(x float64) float64 {
				c := c
				c.SigmaG *= math.Exp(x)
				return bound(c, k)
			}, 2e-2), sigma, 1e-6, "σ_g")
			assert.InEpsilon(t, testkit.Slope(func(x float64) float64 {
				c := c
				c.Margin += x
				return bound(c, k)
			}, 5e-3), margin, 1e-6, "margin") // further away one problem has a higher optimum
		})
	}
}
