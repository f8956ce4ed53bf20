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

// Column returns a matrix whose only column is a copy of values: one feature of
// many samples.
func Column(values []float64) Features {
	return la.MatrixOf(len(values), 1, append([]float64(nil), values...))
}

// checkLayout reports a matrix with fewer elements than its shape needs; arg
// names it.
func checkLayout(arg string, x Features) error {
	if !x.Valid() {
		return fmt.Errorf("mkl: %s: a %d×%d matrix of stride %d needs more than its %d elements", arg, x.Rows, x.Cols, x.Stride, len(x.Data))
	}
	return nil
}

// checkFinite reports the first NaN or infinity in x; arg names it.
func checkFinite(arg string, x Features) error {
	for i := range x.Rows {
		if j := firstNonFinite(x.Row(i)); j >= 0 {
			return &ValueError{Arg: arg, Row: i, Col: j, Value: x.At(i, j)}
		}
	}
	return nil
}

// firstNonFinite returns the index of the first NaN or infinity in x, or −1.
func firstNonFinite(x []float64) int {
	for i, v := range x {
		if v-v != 0 {
			return i
		}
	}
	return -1
}

// columnStats returns each column's mean and standard deviation (with n−1), the
// latter 1 for a constant column.
func columnStats(x Features) (mean, sd []float64) {
	mean, sd = make([]float64, x.Cols), make([]float64, x.Cols)
	col := make([]float64, x.Rows)
	for j := range mean {
		for i := range col {
			col[i] = x.At(i, j)
		}
		mean[j], sd[j] = meanSD(col)
		if sd[j] == 0 {
			sd[j] = 1
		}
	}
	return mean, sd
}
