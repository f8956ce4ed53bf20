package vecchia

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

const (
	// worthNeighbours is a gain in mean log density for which more neighbours are always taken. See also worthMore.
	worthNeighbours = 0.02

	// leastFactor bounds the factor of the variances from below.
	leastFactor = 1e-6
)

// mix weighs the predictions and makes the posterior.
func (f *fitting) mix() (*Posterior, error) {
	h := f.heldOut()
	best := f.all[0]
	predictions := []la.Matrix[float64]{best.local}
	var solved []Solved
	for _, c := range f.all {
		if c.exact.Rows > 0 {
			predictions = append(predictions, c.exact)
			solved = append(solved, Solved{Covariance: *c.cov, Alpha: c.alpha, Double: c.double})
		}
	}
	var state State
	var p *Posterior
	most := math.Inf(-1)
	var priced choice
	for _, m := range neighbours {
		if m > neighbours[0] {
			cost := f.judgeSeconds(m)
			if f.spent+cost > f.limit {
				break
			}
			if err := f.judge(best, m); err != nil {
				return nil, err
			}
			f.spend(cost)
		}
		predictions[0] = best.local
		weights := weigh(predictions, h.y)
		mean := la.NewMatrix[float64](h.y.Rows, h.y.Cols)
		for k, w := range weights {
			la.Axpy(w, predictions[k].Data, mean.Data)
		}
		factor, score := spread(h.y, mean, best.variance)
		beside := f.meansSeconds(solved, weights[1:])
		enough, worth := score > most+worthNeighbours, priced.neighbours == 0 || score > priced.score+f.worthMore(priced, m, beside)
		if enough {
			most = score
		}
		if worth {
			priced = choice{m, score, beside}
		}
		if !enough && !worth {
			continue
		}
		state = State{Local: *best.cov, Neighbours: m, LocalWeight: weights[0], Factor: factor}
		p = &Posterior{HeldMean: mean, HeldVariance: times(best.variance, factor)}
		for k, w := range weights[1:] {
			if w > 0 {
				s := solved[k]
				s.Weight = w
				state.Solved = append(state.Solved, s)
			}
		}
	}
	state.X, state.Y, state.Noise = f.s.x, f.s.y, f.s.noise
	f.spend(f.indexSeconds(f.s.x.Rows))
	p.Spent = f.spent
	p.set(state, f.Workers)
	return p, f.stop.Ended()
}

// choice is a number of neighbours with the mean log density of the rows held out, and the seconds that solutions take of a prediction.
type choice struct {
	neighbours    int
	score, beside float64
}

// worthMore returns the gain in mean log density for which m neighbours are worth their time beside solutions that take so many seconds
// of a prediction. The more time the solutions take, the smaller is the share that more neighbours add.
func (f *fitting) worthMore(c choice, m int, beside float64) float64 {
	from, to := f.localSeconds(c.neighbours), f.localSeconds(m)
	longer := special.Log((to + beside) / (from + c.beside))
	return max(0, float64(worthNeighbours*longer)/special.Log(to/from))
}

// byNeighbours returns the predictions of the rows held out by neighbours alone, with the best covariance.
func (f *fitting) byNeighbours() (mean, variance la.Matrix[float64]) {
	best := f.all[0]
	factor, _ := spread(f.heldOut().y, best.local, best.variance)
	return best.local, times(best.variance, factor)
}

// times returns the variances times the factor of each target.
func times(variance, factor []float64) la.Matrix[float64] {
	v := la.NewMatrix[float64](len(variance), len(factor))
	for i, u := range variance {
		for t, by := range factor {
			v.Set(i, t, by*u)
		}
	}
	return v
}

// spread returns for each target the factor of the variances that gives the errors of the means the
// largest density, and the mean log density with these factors.
func spread(y, mean la.Matrix[float64], variance []float64) (factor []float64, score float64) {
	factor = make([]float64, y.Cols)
	for i, v := range variance {
		for t, u := range y.Row(i) {
			e := u - mean.At(i, t)
			factor[t] += float64(e*e) / v / float64(y.Rows)
		}
	}
	for t := range factor {
		factor[t] = max(factor[t], leastFactor)
	}
	for i, v := range variance {
		for t, u := range y.Row(i) {
			e, s := u-mean.At(i, t), v*factor[t]
			score -= float64(0.5 * (special.Log(2*math.Pi*s) + float64(e*e)/s))
		}
	}
	return factor, score / float64(y.Rows*y.Cols)
}
