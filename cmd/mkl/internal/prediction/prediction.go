// Package prediction holds what models predict, of any kind, and writes it as a table.
package prediction

import (
	"context"
	"math"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/choose"
)

// Options say how a model predicts, and what it needs to know of the rows beside their views.
type Options struct {
	mkl.PredictOptions
	Exposure []float64 // by row, of a model of counts; nil means 1
	Offset   []float64 // by row, of a regression: the known part of the target; nil means 0
	Times    []float64 // of a model of times: see [Times]
}

// Prediction is what a model predicts of some rows: [Numbers], [Times], [Classes] or [Labels].
type Prediction interface {
	// Columns adds what mkl predict writes. Targets are the names of what was predicted; a number has an interval of
	// the given probability.
	Columns(out *Columns, targets []string, interval float64)

	// Of returns the prediction of one target for package choose. Classes are all classes that are compared, in
	// order.
	Of(target int, classes []string) (*choose.Prediction, error)
}

// Numbers are predicted targets that are numbers.
type Numbers struct {
	*mkl.Prediction

	Counts *mkl.CountPrediction // of a target of counts: its intervals are of counts; nil of others
}

// Classes are predicted classes.
type Classes struct {
	*mkl.ClassPrediction[string]
	Classes []string // in the order of the probabilities
	Grades  bool     // the classes are in order
}

// Labels are predicted labels, which a row has or has not.
type Labels struct{ *mkl.LabelPrediction }

// Outcome is what was predicted of the rows of a file.
type Outcome struct {
	Prediction
	Rows int
	Kept []int          // the rows that could be predicted, in order; others have a value missing
	X    []mkl.Features // of samples: what the rows that were kept were predicted from

	// Novelty is how far each row is beyond what the fit has seen, in widths of the range of the column where it is
	// furthest; nil if that is not known.
	Novelty []float64
	Options // with the exposures of the rows that were kept
}

// Drop removes rows that cannot be predicted, by their ascending places among those that were kept.
func (out *Outcome) Drop(places []int) {
	var left []int
	for k := range out.Kept {
		if _, drop := slices.BinarySearch(places, k); !drop {
			left = append(left, k)
		}
	}
	out.Kept = picked(out.Kept, left)
	out.Exposure, out.Offset = picked(out.Exposure, left), picked(out.Offset, left)
	for k, x := range out.X {
		out.X[k] = x.TakeRows(left)
	}
}

// picked returns the elements of the given places; nil of nil.
func picked[T any](all []T, places []int) (some []T) {
	if all == nil {
		return nil
	}
	for _, k := range places {
		some = append(some, all[k])
	}
	return some
}

// By predicts with a model of samples of any kind.
func By(ctx context.Context, m mkl.Model, opt Options, x []mkl.Features) (Prediction, error) {
	switch m := m.(type) {
	case mkl.TargetModel:
		p, err := m.PredictTargets(ctx, opt.PredictOptions, x...)
		if err == nil && opt.Offset != nil {
			err = p.AddOffset(0, opt.Offset)
		}
		return Numbers{Prediction: p}, err
	case *mkl.CountModel:
		p, err := m.PredictCounts(ctx, opt.PredictOptions, opt.Exposure, x...)
		if err != nil {
			return nil, err
		}
		mean, variance := p.Moments()
		if opt.MeanOnly {
			return Numbers{&mkl.Prediction{Mean: [][]float64{mean}}, p}, nil
		}
		return Numbers{&mkl.Prediction{Mean: [][]float64{mean}, Variance: [][]float64{variance}}, p}, nil
	case *mkl.SurvivalModel:
		p, err := m.PredictTimes(ctx, opt.PredictOptions, x...)
		return Times{p, opt.Times}, err
	case mkl.ClassModel[string]:
		p, err := m.PredictClasses(ctx, opt.PredictOptions, x...)
		return Classes{p, m.Classes(), ofGrades(m)}, err
	case mkl.LabelModel:
		p, err := m.PredictLabels(ctx, opt.PredictOptions, x...)
		return Labels{p}, err
	}
	return nil, console.Inputf("the command does not know how to predict with %v", m)
}

// ofGrades reports whether the classes of a model are in order.
func ofGrades(m mkl.Model) bool {
	_, grades := m.(*mkl.OrdinalModel[string])
	return grades
}

// Columns adds the mean of each target and, unless the means alone were predicted, its standard deviation and its interval.
func (p Numbers) Columns(out *Columns, targets []string, interval float64) {
	for o, target := range targets {
		prefix := ""
		if len(targets) > 1 {
			prefix = target + "_"
		}
		mean, sd := p.Mean[o], make([]float64, len(p.Mean[o]))
		out.AddNumber(prefix+"mean", func(i int) float64 { return mean[i] })
		if p.Variance == nil {
			continue
		}
		for i, v := range p.Variance[o] {
			sd[i] = math.Sqrt(v)
		}
		out.AddNumber(prefix+"sd", func(i int) float64 { return sd[i] })
		lower, upper := p.Intervals(o, interval)
		out.AddNumber(prefix+"lower", func(i int) float64 { return lower[i] })
		out.AddNumber(prefix+"upper", func(i int) float64 { return upper[i] })
	}
}

// Intervals returns the ends of the central intervals of a probability of a target. The ends of counts are counts.
func (p Numbers) Intervals(target int, probability float64) (lower, upper []float64) {
	if p.Counts != nil {
		for _, limits := range p.Counts.Quantiles(0.5-float64(0.5*probability), 0.5+float64(0.5*probability)) {
			lower, upper = append(lower, limits[0]), append(upper, limits[1])
		}
		return lower, upper
	}
	for i := range p.Mean[target] {
		l, u := p.Interval(target, i, probability)
		lower, upper = append(lower, l), append(upper, u)
	}
	return lower, upper
}

// Transform returns the predicted probabilities that a target of a row is less than y, and that it is at most y.
func (p Numbers) Transform(target, row int, y float64) (below, upTo float64) {
	if p.Counts != nil {
		below, upTo = p.Counts.CDF(row, y)
	} else {
		upTo = p.CDF(target, row, y)
		below = upTo
	}
	return min(below, 1), min(upTo, 1)
}

// Score returns the continuous ranked probability score of the prediction if a target of a row is y.
func (p Numbers) Score(target, row int, y float64) float64 {
	if p.Counts != nil {
		return p.Counts.CRPS(row, y)
	}
	return p.CRPS(target, row, y)
}

// Columns adds the most probable class and the probability of each; of grades also the median, and the probability of
// each grade or a lower one.
func (p Classes) Columns(out *Columns, _ []string, _ float64) {
	out.Add("label", func(i int) string { return p.Label[i] })
	if p.Grades {
		out.Add("median", func(i int) string { return p.Classes[mkl.MedianGrade(p.Probability[i])] })
	}
	for k, class := range p.Classes {
		out.addProbability("p_"+class, func(i int) float64 { return p.Probability[i][k] })
	}
	if !p.Grades {
		return
	}
	for k, class := range p.Classes[:len(p.Classes)-1] {
		out.addProbability("p_to_"+class, func(i int) (sum float64) {
			for _, v := range p.Probability[i][:k+1] {
				sum += v
			}
			return sum
		})
	}
}

// Columns adds, for each label, whether a row has it and its probability.
func (p Labels) Columns(out *Columns, targets []string, _ float64) {
	for o, target := range targets {
		out.Add(target, func(i int) string {
			if p.Label[o][i] {
				return "1"
			}
			return "0"
		})
		out.addProbability("p_"+target, func(i int) float64 { return p.Probability[o][i] })
	}
}

// Of returns the distributions of a target.
func (p Numbers) Of(target int, _ []string) (*choose.Prediction, error) {
	if p.Counts != nil {
		return choose.OfCounts(p.Counts), nil
	}
	return choose.OfTargets(p.Prediction, target), nil
}

// Of returns the probabilities of the given classes.
func (p Classes) Of(_ int, classes []string) (*choose.Prediction, error) {
	return choose.OfClasses(p.Probability, p.Classes, classes)
}

// Of returns the probabilities that a row has not and has a label.
func (p Labels) Of(target int, _ []string) (*choose.Prediction, error) {
	out := &choose.Prediction{}
	for _, has := range p.Probability[target] {
		out.Probability = append(out.Probability, []float64{1 - has, has})
	}
	return out, nil
}
