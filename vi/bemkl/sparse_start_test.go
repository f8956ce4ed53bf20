package bemkl

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/sweeptest"
)

// bumps returns a function of one input that is a sum of two bumps with noise, and its kernels of ten widths.
func bumps(t *testing.T, seed uint64) (vi.Kernels, la.Matrix[float64]) {
	src := rand.New(rand.NewPCG(seed, 11))
	x, y := make([]float64, 60), make([]float64, 60)
	for i := range x {
		x[i] = src.NormFloat64()
		y[i] = float64(0.4 * src.NormFloat64())
		for _, at := range []float64{-0.7, 0.9} {
			d := x[i] - at
			y[i] += special.Exp(-2 * float64(d*d))
		}
	}
	sweeptest.Standardise(y)
	widths := make([]float64, 10)
	for i := range widths {
		widths[i] = math.Ldexp(1, i-5)
	}
	return gaussianKernels(t, [][]float64{x}, widths), sweeptest.Rows([][]float64{y})
}

// TestSparseFitsForgetTheirStart compares fits from random starts with the empty model, which is far below the best. Without the
// loose sweeps most of them end in it.
func TestSparseFitsForgetTheirStart(t *testing.T) {
	for data := range uint64(3) {
		k, y := bumps(t, data)
		r := Regression{Lambda: sparse, Omega: sparse, Workers: 1}
		var first float64
		for r.Seed = range uint64(3) {
			fit, err := r.Fit(t.Context(), k, y)
			require.NoError(t, err)
			assert.Empty(t, fit.Collapsed, "data %d, seed %d", data, r.Seed)
			if r.Seed == 0 {
				first = fit.Record.Bound()
			}
			assert.InDelta(t, first, fit.Record.Bound(), 1, "data %d, seed %d", data, r.Seed)
		}
	}
}

// TestSparseStart: the sweeps before the first keep the prior of the model, and end with their context.
func TestSparseStart(t *testing.T) {
	r, k, y := problem{P: 4, D: 15, N: 15, L: 2, lambda: sparse, omega: sparse}.draw(t, 1)
	m, err := r.model(k, y)
	require.NoError(t, err)
	require.NoError(t, r.start(t.Context(), m))
	assert.Equal(t, sparse, m.Lambda.Prior)
	assert.Equal(t, sparse.Shape+0.5, m.Lambda.Shape)
	assert.Equal(t, looseSweeps, m.updates.Done)

	for name, other := range map[string]func(*Regression){
		"λ":     func(r *Regression) { r.Lambda = vi.Gamma{} },
		"ω":     func(r *Regression) { r.Omega = vi.Gamma{Shape: 1e-3, Scale: 1e3} },
		"rate":  func(r *Regression) { r.Lambda = broken },
		"plain": func(r *Regression) { r.Plain = true },
		"start": func(r *Regression) { r.Start = randomStart(1, 2, 4, 15, 15) },
	} {
		r := r
		other(&r)
		m, err := r.model(k, y)
		require.NoError(t, err)
		require.NoError(t, r.start(t.Context(), m))
		assert.Zero(t, m.updates.Done, name)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	fit, err := r.Fit(ctx, k, y)
	assert.ErrorIs(t, err, context.Canceled)
	assert.Nil(t, fit)
}

// TestSwapLambda keeps the means of λ.
func TestSwapLambda(t *testing.T) {
	r, k, y := problem{P: 2, D: 6, N: 6, L: 1, lambda: sparse, omega: sparse}.draw(t, 1)
	m, err := r.model(k, y)
	require.NoError(t, err)
	require.NoError(t, m.Sweep(nil))
	var before []float64
	for d := range 6 {
		before = append(before, m.Lambda.Mean(d))
	}
	m.swapLambda(vi.Gamma{Shape: 1, Scale: 1})
	for d := range 6 {
		assert.InEpsilon(t, before[d], m.Lambda.Mean(d), 1e-15)
	}
}
