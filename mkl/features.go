package mkl

import (
	"fmt"

	"github.com/bmkl/bmkl/la"
)

// Features is a matrix with a row for each sample.
type Features = la.Matrix[float64]

// FromRows returns a matrix with a copy of the rows, which must be of one length.
func FromRows(rows [][]float64) (Features, error) {
	if len(rows) == 0 {
		return Features{}, nil
	}
	x := la.NewMatrix[float64](len(rows), len(rows[0]))
	for i, r := range rows {
		if len(r) != x.Cols {
			return Features{}, fmt.Errorf("mkl: rows[%d]: %d values where rows[0] has %d", i, len(r), x.Cols)
		}
		copy(x.Row(i), r)
	}
	return x, nil
}

// Column returns a matrix with one column, a copy of values: one feature of
// many samples.
func Column(values []float64) Features {
	return la.MatrixOf(len(values), 1, append([]float64(nil), values...))
}

// checkFinite returns an error for the first NaN or infinity in x; arg names x.
func checkFinite(arg string, x Features) error { return checkValues(arg, x, false) }
