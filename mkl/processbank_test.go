package mkl

import (
	"math"
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
		where, alone := addToBank(t, &bank, views)
		at, points = append(at, where), append(points, alone)
	}
	assert.Equal(t, at[0][2:4], at[1], "the kernels of the first design")
	for _, q := range []Features{x, normal(rng, 5, 5)} {
		compareWithBank(t, &bank, at, points, q, 0)
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

// Distances that differ in widths alone are computed together, within rounding of the kernels that each design computes alone.
func TestBankJoinsDistances(t *testing.T) {
	const n = 130
	rng := rand.New(rand.NewPCG(61, 62))
	x := normal(rng, n, 5)
	copy(x.Row(9), x.Row(8))
	var bank gram.Bank
	var points []gram.Points
	var at [][]gram.BankView
	for c := range 4 {
		widths := func(d int) (w []float64) {
			for range d {
				w = append(w, math.Exp(2*rng.NormFloat64()))
			}
			return w
		}
		own := widths(5)
		views := []View{
			{X: x, Kernel: kernel.RBF{Widths: own}, Standardize: true}, {X: x, Kernel: kernel.RationalQuadratic{Alpha: 2, Widths: own}, Standardize: true},
			{X: x, Kernel: kernel.Laplacian{Widths: widths(5)}, Ranks: true}, {X: x, Kernel: kernel.RBF{Width: 2}, Standardize: true},
			{X: x, Kernel: kernel.Laplacian{Widths: widths(2)}, Columns: []int{3, 1}}, {X: x, Kernel: kernel.Linear{}},
		}
		if c > 1 {
			views = append(views[:4], views[5:]...) // too few for the sight of two columns
		}
		where, alone := addToBank(t, &bank, views)
		at, points = append(at, where), append(points, alone)
	}
	bank.Join()
	for _, q := range []Features{x, normal(rng, 20, 5)} {
		compareWithBank(t, &bank, at, points, q, 1e-14)
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

// addToBank adds the kernels of the views to a bank, and returns their places and kernels that use no bank.
func addToBank(t *testing.T, bank *gram.Bank, views []View) ([]gram.BankView, gram.Points) {
	n := views[0].X.Rows
	bound, err := bindViews(views, n, false)
	require.NoError(t, err)
	require.NoError(t, bound.Prepare(t.Context(), 1))
	where, ok := bank.Add(bound.Design, vec.UpTo(len(views)))
	require.True(t, ok)
	return where, gram.NewPoints(bound.Design, vec.UpTo(len(views)), vec.UpTo(n), true)
}

// compareWithBank compares the kernels of the rows of q by a bank with kernels that use no bank.
func compareWithBank(t *testing.T, bank *gram.Bank, at [][]gram.BankView, points []gram.Points, q Features, tolerance float64) {
	s := bank.NewScratch()
	for i := range q.Rows {
		s.Begin()
		for j := range points {
			own := points[j].NewScratch()
			points[j].Kernels(own, [][]float64{q.Row(i)})
			bank.Kernels(s, at[j], [][]float64{q.Row(i)})
			for v, b := range at[j] {
				require.InDeltaSlice(t, own.K.Row(v), bank.Row(s, b), tolerance, "set %d, view %d", j, v)
				require.Equal(t, own.Self[v], s.Self[b.Row])
			}
		}
	}
}
