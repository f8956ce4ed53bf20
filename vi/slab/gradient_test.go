package slab

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// The gradient against differences of bounds of converged fits from the same start.
func TestMultiTaskBoundGradient(t *testing.T) {
	y, d := taskProblem(4, 16, 0.1, 2)
	mean := make([]float64, d.Rows)
	for n := range mean {
		mean[n] = math.Cos(0.4 * float64(n))
	}
	latents := func(lengths [2]float64) []Latent {
		out := make([]Latent, 2)
		for m, l := range lengths {
			k := la.NewMatrix[float64](d.Rows, d.Rows)
			DecayCovariance(d, l, l, l).fill(l, k)
			out[m].Covariance = FixedCovariance(k)
		}
		out[1].Mean = mean
		return out
	}
	lengths := [2]float64{0.6, 2}
	for name, task := range map[string]MultiTask{"own noise": {}, "shared noise": {SharedNoise: true, Plain: true}} {
		if task.Plain && testing.Short() { // plain updates are slow
			continue
		}
		for _, target := range []la.Matrix[float64]{y, complete(y)} {
			t.Run(name, func(t *testing.T) {
				task.KeepAll, task.Ascent, task.Workers = true, vi.Ascent{Tolerance: -1, MaxSweeps: 800}, 1
				if task.Plain {
					task.Ascent.MaxSweeps = 4000
				}
				fit, err := task.Fit(context.Background(), latents(lengths), target)
				require.NoError(t, err)
				task.From = &MultiTaskFit{Posterior: fit.Posterior}
				var seen []int
				require.NoError(t, fit.BoundGradient(func(m int, g la.Matrix[float64]) {
					seen = append(seen, m)
					want := testkit.Slope(func(h float64) float64 {
						l := lengths
						l[m] *= math.Exp(h)
						fit, err := task.Fit(context.Background(), latents(l), target)
						require.NoError(t, err)
						return fit.Record.Bound()
					}, 1e-2)
					var got float64
					for i := range d.Rows {
						for j, v := range d.Row(i) { // ∂K/∂log ℓ = K∘d/ℓ
							got += g.At(i, j) * v / lengths[m] * math.Exp(-v/lengths[m])
						}
					}
					require.Greater(t, math.Abs(want), 1e-2)
					assert.InEpsilon(t, want, got, 1e-6, "latent function %d", m)
				}))
				assert.Equal(t, []int{0, 1}, seen)
			})
		}
	}
}
