package stairs

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/archive"
	"github.com/bmkl/bmkl/la"
)

// A matrix from an archive has the products of the matrix that was written. Archives that end early, or are of another size, are refused.
func TestArchive(t *testing.T) {
	src := rand.New(rand.NewPCG(5, 5))
	var ws la.Workspace
	for _, c := range []struct{ rows, cols int }{{0, 0}, {0, 5}, {5, 0}, {1, 1}, {8, 8}, {3, 40}, {70, 33}, {64, 64}, {300, 200}, {190, 230}} {
		a := la.NewMatrix[float64](c.rows, c.cols)
		for i := range a.Data {
			a.Data[i] = src.NormFloat64()
		}
		m := New(a)
		bytes := 0
		for _, b := range m.bands {
			bytes += 8 * len(b.a.Data)
		}
		assert.Equal(t, bytes, m.Bytes())
		assert.GreaterOrEqual(t, m.Bytes(), 8*c.rows*c.cols)
		fields := func(v *Matrix, a *archive.Archive) { v.Archive(a, c.rows, c.cols) }
		w := archive.New()
		archive.Value(w, func() *Matrix { return &m }, fields)
		data := w.Bytes()
		r := archive.Open(data)
		got := archive.Value(r, nil, fields)
		require.NoError(t, r.Close(), "%+v", c)
		x, want, y := make([]float64, c.cols), make([]float64, c.rows), make([]float64, c.rows)
		for j := range x {
			x[j] = src.NormFloat64()
		}
		m.MultiplyVec(&ws, x, want)
		got.MultiplyVec(&ws, x, y)
		assert.Equal(t, want, y)
		for range 20 {
			r := archive.Open(data[:src.IntN(max(1, len(data)-archive.Align))])
			assert.Nil(t, archive.Value(r, nil, fields))
			assert.Error(t, r.Close())
		}
		wrong := archive.Open(data)
		assert.Nil(t, archive.Value(wrong, nil, func(v *Matrix, a *archive.Archive) { v.Archive(a, c.rows, c.cols+1) }))
		assert.ErrorContains(t, wrong.Close(), "columns of a matrix is")
	}
}

// Bands that do not lie in their matrix, or whose numbers are not there, are refused.
func TestForgedArchive(t *testing.T) {
	const rows, cols = 4, 6
	band := func(top, left, height, width, stride, numbers int) error {
		w := archive.New()
		shape, columns, n := []int{rows, cols}, false, 1
		archive.Value(w, func() *Matrix { return new(Matrix) }, func(_ *Matrix, a *archive.Archive) {
			a.Int(&shape[0])
			a.Int(&shape[1])
			a.Bool(&columns)
			a.Int(&n)
			data := make([]float64, numbers)
			a.Floats(&data)
			for _, v := range []int{top, left, height, width, stride} {
				a.Int(&v)
			}
		})
		r := archive.Open(w.Bytes())
		archive.Value(r, nil, func(v *Matrix, a *archive.Archive) { v.Archive(a, rows, cols) })
		return r.Close()
	}
	assert.NoError(t, band(0, 0, 4, 6, 6, 24))
	assert.NoError(t, band(1, 2, 3, 4, 12, 36))
	assert.NoError(t, band(4, 6, 0, 0, 0, 0))
	for _, c := range [][6]int{
		{1, 0, 4, 6, 6, 24}, {0, 1, 4, 6, 6, 24}, {-1, 0, 4, 6, 6, 24}, {0, -1, 4, 6, 6, 24}, {0, 0, -1, 6, 6, 24}, {0, 0, 4, -1, 0, 24},
		{5, 0, 0, 6, 6, 24}, {0, 7, 4, 0, 0, 24}, {0, 0, 4, 6, 5, 24}, {0, 0, 4, 6, 15, 60}, {0, 0, 4, 6, 6, 23}, {math.MaxInt, 0, 1, 6, 6, 24},
	} {
		assert.ErrorContains(t, band(c[0], c[1], c[2], c[3], c[4], c[5]), "outside its matrix", "%v", c)
	}
	for _, n := range []int{-1, rows + cols + 1} {
		many := archive.New()
		archive.Value(many, func() *Matrix { return new(Matrix) }, func(_ *Matrix, a *archive.Archive) {
			for _, v := range []int{rows, cols, 0, n} { // 0: no columns
				a.Int(&v)
			}
		})
		r := archive.Open(many.Bytes())
		archive.Value(r, nil, func(v *Matrix, a *archive.Archive) { v.Archive(a, rows, cols) })
		assert.ErrorContains(t, r.Close(), "too many bands")
	}
}
