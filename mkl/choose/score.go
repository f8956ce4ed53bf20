package choose

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/mkl/metrics"
)

// Truth is what came true of each sample: Numbers or Classes, of which one is set.
type Truth struct {
	Numbers []float64
	Classes []int // counted from 0
}

// samples is their number.
func (t Truth) samples() int { return max(len(t.Numbers), len(t.Classes)) }

// Of is the truth of some samples.
func (t Truth) Of(rows []int) (some Truth) {
	if t.Classes != nil {
		some.Classes = pick(t.Classes, rows)
		return some
	}
	some.Numbers = pick(t.Numbers, rows)
	return some
}

func (t Truth) check() error {
	switch {
	case (t.Numbers == nil) == (t.Classes == nil):
		return errors.New("choose: Truth needs Numbers or Classes, and not both")
	case slices.ContainsFunc(t.Numbers, math.IsNaN):
		return fmt.Errorf("choose: Truth.Numbers[%d] is NaN", slices.IndexFunc(t.Numbers, math.IsNaN))
	}
	return nil
}

func pick[T any](all []T, rows []int) []T {
	some := make([]T, len(rows))
	for k, i := range rows {
		some[k] = all[i]
	}
	return some
}

// Prediction is what is predicted of samples, in their order: Mean and Variance of
// numbers, or the Probability of classes.
type Prediction struct {
	Mean        []float64
	Variance    []float64   // with the noise; nil if it is not known
	Probability [][]float64 // by sample, of each class
}

// Of is the prediction of some of the samples.
func (p *Prediction) Of(rows []int) *Prediction {
	some := &Prediction{}
	if p.Mean != nil {
		some.Mean = pick(p.Mean, rows)
	}
	if p.Variance != nil {
		some.Variance = pick(p.Variance, rows)
	}
	if p.Probability != nil {
		some.Probability = pick(p.Probability, rows)
	}
	return some
}

// Score is a measure of predictions.
type Score int

// Scores, of numbers and of classes.
const (
	RMSE     Score = iota // root mean squared error, in the targets' unit
	NLPD                  // mean negative log density of the truth under a normal distribution, in nats
	Coverage              // share of the truth within the central interval of 95 %
	LogLoss               // mean negative log probability of the class that came true, in nats
	Accuracy              // share of samples whose most probable class came true
	Brier                 // Brier score, between 0 and 2
)

var scoreNames = [...]string{"RMSE", "NLPD", "coverage", "log loss", "accuracy", "Brier"}

func (s Score) String() string {
	if s >= 0 && int(s) < len(scoreNames) {
		return scoreNames[s]
	}
	return fmt.Sprintf("Score(%d)", int(s))
}

// Scores lists the scores of numbers or of classes.
func Scores(classes bool) []Score {
	if classes {
		return []Score{LogLoss, Accuracy, Brier}
	}
	return []Score{RMSE, NLPD, Coverage}
}

// Ranks reports whether the score says which of two predictions is better. Coverage does
// not: it is to be near 95 %.
func (s Score) Ranks() bool { return s != Coverage }

// Better reports whether a is a better score than b.
func (s Score) Better(a, b float64) bool {
	if s == Accuracy {
		return a > b
	}
	return a < b
}

// interval is the probability of the interval whose coverage is scored.
const interval = 0.95

// loss returns the score of predictions, of RMSE its square: a mean over samples, so that
// means over parts can be taken.
func (s Score) loss(t Truth, p *Prediction) (float64, error) {
	switch s {
	case RMSE:
		v, err := metrics.RMSE(t.Numbers, p.Mean)
		return v * v, err
	case NLPD:
		return metrics.NLPD(t.Numbers, p.Mean, p.Variance)
	case Coverage:
		return metrics.Coverage(t.Numbers, p.Mean, p.Variance, interval)
	case LogLoss:
		return metrics.LogLoss(t.Classes, p.Probability)
	case Accuracy:
		predicted := make([]int, len(p.Probability))
		for i, row := range p.Probability {
			if len(row) > 0 {
				predicted[i] = slices.Index(row, slices.Max(row))
			}
		}
		return metrics.Accuracy(t.Classes, predicted)
	case Brier:
		return metrics.Brier(t.Classes, p.Probability)
	}
	return math.NaN(), fmt.Errorf("choose: there is no %v", s)
}

// known reports whether a prediction says what the score needs.
func (s Score) known(p *Prediction) bool {
	return s != NLPD && s != Coverage || p.Variance != nil
}

// value is the score of a mean loss.
func (s Score) value(loss float64) float64 {
	if s == RMSE {
		return math.Sqrt(loss)
	}
	return loss
}

// slope is the derivative of the score by the mean loss.
func (s Score) slope(loss float64) float64 {
	switch {
	case s != RMSE:
		return 1
	case loss > 0:
		return 0.5 / math.Sqrt(loss)
	}
	return 0 // a perfect prediction has no error to be uncertain about
}

// check reports whether a prediction is of so many samples.
func (p *Prediction) check(t Truth) error {
	n := t.samples()
	switch {
	case p == nil:
		return errors.New("choose: there is no prediction")
	case t.Classes != nil && len(p.Probability) != n:
		return fmt.Errorf("choose: probabilities of %d samples, not %d", len(p.Probability), n)
	case t.Classes == nil && len(p.Mean) != n:
		return fmt.Errorf("choose: means of %d samples, not %d", len(p.Mean), n)
	}
	return nil
}

// losses returns the losses by score of those that the prediction can be scored by.
func (p *Prediction) losses(t Truth) (map[Score]float64, error) {
	if err := p.check(t); err != nil {
		return nil, err
	}
	all := map[Score]float64{}
	for _, s := range Scores(t.Classes != nil) {
		if !s.known(p) {
			continue
		}
		v, err := s.loss(t, p)
		if err != nil {
			return nil, err
		}
		all[s] = v
	}
	return all, nil
}
