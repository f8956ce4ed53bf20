package table

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// Classes returns the distinct labels: in the order of their numbers if all are
// numbers, otherwise of their text.
func Classes(labels []string) []string {
	classes := slices.Clone(labels)
	slices.Sort(classes)
	classes = slices.Compact(classes)
	numbers := map[string]float64{}
	for _, c := range classes {
		x, err := strconv.ParseFloat(c, 64)
		if err != nil || math.IsNaN(x) {
			return classes
		}
		numbers[c] = x
	}
	slices.SortStableFunc(classes, func(a, b string) int { return cmp.Compare(numbers[a], numbers[b]) })
	return classes
}
