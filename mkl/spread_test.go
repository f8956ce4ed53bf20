package mkl

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// TestKernelSpreads compares the spreads of a constant, a linear and a Gaussian kernel with
// sums over all pairs of samples, for a model, a pool that holds one and a kernel that is given.
func TestKernelSpreads(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	x, test := normal(rng, 20, 2), normal(rng, 9, 2)
	y := make([]float64, 20)
	for i := range y {
		y[i] = x.At(i, 0) + 0.1*rng.NormFloat64()
	}
	m, err := Regression{}.Fit(t.Context(), []View{
		{X: x, Kernel: kernel.Constant{}}, {X: x, Kernel: kernel.Linear{}}, {X: x, Kernel: kernel.RBF{Width: 1.5}},
	}, y)
	require.NoError(t, err)
	got, err := m.KernelSpreads(t.Context(), PredictOptions{}, test)
	require.NoError(t, err)
	kernels := []func(a, b []float64) float64{
		func(_, _ []float64) float64 { return 1 },
		func(a, b []float64) float64 { return a[0]*b[0] + a[1]*b[1] },
		func(a, b []float64) float64 {
			return math.Exp(-((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1])) / (2 * 1.5 * 1.5))
		},
	}
	for p, k := range kernels {
		var self, cross float64
		for i := range test.Rows {
			self += k(test.Row(i), test.Row(i)) / 9
			for d := range x.Rows {
				cross += k(test.Row(i), x.Row(d)) / (9 * 20)
			}
		}
		assert.InDelta(t, self-cross, got[p], 1e-12, "kernel %d", p)
	}
	_, err = m.KernelSpreads(t.Context(), PredictOptions{}, test, test)
	assert.Error(t, err)

	g, err := MultiGP{}.Fit(t.Context(), []View{{X: x, Kernel: kernel.RBF{Width: 1.5}}}, y)
	require.NoError(t, err)
	p := &pool{models: []Model{g, g}}
	pooled, err := p.KernelSpreads(t.Context(), PredictOptions{}, test)
	require.NoError(t, err)
	require.Len(t, pooled, 2)
	assert.InDelta(t, got[2], pooled[1], 1e-12)

	k := la.NewMatrix[float64](20, 20)
	for i := range 20 {
		for j := range 20 {
			k.Set(i, j, kernels[2](x.Row(i), x.Row(j)))
		}
	}
	m, err = Regression{}.Fit(t.Context(), []View{{X: k, Kernel: kernel.Precomputed{}}}, y)
	require.NoError(t, err)
	got, err = m.KernelSpreads(t.Context(), PredictOptions{}, k)
	require.NoError(t, err)
	assert.True(t, math.IsNaN(got[0]))
}

// TestFeatureSpreads compares the spreads of the columns of a sparse regression with their
// standard deviations.
func TestFeatureSpreads(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	x := normal(rng, 30, 2)
	y := make([]float64, 30)
	for i := range y {
		x.Set(i, 1, 10*x.At(i, 1))
		y[i] = x.At(i, 0) + 0.1*rng.NormFloat64()
	}
	m, err := SpikeSlab{}.Fit(t.Context(), x, y)
	require.NoError(t, err)
	got, err := m.KernelSpreads(t.Context(), PredictOptions{}, x)
	require.NoError(t, err)
	for j := range 2 {
		var sum, squares float64
		for i := range 30 {
			sum += x.At(i, j)
			squares += x.At(i, j) * x.At(i, j)
		}
		assert.InDelta(t, math.Sqrt(squares/30-sum*sum/900), got[j], 1e-9)
	}
	_, err = m.KernelSpreads(t.Context(), PredictOptions{})
	assert.Error(t, err)
}
