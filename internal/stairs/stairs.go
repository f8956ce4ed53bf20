// Package stairs multiplies vectors by matrices whose elements other than zero lie between two
// stairs, as the matrices of triangles and of triangles along a diagonal do. It reads little more
// than these: what a prediction of one sample does, where packing a matrix for a product
// would cost more than the product.
package stairs

import "github.com/bmkl/bmkl/la"

// Matrix is cut into bands, each as long as its elements other than zero reach, which lie one
// after the other in memory.
//
// A small matrix has bands of columns and lies column by column: a product adds multiples of
// columns, and needs no sum over the lanes of a vector register for each element of the
// result. A large one has bands of rows, which come from memory in one stream.
type Matrix struct {
	bands      []band
	rows, cols int
	columns    bool // whether bands are of columns, each a transposed matrix
}

// band holds the elements from row top and column left on.
type band struct {
	a         la.Matrix[float64]
	top, left int
}

const (
	// A band stays in the cache between its products with several vectors.
	bandRows, bandCols = 32, 32

	// small is the most elements of the bands of a matrix that lies column by column: both
	// layouts are about as fast here.
	small = 1 << 15

	// line is the number of elements of a cache line. Rows, or columns, of a band begin with
	// one.
	line = 8
)

// New returns the matrix with the elements of a.
func New(a la.Matrix[float64]) Matrix {
	m := Matrix{rows: a.Rows, cols: a.Cols, columns: true}
	along := transposed(a)
	size := m.cut(along, bandCols)
	if size > small {
		m.columns, along = false, a
		size = m.cut(along, bandRows)
	}
	data := make([]float64, size)
	first := 0
	for n := range m.bands {
		b := &m.bands[n].a
		size := b.Rows * b.Stride
		b.Data, data = data[:size:size], data[size:]
		begin := m.bands[n].top + m.bands[n].left - first
		b.CopyFrom(along.Slice(first, first+b.Rows, begin, begin+b.Cols))
		first += b.Rows
	}
	return m
}

// cut cuts a, which is transposed if bands are of columns, into bands of so many rows without
// elements yet. It returns how many these will have.
func (m *Matrix) cut(a la.Matrix[float64], width int) (size int) {
	m.bands = nil
	for first := 0; first < a.Rows; first += width {
		last := min(first+width, a.Rows)
		begin, end := reach(a.Slice(first, last, 0, a.Cols))
		b := band{top: first, left: begin}
		if m.columns {
			b.top, b.left = begin, first
		}
		b.a = la.Matrix[float64]{Rows: last - first, Cols: end - begin, Stride: (end - begin + line - 1) / line * line}
		m.bands = append(m.bands, b)
		size += b.a.Rows * b.a.Stride
	}
	return size
}

func transposed(a la.Matrix[float64]) la.Matrix[float64] {
	t := la.NewMatrix[float64](a.Cols, a.Rows)
	for i := range a.Rows {
		for j, v := range a.Row(i) {
			t.Set(j, i, v)
		}
	}
	return t
}

// reach returns the range of columns outside which a is zero, its begin rounded down to the
// beginning of a line.
func reach(a la.Matrix[float64]) (begin, end int) {
	begin = a.Cols
	for i := range a.Rows {
		for j, v := range a.Row(i) {
			if v != 0 {
				begin, end = min(begin, j), max(end, j+1)
			}
		}
	}
	return min(begin, end) / line * line, end
}

// Dims returns the numbers of rows and columns.
func (m *Matrix) Dims() (rows, cols int) { return m.rows, m.cols }

// Bytes returns the number of bytes of the bands.
func (m *Matrix) Bytes() (n int) {
	for i := range m.bands {
		n += 8 * len(m.bands[i].a.Data)
	}
	return n
}

// Multiply stores the product with each row of x in the row of y. It does not allocate
// once ws has grown.
func (m *Matrix) Multiply(ws *la.Workspace, x, y la.Matrix[float64]) {
	for r := range y.Rows {
		clear(y.Row(r))
	}
	for i := range m.bands {
		b := &m.bands[i]
		for r := range x.Rows {
			if m.columns {
				la.Gemv(ws, la.Transpose, 1, b.a, x.Row(r)[b.left:][:b.a.Rows], 1, y.Row(r)[b.top:][:b.a.Cols])
			} else {
				la.Gemv(ws, la.NoTrans, 1, b.a, x.Row(r)[b.left:][:b.a.Cols], 1, y.Row(r)[b.top:][:b.a.Rows])
			}
		}
	}
}

// MultiplyVec stores the product with x in y.
func (m *Matrix) MultiplyVec(ws *la.Workspace, x, y []float64) {
	row := func(x []float64) la.Matrix[float64] {
		return la.Matrix[float64]{Rows: 1, Cols: len(x), Stride: len(x), Data: x}
	}
	m.Multiply(ws, row(x), row(y))
}
