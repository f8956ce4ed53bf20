package mkl

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/mgp"
)

var manySeeds = flag.Int("many.seeds", 0, "seeds of the simulations of counts, times and grades by landmarks; 0 leaves them out")

var manyKinds = flag.String("many.kinds", "counts,times,grades", "kinds of targets of these simulations")

// drawnTargets are six features with a function of them that has a product, and targets of each kind.
type drawnTargets struct {
	x      Features
	f      []float64 // the true function
	counts []float64 // negative binomial, r = 4, the mean e^(½+f)
	times  []Lifetime
	grades []int // 0 to 4
}

func drawTargets(seed uint64, n int) drawnTargets {
	r := rand.New(rand.NewPCG(seed, 12))
	d := drawnTargets{x: normal(r, n, 6), grades: make([]int, n)}
	for i := range n {
		x := d.x.Row(i)
		f := 0.8*math.Sin(2*x[0]) + 0.5*x[1]*x[2] - 0.4*x[3]
		var g, count float64
		for range 4 {
			g += r.ExpFloat64() / 4
		}
		for left := math.Exp(0.5+f)*g - r.ExpFloat64(); left > 0; left -= r.ExpFloat64() {
			count++
		}
		d.f, d.counts = append(d.f, f), append(d.counts, count)
		time, limit := math.Exp(f+0.6*math.Log(r.ExpFloat64())), 3*r.Float64()
		if time < limit {
			d.times = append(d.times, EventAt(time))
		} else {
			d.times = append(d.times, EventAfter(limit))
		}
		for _, c := range []float64{-1, -0.3, 0.4, 1.2} {
			if e := f + 0.6*r.NormFloat64(); e > c {
				d.grades[i]++
			}
		}
	}
	return d
}

// scoreOf returns the mean logarithm of the probability of the targets, and the share √(1−r²) of what is predicted that is not
// linear in the true function: of the log mean, the log median or the mean grade.
func scoreOf(t *testing.T, kind string, m *processes, unit target, d drawnTargets) (nats, off float64) {
	at := make([]float64, len(d.f))
	switch kind {
	case "counts":
		p, err := (&CountModel{*m}).PredictCounts(t.Context(), PredictOptions{}, nil, d.x)
		require.NoError(t, err)
		mean, _ := p.Moments()
		for i, v := range d.counts {
			nats += p.LogProbability(i, v) / float64(len(at))
			at[i] = math.Log(mean[i])
		}
	case "times":
		p, err := (&SurvivalModel{*m, unit}).Predict(d.x)
		require.NoError(t, err)
		for i, v := range d.times {
			nats += p.LogScore(i, v) / float64(len(at))
			at[i] = special.Log(p.Median()[i])
		}
	case "grades":
		names := []int{0, 1, 2, 3, 4}
		_, p, err := (&OrdinalModel[int]{*m, classSet[int]{names: names}}).Predict(d.x)
		require.NoError(t, err)
		for i, v := range d.grades {
			nats += math.Log(p[i][v]) / float64(len(at))
			for k, q := range p[i] {
				at[i] += float64(k) * q
			}
		}
	}
	return nats, math.Sqrt(1 - math.Pow(correlationOf(at, d.f), 2))
}

// TestManyObservationsMeasured prints the table of docs/lab/survival.md on landmarks.
func TestManyObservationsMeasured(t *testing.T) {
	if *manySeeds == 0 {
		t.Skip("-many.seeds is 0")
	}
	type run struct{ n, landmarks int }
	runs := []run{{250, 0}, {500, 0}, {1000, 0}, {550, 330}, {1000, 330}, {2000, 330}, {4000, 330}, {550, 500}, {1000, 500}, {2000, 500}, {4000, 500}}
	for _, kind := range strings.Split(*manyKinds, ",") {
		sums := make([][4]float64, len(runs))
		for seed := range *manySeeds {
			all, test := drawTargets(uint64(2*seed), 4000), drawTargets(uint64(2*seed+1), 2000)
			for k, r := range runs {
				views, _, err := FillViews(KernelsBroad, []View{{X: la.MatrixOf(r.n, 6, all.x.Data[:6*r.n])}})
				require.NoError(t, err)
				y := all.counts[:r.n]
				var like []mgp.Likelihood
				var unit target
				switch kind {
				case "counts":
					like = []mgp.Likelihood{mgp.Counts{Y: y, Dispersed: true}}
				case "times":
					var lower, upper []float64
					unit, lower, upper, err = logTimes(all.times[:r.n])
					require.NoError(t, err)
					like = []mgp.Likelihood{mgp.Censored{Lower: lower, Upper: upper, Law: mgp.Weibull}}
				case "grades":
					like = []mgp.Likelihood{mgp.Ordinal{Y: all.grades[:r.n], Grades: 5}}
				}
				c := Counts{Fitting: Fitting{Workers: 1}}
				p := c.problem()
				begin := time.Now()
				var m *processes
				if r.landmarks == 0 {
					m, err = p.fitExact(t.Context(), views, 1, like...)
				} else {
					m, err = p.fitMany(t.Context(), views, r.landmarks, func(i int) float64 { return all.f[i] }, like...)
				}
				took := time.Since(begin).Seconds()
				require.NoError(t, err)
				nats, off := scoreOf(t, kind, m, unit, test)
				for i, v := range []float64{nats, off, took, float64(m.Trace().Sweeps)} {
					sums[k][i] += v / float64(*manySeeds)
				}
			}
		}
		for k, r := range runs {
			fmt.Printf("| %s | %d | %d | %.4f | %.4f | %.1f | %.0f |\n", kind, r.n, r.landmarks, sums[k][0], sums[k][1], sums[k][2], sums[k][3])
		}
	}
}
