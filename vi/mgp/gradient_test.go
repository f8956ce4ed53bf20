package mgp

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

// The gradient in the kernels' widths against differences of converged bounds.
func TestMultiGPBoundGradient(t *testing.T) {
	testkit.NotShort(t)
	const N, P = 15, 2
	src := rand.New(rand.NewPCG(12, 1))
	x, y, labels := make([]float64, N), make([]float64, N), make([]float64, N)
	for i := range x {
		x[i] = 3 * src.Float64()
		y[i] = math.Sin(2*x[i]) + 0.3*src.NormFloat64()
		labels[i] = math.Copysign(1, y[i]+0.5*src.NormFloat64())
	}
	widths := [P]float64{-0.9, 0.4} // logarithms
	kernels := func(widths [P]float64) (ks []la.Matrix[float64]) {
		for _, w := range widths {
			k := la.NewMatrix[float64](N, N)
			for i := range N {
				for j := range N {
					d := (x[i] - x[j]) * math.Exp(-w)
					k.Set(i, j, math.Exp(-0.5*d*d))
				}
			}
			ks = append(ks, k)
		}
		return ks
	}
	inner := func(g la.Matrix[float64], p int) (sum float64) { // <g, ∂K_p/∂log w_p>
		for i := range N {
			for j := range N {
				d := (x[i] - x[j]) * math.Exp(-widths[p])
				sum += g.At(i, j) * d * d * math.Exp(-0.5*d*d)
			}
		}
		return sum
	}
	published := Model{Prior: GIG{1, 0, 1}, HeldPrior: HeldPrior{}.All(), Ascent: vi.Ascent{MaxSweeps: 500, Tolerance: -1}}
	learned := Model{Family: FamilyLaplace, Ascent: vi.Ascent{MaxSweeps: 2000, Tolerance: -1}}
	ctx := context.Background()
	for name, run := range map[string]func(k vi.Kernels) (*Fit, error){
		"targets":                func(k vi.Kernels) (*Fit, error) { return published.Fit(ctx, k, y) },
		"targets, learned prior": func(k vi.Kernels) (*Fit, error) { return learned.Fit(ctx, k, y) },
		"labels":                 func(k vi.Kernels) (*Fit, error) { return published.FitLabels(ctx, k, labels) },
	} {
		t.Run(name, func(t *testing.T) {
			fit, err := run(testkit.Must(vi.NewDense(kernels(widths)...)))
			require.NoError(t, err)
			require.NoError(t, fit.BoundGradient(func(p int, g la.Matrix[float64]) {
				want := testkit.Slope(func(h float64) float64 {
					w := widths
					w[p] += h
					fit, err := run(testkit.Must(vi.NewDense(kernels(w)...)))
					require.NoError(t, err)
					return fit.Record.Bound()
				}, 1e-2)
				assert.InDelta(t, want, inner(g, p), 1e-6*max(1, math.Abs(want)), "kernel %d", p)
			}))
		})
	}

	// The log evidence at the scales that were found.
	for name, e := range map[string]Evidence{"targets": {}, "propagation": {}, "variational": {Sites: SitesBound}} {
		t.Run("evidence, "+name, func(t *testing.T) {
			target := labels
			if name == "targets" {
				target = y
			}
			e.Ascent.Tolerance = -1 // the sites as precise as they can be
			fit, err := e.fit(ctx, testkit.Must(vi.NewDense(kernels(widths)...)), target, name != "targets")
			require.NoError(t, err)
			s := fit.Posterior.State()
			require.NoError(t, fit.BoundGradient(func(p int, g la.Matrix[float64]) {
				want := testkit.Slope(func(h float64) float64 {
					w := widths
					w[p] += h
					m, x, err := e.objective(ctx, testkit.Must(vi.NewDense(kernels(w)...)), target, name != "targets")
					require.NoError(t, err)
					m.tol = 1e-13
					for q, gamma := range s.Gamma {
						x[q] = -math.Log(gamma)
					}
					if !m.labels {
						x[P] = math.Log(1/s.Tau - leastShare*m.power)
					}
					v, err := m.functions(x)
					require.NoError(t, err)
					return v
				}, 1e-2)
				assert.InDelta(t, want, inner(g, p), 1e-6*max(1, math.Abs(want)), "kernel %d", p)
			}))
		})
	}
}
