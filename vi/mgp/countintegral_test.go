package mgp

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// spreadCounts are distributions of counts from rare to many, with a sure and with an unsure mean.
func spreadCounts() (all []CountDistribution) {
	for _, mean := range []float64{-29, -5, 0, 3, 6} {
		for _, sd := range []float64{0, 1e-3, 0.1, 1, 3} {
			for _, r := range []float64{0, 0.02, 0.7, 5, 1e6} {
				if d := (CountDistribution{Mean: mean, Variance: sd * sd, Exposure: 2, R: r}); d.reach(0.999) < 2000 {
					all = append(all, d)
				}
			}
		}
	}
	return all
}

// The integral over the gap is the sum of the probabilities of the counts over a fine grid of f.
func TestUpToIsTheSumOfProbabilities(t *testing.T) {
	const steps, most = 3000, 300
	for _, d := range spreadCounts() {
		var upTo [most]float64
		var weights float64
		for k := -steps; k <= steps; k++ {
			z := 8.5 * float64(k) / steps
			w := math.Exp(-z * z / 2)
			weights += w
			mu := d.Exposure * math.Exp(d.Mean+z*math.Sqrt(d.Variance))
			p := math.Exp(-mu)
			if d.R > 0 {
				p = math.Exp(-d.R * math.Log1p(mu/d.R))
			}
			sum := 0.0
			for y := range upTo {
				sum += p
				upTo[y] += w * sum
				if p *= mu / float64(y+1); d.R > 0 {
					p *= (float64(y) + d.R) / (mu + d.R)
				}
			}
		}
		for _, y := range []int{0, 1, 2, 3, 5, 9, 20, 77, most - 1} {
			assert.InDelta(t, upTo[y]/weights, d.upTo(float64(y)), 1e-9, "%+v at %d", d, y)
		}
	}
}

// Where the sum of probabilities is short, integrals have the same quantiles and scores.
func TestIntegralsAndSumsAgree(t *testing.T) {
	p := []float64{0.01, 0.2, 0.5, 0.9, 0.999}
	for _, d := range spreadCounts() {
		if d.isLong(d.reach(0.999)) {
			continue
		}
		for i, want := range d.Quantiles(p) {
			assert.Equal(t, want, d.quantile(d.upTo, p[i]), "%+v at %g", d, p[i])
			crps := d.CRPS(want)
			assert.InDelta(t, crps, d.integral(want), 1e-9+1e-4*crps, "%+v at %g", d, want)
		}
	}
}

// The distribution of many counts is the distribution of a Poisson variable, summed here from its density.
func TestManyCounts(t *testing.T) {
	const mean = 1e6
	d := CountDistribution{Mean: math.Log(mean), Exposure: 1}
	var sum, crps float64
	const y = 1_001_500
	quantiles := map[float64]float64{0.025: 0, 0.5: 0, 0.975: 0}
	for k := 990_000.0; k < 1_010_000; k++ {
		l, _ := math.Lgamma(k + 1)
		sum += math.Exp(k*math.Log(mean) - mean - l)
		for p, q := range quantiles {
			if q == 0 && sum >= p {
				quantiles[p] = k
			}
		}
		step := sum
		if k >= y {
			step = 1 - sum
		}
		crps += step * step
		if k == y {
			below, upTo := d.CDF(y)
			got := d.CRPS(y)
			assert.InDelta(t, sum, upTo, 1e-6)
			assert.Less(t, below, upTo)
			defer func() { assert.InEpsilon(t, crps, got, 1e-5) }()
		}
	}
	for p, want := range quantiles {
		assert.InDelta(t, want, d.Quantiles([]float64{p})[0], 1, "%g", p) // the sum of 10⁶ terms has rounding
	}
}

// Quantiles far out and of distributions of any width are counts, in order, and the score takes the distance for what is certain.
func TestFarCounts(t *testing.T) {
	p := []float64{0.01, 0.5, 0.99}
	for _, mean := range []float64{-1e6, -30, 0, 12, 700} {
		for _, sd := range []float64{0, 1e-6, 30, 1e8} {
			for _, r := range []float64{0, 1e-6, 0.1, 1e8} {
				d := CountDistribution{Mean: mean, Variance: sd * sd, Exposure: 1, R: r}
				q := d.Quantiles(p)
				what := fmt.Sprintf("%+v: %g", d, q)
				last := 0.0
				for i, v := range q {
					assert.GreaterOrEqual(t, v, last, what)
					assert.Equal(t, math.Floor(v), v, what)
					if last = v; v > 0 && v < 1e15 {
						assert.GreaterOrEqual(t, d.upTo(v), p[i]-1e-12, what)
						assert.Less(t, d.upTo(v-1), p[i]+1e-12, what)
					}
				}
				below, upTo := d.CDF(3)
				assert.LessOrEqual(t, below, upTo, what)
				assert.GreaterOrEqual(t, below, 0.0, what)
				assert.GreaterOrEqual(t, d.CRPS(3), 0.0, what)
			}
		}
	}
}

func BenchmarkCountQuantiles(b *testing.B) {
	for _, d := range []CountDistribution{
		{Mean: 1, Variance: 0.1, Exposure: 1}, {Mean: 6, Variance: 1, Exposure: 1, R: 5}, {Mean: 9, Variance: 1, Exposure: 1},
	} {
		b.Run(fmt.Sprintf("%+v", d), func(b *testing.B) {
			for b.Loop() {
				d.Quantiles([]float64{0.025, 0.5, 0.975})
			}
		})
	}
}

func BenchmarkCountCRPS(b *testing.B) {
	for _, d := range []CountDistribution{
		{Mean: 1, Variance: 0.1, Exposure: 1}, {Mean: 6, Variance: 1, Exposure: 1, R: 5}, {Mean: -29, Variance: 100, Exposure: 1},
	} {
		b.Run(fmt.Sprintf("%+v", d), func(b *testing.B) {
			for b.Loop() {
				d.CRPS(3)
			}
		})
	}
}
