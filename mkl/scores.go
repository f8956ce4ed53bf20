package mkl

import (
	"context"
	"errors"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// This file holds what [Classifier], [MultiLabel] and [TaskClassifier] have in common: Bayesian
// efficient multiple kernel learning (BEMKL) of scores, one score for each row of labels
// ±1.

// fitScores fits scores to labels ±1, functions × samples, or NaN. settings are the settings of
// the estimator's family, f the common settings of all estimators; need estimates the memory. The scores are nil
// without a fit.
func fitScores(ctx context.Context, f *fitting, l *Landmarks, settings bemkl.Classification, views []View, y la.Matrix[float64], outputs int, need func(FitSize) int64, from *scores) (model *scores, err error) {
	ds, k, err := f.fixedKernels(ctx, l, views, y.Cols, outputs, need)
	if err != nil {
		return nil, err
	}
	defer gram.Release(k, &model, &err)
	if from != nil {
		settings.From = from.posterior
		if err := checkFrom(f, from.design, "functions", len(from.active), ds, y.Rows); err != nil {
			return nil, err
		}
	}
	settings.Workers = f.Workers
	fit, err := bestStart(ctx, f, func(seed uint64, a vi.Ascent) (*bemkl.ClassificationFit, error) {
		settings.Seed, settings.Ascent = seed, a
		return settings.Fit(ctx, k, y)
	}, func(fit *bemkl.ClassificationFit) vi.Record { return fit.Record })
	if fit == nil {
		return nil, err
	}
	m := &scores{}
	if terr := f.tell(ds, k, fit.BoundGradient, func(s *Slopes) { s.SigmaG, s.Margin = fit.SettingsGradient() }); terr != nil {
		return nil, errors.Join(err, terr)
	}
	m.onViews = onViews{f.record(newTrace(fit.Record, fit.Collapsed)), ds}
	if f.missingViews {
		patterns, _ := missingPatterns(ds)
		s := fit.Posterior.State()
		m.gaps = &viewGaps{patterns: patterns, spread: viewSpreads(ds, k, s.A, s.BEMean, s.BECov)}
	}
	if serr := m.set(fit.Posterior); serr != nil {
		return nil, errors.Join(err, serr)
	}
	return m, err
}

// scores are the functions of a model: a score for each row of the posterior.
type scores struct {
	weighted
	posterior *bemkl.ClassificationPosterior
	gaps      *viewGaps // nil unless samples may lack views
}

// set sets the posterior of the scores and the fields that follow from it.
func (m *scores) set(p *bemkl.ClassificationPosterior) error {
	m.posterior, m.weights = p, p
	return m.prepare(p.State().A)
}

// Posterior returns the approximate posterior.
func (m *scores) Posterior() *bemkl.ClassificationPosterior { return m.posterior }

// predictions returns the function that predicts the scores of x.
func (m *scores) predictions(x []Features) predictScores {
	return func(k vi.Kernels, first int, opt vi.PredictOptions) (*bemkl.ClassPrediction, error) {
		p, err := m.posterior.Predict(k, opt)
		if err != nil || m.gaps == nil || opt.MeanOnly {
			return p, err
		}
		margin := m.posterior.State().Margin
		for i := range p.Mean.Cols {
			missing := lackedBy(m.design, x, first+i)
			for o := range p.Mean.Rows {
				if extra := m.gaps.extra(m.design, o, missing); extra > 0 {
					variance := p.Variance.At(o, i) + extra
					p.Probability.Set(o, i, positiveProbability(p.Mean.At(o, i), margin, variance, opt.Published))
				}
			}
		}
		return p, nil
	}
}

// predictScores predicts the scores of the samples from first on, from their kernels with the design's basis
// points.
type predictScores func(k vi.Kernels, first int, opt vi.PredictOptions) (*bemkl.ClassPrediction, error)

// predict calls do for each block of samples, with the scores of samples first …
// first+n−1.
func (m *weighted) predict(ctx context.Context, opt PredictOptions, x []Features, t int, scores predictScores, do func(p *bemkl.ClassPrediction, first, n int)) error {
	return m.design.PredictBlocks(ctx, opt.Workers, x, t, func(k vi.Kernels, first, n int) error {
		p, err := scores(k, first, opt.inference())
		if err == nil {
			do(p, first, n)
		}
		return err
	})
}

// predictLabels predicts the labels of samples from their scores, one for each label.
func (m *weighted) predictLabels(ctx context.Context, opt PredictOptions, x []Features, scores predictScores) (*LabelPrediction, error) {
	t, err := checkInputs(m.design, x)
	if err != nil {
		return nil, err
	}
	L := len(m.active)
	out := &LabelPrediction{Label: make([][]bool, L), Decision: rows(L, t)}
	if !opt.MeanOnly {
		out.Probability = rows(L, t)
	}
	for o := range out.Label {
		out.Label[o] = make([]bool, t)
	}
	err = m.predict(ctx, opt, x, t, scores, func(p *bemkl.ClassPrediction, first, n int) {
		for o := range L {
			copy(out.Decision[o][first:first+n], p.Mean.Row(o))
			if !opt.MeanOnly {
				copy(out.Probability[o][first:first+n], p.Probability.Row(o))
			}
			for i := first; i < first+n; i++ {
				out.Label[o][i] = out.Decision[o][i] >= 0
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return out.checked()
}

// scorePredictors are the scores of a model, pruned for single samples.
type scorePredictors struct {
	margin    float64
	published bool
	scores    []*weightPredictor
}

func (m *scores) predictors(opt PredictorOptions) (scorePredictors, error) {
	opt = m.archived(opt)
	s := m.posterior.State()
	return newScorePredictors(opt, s.Margin, s.A.Rows, func(o int) function {
		return function{
			weighted: &m.weighted, a: s.A.Row(o), beMean: s.BEMean, beCov: s.BECov,
			spread: s.SigmaG * s.SigmaG, roundoff: m.posterior.CovarianceRoundoff, limit: m.posterior.WeightLimit, gaps: m.gaps,
			project: func(k vi.Columns, opt bemkl.ProjectOptions) (*bemkl.Projection, error) {
				return m.posterior.Project(k, o, opt)
			},
		}
	})
}

// newScorePredictors prunes the scores. of(o) holds the part of score o that differs between scores.
func newScorePredictors(opt PredictorOptions, margin float64, scores int, of func(o int) function) (scorePredictors, error) {
	p := scorePredictors{margin: margin, published: opt.Published}
	if err := opt.checkClasses(); err != nil {
		return p, err
	}
	for o := range scores {
		f := of(o)
		f.index, f.noise, f.targets, f.target = o, 1, scores, target{0, 1}
		score, err := newPredictor(opt, f)
		if err != nil {
			return p, err
		}
		p.scores = append(p.scores, score)
	}
	return p, opt.archiveError()
}

func (p *scorePredictors) infos() (all []PredictorInfo) {
	for _, s := range p.scores {
		all = append(all, s.info.clone())
	}
	return all
}

// probability returns the probability that score o of a sample is positive, and a bound on its
// difference from the model's. The probability grows with the score's mean. At a fixed mean it is monotonic in
// the standard deviation, which is at least the noise's, 1. So the difference is largest at
// a corner of the bounds of both.
func (p *scorePredictors) probability(o int, x [][]float64) (probability, bound float64, err error) {
	score, err := p.scores[o].predictBounded(x)
	if err != nil {
		return 0, 0, err
	}
	probability = positiveProbability(score.Mean, p.margin, score.Variance, p.published)
	if score.MeanError == 0 && score.SDError == 0 {
		return probability, 0, nil
	}
	sd := math.Sqrt(score.Variance)
	for _, mean := range [2]float64{score.Mean - score.MeanError, score.Mean + score.MeanError} {
		for _, sd := range [2]float64{max(1, sd-score.SDError), sd + score.SDError} {
			corner := positiveProbability(mean, p.margin, sd*sd, p.published)
			bound = max(bound, math.Abs(corner-probability))
		}
	}
	return probability, bound, nil
}

// positiveProbability is the probability that a score is above the margin, given that
// it is not within it: Φ((m−ν)/s) / (Φ((m−ν)/s) + Φ((−ν−m)/s)). Published uses the variance
// instead of its square root s, as the paper does.
func positiveProbability(mean, margin, variance float64, published bool) float64 {
	s := variance
	if !published {
		s = math.Sqrt(variance)
	}
	above := special.LogNormalCDF((mean - margin) / s)
	below := special.LogNormalCDF((-margin - mean) / s)
	return 1 / (1 + special.Exp(below-above))
}
