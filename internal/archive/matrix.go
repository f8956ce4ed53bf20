package archive

import (
	"fmt"

	"github.com/bmkl/bmkl/la"
)

// Matrix is for a matrix with so many rows and columns, which the reader knows.
func (a *Archive) Matrix(v *la.Matrix[float64], rows, cols int) {
	matrix(a, v, rows, cols)
}

// Matrix32 is for a matrix with so many rows and columns, which the reader knows.
func (a *Archive) Matrix32(v *la.Matrix[float32], rows, cols int) {
	matrix(a, v, rows, cols)
}

func matrix[T float64 | float32](a *Archive, v *la.Matrix[T], rows, cols int) {
	var data []T
	if !a.reading {
		data = v.Data[:min(rows*cols, len(v.Data))]
		if v.Stride != cols {
			data = v.Clone().Data
		}
	}
	array(a, &data)
	if a.err == nil && len(data) != rows*cols {
		a.Fail(fmt.Errorf("a matrix of %d×%d elements has %d", rows, cols, len(data)))
	}
	if a.reading && a.err == nil {
		*v = la.Matrix[T]{Rows: rows, Cols: cols, Stride: cols, Data: data}
	}
}

// Vector is for an array of n elements, which the reader knows.
func (a *Archive) Vector(v *[]float64, n int) {
	if a.Floats(v); a.err == nil && len(*v) != n {
		a.Fail(fmt.Errorf("an array of %d elements has %d", n, len(*v)))
	}
}

// Indices is for indices that are at least 0 and less than n.
func (a *Archive) Indices(what string, v *[]int, n int) {
	a.Ints(v)
	for _, i := range *v {
		if a.err == nil && (i < 0 || i >= n) {
			a.Fail(fmt.Errorf("%s %d is not one of %d", what, i, n))
		}
	}
}
