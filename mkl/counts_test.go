package mkl

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi/mgp"
)

// The dispersion of counts is what their variance has beside the mean, above and below 1, and the summary says it.
func TestDispersion(t *testing.T) {
	const n = 80
	x, rng := la.NewMatrix[float64](n, 1), rand.New(rand.NewPCG(6, 2))
	wide, narrow := make([]float64, n), make([]float64, n)
	for i := range n {
		x.Set(i, 0, rng.NormFloat64())
		wide[i] = math.Floor(20 * math.Pow(rng.ExpFloat64(), 2)) // the square of an exponential variate has the variance 5·mean²
		narrow[i] = max(0, math.Floor(20+float64(8*rng.NormFloat64())))
	}
	views := []View{{X: x, Kernel: kernel.RBF{Width: 1}}}
	fit := func(c Counts, y []float64) *CountModel {
		m, err := c.Fit(t.Context(), views, y)
		require.NoError(t, err)
		return m
	}
	m := fit(Counts{}, wide)
	assert.Greater(t, m.Dispersion(), 1.5)
	assert.InEpsilon(t, math.Exp(-m.Posterior().State().Shape[1]), m.Dispersion(), 1e-12)
	m = fit(Counts{}, narrow)
	assert.Less(t, m.Dispersion(), 0.5)
	assert.Positive(t, m.Dispersion())
	assert.Contains(t, m.Summary(), "the variance of a count of the mean μ is μ + 0.")
	m = fit(Counts{Law: Poisson}, narrow)
	assert.Zero(t, m.Dispersion())
	assert.Contains(t, m.Summary(), "the variance of a count is its mean")
	assert.Contains(t, m.String(), "oisson counts by a multiple Gaussian process")
}

// narrowVisits are counts of the double Poisson distribution of the precision nu, by sums of the naive probabilities, of a rate exp(1 + sin 1.5x₁) and of
// exposures.
func narrowVisits(seed uint64, n int, nu float64) (views []View, y, exposure []float64) {
	rng := rand.New(rand.NewPCG(seed, 9))
	x := normal(rng, n, 2)
	for i := range n {
		o := 0.5 + 2*rng.Float64()
		mu := o * math.Exp(1+math.Sin(1.5*x.At(i, 0)))
		probability := func(k float64) float64 {
			g, _ := math.Lgamma(k + 1)
			log := nu*k*math.Log(mu) - nu*mu - g
			if k > 0 {
				log += (nu - 1) * (k - k*math.Log(k))
			}
			return math.Exp(log)
		}
		var sum float64
		for k := range 150 {
			sum += probability(float64(k))
		}
		count, left := 0.0, rng.Float64()*sum
		for left -= probability(count); left > 0; left -= probability(count) {
			count++
		}
		y, exposure = append(y, count), append(exposure, o)
	}
	return []View{{X: x, Input: "x", Kernel: kernel.RBF{Width: 1}}}, y, exposure
}

// Counts that vary less than Poisson counts have the law and the precision that made them, exactly and on landmarks, and a better score on new samples.
func TestNarrowCounts(t *testing.T) {
	const nu = 3
	views, y, exposure := narrowVisits(1, 200, nu)
	test, later, o := narrowVisits(2, 300, nu)
	score := func(c Counts) (*CountModel, float64) {
		c.Exposure = exposure
		m, err := c.Fit(t.Context(), views, y)
		require.NoError(t, err)
		p, err := m.PredictCounts(t.Context(), PredictOptions{}, o, test[0].X)
		require.NoError(t, err)
		inside, sum := 0.0, 0.0
		for i, v := range later {
			sum += p.LogProbability(i, v) / float64(len(later))
			if low, high := p.Interval(i, 0.9); low <= v && v <= high {
				inside += 1 / float64(len(later))
			}
		}
		if m.Law() == DoublePoisson {
			assert.InDelta(t, 0.95, inside, 0.05)
		}
		return m, sum
	}
	old, before := score(Counts{Law: NegativeBinomial})
	assert.Equal(t, NegativeBinomial, old.Law())
	assert.Zero(t, old.Precision())
	for _, landmarks := range []int{0, 80} {
		m, now := score(Counts{Landmarks: landmarks})
		require.Equal(t, DoublePoisson, m.Law(), "%d landmarks", landmarks)
		assert.InDelta(t, nu, m.Precision(), 0.8)
		assert.Zero(t, m.Dispersion())
		assert.Greater(t, now, before+0.1)
		assert.Contains(t, m.Summary(), "the variance of a count of the mean μ is below μ: about μ/")
		assert.Contains(t, m.String(), "double-poisson counts")
		back := requireFile(t, m, LoadAs[*CountModel], 5011)
		want, err := m.PredictCounts(t.Context(), PredictOptions{}, o, test[0].X)
		require.NoError(t, err)
		got, err := back.PredictCounts(t.Context(), PredictOptions{}, o, test[0].X)
		require.NoError(t, err)
		assert.Equal(t, want, got)
		same, err := Counts{Exposure: exposure, Landmarks: landmarks, Law: DoublePoisson}.Fit(t.Context(), views, y)
		require.NoError(t, err)
		assert.Equal(t, m.Posterior().State().Shape, same.Posterior().State().Shape)
		assert.Equal(t, m.Bound(), same.Bound())
	}
}

// Counts that vary more than Poisson counts have the negative binomial distribution, with the bits of a fit of this law alone, and no second fit. Poisson counts
// have it too, after a second fit or without.
func TestWideCountsKeepTheirLaw(t *testing.T) {
	for _, r := range []float64{1, 2, 5, 0} {
		for _, landmarks := range []int{0, 100} {
			views, y, exposure, _ := someVisits(1, 300, r)
			most := 0
			c := Counts{Exposure: exposure, Landmarks: landmarks, Fitting: Fitting{Progress: func(p Progress) { most = max(most, p.Start) }}}
			m, err := c.Fit(t.Context(), views, y)
			require.NoError(t, err)
			if r > 0 {
				assert.Equal(t, 1+min(landmarks, 1), most, "no second fit")
			}
			c.Law, c.Progress = NegativeBinomial, nil
			want, err := c.Fit(t.Context(), views, y)
			require.NoError(t, err)
			assert.Equal(t, want.Posterior().State(), m.Posterior().State(), "r %g, %d landmarks", r, landmarks)
			assert.Equal(t, want.Bound(), m.Bound())
			assert.Equal(t, want.Summary(), m.Summary())
		}
	}
}

// The double Poisson distribution is chosen if its evidence is higher by 3 nats, and not below.
func TestMarginOfCountLaws(t *testing.T) {
	near, far := 0, 0
	for seed := range uint64(24) {
		views, y, exposure := narrowVisits(seed, 40, 1.3+0.03*float64(seed))
		fit := func(l CountLaw) *CountModel {
			m, err := Counts{Exposure: exposure, Law: l}.Fit(t.Context(), views, y)
			require.NoError(t, err)
			return m
		}
		m, ahead := fit(CountLawByEvidence), fit(DoublePoisson).Bound()-fit(NegativeBinomial).Bound()
		if ahead > StrongEvidence {
			far++
		} else if ahead > 0 {
			near++
		}
		assert.Equal(t, ahead > StrongEvidence, m.Law() == DoublePoisson, "%g nats", ahead)
	}
	assert.Positive(t, near)
	assert.Positive(t, far)
}

func TestCountLawsSayWhatIsWrong(t *testing.T) {
	views, y, _, _ := someVisits(3, 10, 0)
	for want, c := range map[string]Counts{
		"Law is 9": {Law: 9}, "Law is -1": {Law: -1},
	} {
		_, err := c.Fit(t.Context(), views, y)
		assert.ErrorContains(t, err, want)
	}
	y[3] = 1e9 // too large for the double Poisson distribution
	_, err := Counts{Law: DoublePoisson}.Fit(t.Context(), views, y)
	assert.ErrorContains(t, err, "sample 3 is 1e+09")
	m, err := Counts{}.Fit(t.Context(), views, y)
	require.NoError(t, err)
	assert.Equal(t, NegativeBinomial, m.Law())
	m, err = Counts{Law: Poisson}.Fit(t.Context(), views, y)
	require.NoError(t, err)
	assert.Equal(t, Poisson, m.Law())
	assert.Equal(t, "CountLaw(9) CountLaw(-1)", fmt.Sprint(CountLaw(9), CountLaw(-1)))
	for l, name := range []string{"by-evidence", "poisson", "negative-binomial", "double-poisson"} {
		assert.Equal(t, name, CountLaw(l).String())
	}
}

// Quantiles, intervals, distribution functions and scores of counts are sums over their probabilities.
func TestCountDistributions(t *testing.T) {
	p := CountPrediction{[]mgp.CountDistribution{{Mean: 0.5, Variance: 0.3, Exposure: 1.5, R: 0}, {Mean: 1, Variance: 0.2, Exposure: 2, R: 3}, {Mean: 1, Variance: 0.2, Exposure: 2, Nu: 4}}}
	for i := range p.Samples() {
		const most = 400
		upTo := make([]float64, most+1) // the distribution function
		sum := 0.0
		for k := range upTo {
			sum += math.Exp(p.LogProbability(i, float64(k)))
			upTo[k] = sum
		}
		require.InDelta(t, 1, sum, 1e-6)
		quantile := func(q float64) (k float64) {
			for upTo[int(k)] < q {
				k++
			}
			return k
		}
		assert.Equal(t, []float64{quantile(0.001), quantile(0.5), quantile(0.999)}, p.Quantiles(0.001, 0.5, 0.999)[i])
		assert.Equal(t, []float64{quantile(0.7)}, p.Quantiles(0.7)[i])
		for _, q := range []float64{0.3, 0.9} {
			low, high := p.Interval(i, q)
			assert.Equal(t, [2]float64{quantile(0.5 - q/2), quantile(0.5 + q/2)}, [2]float64{low, high})
		}
		for _, y := range []float64{0, 1, 2, 9} {
			below, at := p.CDF(i, y)
			want, crps := 0.0, 0.0
			if y > 0 {
				want = upTo[int(y)-1]
			}
			for k, f := range upTo {
				if float64(k) >= y {
					f = 1 - f
				}
				crps += f * f
			}
			assert.InDelta(t, want, below, 1e-6)
			assert.InDelta(t, upTo[int(y)], at, 1e-6)
			assert.InDelta(t, crps, p.CRPS(i, y), 1e-5)
		}
		for _, y := range []float64{-1, 2.5, math.Inf(1), math.NaN()} {
			below, at := p.CDF(i, y)
			for _, v := range []float64{below, at, p.CRPS(i, y)} {
				assert.True(t, math.IsNaN(v), "%g is no count", y)
			}
		}
	}
	for _, bad := range [][]float64{{}, {0, 0.5}, {-0.1}, {0.5, 1}, {1.5}, {0.5, 0.1}, {0}, {1}} {
		assert.Panics(t, func() { p.Quantiles(bad...) }, "%v", bad)
	}
}
