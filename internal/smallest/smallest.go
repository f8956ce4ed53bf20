// Package smallest finds the smallest of many values without sorting them.
package smallest

import "cmp"

// First moves the m smallest values of x to the front, in any order. It takes a time proportional to the number of values: Hoare's
// selection, with the median of the first, the middle and the last value as the pivot.
func First[T cmp.Ordered](x []T, m int) {
	for len(x) > 1 {
		a, b, c := x[0], x[len(x)/2], x[len(x)-1]
		pivot := max(min(a, b), min(max(a, b), c))
		i, j := 0, len(x)-1
		for i <= j {
			for x[i] < pivot {
				i++
			}
			for x[j] > pivot {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i++
				j--
			}
		}
		switch {
		case m <= j:
			x = x[:j+1]
		case m > i:
			x, m = x[i:], m-i
		default:
			return
		}
	}
}
