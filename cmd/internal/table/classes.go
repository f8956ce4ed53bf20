package table

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// SameNumber reports whether two texts are the same number, such as 1 and 1.0: a program writes whole numbers so in a column with gaps.
func SameNumber(a, b string) bool {
	x, err := strconv.ParseFloat(a, 64)
	y, also := strconv.ParseFloat(b, 64)
	return err == nil && also == nil && x == y
}

// Find returns the place of a label among classes: of the same text, or else of the same number. It is −1 without such a class.
func Find(classes []string, label string) int {
	if k := slices.Index(classes, label); k >= 0 {
		return k
	}
	if _, err := strconv.ParseFloat(label, 64); err != nil {
		return -1
	}
	return slices.IndexFunc(classes, func(c string) bool { return SameNumber(c, label) })
}

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
