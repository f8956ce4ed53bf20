package dataset

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
)

// SeemCounts reports whether numbers look like counts: whole numbers from 0 on, more than two different ones, for which
// a normal distribution would have much probability below 0. The mean is below two standard deviations and the skewness above ½; of
// Poisson's distribution both say that the mean is below 4. At least a tenth of the numbers is below ten: prices, incomes
// and concentrations in whole units are skewed too, but are seldom so small.
func SeemCounts(y []float64) bool {
	const small = 10
	if WholeValues(y) < 3 || slices.Min(y) < 0 || slices.Max(y) > 1<<53 {
		return false
	}
	n, below := float64(len(y)), 0
	for _, v := range y {
		if v < small {
			below++
		}
	}
	if float64(below) < n/10 {
		return false
	}
	var mean, square, cube float64
	for _, v := range y {
		mean += v / n
	}
	for _, v := range y {
		d := v - mean
		square += d * d / n
		cube += d * d * d / n
	}
	sd := math.Sqrt(square)
	return mean < 2*sd && cube > 0.5*sd*square
}

// WholeValues counts the different values, if all are whole numbers.
func WholeValues(x []float64) int {
	values := map[float64]bool{}
	for _, v := range x {
		if v != math.Trunc(v) {
			return 0
		}
		values[v] = true
	}
	return len(values)
}

// AllCounts returns an error for the first target that is not one of the counts 0, 1, 2, …
func (s *Samples) AllCounts() error {
	for _, j := range s.Targets {
		for i, v := range s.Main.Data.Numbers[j] {
			if v < 0 || v > math.Trunc(v) {
				return console.Input(s.Main.Data.Cell(i, j, fmt.Sprintf("%g is none of the counts 0, 1, 2, …", v)))
			}
		}
	}
	return nil
}
