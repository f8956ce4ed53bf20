package mgp

import "github.com/bmkl/bmkl/la"

// staircase is a lower triangular matrix, cut into bands of rows which end where the
// band's last row does: a product with a vector reads little more than the triangle,
// one long piece of memory.
type staircase struct {
	bands []la.Matrix[float64]
}

// bandRows is the number of rows of a band.
const bandRows = 32

func newStaircase(l la.Matrix[float64]) staircase {
	var size int
	for first := 0; first < l.Rows; first += bandRows {
		n := min(bandRows, l.Rows-first)
		size += n * (first + n)
	}
	data := make([]float64, size)
	var s staircase
	for first := 0; first < l.Rows; first += bandRows {
		n := min(bandRows, l.Rows-first)
		band := la.MatrixOf(n, first+n, data[:n*(first+n)])
		data = data[n*(first+n):]
		for i := range n {
			copy(band.Row(i)[:first+i+1], l.Row(first+i))
		}
		s.bands = append(s.bands, band)
	}
	return s
}

// multiply stores the product with x in y.
func (s staircase) multiply(ws *la.Workspace, x, y []float64) {
	first := 0
	for _, b := range s.bands {
		la.Gemv(ws, la.NoTrans, 1, b, x[:b.Cols], 0, y[first:first+b.Rows])
		first += b.Rows
	}
}
