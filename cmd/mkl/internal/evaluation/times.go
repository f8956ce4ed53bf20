package evaluation

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/measure"
	"github.com/bmkl/bmkl/cmd/mkl/internal/prediction"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/metrics"
)

// Names of measures of times, and of counts.
const (
	concordance = "concordance"
	logScore    = "log score"
	deviance    = "deviance"
)

// AtTime is how well a model of times predicts whether events are later than a time.
type AtTime struct {
	Time      console.Number `json:"time"`
	Brier     console.Number `json:"brier"`
	Baseline  console.Number `json:"baseline_brier"` // of the curve of all samples
	Predicted console.Number `json:"predicted"`      // the mean probability of being later
	Observed  console.Number `json:"observed"`       // the share that is later, by Kaplan and Meier
}

// Followed are the times of rows whose events happened at a time that is known or were later than a time: what the
// scores of censored times are for.
type Followed struct {
	Rows  []int
	Time  []float64
	Event []bool
}

// Follow lists the rows with a true time, exact or censored on the right. It returns nil if a true time is censored on the
// left or lies between two times.
func Follow(truth []mkl.Lifetime) *Followed {
	f := &Followed{}
	for i, t := range truth {
		switch {
		case math.IsNaN(t.From):
			continue
		case t.From != t.To && !math.IsInf(t.To, 1):
			return nil
		}
		f.Rows, f.Time, f.Event = append(f.Rows, i), append(f.Time, t.From), append(f.Event, t.From == t.To)
	}
	return f
}

// Of is the values of the rows.
func (f *Followed) Of(values []float64) []float64 {
	some := make([]float64, len(f.Rows))
	for k, i := range f.Rows {
		some[k] = values[i]
	}
	return some
}

// Middle is the median of the times.
func (f *Followed) Middle() float64 {
	sorted := slices.Sorted(slices.Values(f.Time))
	return sorted[len(sorted)/2]
}

// measureTimes measures predicted times. Ranks and probabilities at a time need times that are known or censored on the
// right.
func (ev *Evaluation) measureTimes(p prediction.Times, truth []mkl.Lifetime, target string) error {
	n, score := 0, 0.0
	for i, t := range truth {
		if !math.IsNaN(t.From) {
			score += p.LogScore(i, t)
			n++
		}
	}
	if n == 0 {
		return console.Inputf("%s: no time is known", target)
	}
	v := console.Figures{logScore: score / float64(n)}
	below, upTo := p.Transforms(truth)
	var err error
	if v[pit], err = measure.PITDistance(below, upTo); err != nil {
		return err
	}
	ev.Measures, ev.Samples = []Measures{{target, v}}, n
	f := Follow(truth)
	if f == nil {
		if p.At != nil {
			return console.Inputf("-times: a Brier score is for times that are known or censored on the right, and some of %s are between two times", target)
		}
		return nil
	}
	if c, err := metrics.CensoredConcordance(f.Time, f.Event, f.Of(p.Risk())); err == nil { // else no two times can be compared
		v[concordance] = c
		ev.Baseline = &Measures{"chance", console.Figures{concordance: 0.5}}
	}
	asked := p.At
	if asked == nil {
		asked = []float64{f.Middle()}
	}
	for _, at := range asked {
		one, err := f.at(p, at)
		if err == nil {
			ev.Times = append(ev.Times, one)
		} else if p.At != nil {
			return console.Inputf("-times %g: %w", at, err)
		}
	}
	return nil
}

// at measures the probabilities of events later than a time.
func (f *Followed) at(p prediction.Times, at float64) (one AtTime, err error) {
	later := f.Of(p.After(at))
	brier, err := metrics.CensoredBrier(f.Time, f.Event, later, at)
	if err != nil {
		return one, err
	}
	predicted, observed, err := metrics.CensoredCalibration(f.Time, f.Event, later, at)
	if err != nil {
		return one, err
	}
	same := slices.Repeat([]float64{observed}, len(f.Time))
	baseline, err := metrics.CensoredBrier(f.Time, f.Event, same, at)
	return AtTime{console.Number(at), console.Number(brier), console.Number(baseline), console.Number(predicted), console.Number(observed)}, err
}

// printTimes prints how well probabilities at times were predicted.
func (ev *Evaluation) printTimes(out io.Writer) error {
	if ev.Times == nil {
		return nil
	}
	fmt.Fprintln(out)
	rows := [][]string{{"later than", "Brier", "Brier of all alike", "predicted", "Kaplan–Meier"}}
	for _, a := range ev.Times {
		row := []string{}
		for _, v := range []console.Number{a.Time, a.Brier, a.Baseline, a.Predicted, a.Observed} {
			row = append(row, console.Figure(float64(v)))
		}
		rows = append(rows, row)
	}
	if err := console.PrintTable(out, "rrrrr", rows); err != nil {
		return err
	}
	fmt.Fprintln(out, "\nBrier: weighted by the inverse probability of censoring; of all alike: with the share that Kaplan and Meier estimate from these samples")
	return nil
}
