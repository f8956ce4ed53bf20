package mkl

import (
	"math/rand/v2"
	"testing"

	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFillViews gives kernels to the views that have none, keeps the others, and keeps
// the order of their matrices.
func TestFillViews(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	a, b, flat := normal(rng, 20, 2), normal(rng, 20, 3), Column(make([]float64, 20))
	views := []View{{Name: "a", X: a, Input: "x1"}, {Name: "flat", X: flat, Input: "x2"}, {Name: "b", X: b, Input: "x3", Kernel: kernel.RBF{Width: 1}}}
	filled, notes, err := FillViews(KernelsBroad, views)
	require.NoError(t, err)
	assert.Equal(t, []string{"flat: features of one value are left out: #1"}, notes)
	assert.LessOrEqual(t, len(filled), KernelsBroad.MaxKernels(2)+2)
	last := 0
	for _, v := range filled {
		require.NotNil(t, v.Kernel)
		at := 0
		for !gram.SameMatrix(v.X, views[at].X) {
			at++
		}
		assert.GreaterOrEqual(t, at, last)
		last = at
	}
	assert.Equal(t, views[2], filled[len(filled)-1])

	same, notes, err := FillViews(KernelsAdditive, views[2:])
	require.NoError(t, err)
	assert.Empty(t, notes)
	assert.Equal(t, views[2:], same)
}

// TestMaxKernels counts the kernels of features that keep all of them.
func TestMaxKernels(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, d := range []int{1, 3, 30} {
		x := normal(rng, 60, d)
		for _, set := range []KernelSet{0, KernelsBroad, KernelsOfView, KernelsARD, KernelsARDRanks, KernelsAdditive, KernelsAdditive | KernelsARDRanks, KernelsBroad | KernelsAdditive} {
			views, _, err := defaultViews(set, View{X: x})
			require.NoError(t, err)
			assert.LessOrEqual(t, len(views), set.MaxKernels(d))
			assert.GreaterOrEqual(t, len(views), set.MaxKernels(d)-4)
		}
	}
}

// TestPoolStory reads the account of a pool from its model.
func TestPoolStory(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	x, y := normal(rng, 20, 1), make([]float64, 20)
	for i := range y {
		y[i] = x.At(i, 0)
	}
	m, err := Auto{}.Fit(t.Context(), []View{{X: x}}, y)
	require.NoError(t, err)
	assert.Contains(t, m.Summary(), m.Story())
	assert.Regexp(t, `^Tried: .*\nKept: .*\nWhy: .*\n$`, m.Story())
}
