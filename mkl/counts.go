package mkl

import (
	"context"
	"fmt"

	"github.com/bmkl/bmkl/vi/mgp"
)

// Counts is the multiple Gaussian process model for counts 0, 1, 2, …: the logarithm of the mean is a level and a sum
// of one Gaussian process for each view,
//
//	y ~ NB(μ, r) of the variance μ + μ²/r,   log μ = log o + b + Σ_p f_p(x),
//
// with the exposure o, such as the time under observation. The kernels' weights, b, r and learned length scales maximise the
// evidence, which expectation propagation estimates. The zero value is ready to fit. The fit has
// no random start: Seed chooses the landmarks of many samples. Its cost and effects of codes are as in [Survival].
//
// Source: docs/theory/likelihoods.md derives the moments; the model is the one of [MultiGP].
type Counts struct {
	Fitting
	Climb

	// Poisson makes a count with a given mean Poisson distributed: its variance is the mean. By default the distribution is
	// negative binomial, and the fit learns from the samples how much larger the variance is. Counts with a Poisson distribution
	// are at most 1e12, others at most 2⁵³.
	Poisson bool

	// Exposure holds the exposure o of each sample, positive; nil means 1.
	Exposure []float64

	// Landmarks is the number of samples that are landmarks. 0 means an exact fit of at most [DefaultExactSamples] samples, and
	// [ObservationLandmarks] of more. If there are no more samples than Landmarks, the fit is exact.
	Landmarks int

	Groups       []ViewGroup   // as in [Auto]
	MissingViews bool          // as in [Regression]
	Storage      KernelStorage // as in [Regression]
}

// Fit fits the model to the views of N samples and their counts. It returns the errors that
// [MultiGP.Fit] returns.
func (c Counts) Fit(ctx context.Context, views []View, y []float64) (*CountModel, error) {
	if _, err := checkTargets([][]float64{y}, false); err != nil {
		return nil, err
	}
	for i, v := range y {
		if !(v >= 0) || v != float64(int64(v)) {
			return nil, fmt.Errorf("mkl: y[%d] is %g: counts are 0, 1, 2, …", i, v)
		}
	}
	if err := checkExposure("Exposure", c.Exposure, len(y)); err != nil {
		return nil, err
	}
	targets := [][]float64{y}
	if c.Exposure != nil {
		targets = append(targets, c.Exposure)
	}
	m, err := c.problem().fit(ctx, views, targets, mgp.Counts{Y: y, Exposure: c.Exposure, Dispersed: !c.Poisson})
	if m == nil {
		return nil, err
	}
	return &CountModel{*m}, err
}

// Limits of the exposures of counts.
const (
	LeastExposure = 1e-100
	MostExposure  = 1e100
)

// checkExposure returns an error unless exposure is nil or holds n positive finite numbers.
func checkExposure(name string, exposure []float64, n int) error {
	if exposure != nil && len(exposure) != n {
		return fmt.Errorf("mkl: %s: %d values for %d samples", name, len(exposure), n)
	}
	for i, v := range exposure {
		if !(v >= LeastExposure && v <= MostExposure) {
			return fmt.Errorf("mkl: %s[%d] is %g: it must be positive, between 1e-100 and 1e100", name, i, v)
		}
	}
	return nil
}

// EstimateMemory returns about how many bytes a fit of the given size takes.
func (c Counts) EstimateMemory(size FitSize) int64 { return c.problem().memory(size) }

func (c *Counts) problem() *processObservations {
	return newProcessObservations(c.Fitting, c.Climb, c.Groups, c.MissingViews, c.Storage, c.Landmarks)
}
