package plan

import "math"

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
