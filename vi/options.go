package vi

// PredictOptions says what to predict. The zero value predicts means and full
// variances.
type PredictOptions struct {
	// Published selects the paper's predictive variance, which takes the
	// intermediate outputs at their means and is too small.
	Published bool

	// MeanOnly leaves the variances out, and with them nearly all of the cost.
	MeanOnly bool

	// Intermediate adds the intermediate outputs g*.
	Intermediate bool

	// Workers is the most goroutines at work; 0 means runtime.GOMAXPROCS(0).
	Workers int
}
