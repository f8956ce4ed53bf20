package pivot

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/archive"
	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
)

// Forms from an archive have the values and the bounds of the forms that were written.
func TestArchive(t *testing.T) {
	src := rand.New(rand.NewPCG(8, 8))
	ws := &la.Workspace{}
	for _, n := range []int{1, 7, 30} {
		sizes, units := make([]float64, n), []float64{1e-3, 1e-4, 1}
		var a []la.Matrix[float64]
		for i := range sizes {
			sizes[i] = math.Exp(-float64(i) / 4)
		}
		for range units {
			a = append(a, testkit.Normal(src, n, n))
		}
		want := NewForms(ws, a, units, sizes, 0.1)
		fields := func(f *Forms, a *archive.Archive) { f.Archive(a, n, len(units)) }
		w := archive.New()
		archive.Value(w, func() *Forms { return &want }, fields)
		data := w.Bytes()
		r := archive.Open(data)
		got := archive.Value(r, nil, fields)
		require.NoError(t, r.Close())
		assert.Equal(t, want.Size, got.Size)
		assert.Equal(t, want.Off, got.Off)
		assert.Equal(t, want.Bytes(), got.Bytes())
		one, two := make([]float64, len(units)), make([]float64, len(units))
		for range 10 {
			at := testkit.Normal(src, 1, n).Row(0)
			length := want.At(ws, at, make([]float64, want.ScratchSize()), one)
			assert.Equal(t, length, got.At(ws, at, make([]float64, got.ScratchSize()), two))
			assert.Equal(t, one, two)
		}
		for range 50 {
			r := archive.Open(data[:src.IntN(len(data)-archive.Align)])
			assert.Nil(t, archive.Value(r, nil, fields))
			assert.Error(t, r.Close())
		}
		for _, rank := range []int{-1, n + 1} {
			w := archive.New()
			archive.Value(w, func() *Forms { return &want }, func(_ *Forms, a *archive.Archive) { a.Int(&rank) })
			r := archive.Open(w.Bytes())
			assert.Nil(t, archive.Value(r, nil, fields))
			assert.ErrorContains(t, r.Close(), "more combinations than coordinates")
		}
	}
}

// Forms of unit matrices in units of 1 are exact, and need all coordinates.
func TestUnitForms(t *testing.T) {
	const n = 3
	unit := la.NewMatrix[float64](n, n)
	for i := range n {
		unit.Set(i, i, 1)
	}
	f := NewForms(&la.Workspace{}, []la.Matrix[float64]{unit}, []float64{1}, []float64{1, 1, 1}, 1e-3)
	assert.Equal(t, n, f.inner.Rows)
	assert.Equal(t, 4*(n*n+n*n)+8*n, f.Bytes(), "two matrices of float32 and the sizes")
	got := make([]float64, 1)
	assert.Equal(t, 29.0, f.At(&la.Workspace{}, []float64{2, 3, 4}, make([]float64, f.ScratchSize()), got))
	assert.InDelta(t, 29, got[0], 1e-5)
}
