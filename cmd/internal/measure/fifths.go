package measure

import (
	"math"
	"slices"
)

// Fifth is the coverage of intervals among a fifth of the predictions, sorted by their mean.
type Fifth struct {
	From     float64 `json:"from"` // the least predicted mean
	To       float64 `json:"to"`   // the largest
	Count    int     `json:"count"`
	Coverage float64 `json:"coverage"`
}

// fewest is the least number of truths that are divided into fifths.
const fewest = 50

// Fifths divides predictions by their mean into five parts of about the same size, and returns the coverage of the
// intervals, whose ends are given, in each. Missing truths (NaN) are left out; of fewer than 50 others there
// are no fifths.
func Fifths(truth, mean, lower, upper []float64) []Fifth {
	var order []int
	for i, v := range truth {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	if len(order) < fewest {
		return nil
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case mean[a] < mean[b]:
			return -1
		case mean[a] > mean[b]:
			return 1
		}
		return 0
	})
	const parts = 5
	all := make([]Fifth, parts)
	for k := range all {
		part := order[k*len(order)/parts : (k+1)*len(order)/parts]
		inside := 0
		for _, i := range part {
			if lower[i] <= truth[i] && truth[i] <= upper[i] {
				inside++
			}
		}
		all[k] = Fifth{From: mean[part[0]], To: mean[part[len(part)-1]], Count: len(part), Coverage: float64(inside) / float64(len(part))}
	}
	return all
}

// Fails reports whether the coverage is further from the probability of the interval than chance explains, by three
// standard deviations, and by more than 0.03.
func (f Fifth) Fails(interval float64) bool {
	const slack, deviations = 0.03, 3
	away := math.Abs(f.Coverage - interval)
	return away > slack && away > deviations*math.Sqrt(interval*(1-interval)/float64(f.Count))
}
