package mkl

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/vi/mgp"
)

// CountLaw is the distribution of counts given the function: see [Counts].
type CountLaw int

// Distributions of counts.
const (
	CountLawByEvidence CountLaw = iota // negative binomial, unless the evidence is strong for the double Poisson distribution
	Poisson                            // the variance is the mean
	NegativeBinomial                   // the variance is above the mean
	DoublePoisson                      // the variance is below the mean
)

// countLaws are the likelihoods of the distributions but for the zero law.
var countLaws = []mgp.Counts{Poisson: {}, NegativeBinomial: {Dispersed: true}, DoublePoisson: {Narrow: true}}

// String returns "by-evidence", "poisson", "negative-binomial" or "double-poisson".
func (l CountLaw) String() string {
	switch {
	case l == CountLawByEvidence:
		return LawByEvidence.String()
	case l < Poisson || l > DoublePoisson:
		return fmt.Sprintf("CountLaw(%d)", int(l))
	}
	return countLaws[l].Name()
}

// StrongEvidence is how much the logarithm of the evidence of the double Poisson distribution has to be higher for [Counts] to choose it. Strong evidence is a
// ratio of more than 20.
//
// Source: R. E. Kass and A. E. Raftery, "Bayes factors", JASA 90, 1995.
const StrongEvidence = 3

// Counts is the multiple Gaussian process model for counts 0, 1, 2, …: the logarithm of the mean is a level and a sum
// of one Gaussian process for each view,
//
//	y ~ NB(μ, r) of the variance μ + μ²/r, or y ~ DP(μ, ν) of a variance of about μ/ν,   log μ = log o + b + Σ_p f_p(x),
//
// with the exposure o, such as the time under observation. By default a count with a given mean has a negative binomial distribution, whose variance is above the
// mean. If the fitted variance is hardly above the mean, the double Poisson distribution is fitted too, whose variance is below the mean. It is the
// model's if its evidence is higher by [StrongEvidence]. The kernels' weights, b, r or ν, and learned length scales maximise the
// evidence, which expectation propagation estimates. The zero value is ready to fit. The fit has
// no random start: Seed chooses the landmarks of many samples. Its cost and effects of codes are as in [Survival], with effects under the
// negative binomial distribution.
//
// Source: docs/theory/likelihoods.md derives the moments and the choice; the model is the one of [MultiGP].
type Counts struct {
	Fitting
	Climb

	// Law is the distribution of a count with a given mean; the zero value is CountLawByEvidence. Counts with a Poisson distribution are at most 1e12, with a
	// double Poisson distribution at most 1e8, and others at most 2⁵³.
	Law CountLaw

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
	p := c.problem()
	laws, err := c.laws(y)
	if err != nil {
		return nil, err
	}
	var all []mgp.Likelihood
	for _, l := range laws {
		of := countLaws[l]
		of.Y, of.Exposure = y, c.Exposure
		all = append(all, of)
	}
	p.rival = c.rival(y)
	m, err := p.fit(ctx, views, targets, all...)
	if m == nil {
		return nil, err
	}
	return &CountModel{*m}, err
}

// laws returns the distributions that may be fitted.
func (c Counts) laws(y []float64) ([]CountLaw, error) {
	switch {
	case c.Law < CountLawByEvidence || c.Law > DoublePoisson:
		return nil, fmt.Errorf("mkl: Law is %d: there are CountLawByEvidence, Poisson, NegativeBinomial and DoublePoisson", int(c.Law))
	case c.Law != CountLawByEvidence:
		return []CountLaw{c.Law}, nil
	case slices.Max(y) > mgp.MostNarrowCount:
		return []CountLaw{NegativeBinomial}, nil
	}
	return []CountLaw{NegativeBinomial, DoublePoisson}, nil
}

// rival says when the double Poisson distribution is fitted too, and when it is chosen. The fitted negative binomial counts have the mean 1 + ȳ/r of variance
// over mean. Where counts vary less than Poisson counts, r grows until ȳ/r is small beside √(2/n), the standard error of this mean among n Poisson counts.
// Where ȳ/r is larger, the samples vary more than Poisson counts about the fitted function, and there the likelihood falls in ν from ν = 1 on.
func (c Counts) rival(y []float64) *rivalLaw {
	var mean float64
	for _, v := range y {
		mean += v / float64(len(y))
	}
	return &rivalLaw{margin: StrongEvidence, worth: func(shape []float64, n int) bool {
		return mean/special.Exp(shape[1]) <= math.Sqrt(2/float64(n))
	}}
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
