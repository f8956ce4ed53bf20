package vi

// total returns the sum of x.
func total(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}
