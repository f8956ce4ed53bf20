package mkl

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi/mgp"
)

// SurvivalModel is a fitted [Survival]. It is immutable and safe for concurrent use.
type SurvivalModel struct {
	functionOfViews
	unit target // of the logarithms of times
}

// Kind returns "survival".
func (m *SurvivalModel) Kind() string { return "survival" }

// Law returns the distribution of times given the function.
func (m *SurvivalModel) Law() SurvivalLaw {
	if m.posteriors[0].State().Likelihood == Weibull.String() {
		return Weibull
	}
	return LogNormal
}

// LogSD returns σ, the scale of the error of the logarithm of a time. Under [Weibull] 1/σ is the shape of the
// distribution.
func (m *SurvivalModel) LogSD() float64 { return m.unit.sd * m.sigma() }

func (m *SurvivalModel) sigma() float64 { return special.Exp(0.5 * m.posteriors[0].State().Shape[1]) }

// Posterior returns the approximate posterior of the function, in units of the standardised logarithms of times.
func (m *SurvivalModel) Posterior() *mgp.Posterior { return m.posteriors[0] }

// Predict predicts the times of samples. Its arguments and errors are as in
// [TargetModel.PredictTargets].
func (m *SurvivalModel) Predict(x ...Features) (*SurvivalPrediction, error) {
	return m.PredictTimes(context.Background(), PredictOptions{}, x...)
}

// PredictTimes is Predict with options. Workers is the only option that has an effect.
func (m *SurvivalModel) PredictTimes(ctx context.Context, opt PredictOptions, x ...Features) (*SurvivalPrediction, error) {
	t, err := checkInputs(m.design, x)
	if err != nil {
		return nil, err
	}
	p := &SurvivalPrediction{law: m.Law().law(), unit: m.unit, sigma: m.sigma(), mean: make([]float64, t), variance: make([]float64, t)}
	opt.MeanOnly = false
	err = m.predict(ctx, opt, x, t, func(_, first int, own *mgp.Prediction) {
		copy(p.mean[first:], own.Mean)
		copy(p.variance[first:], own.Function)
	})
	if err != nil {
		return nil, err
	}
	if err := checkFunction(p.mean, p.variance); err != nil {
		return nil, err
	}
	return p, nil
}

// SurvivalPrediction holds the predictive distributions of the times of samples.
type SurvivalPrediction struct {
	law            mgp.Law
	unit           target
	sigma          float64
	mean, variance []float64 // of the standardised logarithm of a time without its error
}

// Samples returns the number of samples.
func (p *SurvivalPrediction) Samples() int { return len(p.mean) }

// Risk returns a score of every sample: the earlier its event is expected, the higher the score. It is minus the mean of the
// logarithm of its time without the error, in units of the standard deviation of the training samples' logarithms.
func (p *SurvivalPrediction) Risk() []float64 {
	risk := make([]float64, len(p.mean))
	for i, v := range p.mean {
		risk[i] = -v
	}
	return risk
}

// Median returns the median time of every sample.
func (p *SurvivalPrediction) Median() []float64 { return p.Quantile(0.5) }

// Quantile returns for every sample the time by which the event has happened with probability q, between 0 and 1; it
// is NaN for other q.
func (p *SurvivalPrediction) Quantile(q float64) []float64 {
	out := make([]float64, len(p.mean))
	for i := range out {
		out[i] = p.quantile(i, q)
	}
	return out
}

// quantile is [SurvivalPrediction.Quantile] of one sample.
func (p *SurvivalPrediction) quantile(sample int, q float64) float64 {
	if !(q > 0 && q < 1) {
		return math.NaN()
	}
	return special.Exp(p.unit.mean + float64(p.unit.sd*p.law.Quantile(p.mean[sample], p.variance[sample], p.sigma, q)))
}

// Interval returns the ends of the central interval of a probability, between 0 and 1, of a sample's time.
func (p *SurvivalPrediction) Interval(sample int, probability float64) (lower, upper float64) {
	return p.quantile(sample, 0.5-float64(0.5*probability)), p.quantile(sample, 0.5+float64(0.5*probability))
}

// Survival returns the probability that the event of a sample happens after each of the times: the survival curve. It does not rise from one
// of the times to a later one, not even by rounding.
func (p *SurvivalPrediction) Survival(sample int, times []float64) []float64 {
	out, order := make([]float64, len(times)), vec.UpTo(len(times))
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(times[i], times[j]) })
	least := 1.0
	for _, i := range order {
		out[i] = special.Exp(p.logSurvival(sample, times[i]))
		least = min(least, out[i])
		out[i] = least
	}
	return out
}

// logSurvival returns log P(T > t).
func (p *SurvivalPrediction) logSurvival(sample int, t float64) float64 {
	if t <= 0 {
		return 0
	}
	above, _ := p.law.LogSurvival(p.mean[sample], p.variance[sample], p.sigma, p.standard(t))
	return above
}

// standard returns the standardised logarithm of a time.
func (p *SurvivalPrediction) standard(t float64) float64 {
	return (special.Log(t) - p.unit.mean) / p.unit.sd
}

// Transform returns the probability integral transform of what is known of the time of a sample: the predicted probabilities that the
// event happens before From, and by To. They are equal if the time is known. If the time is censored on the right the second is 1. See
// PIT of package mkl/metrics.
func (p *SurvivalPrediction) Transform(sample int, t Lifetime) (below, upTo float64) {
	by := func(t float64) float64 {
		if math.IsInf(t, 1) {
			return 1
		}
		return -special.Expm1(p.logSurvival(sample, t))
	}
	below, upTo = by(t.From), by(t.To)
	return min(below, upTo), upTo
}

// Band returns limits of the survival curve of a sample at each of the times: the curve lies between them with the given
// probability, such as 0.9, because its function is uncertain. The curve of Survival is the mean over the function.
func (p *SurvivalPrediction) Band(sample int, times []float64, probability float64) (low, high []float64) {
	width := float64(special.NormalQuantile(0.5+float64(0.5*probability)) * math.Sqrt(p.variance[sample]))
	for _, t := range times {
		if t <= 0 {
			low, high = append(low, 1), append(high, 1)
			continue
		}
		at := p.standard(t)
		less, _ := p.law.LogSurvival(p.mean[sample]-width, 0, p.sigma, at)
		more, _ := p.law.LogSurvival(p.mean[sample]+width, 0, p.sigma, at)
		low, high = append(low, special.Exp(less)), append(high, special.Exp(more))
	}
	return low, high
}

// LogScore compares the prediction with the true time t of a sample. It returns the logarithm of the
// density, for each unit of log T, at an exact time, or of the probability of an interval. The mean over samples is
// the censored log score; higher is better.
func (p *SurvivalPrediction) LogScore(sample int, t Lifetime) float64 {
	m, v := p.mean[sample], p.variance[sample]
	switch {
	case t.From == t.To:
		return p.law.LogDensity(m, v, p.sigma, p.standard(t.From)) - special.Log(p.unit.sd)
	case math.IsInf(t.To, 1):
		return p.logSurvival(sample, t.From)
	case t.From == 0:
		_, below := p.law.LogSurvival(m, v, p.sigma, p.standard(t.To))
		return below
	}
	aboveFrom, belowFrom := p.law.LogSurvival(m, v, p.sigma, p.standard(t.From))
	aboveTo, belowTo := p.law.LogSurvival(m, v, p.sigma, p.standard(t.To))
	if aboveFrom <= belowTo { // the digits are on the smaller side
		return logDifference(aboveFrom, aboveTo)
	}
	return logDifference(belowTo, belowFrom)
}

// logDifference returns log(eᵃ − eᵇ), for b ≤ a.
func logDifference(a, b float64) float64 {
	if !(a > b) {
		return math.Inf(-1)
	}
	return a + special.Log(-special.Expm1(b-a))
}

// Outputs reports what the fit learned for the time.
func (m *SurvivalModel) Outputs() []ModelOutput { return m.functionOfViews.Outputs() }

// String describes the model in one line.
func (m *SurvivalModel) String() string {
	return m.describe(fmt.Sprintf("%v survival by a multiple Gaussian process", m.Law()))
}

// Summary describes the model in words, line by line.
func (m *SurvivalModel) Summary() string {
	return m.summary(m.String(), func(int) string {
		return fmt.Sprintf("the logarithm of a time has an error of scale %.4g", m.LogSD())
	})
}
