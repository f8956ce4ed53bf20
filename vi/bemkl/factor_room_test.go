package bemkl

import (
	"runtime"
	"testing"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The factor of a posterior lies beside its Gram matrix, which neither what it is asked nor the
// gradient of the bound notices.
func TestFactorBesideGram(t *testing.T) {
	h := newHealingProblem(t, 3, 40, 1, 30, 0, 2)
	gradient := func() (all []la.Matrix[float64]) {
		require.NoError(t, h.fit.BoundGradient(func(_ int, g la.Matrix[float64]) { all = append(all, g.Clone()) }))
		return all
	}
	p := h.fit.Posterior
	gram, slopes := p.State().Gram.Clone(), gradient()
	apart, err := NewRegressionPosterior(p.State())
	require.NoError(t, err)
	want, err := apart.PredictHealed(h.k, h.self, vi.PredictOptions{})
	require.NoError(t, err)

	got, err := p.PredictHealed(h.k, h.self, vi.PredictOptions{})
	require.NoError(t, err)
	assert.Equal(t, want, got)
	kept, err := p.core.Factor(nil, 0, nil)
	require.NoError(t, err)
	assert.Same(t, &h.fit.state.Gram.Data[0], &kept.B.Data[0])
	assert.Equal(t, slopes, gradient())
	for i := range gram.Rows {
		require.Equal(t, gram.Row(i)[i:], p.State().Gram.Row(i)[i:])
	}
}

// Memory that is as large as the Gram matrix is taken for the factor of healing, and for the copy
// that factorisations and solves make of a factor; for nothing else.
func TestMemoryOfPredictions(t *testing.T) {
	testkit.NotShort(t)
	const D = 512
	h := newHealingProblem(t, 2, D, 1, 8, 0, 1)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := h.fit.Posterior.PredictHealed(h.k, h.self, vi.PredictOptions{Workers: 1})
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	assert.Less(t, float64(after.TotalAlloc-before.TotalAlloc)/(8*D*D), 3.0) // with the packed blocks of products
}
