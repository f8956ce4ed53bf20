package mgp

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit/golden"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// Moments, probabilities, means, variances and distribution functions of double Poisson counts are what another program sums.
func TestGoldenDoublePoisson(t *testing.T) {
	golden.Run(t, "doublepoisson", []string{"counts.json"}, func(t *testing.T, _ string, data []byte) {
		var cases struct {
			Moments []struct {
				Mean, Variance, Eta, LogZ, Slope, Bend, Shape, Y, Exposure float64
			}
			Points []struct{ Mu, Nu, Y, LogP, Mean, Variance, UpTo float64 }
		}
		require.NoError(t, json.Unmarshal(data, &cases))
		require.NotEmpty(t, cases.Moments)
		require.NotEmpty(t, cases.Points)
		for i, c := range cases.Moments {
			slopes := make([]float64, 1)
			m := likelihoodOf(doublePoisson, nil, nil, c.Y, c.Exposure).moments(0, c.Mean, c.Variance, []float64{c.Eta}, slopes)
			assert.InDelta(t, c.LogZ, m.logZ, 1e-9*max(1, math.Abs(c.LogZ)), "case %d: log Z", i)
			assert.InDelta(t, c.Slope, m.slope, 1e-9*max(1, math.Abs(c.Slope)), "case %d: slope", i)
			assert.InDelta(t, c.Bend, m.bend, 1e-9*max(1, 1/c.Variance), "case %d: bend", i)
			assert.InDelta(t, c.Shape, slopes[0], 1e-9*max(1, math.Abs(c.Shape)), "case %d: shape", i)
		}
		for _, c := range cases.Points {
			what := fmt.Sprintf("μ %g, ν %g", c.Mu, c.Nu)
			got := newNarrowCount(c.Y, 1, c.Nu).at(math.Log(c.Mu))
			assert.InDelta(t, c.LogP, got.log, 1e-9*max(1, math.Abs(c.LogP)), what)
			d := CountDistribution{Mean: math.Log(c.Mu), Exposure: 1, Nu: c.Nu}
			mean, variance := d.Moments()
			assert.InDelta(t, c.Mean, mean, 1e-9*c.Mu, what)
			assert.InDelta(t, c.Variance, variance, 1e-8*max(c.Mu/c.Nu, c.Variance)+1e-12, what)
			_, upTo := d.CDF(c.Y)
			assert.InDelta(t, c.UpTo, upTo, 1e-8, what)
			assert.InDelta(t, c.UpTo, d.newNarrowTable().at(c.Y), 1e-8, what)
		}
	})
}

// The derivatives of a probability are what its differences say, on both sides of where S becomes a series.
func TestDoublePoissonSlopes(t *testing.T) {
	for _, eta := range []float64{-8, -1, 0, 1.5, 4, 7} {
		nu, slope := narrowOf(eta)
		for _, mu := range []float64{1e-3, 0.4, 3.3, 40, 299, 302, 5000} {
			for _, z := range []float64{-4, 0, 1, 5} {
				y := math.Max(0, math.Round(mu+z*math.Sqrt(mu/nu)))
				f := math.Log(mu / 2)
				c := newNarrowCount(y, 2, nu)
				what := fmt.Sprintf("ν %g, μ %g, y %g", nu, mu, y)
				got := c.at(f)
				h := min(1e-4, 0.01/nu)
				up, down := c.at(f+h), c.at(f-h)
				assert.InDelta(t, (up.log-down.log)/(2*h), got.first, 1e-5*(1+nu*math.Abs(y-mu)+nu*nu), what)
				assert.InDelta(t, (up.first-down.first)/(2*h), got.second, 2e-4*(1+math.Abs(got.second)), what)
				assert.LessOrEqual(t, got.second, 0.0, what)
				more, _ := narrowOf(eta + h)
				less, _ := narrowOf(eta - h)
				of := (newNarrowCount(y, 2, more).at(f).log - newNarrowCount(y, 2, less).at(f).log) / (2 * h)
				assert.InDelta(t, of, slope*got.shape, 1e-5*(1+math.Abs(of)), what)
			}
		}
	}
}

// At the least ν the distribution is Poisson's.
func TestDoublePoissonBeginsAtPoisson(t *testing.T) {
	for _, mean := range []float64{-3, 1, 7} {
		for _, y := range []float64{0, 2, 1000} {
			want := CountDistribution{Mean: mean, Variance: 0.2, Exposure: 1.5}
			got := want
			got.Nu = 1
			assert.InDelta(t, want.LogProbability(y), got.LogProbability(y), 1e-9*(1+math.Abs(want.LogProbability(y))), "%g %g", mean, y)
		}
	}
}

// narrowSpread are double Poisson distributions from rare to many counts, with a sure and with an unsure mean.
func narrowSpread() (all []CountDistribution) {
	for _, mean := range []float64{-29, -5, 0, 3, 6} {
		for _, sd := range []float64{0, 1e-3, 0.1, 1, 3} {
			for _, nu := range []float64{1.01, 2.5, 12, 300} {
				if d := (CountDistribution{Mean: mean, Variance: sd * sd, Exposure: 2, Nu: nu}); d.reach(0.999) < 2000 {
					all = append(all, d)
				}
			}
		}
	}
	return all
}

// Distribution functions, quantiles, scores and moments are sums of the probabilities, by both ways to compute them.
func TestDoublePoissonSums(t *testing.T) {
	p := []float64{0.01, 0.2, 0.5, 0.9, 0.999}
	short, long := 0, 0
	for _, d := range narrowSpread() {
		what := fmt.Sprintf("%+v", d)
		table := d.newNarrowTable()
		sum, first := 0.0, 0.0
		var upTo []float64
		for y := 0.0; sum < 1-1e-9 && y < 6000; y++ {
			w := math.Exp(d.LogProbability(y))
			sum += w
			first += w * y
			upTo = append(upTo, sum)
			assert.InDelta(t, sum, table.at(y), 1e-8, what)
		}
		whole := sum > 1-1e-8
		var second float64
		if whole {
			mean, variance := d.Moments()
			assert.InDelta(t, first, mean, 1e-7*(1+mean)+1e-4*math.Sqrt(variance), what)
			for y, s := range upTo {
				w := s
				if y > 0 {
					w -= upTo[y-1]
				}
				second += w * (float64(y) - mean) * (float64(y) - mean)
			}
			assert.InEpsilon(t, variance+1e-6, second+1e-6, 1e-3, what)
		}
		quantiles := d.Quantiles(p)
		for i, q := range quantiles {
			k := 0
			for k < len(upTo) && upTo[k] < p[i]-1e-9 {
				k++
			}
			assert.InDelta(t, float64(k), q, 0, what)
			assert.Equal(t, q, d.quantile(table.at, p[i]), what)
			below, at := d.CDF(q)
			assert.InDelta(t, upTo[k], at, 1e-6, what)
			if k > 0 {
				assert.InDelta(t, upTo[k-1], below, 1e-6, what)
			}
			if !whole {
				continue
			}
			crps := 0.0
			for j, s := range upTo {
				if float64(j) >= q {
					s = 1 - s
				}
				crps += s * s
			}
			assert.InDelta(t, crps, d.CRPS(q), 1e-5*(1+crps), what)
			assert.InDelta(t, crps, d.integral(q), 1e-6+1e-4*crps, what)
		}
		if d.isLong(d.reach(0.999)) {
			long++
		} else {
			short++
		}
	}
	assert.Positive(t, short)
	assert.Positive(t, long)
}

// Far out and of distributions of any width, quantiles are counts in order, and moments and scores are numbers.
func TestFarDoublePoisson(t *testing.T) {
	p := []float64{0.01, 0.5, 0.99}
	for _, mean := range []float64{-1e6, -30, 0, 12, 40, 700} {
		for _, sd := range []float64{0, 1e-6, 30, 1e8} {
			for _, nu := range []float64{1.001, 3, 1e4} {
				d := CountDistribution{Mean: mean, Variance: sd * sd, Exposure: 1, Nu: nu}
				q := d.Quantiles(p)
				what := fmt.Sprintf("%+v: %g", d, q)
				table, last := d.newNarrowTable(), 0.0
				for i, v := range q {
					assert.GreaterOrEqual(t, v, last, what)
					assert.Equal(t, math.Floor(v), v, what)
					if last = v; v > 0 && v < 1e15 {
						assert.GreaterOrEqual(t, table.at(v), p[i]-1e-7, what)
						assert.Less(t, table.at(v-1), p[i]+1e-7, what)
					}
				}
				for _, y := range []float64{0, 3, 1e9, 1e200} {
					below, upTo := d.CDF(y)
					assert.LessOrEqual(t, below, upTo, what)
					assert.GreaterOrEqual(t, below, 0.0, what)
					assert.LessOrEqual(t, upTo, 1.0, what)
					assert.GreaterOrEqual(t, d.CRPS(y), 0.0, what)
					assert.LessOrEqual(t, d.LogProbability(y), 1e-9, what)
				}
				m, v := d.Moments()
				assert.True(t, m >= 0 && m <= math.MaxFloat64 && v >= 0 && v <= math.MaxFloat64, "%s: %g %g", what, m, v)
			}
		}
	}
	// The median of many counts is the exponential of the median of f.
	d := CountDistribution{Mean: math.Log(1e20), Variance: 0.3, Exposure: 1, Nu: 4}
	assert.InEpsilon(t, 1e20, d.Quantiles([]float64{0.5})[0], 1e-6)
	d.Variance = 0
	assert.InEpsilon(t, 1e20, d.Quantiles([]float64{0.5})[0], 1e-6)
}

// drawNarrow draws a double Poisson count by its distribution function, summed from the naive probabilities.
func drawNarrow(r *rand.Rand, mu, nu float64) float64 {
	log := func(k float64) float64 {
		g, _ := math.Lgamma(k + 1)
		if k == 0 {
			return -nu * mu
		}
		return -nu*mu - g + (nu-1)*(k-k*math.Log(k)) + nu*k*math.Log(mu)
	}
	var sum float64
	for k := 0.0; k < 10*mu+50; k++ {
		sum += math.Exp(log(k))
	}
	u, k := r.Float64()*sum, 0.0
	for u -= math.Exp(log(k)); u > 0; u -= math.Exp(log(k)) {
		k++
	}
	return k
}

// A fit finds the precision and the function that made the counts, exactly and on landmarks.
func TestFitDoublePoisson(t *testing.T) {
	const n, nu = 250, 4.0
	r := rand.New(rand.NewPCG(3, 11))
	x := la.NewMatrix[float64](n, 1)
	var f, y, exposure []float64
	for i := range n {
		x.Set(i, 0, r.Float64()*6-3)
		f = append(f, 1+math.Sin(x.At(i, 0)))
		exposure = append(exposure, 0.5+r.Float64())
		y = append(y, drawNarrow(r, exposure[i]*math.Exp(f[i]), nu))
	}
	k := gaussianOf(t, x)
	fit, err := Evidence{}.FitLikelihood(context.Background(), k, Counts{Y: y, Exposure: exposure, Narrow: true})
	require.NoError(t, err)
	assert.Equal(t, vi.Converged, fit.Record.Reason)
	s := fit.Posterior.State()
	assert.Equal(t, "double-poisson", s.Likelihood)
	assert.InDelta(t, nu, 1+math.Exp(s.Shape[1]), 1)
	other, err := Evidence{}.FitLikelihood(context.Background(), k, Counts{Y: y, Exposure: exposure, Dispersed: true})
	require.NoError(t, err)
	assert.Greater(t, fit.LogEvidence, other.LogEvidence+20)
	self := la.NewMatrix[float64](1, n)
	self.Fill(1)
	p, err := fit.Posterior.Predict(k, self, vi.PredictOptions{})
	require.NoError(t, err)
	var miss float64
	for i, v := range p.Mean {
		miss += (v - f[i]) * (v - f[i]) / n
	}
	assert.Less(t, miss, 0.01)
}

func BenchmarkDoublePoissonQuantiles(b *testing.B) {
	for _, d := range []CountDistribution{
		{Mean: 1, Variance: 0.1, Exposure: 1, Nu: 3}, {Mean: 6, Variance: 1, Exposure: 1, Nu: 3}, {Mean: 9, Variance: 1, Exposure: 1, Nu: 3}, {Mean: 1, Variance: 0.1, Exposure: 1, Nu: 1e4},
	} {
		b.Run(fmt.Sprintf("%+v", d), func(b *testing.B) {
			for b.Loop() {
				d.Quantiles([]float64{0.025, 0.5, 0.975})
			}
		})
	}
}

func BenchmarkDoublePoissonMoments(b *testing.B) {
	for _, y := range []float64{0, 3, 40, 250, 2000} {
		b.Run(fmt.Sprintf("count %g", y), func(b *testing.B) {
			for b.Loop() {
				narrowMoments(y, 1, math.Log(y+1), 0.2, 1)
			}
		})
	}
}
