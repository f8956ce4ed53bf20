package prediction

import (
	"math"
	"strconv"

	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/choose"
)

// Times are predicted times until an event.
type Times struct {
	*mkl.SurvivalPrediction
	At []float64 // the probability that the event is later than each of these is written as well
}

// Columns adds the median time, the interval, the risk, and the probability that the event is later than each time
// that was asked for.
func (p Times) Columns(out *Columns, _ []string, interval float64) {
	for _, q := range []struct {
		name        string
		probability float64
	}{{"median", 0.5}, {"lower", 0.5 - float64(0.5*interval)}, {"upper", 0.5 + float64(0.5*interval)}} {
		times := p.Quantile(q.probability)
		out.AddNumber(q.name, func(i int) float64 { return times[i] })
	}
	risk := p.Risk()
	out.AddNumber("risk", func(i int) float64 { return risk[i] })
	for _, t := range p.At {
		later := p.After(t)
		out.addProbability("p_after_"+strconv.FormatFloat(t, 'g', -1, 64), func(i int) float64 { return later[i] })
	}
}

// After returns the probability of each row that its event is later than a time.
func (p Times) After(t float64) []float64 {
	later := make([]float64, p.Samples())
	for i := range later {
		later[i] = p.Survival(i, []float64{t})[0]
	}
	return later
}

// Transforms returns, for each time that is known or censored, the predicted probabilities of an event before it and by it: see
// [mkl.SurvivalPrediction.Transform].
func (p Times) Transforms(truth []mkl.Lifetime) (below, upTo []float64) {
	for i, t := range truth {
		if !math.IsNaN(t.From) {
			b, u := p.Transform(i, t)
			below, upTo = append(below, b), append(upTo, u)
		}
	}
	return below, upTo
}

// Of returns the distributions of the times.
func (p Times) Of(int, []string) (*choose.Prediction, error) {
	return &choose.Prediction{Times: p.SurvivalPrediction}, nil
}
