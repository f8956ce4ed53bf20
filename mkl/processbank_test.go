package mkl

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// The kernels of a bank have the bits of those that each design computes alone, and what designs share is there once.
func TestBankComputesTheKernelsOfItsDesigns(t *testing.T) {
	const n = 100
	rng := rand.New(rand.NewPCG(51, 52))
	x := normal(rng, n, 5)
	broad, _, err := defaultViews(KernelsBroad, View{X: x})
	require.NoError(t, err)
	sets := [][]View{broad, broad[2:4], {
		{X: x, Kernel: kernel.RBF{Widths: []float64{1, 2, 3, 4, 5}}, Standardize: true},
		{X: x, Kernel: kernel.Laplacian{Width: 3}, Columns: []int{2, 0}},
		{X: x, Kernel: kernel.Polynomial{Degree: 3, Offset: 1}}, {X: x, Kernel: kernel.Constant{}},
	}}
	var bank gram.Bank
	var points []gram.Points
	var at [][]gram.BankView
	for _, views := range sets {
		bound, err := bindViews(views, n, false)
		require.NoError(t, err)
		require.NoError(t, bound.Prepare(t.Context(), 1))
		views, ok := bank.Add(bound.Design, vec.UpTo(len(bound.Design.Views)))
		require.True(t, ok)
		at, points = append(at, views), append(points, gram.NewPoints(bound.Design, vec.UpTo(len(views)), vec.UpTo(n), true))
	}
	assert.Equal(t, at[0][2:4], at[1], "the kernels of the first design")
	s := bank.NewScratch()
	for _, q := range []Features{x, normal(rng, 5, 5)} {
		for i := range q.Rows {
			s.Begin()
			for j := range points {
				own := points[j].NewScratch()
				points[j].Kernels(own, [][]float64{q.Row(i)})
				bank.Kernels(s, at[j], [][]float64{q.Row(i)})
				for v, b := range at[j] {
					assert.Equal(t, own.K.Row(v), bank.Row(s, b), "set %d, view %d", j, v)
					assert.Equal(t, own.Self[v], s.Self[b.Row])
				}
			}
		}
	}

	for name, view := range map[string]View{
		"normalised": {X: x, Kernel: kernel.Linear{}, Normalize: true}, "categories": {X: x, Kernel: kernel.Categorical{}},
		"given": {X: la.NewMatrix[float64](n, n), Kernel: kernel.Precomputed{}},
	} {
		bound, err := bindViews([]View{view}, n, false)
		require.NoError(t, err)
		_, ok := bank.Add(bound.Design, vec.UpTo(len(bound.Design.Views)))
		assert.False(t, ok, name)
	}
}

// A sum of kernels that are centred in part has the values of the design's own kernels.
func TestBankCentresSums(t *testing.T) {
	const n = 90
	rng := rand.New(rand.NewPCG(53, 54))
	x := normal(rng, n, 3)
	views := []View{
		{X: x, Kernel: kernel.RBF{Width: 1}, Center: true}, {X: x, Kernel: kernel.Laplacian{Width: 3}, Center: true, Ranks: true},
		{X: x, Kernel: kernel.RBF{Width: 0.1}}, {X: x, Kernel: kernel.Linear{}, Center: true}, {X: x, Kernel: kernel.RBF{Width: 2}},
	}
	bound, err := bindViews(views, n, false)
	require.NoError(t, err)
	require.NoError(t, bound.Prepare(t.Context(), 1))
	_, err = bound.Train(t.Context(), 1) // for the means of the kernels
	require.NoError(t, err)
	amplitude := []float64{2, 0.5, 0, 3, 1}
	var bank processBank
	sum, ok := bank.sum(bound.Design, amplitude)
	require.True(t, ok)
	assert.Len(t, sum.views, 4, "kernels that count")
	bank.ready()
	points := gram.NewPoints(bound.Design, vec.UpTo(len(views)), vec.UpTo(n), true)
	own, got, want := points.NewScratch(), make([]float64, n), make([]float64, n)
	for _, q := range []Features{x, normal(rng, 9, 3)} {
		for i := range q.Rows {
			s := bank.take()
			self := bank.weigh(s.BankScratch, sum, [][]float64{q.Row(i)}, got)
			bank.pool.Put(s)
			points.Kernels(own, [][]float64{q.Row(i)})
			clear(want)
			for v, a := range amplitude {
				la.Axpy(a, own.K.Row(v), want)
			}
			assert.InDeltaSlice(t, want, got, 1e-12)
			assert.InDelta(t, la.Dot(amplitude, own.Self), self, 1e-12)
		}
	}
}
