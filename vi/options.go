package vi

// PredictOptions says what to predict. The zero value predicts means and full
// variances. Published has a meaning for package bemkl alone, Intermediate for bemkl and
// slab.MultiTask, whose latent functions it adds.
type PredictOptions struct {
	// Published selects the predictive variance of Gönen's papers, which takes the
	// intermediate outputs at their means and is too small.
	Published bool

	// MeanOnly leaves the variances out, and with them nearly all of the cost.
	MeanOnly bool

	// Intermediate adds the intermediate outputs.
	Intermediate bool

	// Workers is the most goroutines at work; 0 means runtime.GOMAXPROCS(0).
	Workers int
}
