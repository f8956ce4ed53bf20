package choose

import (
	"cmp"
	"context"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// CountDistribution is the predicted distribution of the counts of samples, such as [*mkl.CountPrediction].
type CountDistribution interface {
	Samples() int                                    // number of samples, which count from 0
	LogProbability(sample int, y float64) float64    // logarithm of the probability of a count
	CDF(sample int, y float64) (below, upTo float64) // probability that the count is less than y, and at most y
	CRPS(sample int, y float64) float64              // ranked probability score

	// Interval returns the ends of the central interval of a probability.
	Interval(sample int, probability float64) (lower, upper float64)
}

// OfCounts is the prediction of a model of counts.
func OfCounts(p *mkl.CountPrediction) *Prediction {
	mean, variance := p.Moments()
	return &Prediction{Mean: mean, Variance: variance, Counts: p}
}

// Counts is the candidate that fits the estimator to views of all samples. exposure has a value for each sample; nil means 1. The
// field Exposure of the estimator is not used. A given kernel is the matrix between all samples.
func Counts(name string, views []mkl.View, y, exposure []float64, estimator mkl.Counts) Candidate {
	return Candidate{Name: name, Learn: func(ctx context.Context, f Fold) (*Prediction, error) {
		if err := cmp.Or(checkViews(views, len(y)), f.check("Fold", len(y))); err != nil {
			return nil, err
		}
		own, tested := estimator, []float64(nil)
		own.Exposure = nil
		if exposure != nil {
			own.Exposure, tested = pick(exposure, f.Train), pick(exposure, f.Test)
		}
		m, err := own.Fit(ctx, rowsOf(views, f.Train), pick(y, f.Train))
		if err != nil {
			return nil, err
		}
		p, err := m.PredictCounts(ctx, mkl.PredictOptions{Workers: 1}, tested, inputs(m, views, f)...)
		if err != nil {
			return nil, err
		}
		return OfCounts(p), nil
	}}
}

// countsOfRows is the distribution of the counts of some samples.
type countsOfRows struct {
	all  CountDistribution
	rows []int
}

func (d countsOfRows) Samples() int { return len(d.rows) }
func (d countsOfRows) LogProbability(k int, y float64) float64 {
	return d.all.LogProbability(d.rows[k], y)
}
func (d countsOfRows) CDF(k int, y float64) (below, upTo float64) {
	return d.all.CDF(d.rows[k], y)
}
func (d countsOfRows) CRPS(k int, y float64) float64 { return d.all.CRPS(d.rows[k], y) }
func (d countsOfRows) Interval(k int, probability float64) (lower, upper float64) {
	return d.all.Interval(d.rows[k], probability)
}

// countLaw is a distribution of counts as one of numbers.
type countLaw struct{ CountDistribution }

func (d countLaw) CDF(i int, y float64) float64 {
	_, upTo := d.CountDistribution.CDF(i, y)
	return upTo
}

// logScoreOfCounts is the mean log probability of counts.
func logScoreOfCounts(y []float64, d CountDistribution) (mean float64) {
	for i, v := range y {
		mean += d.LogProbability(i, v) / float64(len(y))
	}
	return mean
}

// MeanRate is the baseline that does not look at features: the model of counts with a constant kernel, which learns one rate for
// each unit of exposure and the dispersion.
func MeanRate(y, exposure []float64) Candidate {
	c := Counts("mean rate", constantView(len(y)), y, exposure, mkl.Counts{Fitting: mkl.Fitting{Workers: 1}})
	c.Baseline = true
	return c
}

// constantView is a view of n samples that says nothing of them.
func constantView(n int) []mkl.View {
	return []mkl.View{{Name: "constant", X: la.NewMatrix[float64](n, 1), Kernel: kernel.Constant{}}}
}
