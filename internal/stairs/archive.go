package stairs

import (
	"errors"

	"github.com/bmkl/bmkl/internal/archive"
)

// Archive describes the fields of a matrix with so many rows and columns.
func (m *Matrix) Archive(a *archive.Archive, rows, cols int) {
	a.Same("rows of a matrix", rows)
	a.Same("columns of a matrix", cols)
	m.rows, m.cols = rows, cols
	a.Bool(&m.columns)
	n := len(m.bands)
	if a.Int(&n); a.Err() != nil || n < 0 || n > rows+cols {
		a.Fail(errors.New("a matrix has too many bands"))
		return
	}
	var data []float64
	if !a.Reading() {
		for i := range m.bands {
			data = append(data, m.bands[i].a.Data...)
		}
	} else {
		m.bands = make([]band, n)
	}
	a.Floats(&data)
	for i := range m.bands {
		b := &m.bands[i]
		for _, v := range []*int{&b.top, &b.left, &b.a.Rows, &b.a.Cols, &b.a.Stride} {
			a.Int(v)
		}
		down, right := b.a.Rows, b.a.Cols
		if m.columns {
			down, right = right, down
		}
		fits := within(b.top, down, rows) && within(b.left, right, cols) && b.a.Stride >= b.a.Cols && b.a.Stride <= b.a.Cols+line &&
			len(data) >= b.a.Rows*b.a.Stride
		if a.Err() != nil || !fits {
			a.Fail(errors.New("a band is outside its matrix"))
			return
		}
		b.a.Data, data = data[:b.a.Rows*b.a.Stride:b.a.Rows*b.a.Stride], data[b.a.Rows*b.a.Stride:]
	}
}

// within reports whether n elements from first on are among all.
func within(first, n, all int) bool { return first >= 0 && n >= 0 && first <= all && n <= all-first }
