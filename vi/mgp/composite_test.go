package mgp

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// Predictions from sums of kernels, added up here one by one, are the predictions from the kernels.
func TestPredictComposite(t *testing.T) {
	x, y, k := uneven(t, 40, 9)
	fit, err := Evidence{Ascent: vi.Ascent{MaxSweeps: 4}}.FitVarying(context.Background(), k, y)
	require.NoError(t, err)
	at := []float64{-2, -0.5, x[3], 0.7, 5}
	fresh, self := onLine(t, x, at), unevenSelf(len(at))
	sum := func(p *Posterior) (kbar la.Matrix[float64], own []float64) {
		kbar, own = la.NewMatrix[float64](len(at), len(x)), make([]float64, len(at))
		column := la.NewMatrix[float64](1, len(x))
		for m, g := range p.State().Gamma {
			for i := range at {
				fresh.Columns(m, i, column)
				for n, v := range column.Row(0) {
					kbar.Set(i, n, kbar.At(i, n)+v/g)
				}
				own[i] += self.At(m, i) / g
			}
		}
		return kbar, own
	}
	want, err := fit.Posterior.Predict(fresh, self, vi.PredictOptions{})
	require.NoError(t, err)
	require.NoError(t, fit.Noise.Widen(want, fresh, self, vi.PredictOptions{}))
	kbar, own := sum(fit.Posterior)
	ws := &la.Workspace{}
	got, err := fit.Posterior.PredictComposite(ws, kbar, own, vi.PredictOptions{})
	require.NoError(t, err)
	kbar, own = sum(fit.Noise.About)
	require.NoError(t, fit.Noise.WidenComposite(ws, got, kbar, own, vi.PredictOptions{}))
	assert.InDeltaSlice(t, want.Mean, got.Mean, 1e-10)
	assert.InDeltaSlice(t, want.Function, got.Function, 1e-10)
	assert.InDeltaSlice(t, want.Variance, got.Variance, 1e-10)

	kbar, _ = sum(fit.Posterior)
	alone, err := fit.Posterior.PredictComposite(ws, kbar, nil, vi.PredictOptions{MeanOnly: true})
	require.NoError(t, err)
	assert.InDeltaSlice(t, want.Mean, alone.Mean, 1e-10)
	assert.Nil(t, alone.Variance)
	_, err = fit.Posterior.PredictComposite(ws, la.NewMatrix[float64](2, 7), own, vi.PredictOptions{})
	assert.EqualError(t, err, "vi: composite kernels: 2×7 where 40 training samples are needed")
	_, err = fit.Posterior.PredictComposite(ws, la.NewMatrix[float64](2, 40), own[:1], vi.PredictOptions{})
	assert.EqualError(t, err, "vi: self: 1 where 2 are needed")
}
