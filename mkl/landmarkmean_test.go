package mkl

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
)

// TestLandmarkMeans holds that means, which come from the kernels, are the means of the features' posterior, and that means alone have
// the same bits as means beside variances.
func TestLandmarkMeans(t *testing.T) {
	src := rand.New(rand.NewPCG(7, 8))
	const n = 400
	x, y := la.NewMatrix[float64](n, 3), make([]float64, n)
	for i := range y {
		for j := range x.Cols {
			x.Set(i, j, src.NormFloat64())
		}
		y[i] = 3 + x.At(i, 0)*x.At(i, 1) + 0.1*src.NormFloat64()
	}
	m, err := LandmarkGP{Landmarks: &Landmarks{Count: 90}}.Fit(context.Background(), []View{{X: x}}, y)
	require.NoError(t, err)
	both, err := m.PredictTargets(context.Background(), PredictOptions{}, x)
	require.NoError(t, err)
	alone, err := m.PredictTargets(context.Background(), PredictOptions{MeanOnly: true}, x)
	require.NoError(t, err)
	assert.Equal(t, both.Mean, alone.Mean)
	p, err := m.Predictor(PredictorOptions{Exact: true})
	require.NoError(t, err)
	for i := range n {
		mean, _, err := p.Predict(x.Row(i))
		require.NoError(t, err)
		require.InDelta(t, mean, both.Mean[0][i], 1e-9)
	}
}

// TestLandmarkListsOfSeveralBlocks holds that samples have the same variances in a list of several blocks, whose features share memory, as in
// short lists.
func TestLandmarkListsOfSeveralBlocks(t *testing.T) {
	src := rand.New(rand.NewPCG(9, 8))
	const n, many = 300, 12_000
	x, y := la.NewMatrix[float64](n, 2), make([]float64, n)
	for i := range y {
		x.Set(i, 0, src.NormFloat64())
		x.Set(i, 1, src.NormFloat64())
		y[i] = x.At(i, 0)*x.At(i, 1) + 0.1*src.NormFloat64()
	}
	m, err := LandmarkGP{Landmarks: &Landmarks{Count: 60}}.Fit(context.Background(), []View{{X: x}}, y)
	require.NoError(t, err)
	at := la.NewMatrix[float64](many, 2)
	for i := range at.Data {
		at.Data[i] = 2 * src.NormFloat64()
	}
	block := gram.PredictWords / (m.design.D * len(m.design.Views))
	require.Less(t, block, many, "the list has several blocks")
	whole, err := m.PredictTargets(context.Background(), PredictOptions{}, at)
	require.NoError(t, err)
	for _, first := range []int{0, block - 2, block, many - 7} {
		some, err := m.PredictTargets(context.Background(), PredictOptions{}, at.Slice(first, first+7, 0, 2))
		require.NoError(t, err)
		require.Equal(t, whole.Variance[0][first:first+7], some.Variance[0])
	}
}
