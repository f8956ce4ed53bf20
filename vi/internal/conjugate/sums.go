package conjugate

// Sum returns the sum of x.
func Sum(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}
