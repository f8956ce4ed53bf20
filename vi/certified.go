package vi

// Certified is the prediction of a sample with bounds on how far it is from the exact prediction,
// which sums over all training samples. The bounds of an exact prediction are 0.
type Certified struct {
	Mean, Variance     float64 // of the target with its noise; Variance is NaN if it was left out
	MeanError, SDError float64 // bounds on the errors of Mean and of √Variance
	LeastSD            float64 // a lower bound on the predictive standard deviation
	Calibrated         bool    // the bounds are estimates, calibrated at samples, and not proved
}

// Within reports whether both errors are at most so many predictive standard
// deviations.
func (c Certified) Within(tolerance float64) bool {
	return max(c.MeanError, c.SDError) <= tolerance*c.LeastSD
}
