package evaluation

import (
	"math"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/measure"
	"github.com/bmkl/bmkl/cmd/mkl/internal/prediction"
)

// measureLaw measures the predicted distributions of a target: CRPS and PIT. Missing truths (NaN) are left out.
func measureLaw(v console.Figures, p prediction.Numbers, target int, truth []float64) (err error) {
	below, upTo := Transform(p, target, truth)
	var sum float64
	for i, y := range truth {
		if !math.IsNaN(y) {
			sum += p.Score(target, i, y)
		}
	}
	v["CRPS"] = sum / float64(len(upTo))
	v[pit], err = measure.PITDistance(below, upTo)
	return err
}

// Transform returns, for each truth that is known, the predicted probabilities of what is less and of what is no more.
func Transform(p prediction.Numbers, target int, truth []float64) (below, upTo []float64) {
	for i, y := range truth {
		if !math.IsNaN(y) {
			b, u := p.Transform(target, i, y)
			below, upTo = append(below, b), append(upTo, u)
		}
	}
	return below, upTo
}
