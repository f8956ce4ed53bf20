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
	for j, k := range kurtoses(x, columns) {
		if hasThreeValues(x, columns[j]) {
			each = append(each, k)
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

// kurtoses returns the kurtosis of each of some columns, which vary: the mean fourth power of the standardised values. The
// columns are scaled to [0, 1] first, so that no power overflows. Rows are read in their order in memory.
func kurtoses(x Features, columns []int) []float64 {
	least, most := make([]float64, len(columns)), make([]float64, len(columns))
	for j, c := range columns {
		least[j], most[j] = x.At(0, c), x.At(0, c)
	}
	for i := range x.Rows {
		row := x.Row(i)
		for j, c := range columns {
			least[j], most[j] = min(least[j], row[c]), max(most[j], row[c])
		}
	}
	// Halves: the difference of two numbers may be above the largest number.
	scaled := func(j int, v float64) float64 {
		return (float64(v/2) - float64(least[j]/2)) / (float64(most[j]/2) - float64(least[j]/2))
	}
	mean := make([]float64, len(columns))
	for i := range x.Rows {
		row := x.Row(i)
		for j, c := range columns {
			mean[j] += scaled(j, row[c]) / float64(x.Rows)
		}
	}
	second, fourth := make([]float64, len(columns)), make([]float64, len(columns))
	for i := range x.Rows {
		row := x.Row(i)
		for j, c := range columns {
			d := scaled(j, row[c]) - mean[j]
			square := float64(d * d)
			second[j] += square
			fourth[j] += float64(square * square)
		}
	}
	for j := range fourth {
		fourth[j] *= float64(x.Rows) / (second[j] * second[j])
	}
	return fourth
}
