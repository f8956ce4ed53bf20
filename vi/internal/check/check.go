// Package check checks the arguments of fits.
package check

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
)

// NonFinite returns the index of the first NaN or infinity in x, or −1.
func NonFinite(x []float64) int {
	for i, v := range x {
		if v-v != 0 {
			return i
		}
	}
	return -1
}

// Start returns an error unless x, the field of a start with the given name, has
// the given shape and finite entries.
func Start(name string, x la.Matrix[float64], rows, cols int) error {
	if x.Rows != rows || x.Cols != cols {
		return fmt.Errorf("vi: Start.%s: %d×%d where %d×%d is needed", name, x.Rows, x.Cols, rows, cols)
	}
	for i := range rows {
		if j := NonFinite(x.Row(i)); j >= 0 {
			return fmt.Errorf("vi: Start.%s: entry (%d, %d) is %g", name, i, j, x.At(i, j))
		}
	}
	return nil
}

// SplitMissing returns a copy of y with 0 for NaN, and a matrix with 1 for each value
// observed and 0 for each missing, which is empty if none is missing. An infinite value
// is an error.
func SplitMissing(y la.Matrix[float64]) (values, observed la.Matrix[float64], err error) {
	values = y.Clone()
	for o := range y.Rows {
		row := values.Row(o)
		for i, v := range row {
			switch {
			case math.IsInf(v, 0):
				return values, observed, fmt.Errorf("vi: y: entry (%d, %d) is %g", o, i, v)
			case math.IsNaN(v):
				if observed.Rows == 0 {
					observed = la.NewMatrix[float64](y.Rows, y.Cols)
					observed.Fill(1)
				}
				row[i] = 0
				observed.Set(o, i, 0)
			}
		}
	}
	return values, observed, nil
}
