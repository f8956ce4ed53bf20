package bemkl

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// Each triangle keeps what is stored in it, whatever is stored in the other.
func TestTriangles(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{1, 2, 31, 32, 33, 64, 71} {
		x, both := testkit.Normal(src, n, n), newTriangles(n)
		x.MirrorLower()
		toUpper(x, both.upper)
		for i := range n {
			for j := range i + 1 {
				both.lower.Set(i, j, math.NaN())
			}
		}
		back := la.NewMatrix[float64](n, n)
		toLower(both.upper, back)
		for i := range n {
			require.Equal(t, x.Row(i)[:i+1], back.Row(i)[:i+1])
			for j := range i {
				require.Zero(t, back.At(j, i), "above the diagonal nothing is written")
			}
		}
		toLower(both.upper, both.lower)
		require.Equal(t, x.At(n-1, 0), both.lower.At(n-1, 0))
		require.Equal(t, x.At(n-1, 0), both.upper.At(0, n-1))
	}
}

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
	assert.Same(t, &h.fit.state.gram.Data[0], &p.only.b.Data[0])
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
