package la

import (
	"fmt"
	"math/bits"
)

// Matrix is a row-major matrix of Rows×Cols elements. Element (i, j) is Data[i*Stride+j]. A Matrix is
// a view: a copy, and a part cut by [Matrix.Slice], share its elements. The zero value is the empty
// matrix.
type Matrix[T Float] struct {
	Rows, Cols int
	Stride     int // elements from one row to the next, at least Cols
	Data       []T // at least (Rows-1)*Stride+Cols elements unless empty
}

// NewMatrix returns a rows×cols matrix of zeros.
func NewMatrix[T Float](rows, cols int) Matrix[T] {
	return Matrix[T]{Rows: rows, Cols: cols, Stride: cols, Data: make([]T, rows*cols)}
}

// newLine returns n zeros, aligned to a cache line.
func newLine[T Float](n int) []T {
	var b buffer
	return elements[T](&b, n)
}

// MatrixOf returns the rows×cols matrix with Stride = cols whose elements are data. It does not copy
// data, and panics if data is too short.
func MatrixOf[T Float](rows, cols int, data []T) Matrix[T] {
	m := Matrix[T]{Rows: rows, Cols: cols, Stride: cols, Data: data}
	m.check("data")
	return m
}

// At returns element (i, j).
func (m Matrix[T]) At(i, j int) T { return m.Row(i)[j] }

// Set stores v as element (i, j).
func (m Matrix[T]) Set(i, j int, v T) { m.Row(i)[j] = v }

// Row returns row i, a slice of length and capacity Cols that shares the elements of m.
func (m Matrix[T]) Row(i int) []T {
	if m.Cols == 0 {
		return nil
	}
	o := i * m.Stride
	return m.Data[o : o+m.Cols : o+m.Cols]
}

// Slice returns the part of m in rows i0 ≤ i < i1 and columns j0 ≤ j < j1. It shares the elements of
// m.
func (m Matrix[T]) Slice(i0, i1, j0, j1 int) Matrix[T] {
	if i0 < 0 || i1 < i0 || i1 > m.Rows || j0 < 0 || j1 < j0 || j1 > m.Cols {
		panic(fmt.Sprintf("la: Slice(%d, %d, %d, %d) of a %d×%d matrix", i0, i1, j0, j1, m.Rows, m.Cols))
	}
	v := Matrix[T]{Rows: i1 - i0, Cols: j1 - j0, Stride: m.Stride}
	if v.Rows > 0 && v.Cols > 0 {
		o := i0*m.Stride + j0
		v.Data = m.Data[o : o+(v.Rows-1)*m.Stride+v.Cols]
	}
	return v
}

// Clone returns a copy of m with Stride = Cols.
func (m Matrix[T]) Clone() Matrix[T] {
	c := NewMatrix[T](m.Rows, m.Cols)
	c.CopyFrom(m)
	return c
}

// Take returns a new matrix with element (rows[i], columns[j]) of m as its element (i, j).
func (m Matrix[T]) Take(rows, columns []int) Matrix[T] {
	t := NewMatrix[T](len(rows), len(columns))
	for i, r := range rows {
		from, to := m.Row(r), t.Row(i)
		for j, c := range columns {
			to[j] = from[c]
		}
	}
	return t
}

// TakeRows returns a new matrix with row rows[i] of m as its row i.
func (m Matrix[T]) TakeRows(rows []int) Matrix[T] {
	t := NewMatrix[T](len(rows), m.Cols)
	for i, r := range rows {
		copy(t.Row(i), m.Row(r))
	}
	return t
}

// CopyFrom copies the elements of src to m. It panics if the shapes differ.
func (m Matrix[T]) CopyFrom(src Matrix[T]) {
	if m.Rows != src.Rows || m.Cols != src.Cols {
		panic(fmt.Sprintf("la: CopyFrom: %d×%d from %d×%d", m.Rows, m.Cols, src.Rows, src.Cols))
	}
	for i := range m.Rows {
		copy(m.Row(i), src.Row(i))
	}
}

// Fill sets every element to v.
func (m Matrix[T]) Fill(v T) {
	for i := range m.Rows {
		r := m.Row(i)
		for j := range r {
			r[j] = v
		}
	}
}

// MirrorLower makes the square matrix m symmetric: it copies the strict lower triangle to the upper
// triangle.
func (m Matrix[T]) MirrorLower() {
	m.checkSquare("m")
	const block = 32 // two blocks fit in the first-level cache
	for i0 := 0; i0 < m.Rows; i0 += block {
		for j0 := 0; j0 <= i0; j0 += block {
			for i := i0; i < min(i0+block, m.Rows); i++ {
				row := m.Row(i)
				for j := j0; j < min(j0+block, i); j++ {
					m.Data[j*m.Stride+i] = row[j]
				}
			}
		}
	}
}

// Valid reports whether m is well formed: no size is negative, Stride is at least Cols, and Data is
// long enough. Functions of this package panic on a matrix that is not.
func (m Matrix[T]) Valid() bool { return m.valid() }

func (m *Matrix[T]) valid() bool {
	if m.Rows <= 0 || m.Cols <= 0 {
		return m.Rows >= 0 && m.Cols >= 0
	}
	if m.Stride < m.Cols || len(m.Data) < m.Cols {
		return false
	}
	over, last := bits.Mul64(uint64(m.Rows-1), uint64(m.Stride)) // a division would take longer
	return over == 0 && last <= uint64(len(m.Data)-m.Cols)
}

// The checks take pointers, because copying a matrix takes longer than checking it.

// check panics unless m is well formed. name is the argument in the message.
func (m *Matrix[T]) check(name string) {
	if !m.valid() {
		m.refuse(name)
	}
}

// refuse panics with a message that says why m is not well formed.
func (m *Matrix[T]) refuse(name string) {
	if m.Rows < 0 || m.Cols < 0 {
		panic(fmt.Sprintf("la: %s: negative shape %d×%d", name, m.Rows, m.Cols))
	}
	if m.Stride < m.Cols {
		panic(fmt.Sprintf("la: %s: stride %d is less than the %d columns", name, m.Stride, m.Cols))
	}
	panic(fmt.Sprintf("la: %s: %d elements where %d×%d with stride %d needs more",
		name, len(m.Data), m.Rows, m.Cols, m.Stride))
}

func (m *Matrix[T]) checkSquare(name string) {
	m.check(name)
	if m.Rows != m.Cols {
		panic(fmt.Sprintf("la: %s: %d×%d is not square", name, m.Rows, m.Cols))
	}
}

func (m *Matrix[T]) checkShape(name string, rows, cols int) {
	m.check(name)
	if m.Rows != rows || m.Cols != cols {
		panic(fmt.Sprintf("la: %s: %d×%d where %d×%d is needed", name, m.Rows, m.Cols, rows, cols))
	}
}

func checkLen[T any](name string, x []T, n int) {
	if len(x) != n {
		panic(fmt.Sprintf("la: %s: length %d where %d is needed", name, len(x), n))
	}
}
