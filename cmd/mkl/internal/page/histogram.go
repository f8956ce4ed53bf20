package page

import (
	"fmt"
	"math"
	"slices"
)

// Histogram draws how many of the values lie in each of even ranges: about twice the cube root of their number, at most 50. It takes
// finite values, one at least.
func Histogram(name, what string, values []float64) *Picture {
	p := newPicture(name, "Distribution of "+what, plotWidth, plotHeight)
	low, high, counts := evenCounts(values)
	top := make([]float64, len(counts))
	for k, n := range counts {
		top[k] = float64(n)
	}
	x := newAxis(leftEdge, rightEdge, 5, []float64{low, high})
	y := newAxis(bottomEdge, topEdge, 5, []float64{0}, top)
	p.frame(&x, &y, what, "rows")
	edge := func(k int) float64 {
		share := float64(k) / float64(len(counts))
		return x.at(float64((1-share)*low) + float64(share*high)) // never beyond a float64
	}
	for k, n := range top {
		p.rectangle("fill0", edge(k)+0.5, y.at(n), edge(k+1)-edge(k)-1, y.at(0)-y.at(n))
	}
	p.Shows = fmt.Sprintf("%d bars of %d values from %.4g to %.4g; the highest has %d.", len(counts), len(values), low, high, slices.Max(counts))
	return p
}

// evenCounts counts values in even ranges from the least to the largest. Where all are the same there is one range, around the value.
func evenCounts(values []float64) (low, high float64, counts []int) {
	low, high = slices.Min(values), slices.Max(values)
	if low == high {
		d := max(0.5, math.Abs(low)/10)
		return max(low-d, -math.MaxFloat64), min(high+d, math.MaxFloat64), []int{len(values)}
	}
	bars := min(50, max(2, int(2*math.Cbrt(float64(len(values))))))
	counts = make([]int, bars)
	for _, v := range values {
		share := (v/2 - low/2) / (high/2 - low/2)
		counts[min(bars-1, int(share*float64(bars)))]++
	}
	return low, high, counts
}
