package mkl

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/vi/mgp"
)

// CountModel is a fitted [Counts]. It is immutable and safe for concurrent use.
type CountModel struct{ functionOfViews }

// Kind returns "counts".
func (m *CountModel) Kind() string { return "counts" }

// Law returns the distribution of counts given the function.
func (m *CountModel) Law() CountLaw {
	name := m.posteriors[0].State().Likelihood
	for l := Poisson; l <= DoublePoisson; l++ {
		if l.String() == name {
			return l
		}
	}
	return CountLawByEvidence // no model has it
}

// Dispersion returns 1/r of a negative binomial distribution: the variance of a count is μ + μ²/r. It is 0 for the other distributions.
func (m *CountModel) Dispersion() float64 {
	if m.Law() != NegativeBinomial {
		return 0
	}
	return 1 / m.parameter()
}

// Precision returns ν of a double Poisson distribution: the variance of a count is about μ/ν. It is 0 for the other distributions.
func (m *CountModel) Precision() float64 {
	if m.Law() != DoublePoisson {
		return 0
	}
	return m.parameter()
}

// parameter returns r or ν; 0 for a Poisson distribution.
func (m *CountModel) parameter() float64 {
	switch s := m.posteriors[0].State().Shape; m.Law() {
	case NegativeBinomial:
		return special.Exp(s[1])
	case DoublePoisson:
		return mgp.Precision(s[1])
	}
	return 0
}

// Posterior returns the approximate posterior of the function.
func (m *CountModel) Posterior() *mgp.Posterior { return m.posteriors[0] }

// Predict predicts the counts of samples with the exposure 1. Its arguments and errors are as in
// [TargetModel.PredictTargets].
func (m *CountModel) Predict(x ...Features) (*CountPrediction, error) {
	return m.PredictCounts(context.Background(), PredictOptions{}, nil, x...)
}

// PredictCounts is Predict with options and with the exposures of the samples; nil means 1. Workers is the only option
// that has an effect here.
func (m *CountModel) PredictCounts(ctx context.Context, opt PredictOptions, exposure []float64, x ...Features) (*CountPrediction, error) {
	t, err := checkInputs(m.design, x)
	if err != nil {
		return nil, err
	}
	if err := checkExposure("exposure", exposure, t); err != nil {
		return nil, err
	}
	mean, variance := make([]float64, t), make([]float64, t)
	opt.MeanOnly = false
	err = m.predict(ctx, opt, x, t, func(_, first int, own *mgp.Prediction) {
		copy(mean[first:], own.Mean)
		copy(variance[first:], own.Function)
	})
	if err != nil {
		return nil, err
	}
	if err := checkFunction(mean, variance); err != nil {
		return nil, err
	}
	p := &CountPrediction{counts: make([]mgp.CountDistribution, t)}
	of := mgp.CountDistribution{Exposure: 1}
	switch m.Law() {
	case NegativeBinomial:
		of.R = m.parameter()
	case DoublePoisson:
		of.Nu = m.parameter()
	}
	for i := range p.counts {
		p.counts[i] = of
		p.counts[i].Mean, p.counts[i].Variance = mean[i], variance[i]
		if exposure != nil {
			p.counts[i].Exposure = exposure[i]
		}
	}
	return p, nil
}

// CountPrediction holds the predictive distributions of the counts of samples.
type CountPrediction struct{ counts []mgp.CountDistribution }

// Samples returns the number of samples.
func (p *CountPrediction) Samples() int { return len(p.counts) }

// Moments returns the mean and the variance of each count. Beyond the largest float64 they are the largest float64, as quantiles are:
// the mean is the exponential of the function, and far from the training samples it can be beyond all numbers.
func (p *CountPrediction) Moments() (mean, variance []float64) {
	for _, d := range p.counts {
		m, v := d.Moments()
		mean, variance = append(mean, m), append(variance, v)
	}
	return mean, variance
}

// Quantiles returns [sample][probability] the least count that is not exceeded with each probability. The
// probabilities must be between 0 and 1 and ascend, or it panics.
func (p *CountPrediction) Quantiles(probabilities ...float64) [][]float64 {
	if !slices.IsSorted(probabilities) || len(probabilities) == 0 || !(probabilities[0] > 0 && probabilities[len(probabilities)-1] < 1) {
		panic(fmt.Sprintf("mkl: Quantiles: the probabilities %g are not between 0 and 1 in ascending order", probabilities))
	}
	out := make([][]float64, len(p.counts))
	for i, d := range p.counts {
		out[i] = d.Quantiles(probabilities)
	}
	return out
}

// Interval returns the ends of the central interval of a probability of a sample's count. The ends are counts.
func (p *CountPrediction) Interval(sample int, probability float64) (lower, upper float64) {
	ends := p.counts[sample].Quantiles([]float64{0.5 - float64(0.5*probability), 0.5 + float64(0.5*probability)})
	return ends[0], ends[1]
}

// LogProbability returns the logarithm of the probability that a sample has the count y.
func (p *CountPrediction) LogProbability(sample int, y float64) float64 {
	return p.counts[sample].LogProbability(y)
}

// CDF returns the probabilities that the count of a sample is less than y, and that it is at most y. y is a whole number from 0 on, or both are NaN.
func (p *CountPrediction) CDF(sample int, y float64) (below, upTo float64) {
	if !isCount(y) {
		return math.NaN(), math.NaN()
	}
	return p.counts[sample].CDF(y)
}

// CRPS returns the continuous ranked probability score Σ_k (P(count ≤ k) − [k ≥ y])² of the predicted distribution if the count of a sample
// is y; smaller is better. It is NaN if y is no whole number from 0 on.
func (p *CountPrediction) CRPS(sample int, y float64) float64 {
	if !isCount(y) {
		return math.NaN()
	}
	return p.counts[sample].CRPS(y)
}

func isCount(y float64) bool { return y >= 0 && y == math.Trunc(y) && !math.IsInf(y, 1) }

// String describes the model in one line.
func (m *CountModel) String() string {
	return m.describe(m.posteriors[0].State().Likelihood + " counts by a multiple Gaussian process")
}

// Summary describes the model in words, line by line.
func (m *CountModel) Summary() string {
	return m.summary(m.String(), func(int) string {
		switch m.Law() {
		case NegativeBinomial:
			return fmt.Sprintf("the variance of a count of the mean μ is μ + %.3g·μ²", m.Dispersion())
		case DoublePoisson:
			return fmt.Sprintf("the variance of a count of the mean μ is below μ: about μ/%.3g", m.Precision())
		}
		return "the variance of a count is its mean"
	})
}
