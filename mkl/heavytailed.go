package mkl

import (
	"slices"

	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// laplaceKurtosis is the kurtosis of a Laplace distribution. A normal distribution has 3, an exponential one 9.
const laplaceKurtosis = 6

// heavyTailed reports whether features have heavy tails, as counts, abundances and intensities have: whether the median
// of the kurtosis of the columns is above the kurtosis of a Laplace distribution. A column of two values has no tails and does not
// count. All columns vary; nil means all of x.
func heavyTailed(x Features, columns []int) bool {
	if columns == nil {
		columns = vec.UpTo(x.Cols)
	}
	var each []float64
	z := make([]float64, x.Rows)
	for _, c := range columns {
		if hasThreeValues(x, c) {
			each = append(each, kurtosisOf(x, c, z))
		}
	}
	if each == nil {
		return false
	}
	slices.Sort(each)
	return vec.Quantile(each, 0.5) > laplaceKurtosis
}

// hasThreeValues reports whether a column has more than two values.
func hasThreeValues(x Features, column int) bool {
	first := x.At(0, column)
	other := first
	for i := range x.Rows {
		switch v := x.At(i, column); {
		case v == first || v == other:
		case other == first:
			other = v
		default:
			return true
		}
	}
	return false
}

// kurtosisOf returns the [kurtosis] of the deviations of a column, which varies, from its mean. The column is scaled first, so that no power overflows. z is
// memory for the column.
func kurtosisOf(x Features, column int, z []float64) float64 {
	for i := range z {
		z[i] = x.At(i, column)
	}
	largest, mean := vec.LargestAbs(z), 0.0
	for i := range z {
		z[i] /= largest
		mean += z[i] / float64(len(z))
	}
	for i := range z {
		z[i] -= mean
	}
	return kurtosis(z)
}
