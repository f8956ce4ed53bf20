// Package stairs multiplies vectors by a lower trapezoidal matrix and reads little more
// than its elements: what a prediction of one sample does, where packing a matrix for a
// product would cost more than the product.
package stairs

import "github.com/bmkl/bmkl/la"

// Matrix is a lower trapezoidal matrix, cut into bands of rows which end where the
// band's last row does, one after the other in memory.
type Matrix struct {
	bands []la.Matrix[float64]
	cols  int
}

// bandRows is the number of rows of a band: few enough that a band stays in the cache
// between its products with several vectors.
const bandRows = 32

// New returns the matrix with the elements of l, of which row i has zeros beyond column
// Cols−Rows+i; those are not read. l has no fewer columns than rows.
func New(l la.Matrix[float64]) Matrix {
	m := Matrix{cols: l.Cols}
	end := func(row int) int { return l.Cols - l.Rows + row + 1 }
	var size int
	for first := 0; first < l.Rows; first += bandRows {
		last := min(first+bandRows, l.Rows)
		size += (last - first) * end(last-1)
	}
	data := make([]float64, size)
	for first := 0; first < l.Rows; first += bandRows {
		last := min(first+bandRows, l.Rows)
		n := (last - first) * end(last-1)
		band := la.MatrixOf(last-first, end(last-1), data[:n])
		data = data[n:]
		for i := first; i < last; i++ {
			copy(band.Row(i - first)[:end(i)], l.Row(i))
		}
		m.bands = append(m.bands, band)
	}
	return m
}

// Dims returns the numbers of rows and columns.
func (m Matrix) Dims() (rows, cols int) {
	for _, b := range m.bands {
		rows += b.Rows
	}
	return rows, m.cols
}

// Multiply stores the product with each row of x in the row of y. It does not allocate
// once ws has grown.
func (m Matrix) Multiply(ws *la.Workspace, x, y la.Matrix[float64]) {
	first := 0
	for _, b := range m.bands {
		for r := range x.Rows {
			la.Gemv(ws, la.NoTrans, 1, b, x.Row(r)[:b.Cols], 0, y.Row(r)[first:first+b.Rows])
		}
		first += b.Rows
	}
}

// MultiplyVec stores the product with x in y.
func (m Matrix) MultiplyVec(ws *la.Workspace, x, y []float64) {
	m.Multiply(ws, la.MatrixOf(1, len(x), x), la.MatrixOf(1, len(y), y))
}
