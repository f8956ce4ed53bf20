// Package vec holds small functions on slices.
package vec

import "math"

// ArgMin returns the index of the first smallest number.
func ArgMin(x []float64) int {
	best := 0
	for i, v := range x {
		if v < x[best] {
			best = i
		}
	}
	return best
}

// ArgMax returns the index of the first largest number.
func ArgMax(x []float64) int {
	best := 0
	for i, v := range x {
		if v > x[best] {
			best = i
		}
	}
	return best
}

// LargestAbs returns the largest absolute value of x.
func LargestAbs(x []float64) (largest float64) {
	for _, v := range x {
		largest = max(largest, math.Abs(v))
	}
	return largest
}

// UpTo returns 0, 1, …, n−1.
func UpTo(n int) []int {
	x := make([]int, n)
	for i := range x {
		x[i] = i
	}
	return x
}

// Shifted returns x with by added to each element.
func Shifted(x []int, by int) []int {
	y := make([]int, len(x))
	for i, v := range x {
		y[i] = v + by
	}
	return y
}

// MeanSD returns the mean and the standard deviation with n−1. It scales by the
// largest deviation, so that squares do not overflow. If the largest deviation overflows, so does the standard deviation.
func MeanSD(x []float64) (mean, sd float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	var largest float64
	for _, v := range x {
		largest = max(largest, math.Abs(v-mean))
	}
	if largest == 0 || math.IsInf(largest, 1) {
		return mean, largest
	}
	var sum float64
	for _, v := range x {
		d := (v - mean) / largest
		sum = math.FMA(d, d, sum)
	}
	return mean, largest * math.Sqrt(sum/float64(len(x)-1))
}

// FirstNonFinite returns the index of the first NaN or infinity in x, or −1.
func FirstNonFinite(x []float64) int {
	for i, v := range x {
		if v-v != 0 {
			return i
		}
	}
	return -1
}

// Count returns how many elements are true.
func Count(is []bool) (n int) {
	for _, v := range is {
		if v {
			n++
		}
	}
	return n
}

// Numbers returns 1 for true and 0 for false.
func Numbers(is []bool) []float64 {
	x := make([]float64, len(is))
	for i, v := range is {
		if v {
			x[i] = 1
		}
	}
	return x
}

// Picked returns the elements of x at the given places.
func Picked[T any](x []T, at []int) []T {
	y := make([]T, len(at))
	Pick(y, x, at)
	return y
}

// Pick stores the elements of src at the given places in dst.
func Pick[T any](dst, src []T, at []int) {
	for i, d := range at {
		dst[i] = src[d]
	}
}

// Total returns the sum of x.
func Total(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}

// Floats returns integers as floating-point numbers.
func Floats(x []int) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}
