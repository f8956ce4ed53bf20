package measure

import (
	"maps"
	"math"

	"github.com/bmkl/bmkl/mkl"
)

// Law replaces measures that [Target] takes of normal distributions by measures of a target's predicted distributions, which need not be
// normal: of their central intervals of a probability, their densities and their probabilities. Missing truths (NaN) are left out.
func Law(v map[string]float64, p *mkl.Prediction, target int, truth []float64, interval float64) error {
	lower, upper := make([]float64, len(truth)), make([]float64, len(truth))
	var upTo []float64
	var density, score float64
	for i, y := range truth {
		lower[i], upper[i] = p.Interval(target, i, interval)
		if !math.IsNaN(y) {
			density += p.LogDensity(target, i, y)
			score += p.CRPS(target, i, y)
			upTo = append(upTo, min(p.CDF(target, i, y), 1))
		}
	}
	ends, err := Ends(truth, lower, upper, interval)
	if err != nil {
		return err
	}
	maps.Copy(v, ends)
	v["log density"], v["CRPS"] = density/float64(len(upTo)), score/float64(len(upTo))
	v["PIT"], err = PITDistance(upTo, upTo)
	return err
}
