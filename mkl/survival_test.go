package mkl

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/mkl/metrics"
)

// somePatients have times whose logarithms are 2 + sin(x₁) plus an error of a scale; some are censored.
func somePatients(seed uint64, n int, law SurvivalLaw) (views []View, time []float64, event []bool) {
	r := rand.New(rand.NewPCG(seed, 3))
	x := normal(r, n, 2)
	for i := range n {
		e := r.NormFloat64()
		if law == Weibull {
			e = math.Log(r.ExpFloat64())
		}
		t, end := math.Exp(2+math.Sin(1.5*x.At(i, 0))+0.5*e), math.Exp(2+1.2*r.NormFloat64())
		time, event = append(time, min(t, end)), append(event, t <= end)
	}
	return []View{{X: x, Input: "x", Kernel: kernel.RBF{Width: 1}, Columns: []int{0}}, {X: x, Input: "x", Kernel: kernel.RBF{Width: 2}}}, time, event
}

func TestSurvivalLaws(t *testing.T) {
	for _, law := range []SurvivalLaw{LogNormal, Weibull} {
		views, time, event := somePatients(1, 150, law)
		m, err := Survival{}.Fit(t.Context(), views, Lifetimes(time, event))
		require.NoError(t, err)
		assert.Equal(t, law, m.Law())
		assert.InDelta(t, 0.5, m.LogSD(), 0.1)
		assert.True(t, m.Trace().Converged)
		assert.Contains(t, m.Summary(), "the logarithm of a time has an error of scale")

		// As far as the samples tell, the curve and the quantiles of a new one are the true ones.
		p, err := m.Predict(la.MatrixOf(2, 2, []float64{-1, 0, 1, 0}))
		require.NoError(t, err)
		for i, f := range []float64{2 + math.Sin(-1.5), 2 + math.Sin(1.5)} {
			median := math.Exp(f)
			if law == Weibull {
				median *= math.Sqrt(math.Ln2)
			}
			assert.InEpsilon(t, median, p.Median()[i], 0.25, "%v", law)
			for _, q := range []float64{0.1, 0.5, 0.99} {
				at := []float64{p.Quantile(q)[i]}
				s := p.Survival(i, at)[0]
				assert.InDelta(t, 1-q, s, 1e-9)
				low, high := p.Band(i, at, 0.9)
				assert.Less(t, low[0], s)
				assert.Less(t, s, high[0])
			}
			assert.InDelta(t, 1, p.Survival(i, []float64{0})[0], 0)
		}
		assert.True(t, math.IsNaN(p.Quantile(1)[0]))
	}
}

// Times that are censored count for more than what they were taken for.
func TestSurvivalOfCensored(t *testing.T) {
	views, time, event := somePatients(2, 100, LogNormal)
	test, later, died := somePatients(3, 300, LogNormal)
	all := make([]bool, len(event))
	for i := range all {
		all[i] = true
	}
	var nats [2]float64
	for k, e := range [][]bool{event, all} {
		m, err := Survival{Law: LogNormal}.Fit(t.Context(), views, Lifetimes(time, e))
		require.NoError(t, err)
		p, err := m.Predict(test[0].X)
		require.NoError(t, err)
		for i, l := range Lifetimes(later, died) {
			nats[k] += p.LogScore(i, l) / float64(len(later))
		}
		c, err := metrics.CensoredConcordance(later, died, p.Risk())
		require.NoError(t, err)
		assert.Greater(t, c, 0.72)
	}
	assert.Greater(t, nats[0], nats[1]+0.1)
}

// Without censoring it is the multiple Gaussian process of the logarithms, whose noise is normal.
func TestSurvivalWithoutCensoring(t *testing.T) {
	views, time, _ := somePatients(4, 60, LogNormal)
	var times []Lifetime
	var logs []float64
	for _, v := range time {
		times, logs = append(times, EventAt(v)), append(logs, math.Log(v))
	}
	s, err := Survival{Law: LogNormal}.Fit(t.Context(), views, times)
	require.NoError(t, err)
	g, err := MultiGP{PointScales: true}.Fit(t.Context(), views, logs)
	require.NoError(t, err)
	p, err := s.Predict(views[0].X)
	require.NoError(t, err)
	mean, variance, err := g.Predict(views[0].X)
	require.NoError(t, err)
	for i, m := range mean {
		assert.InDelta(t, m, math.Log(p.Median()[i]), 0.3*math.Sqrt(variance[i])) // the level differs
	}
	assert.InEpsilon(t, g.NoiseSD()[0], s.LogSD(), 0.05)
}

// The log score of an interval is the logarithm of what the curve loses there, and tends to the density of its width.
func TestLogScore(t *testing.T) {
	views, time, event := somePatients(5, 40, LogNormal)
	times := Lifetimes(time, event)
	times[0], times[1] = EventBefore(time[0]), EventBetween(time[1], 2*time[1])
	for _, law := range []SurvivalLaw{LogNormal, Weibull} {
		m, err := Survival{Law: law}.Fit(t.Context(), views, times)
		require.NoError(t, err)
		p, err := m.Predict(views[0].X)
		require.NoError(t, err)
		s := p.Survival(3, []float64{4, 6})
		assert.InDelta(t, math.Log(s[0]), p.LogScore(3, EventAfter(4)), 1e-9)
		assert.InDelta(t, math.Log(1-s[0]), p.LogScore(3, EventBefore(4)), 1e-9)
		assert.InDelta(t, math.Log(s[0]-s[1]), p.LogScore(3, EventBetween(4, 6)), 1e-9)
		assert.True(t, math.IsInf(p.LogScore(3, EventBetween(1e300, 1e308)), -1) || p.LogScore(3, EventBetween(1e300, 1e308)) < -1e4)
		assert.Less(t, p.LogScore(3, EventBetween(1e-300, 1e-290)), -50.0)
		assert.Zero(t, p.Survival(3, []float64{math.Inf(1)})[0])
		assert.InDelta(t, p.LogScore(3, EventAt(4)), p.LogScore(3, EventBetween(4*(1-1e-4), 4*(1+1e-4)))-math.Log(2e-4), 1e-6)
	}
}

func TestSurvivalSaysWhatIsWrong(t *testing.T) {
	views, time, event := somePatients(6, 10, LogNormal)
	for want, l := range map[string]Lifetime{
		"times[3] is 0":       EventAt(0),
		"times[3] is from 2":  EventBetween(2, 1),
		"which says nothing":  EventAfter(0),
		"times[3] is NaN":     EventAt(math.NaN()),
		"times[3] is from -1": EventAfter(-1),
		"from +Inf to +Inf":   EventAt(math.Inf(1)),
	} {
		times := Lifetimes(time, event)
		times[3] = l
		_, err := Survival{}.Fit(t.Context(), views, times)
		assert.ErrorContains(t, err, want)
	}
	for _, l := range []Lifetime{EventBetween(math.NaN(), 2), EventBetween(2, math.NaN())} {
		_, _, _, err := logTimes([]Lifetime{EventAt(1), l})
		assert.ErrorContains(t, err, "times[1] is NaN")
	}
	_, err := Survival{Law: 7}.Fit(t.Context(), views, Lifetimes(time, event))
	assert.ErrorContains(t, err, "Law is 7")
	_, err = Survival{}.Fit(t.Context(), views, nil)
	assert.EqualError(t, err, "mkl: times: 0 samples where at least 2 are needed")
	_, err = Survival{}.Fit(t.Context(), views, slices.Repeat([]Lifetime{EventAt(1e50)}, len(time)))
	assert.EqualError(t, err, "mkl: times: all times are the same: there is nothing to learn")
}

// someVisits are counts of a rate exp(1 + sin 1.5x₁) and of exposures, with a gamma factor of shape r, or none.
func someVisits(seed uint64, n int, r float64) (views []View, y, exposure, mean []float64) {
	rng := rand.New(rand.NewPCG(seed, 4))
	x := normal(rng, n, 2)
	for i := range n {
		o := 0.5 + 2*rng.Float64()
		mu := o * math.Exp(1+math.Sin(1.5*x.At(i, 0)))
		mean, exposure = append(mean, mu), append(exposure, o)
		if r > 0 { // a sum of r exponential variables
			var g float64
			for range int(r) {
				g += rng.ExpFloat64() / r
			}
			mu *= g
		}
		count, left := 0.0, mu
		for left -= rng.ExpFloat64(); left > 0; left -= rng.ExpFloat64() {
			count++
		}
		y = append(y, count)
	}
	return []View{{X: x, Input: "x", Kernel: kernel.RBF{Width: 1}}}, y, exposure, mean
}

func TestCounts(t *testing.T) {
	for _, c := range []struct {
		law CountLaw
		r   float64
	}{{Poisson, 0}, {CountLawByEvidence, 0}, {CountLawByEvidence, 2}} {
		views, y, exposure, _ := someVisits(1, 200, c.r)
		m, err := Counts{Law: c.law, Exposure: exposure}.Fit(t.Context(), views, y)
		require.NoError(t, err)
		test, later, o, mean := someVisits(2, 300, c.r)
		p, err := m.PredictCounts(t.Context(), PredictOptions{}, o, test[0].X)
		require.NoError(t, err)
		got, variance := p.Moments()
		inside, miss := 0.0, 0.0
		quantiles := p.Quantiles(0.05, 0.95)
		for i, v := range got {
			miss += math.Abs(math.Log(v/mean[i])) / float64(len(got))
			assert.Greater(t, variance[i], v)
			assert.GreaterOrEqual(t, quantiles[i][0], 0.0)
			if quantiles[i][0] <= later[i] && later[i] <= quantiles[i][1] {
				inside += 1 / float64(len(got))
			}
		}
		assert.Less(t, miss, 0.2)
		assert.InDelta(t, 0.93, inside, 0.05) // of counts more than nine in ten
		switch {
		case c.law == Poisson:
			assert.Zero(t, m.Dispersion())
		case c.r > 0:
			assert.InDelta(t, 1/c.r, m.Dispersion(), 0.2)
		default:
			assert.Less(t, m.Dispersion(), 0.06)
		}
	}
}

func TestCountsSayWhatIsWrong(t *testing.T) {
	views, y, exposure, _ := someVisits(3, 10, 0)
	bad := append([]float64{-1}, y[1:]...)
	_, err := Counts{}.Fit(t.Context(), views, bad)
	assert.ErrorContains(t, err, "y[0] is -1")
	_, err = Counts{Exposure: exposure[1:]}.Fit(t.Context(), views, y)
	assert.ErrorContains(t, err, "Exposure: 9 values for 10 samples")
	exposure[4] = 0
	_, err = Counts{Exposure: exposure}.Fit(t.Context(), views, y)
	assert.ErrorContains(t, err, "Exposure[4] is 0")
	m, err := Counts{}.Fit(context.Background(), views, y)
	require.NoError(t, err)
	_, err = m.PredictCounts(t.Context(), PredictOptions{}, []float64{1, 1}, views[0].X)
	assert.ErrorContains(t, err, "exposure: 2 values for 10 samples")
	assert.Panics(t, func() { (&CountPrediction{}).Quantiles(0.5, 0.1) })
}

// TestTransformOfTimes draws times from a model's own predictive distributions and censors them. Their transform is uniform under these
// distributions, also where it is known by an interval only; and it is not if the model has another scale of the error. The
// distance of 3000 samples is below 1.63/√3000 with probability .99 if none is censored, and smaller with censoring.
func TestTransformOfTimes(t *testing.T) {
	const n, most = 3000, 1.63 / 54.77
	rng := rand.New(rand.NewPCG(4, 18))
	for _, law := range []SurvivalLaw{LogNormal, Weibull} {
		right := &SurvivalPrediction{law: law.law(), unit: target{mean: 2, sd: 0.8}, sigma: 0.5}
		for range n {
			right.mean, right.variance = append(right.mean, rng.NormFloat64()), append(right.variance, 0.1*rng.Float64())
		}
		wide, late := *right, *right
		wide.sigma = 0.8
		late.unit.mean = 2.3
		var known, censored, between []Lifetime
		for i := range n {
			// The time at which the predicted survival is uniform.
			q, low, high := rng.Float64(), 1e-6, 1e6
			for range 80 {
				at := math.Sqrt(low * high)
				if right.Survival(i, []float64{at})[0] > q {
					low = at
				} else {
					high = at
				}
			}
			visit := math.Exp(2 + 0.8*rng.NormFloat64())
			known = append(known, EventAt(low))
			one := EventAt(low)
			if visit < low {
				one = EventAfter(visit)
			}
			censored = append(censored, one)
			switch { // at two visits
			case low < visit:
				between = append(between, EventBefore(visit))
			case low < 2*visit:
				between = append(between, EventBetween(visit, 2*visit))
			default:
				between = append(between, EventAfter(2*visit))
			}
		}
		distance := func(p *SurvivalPrediction, times []Lifetime) float64 {
			var below, upTo []float64
			for i, one := range times {
				b, u := p.Transform(i, one)
				below, upTo = append(below, b), append(upTo, u)
			}
			share, err := metrics.PIT(below, upTo, 20)
			require.NoError(t, err)
			return metrics.PITDistance(share)
		}
		for name, times := range map[string][]Lifetime{"known": known, "censored": censored, "between": between} {
			assert.Less(t, distance(right, times), most, "%v %s", law, name)
			if name != "between" { // which says little of the scale
				assert.Greater(t, distance(&wide, times), most, "%v %s", law, name)
			}
			assert.Greater(t, distance(&late, times), most, "%v %s", law, name)
		}
	}
}

// Predictions of times are integrals over the function, here sums over a fine grid of it.
func TestSurvivalPredictionsAreIntegrals(t *testing.T) {
	const unit, scale, sigma = 1.5, 0.8, 0.6
	means, variances := []float64{-0.4, 1.1}, []float64{0.3, 0.04}
	laws := map[SurvivalLaw]struct{ after, before, density func(w float64) float64 }{ // of the error
		LogNormal: {
			func(w float64) float64 { return 0.5 * math.Erfc(w/math.Sqrt2) }, func(w float64) float64 { return 0.5 * math.Erfc(-w/math.Sqrt2) },
			func(w float64) float64 { return math.Exp(-0.5*w*w) / math.Sqrt(2*math.Pi) },
		},
		Weibull: {
			func(w float64) float64 { return math.Exp(-math.Exp(w)) }, func(w float64) float64 { return -math.Expm1(-math.Exp(w)) },
			func(w float64) float64 { return math.Exp(w - math.Exp(w)) },
		},
	}
	for law, e := range laws {
		p := &SurvivalPrediction{law: law.law(), unit: target{mean: unit, sd: scale}, sigma: sigma, mean: means, variance: variances}
		require.Equal(t, 2, p.Samples())
		assert.Equal(t, []float64{0.4, -1.1}, p.Risk())
		for i, m := range means {
			sd := math.Sqrt(variances[i])
			over := func(of func(f float64) float64) (sum float64) {
				const h = 0.002
				for z := -9 + h/2; z < 9; z += h {
					sum += h * of(m+sd*z) * math.Exp(-0.5*z*z) / math.Sqrt(2*math.Pi)
				}
				return sum
			}
			error0 := func(time, f float64) float64 { return ((math.Log(time)-unit)/scale - f) / sigma }
			after := func(time float64) float64 { return over(func(f float64) float64 { return e.after(error0(time, f)) }) }
			before := func(time float64) float64 { return over(func(f float64) float64 { return e.before(error0(time, f)) }) }
			times := []float64{0.5, 1, 4, 7, 15}
			curve := p.Survival(i, []float64{7, 0.5, 4, 15, 1})
			low, high := p.Band(i, times, 0.8)
			for k, time := range times {
				s := after(time)
				assert.InDelta(t, s, curve[[]int{1, 4, 2, 0, 3}[k]], 1e-8, "%v %g", law, time)
				within := over(func(f float64) float64 {
					if c := e.after(error0(time, f)); c < low[k] || c > high[k] {
						return 0
					}
					return 1
				})
				assert.InDelta(t, 0.8, within, 0.01, "%v %g", law, time)
				assert.InDelta(t, math.Log(s), p.LogScore(i, EventAfter(time)), 1e-7)
				assert.InDelta(t, math.Log(before(time)), p.LogScore(i, EventBefore(time)), 1e-7)
				density := over(func(f float64) float64 { return e.density(error0(time, f)) / (sigma * scale) })
				assert.InDelta(t, math.Log(density), p.LogScore(i, EventAt(time)), 1e-7)
				later := 1.3 * time
				assert.InDelta(t, math.Log(max(s-after(later), before(later)-before(time))), p.LogScore(i, EventBetween(time, later)), 1e-6)
				below, upTo := p.Transform(i, EventBetween(time, later))
				assert.InDeltaSlice(t, []float64{1 - s, 1 - after(later)}, []float64{below, upTo}, 1e-8)
				below, upTo = p.Transform(i, EventAfter(time))
				assert.InDeltaSlice(t, []float64{1 - s, 1}, []float64{below, upTo}, 1e-8)
			}
			lower, upper := p.Interval(i, 0.9)
			assert.InDelta(t, 0.95, after(lower), 1e-7)
			assert.InDelta(t, 0.05, after(upper), 1e-7)
			assert.InDelta(t, 0.5, after(p.Median()[i]), 1e-7)
			edge, edges := p.Band(i, []float64{-1, 0}, 0.8)
			assert.Equal(t, [][]float64{{1, 1}, {1, 1}}, [][]float64{edge, edges})
			for _, q := range []float64{0, 1, -0.1, math.NaN()} {
				assert.True(t, math.IsNaN(p.Quantile(q)[i]))
			}
		}
	}
	assert.Equal(t, math.Inf(-1), logDifference(-3, -3))
	assert.InDelta(t, math.Log(math.Exp(-1)-math.Exp(-4)), logDifference(-1, -4), 1e-14)
}
