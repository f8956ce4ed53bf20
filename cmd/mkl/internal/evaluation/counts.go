package evaluation

import (
	"math"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/prediction"
	"github.com/bmkl/bmkl/mkl/metrics"
)

// measureCounts measures predicted counts by their own distributions. Missing truths (NaN) are left out.
func (ev *Evaluation) measureCounts(p prediction.Numbers, truth []float64, target string) error {
	lower, upper := p.Intervals(0, ev.interval)
	var y, mean, from, to []float64
	score, inside := 0.0, 0.0
	for i, t := range truth {
		if math.IsNaN(t) {
			continue
		}
		if t < 0 || t != math.Trunc(t) {
			return console.Inputf("%s: %g is no count", target, t)
		}
		y, mean, from, to = append(y, t), append(mean, p.Mean[0][i]), append(from, lower[i]), append(to, upper[i])
		score += p.Counts.LogProbability(i, t)
		if lower[i] <= t && t <= upper[i] {
			inside++
		}
	}
	v := console.Figures{logScore: score / float64(len(y)), "coverage": inside / float64(len(y))}
	var err error
	if v["RMSE"], err = metrics.RMSE(y, mean); err != nil {
		return console.Inputf("%s: %w", target, err)
	}
	if v["MAE"], err = metrics.MAE(y, mean); err != nil {
		return err
	}
	if v["interval score"], err = metrics.IntervalScore(y, from, to, ev.interval); err != nil {
		return err
	}
	if v[deviance], err = metrics.PoissonDeviance(y, mean); err != nil {
		return console.Inputf("%s: %w", target, err)
	}
	if err := measureLaw(v, p, 0, truth); err != nil {
		return console.Inputf("%s: %w", target, err)
	}
	if r2, err := metrics.R2(y, mean); err == nil {
		v["R²"], v["RMSE/SD"] = r2, math.Sqrt(1-r2)
	}
	ev.Measures, ev.Baseline = []Measures{{target, v}}, meanOf(v)
	return nil
}
