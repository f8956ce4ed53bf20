package plan

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
)

// Numbers of values that make a column of numbers look like codes.
const (
	fewCodes  = 30 // fewer values may be counts
	eachCodes = 3  // rows for each value, on average
)

// looksCoded reports whether numbers look like codes of categories: they are all the whole numbers from 0 or 1 to
// some number, none is missing, and the upper half of the numbers is about as frequent as the lower half. Counts and
// ages thin out towards their end.
func looksCoded(x []float64) bool {
	count := map[float64]int{}
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range x {
		if v != math.Trunc(v) || v < 0 { // or NaN
			return false
		}
		count[v]++
		low, high = min(low, v), max(high, v)
	}
	values := len(count)
	if values < fewCodes || len(x) < eachCodes*values || low > 1 || high-low != float64(values-1) {
		return false
	}
	upper := 0
	for v, n := range count {
		if v-low >= float64(values)/2 {
			upper += n
		}
	}
	const third = 3
	return third*upper >= len(x) && third*upper <= 2*len(x)
}

// mostOutcomes is the largest number of classes that are outcomes.
const mostOutcomes = 10

// Outcomes returns what a target of classes is for Table.Outcomes: for each value but the most frequent whether a row has it, of the ten most
// frequent. A value that is NaN is missing.
func Outcomes(class []float64) (all [][]float64) {
	count := map[float64]int{}
	for _, c := range class {
		if c == c {
			count[c]++
		}
	}
	often := slices.SortedFunc(maps.Keys(count), func(a, b float64) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	for k, c := range often[:min(len(often), 1+mostOutcomes)] {
		if k == 0 {
			continue
		}
		has := make([]float64, len(class))
		for i, v := range class {
			switch {
			case v != v:
				has[i] = v
			case v == c:
				has[i] = 1
			}
		}
		all = append(all, has)
	}
	return all
}

// chance is how often a test says of numbers what is not so.
const chance = 0.05

// orderless reports whether some outcome differs between the numbers x, and is no more alike in neighbouring numbers than in others.
// Then the numbers are names. Without an outcome it is true.
func orderless(x []float64, outcomes [][]float64) bool {
	if len(outcomes) == 0 {
		return true
	}
	for _, y := range outcomes {
		differ, alike := differences(x, y)
		if differ > special.NormalQuantile(1-chance/float64(len(outcomes))) && alike < special.NormalQuantile(1-chance) {
			return true
		}
	}
	return false
}

// differences returns two test statistics of an outcome y, which are about standard normal if it has nothing to do with the numbers x. The
// first is large if the outcome differs between the numbers: the test of Kruskal and Wallis, whose χ² Fisher's root makes normal. The
// second is large if neighbouring numbers have similar outcomes. Both compare ranks. Both are 0 if there is nothing to compare.
func differences(x, y []float64) (differ, alike float64) {
	var rows []int
	for i, v := range y {
		if v == v {
			rows = append(rows, i)
		}
	}
	slices.SortFunc(rows, func(a, b int) int { return cmp.Compare(y[a], y[b]) })
	middle := float64(len(rows)-1) / 2
	count, sum := map[float64]float64{}, map[float64]float64{}
	squares := 0.0
	for i := 0; i < len(rows); {
		end := i + 1
		for end < len(rows) && y[rows[end]] == y[rows[i]] {
			end++
		}
		rank := float64(i+end-1)/2 - middle
		for ; i < end; i++ {
			squares += float64(rank * rank)
			count[x[rows[i]]]++
			sum[x[rows[i]]] += rank
		}
	}
	if squares == 0 || len(count) < 4 {
		return 0, 0
	}
	variance, h := squares/float64(len(rows)-1), 0.0
	var means []float64 // of equal variance
	for _, v := range slices.Sorted(maps.Keys(count)) {
		m := sum[v] / math.Sqrt(count[v])
		h += float64(m*m) / variance
		means = append(means, m)
	}
	return math.Sqrt(2*h) - math.Sqrt(float64(2*len(means)-3)), serial(means)
}

// serial returns the sum of the products of neighbours among at least four numbers less their mean, standardised over all orders of the numbers.
// Source: A. Wald and J. Wolfowitz, "An exact test for randomness in the non-parametric case based on serial correlation", Annals of
// Mathematical Statistics 14 (1943). There the last number is a neighbour of the first; here it is not.
func serial(a []float64) float64 {
	n, mean := float64(len(a)), 0.0
	for _, v := range a {
		mean += v / n
	}
	var sum, two, four float64
	for i, v := range a {
		d := v - mean
		if i > 0 {
			sum += float64(d * (a[i-1] - mean))
		}
		two += float64(d * d)
		four += float64(float64(d*d) * float64(d*d))
	}
	if two == 0 {
		return 0
	}
	// Means over all orders of the product of two pairs of neighbours: the same pair, pairs with one number in common, and others.
	square := float64(two * two)
	same := (square - four) / (n * (n - 1))
	common := (2*four - square) / (n * (n - 1) * (n - 2))
	others := (3*square - 6*four) / (n * (n - 1) * (n - 2) * (n - 3))
	expected := -two / n
	variance := float64((n-1)*same) + float64(2*(n-2)*common) + float64((n-2)*(n-3)*others) - float64(expected*expected)
	if !(variance > 0) {
		return 0
	}
	return (sum - expected) / math.Sqrt(variance)
}
