package choose

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/metrics"
)

// TimeDistribution is the predicted distribution of the times of samples until an event, such as [*mkl.SurvivalPrediction].
type TimeDistribution interface {
	Samples() int    // number of samples, which count from 0
	Risk() []float64 // the higher, the earlier the event

	// Survival returns the probability that the event of a sample happens after each of the times.
	Survival(sample int, times []float64) []float64

	// LogScore returns the logarithm of the density, or of the probability, of what is known of the time of a sample.
	LogScore(sample int, t mkl.Lifetime) float64

	// Transform returns the probabilities that the event of a sample happens before t.From, and by t.To.
	Transform(sample int, t mkl.Lifetime) (below, upTo float64)
}

// Times is the candidate that fits the estimator to views of all samples. A given kernel is the matrix between all samples.
func Times(name string, views []mkl.View, times []mkl.Lifetime, estimator mkl.Survival) Candidate {
	return Candidate{Name: name, Learn: func(ctx context.Context, f Fold) (*Prediction, error) {
		if err := cmp.Or(checkViews(views, len(times)), f.check("Fold", len(times))); err != nil {
			return nil, err
		}
		m, err := estimator.Fit(ctx, rowsOf(views, f.Train), pick(times, f.Train))
		if err != nil {
			return nil, err
		}
		p, err := m.PredictTimes(ctx, mkl.PredictOptions{Workers: 1}, inputs(m, views, f)...)
		if err != nil {
			return nil, err
		}
		return &Prediction{Times: p}, nil
	}}
}

// timesOfRows is the distribution of the times of some samples.
type timesOfRows struct {
	all  TimeDistribution
	rows []int
}

func (d timesOfRows) Samples() int    { return len(d.rows) }
func (d timesOfRows) Risk() []float64 { return pick(d.all.Risk(), d.rows) }
func (d timesOfRows) Survival(k int, times []float64) []float64 {
	return d.all.Survival(d.rows[k], times)
}
func (d timesOfRows) LogScore(k int, t mkl.Lifetime) float64 { return d.all.LogScore(d.rows[k], t) }
func (d timesOfRows) Transform(k int, t mkl.Lifetime) (below, upTo float64) {
	return d.all.Transform(d.rows[k], t)
}

// checkTimes returns an error for times that there cannot be.
func (t Truth) checkTimes() error {
	for i, one := range t.Times {
		if !(one.From >= 0 && one.To >= one.From) || one.To == 0 || math.IsInf(one.From, 1) {
			return fmt.Errorf("choose: Truth.Times[%d] is from %g to %g", i, one.From, one.To)
		}
	}
	if t.At != 0 && t.Times == nil || !(t.At >= 0) || math.IsInf(t.At, 1) {
		return fmt.Errorf("choose: Truth.At is %g: it is a positive time, of a truth of times", t.At)
	}
	return nil
}

// followed returns times, and whether the events happened then or had not happened by then. It returns nil if something else is known
// of a sample: that its event was earlier than a time, or between two.
func followed(times []mkl.Lifetime) (time []float64, event []bool) {
	for _, t := range times {
		if t.From != t.To && !math.IsInf(t.To, 1) {
			return nil, nil
		}
		time, event = append(time, t.From), append(event, t.From == t.To)
	}
	return time, event
}

// weighted is the truth with the time of its Brier score and the weights of the samples, which are computed from all samples. Times
// that lie between two others have no Brier score.
func (t Truth) weighted() (Truth, error) {
	time, event := followed(t.Times)
	if time == nil {
		if t.At != 0 {
			return t, fmt.Errorf("choose: Truth.At is %g, but a Brier score is for times that are known or censored on the right", t.At)
		}
		return t, nil
	}
	at := t.At
	if at == 0 {
		at = slices.Sorted(slices.Values(time))[len(time)/2]
	}
	weights, err := metrics.CensoringWeights(time, event, at)
	switch {
	case err == nil:
		t.At, t.brier = at, weights
	case t.At != 0:
		return t, fmt.Errorf("choose: Truth.At: %w", err)
	}
	return t, nil
}

// ofTimes returns the losses of times: the means of what each sample contributes.
func (p *Prediction) ofTimes(t Truth) (map[Score]float64, error) {
	each, err := p.ofEachTime(t)
	if err != nil {
		return nil, err
	}
	all := map[Score]float64{}
	for _, own := range each {
		for s, v := range own {
			all[s] += v / float64(len(each))
		}
	}
	all[PIT] = pooled(each).Value
	return all, nil
}

// ofEachTime returns what each sample contributes to the losses of times, which are the means. The concordance is no mean over samples:
// a sample contributes the index plus its influence. There is no concordance where no two samples can be compared.
func (p *Prediction) ofEachTime(t Truth) ([]map[Score]float64, error) {
	all := make([]map[Score]float64, len(t.Times))
	for i, one := range t.Times {
		score := p.Times.LogScore(i, one)
		if math.IsNaN(score) {
			return nil, fmt.Errorf("choose: the log score of sample %d is not a number", i)
		}
		all[i] = map[Score]float64{LogScore: score}
		below, upTo := p.Times.Transform(i, one)
		if err := addPIT(all[i], []float64{below}, []float64{upTo}); err != nil {
			return nil, err
		}
	}
	time, event := followed(t.Times)
	if time == nil {
		return all, nil
	}
	if index, influence, err := metrics.CensoredInfluence(time, event, p.Times.Risk()); err == nil {
		for i, v := range influence {
			all[i][Concordance] = index + v
		}
	}
	for i, w := range t.brier {
		all[i][Brier] = metrics.BrierOfTime(time[i], p.Times.Survival(i, []float64{t.At})[0], t.At, w)
	}
	return all, nil
}

// AllAlike is the baseline that does not look at features: the model of times with a constant kernel, which learns one
// survival curve.
func AllAlike(times []mkl.Lifetime) Candidate {
	c := Times("all alike", constantView(len(times)), times, mkl.Survival{Fitting: mkl.Fitting{Workers: 1}})
	c.Baseline = true
	return c
}
