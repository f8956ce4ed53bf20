package mgp

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit/golden"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// likelihoodOf is the likelihood of one observation.
func likelihoodOf(kind string, lower, upper *float64, y, exposure float64) Likelihood {
	switch kind {
	case "log-normal", "weibull":
		l, u := math.Inf(-1), math.Inf(1)
		if lower != nil {
			l = *lower
		}
		if upper != nil {
			u = *upper
		}
		c := Censored{Lower: []float64{l}, Upper: []float64{u}}
		if kind == "weibull" {
			c.Law = Weibull
		}
		return c
	}
	return Counts{Y: []float64{y}, Exposure: []float64{exposure}, Dispersed: kind == "negative-binomial", Narrow: kind == doublePoisson}
}

func TestGoldenMoments(t *testing.T) {
	golden.Run(t, "likelihoods", []string{"moments.json", "large.json"}, func(t *testing.T, _ string, data []byte) {
		var cases []struct {
			Kind               string
			Mean, Variance     float64
			Eta                *float64
			LogZ               float64
			Slope, Bend, Shape float64
			Lower, Upper       *float64
			Y, Exposure        float64
		}
		require.NoError(t, json.Unmarshal(data, &cases))
		require.NotEmpty(t, cases)
		for i, c := range cases {
			l := likelihoodOf(c.Kind, c.Lower, c.Upper, c.Y, c.Exposure)
			var eta []float64
			if c.Eta != nil {
				eta = []float64{*c.Eta}
			}
			slopes := make([]float64, 1)
			m := l.moments(0, c.Mean, c.Variance, eta, slopes)
			assert.InDelta(t, c.LogZ, m.logZ, 1e-9*max(1, math.Abs(c.LogZ)), "case %d %s: log Z", i, c.Kind)
			assert.InDelta(t, c.Slope, m.slope, 1e-9*max(1, math.Abs(c.Slope)), "case %d %s: slope", i, c.Kind)
			assert.InDelta(t, c.Bend, m.bend, 1e-9*max(1, 1/c.Variance), "case %d %s: bend", i, c.Kind)
			assert.InDelta(t, c.Shape, slopes[0], 1e-9*max(1, math.Abs(c.Shape)), "case %d %s: shape", i, c.Kind)
		}
	})
}

// someTargets are observations of every kind: events, and targets censored on either side and within intervals.
func someTargets(y []float64, law Law) Censored {
	c := Censored{Law: law}
	for n, v := range y {
		l, u := v, v
		switch n % 5 {
		case 1:
			u = math.Inf(1)
		case 2:
			l = math.Inf(-1)
		case 3:
			l, u = v-0.3, v+0.4
		}
		c.Lower, c.Upper = append(c.Lower, l), append(c.Upper, u)
	}
	return c
}

func someCounts(y []float64, dispersed bool) Counts {
	c := Counts{Dispersed: dispersed}
	for n, v := range y {
		c.Y = append(c.Y, math.Floor(math.Exp(1+v)))
		c.Exposure = append(c.Exposure, 0.5+float64(n%4))
	}
	return c
}

func someGrades(y []float64, grades int) Ordinal {
	o := Ordinal{Grades: grades}
	for _, v := range y {
		o.Y = append(o.Y, int(min(max(math.Floor(float64(grades)/2+v), 0), float64(grades-1))))
	}
	return o
}

// The evidence by expectation propagation has the slopes that the cost says.
func TestLikelihoodGradient(t *testing.T) {
	x, y, _ := toy(1)
	for name, l := range map[string]Likelihood{
		"log-normal": someTargets(y, LogNormal), "weibull": someTargets(y, Weibull),
		"poisson": someCounts(y, false), "negative binomial": someCounts(y, true), "ordinal": someGrades(y, 5),
		"double poisson": Counts{Y: someCounts(y, false).Y, Exposure: someCounts(y, false).Exposure, Narrow: true},
	} {
		t.Run(name, func(t *testing.T) {
			m, at, err := Evidence{like: l}.objective(context.Background(), newScaled(t, x), make([]float64, len(y)), false)
			require.NoError(t, err)
			m.tol = 1e-12
			checkSlopes(t, m.cost, at, 0.5)
		})
	}
}

// Without censoring a log-normal likelihood is normal noise, and the evidence is exact.
func TestUncensoredIsNormal(t *testing.T) {
	x, y, _ := toy(2)
	c := Censored{Lower: slices.Clone(y), Upper: slices.Clone(y)}
	m, at, err := Evidence{like: c}.objective(context.Background(), newScaled(t, x), make([]float64, len(y)), false)
	require.NoError(t, err)
	normal, _, err := Evidence{}.objective(context.Background(), newScaled(t, x), y, false)
	require.NoError(t, err)
	m.tol = 1e-12
	got, err := m.functions(at)
	require.NoError(t, err)
	// x is: amplitudes, parameters, log σ².
	of := append(at[:len(at)-2:len(at)-2], math.Log(math.Exp(at[len(at)-1])-leastShare*normal.power))
	want, err := normal.functions(of)
	require.NoError(t, err)
	assert.InDelta(t, want, got, 1e-8)
	for n, a := range normal.alpha {
		assert.InDelta(t, a, m.alpha[n], 1e-8)
	}

	// A level moves the targets.
	at[len(at)-2] = 0.3
	for n, v := range y {
		normal.y[n] = v - 0.3
	}
	got, err = m.functions(at)
	require.NoError(t, err)
	want, err = normal.functions(of)
	require.NoError(t, err)
	assert.InDelta(t, want, got, 1e-8)
}

// The evidence and the posterior of two samples agree with integrals over a fine grid of both functions' values.
// Expectation propagation is not exact for two samples, but close.
func TestLikelihoodOfTwo(t *testing.T) {
	k := [3]float64{1.3, 0.6, 0.9} // K₁₁, K₁₂, K₂₂
	det := k[0]*k[2] - k[1]*k[1]
	for name, l := range map[string]Likelihood{
		"log-normal": Censored{Lower: []float64{0.5, -0.3}, Upper: []float64{math.Inf(1), -0.3}},
		"weibull":    Censored{Lower: []float64{0.5, math.Inf(-1)}, Upper: []float64{1.1, -0.3}, Law: Weibull},
		"poisson":    Counts{Y: []float64{0, 4}},
		"negative":   Counts{Y: []float64{3, 0}, Exposure: []float64{1, 6}, Dispersed: true},
		"double":     Counts{Y: []float64{3, 0}, Exposure: []float64{1, 2}, Narrow: true},
		"ordinal":    Ordinal{Y: []int{3, 1}, Grades: 4},
	} {
		t.Run(name, func(t *testing.T) {
			mean, _ := l.prior()
			of := &likelihood{Likelihood: l}
			of.at(mean)
			s := newSites(&la.Workspace{}, 2)
			s.k, s.l = la.MatrixOf(2, 2, []float64{k[0], k[1], k[1], k[2]}), la.NewMatrix[float64](2, 2)
			s.start(of, s.k)
			got, err := s.propagate(of, 1e-12)
			require.NoError(t, err)

			const h, most = 0.05, 160
			var sum, first float64
			one := make([]float64, 2*most+1) // the likelihood of each value, by a narrow normal distribution of it
			two := make([]float64, 2*most+1)
			for i := range one {
				f := h*float64(i-most) + of.level
				one[i] = math.Exp(l.logProbability(0, f, 1e-10, of.eta))
				two[i] = math.Exp(l.logProbability(1, f, 1e-10, of.eta))
			}
			for i := range one {
				a := h * float64(i-most)
				for j := range two {
					b := h * float64(j-most)
					w := one[i] * two[j] * math.Exp(-0.5*(a*a*k[2]-2*a*b*k[1]+b*b*k[0])/det)
					sum += w
					first += w * a
				}
			}
			want := math.Log(sum * h * h / (2 * math.Pi * math.Sqrt(det)))
			assert.InDelta(t, want, got, 0.01)
			assert.InDelta(t, first/sum, s.mean[0], 0.01)
		})
	}
}

func TestCensoredSaysWhatIsWrong(t *testing.T) {
	k, err := vi.NewDense(la.MatrixOf(2, 2, []float64{1, 0, 0, 1}))
	require.NoError(t, err)
	inf := math.Inf(1)
	for want, l := range map[string]Likelihood{
		"sample 1: the bounds 2 and 1":       Censored{Lower: []float64{0, 2}, Upper: []float64{0, 1}},
		"sample 0: the bounds -Inf and +Inf": Censored{Lower: []float64{-inf, 2}, Upper: []float64{inf, 3}},
		"sample 1: the bounds NaN":           Censored{Lower: []float64{0, math.NaN()}, Upper: []float64{0, 1}},
		"2 lower bounds and 1":               Censored{Lower: []float64{0, 2}, Upper: []float64{0}},
		"sample 1 is -1":                     Counts{Y: []float64{0, -1}},
		"sample 0 is 0.5":                    Counts{Y: []float64{0.5, 1}},
		"all 2 counts are 0":                 Counts{Y: []float64{0, 0}},
		"either negative binomial or double": Counts{Y: []float64{0, 1}, Dispersed: true, Narrow: true},
		"double Poisson distribution takes":  Counts{Y: []float64{0, 2e8}, Narrow: true},
		"exposure of sample 1 is 0":          Counts{Y: []float64{1, 0}, Exposure: []float64{1, 0}},
	} {
		_, err := Evidence{}.FitLikelihood(context.Background(), k, l)
		assert.ErrorContains(t, err, want)
	}
	_, err = Evidence{}.FitLikelihood(context.Background(), k, nil)
	assert.ErrorContains(t, err, "nil")
	_, err = Evidence{Sites: SitesBound}.FitLikelihood(context.Background(), k, Counts{Y: []float64{0, 1}})
	assert.ErrorContains(t, err, "Sites")
}

// A fit to censored targets finds the noise and the function that made them, and a journal of it goes on.
func TestFitLikelihood(t *testing.T) {
	const n = 120
	r := rand.New(rand.NewPCG(7, 8))
	x := la.NewMatrix[float64](n, 1)
	c := Censored{}
	var f []float64
	for i := range n {
		x.Set(i, 0, r.Float64()*6-3)
		f = append(f, math.Sin(x.At(i, 0)))
		y := f[i] + 0.3*r.NormFloat64()
		end := 0.5 + r.NormFloat64()
		l, u := y, y
		if y > end {
			l, u = end, math.Inf(1)
		}
		c.Lower, c.Upper = append(c.Lower, l), append(c.Upper, u)
	}
	k := gaussianOf(t, x)
	fit, err := Evidence{}.FitLikelihood(context.Background(), k, c)
	require.NoError(t, err)
	assert.Equal(t, vi.Converged, fit.Record.Reason)
	s := fit.Posterior.State()
	assert.Equal(t, "log-normal", s.Likelihood)
	assert.InDelta(t, 0.3, math.Exp(0.5*s.Shape[1]), 0.06)
	self := la.NewMatrix[float64](1, n)
	self.Fill(1)
	p, err := fit.Posterior.Predict(k, self, vi.PredictOptions{})
	require.NoError(t, err)
	var miss float64
	for i, v := range p.Mean {
		miss += (v - f[i]) * (v - f[i]) / n
	}
	assert.Less(t, miss, 0.02)
	assert.Nil(t, p.Variance)
}

// Quantiles undo probabilities, which the density sums to.
func TestLawsOfTimes(t *testing.T) {
	for _, law := range []Law{LogNormal, Weibull} {
		for _, v := range []float64{0, 0.01, 2} {
			var sum float64
			const h = 0.01
			for i := range 1250 {
				sum += h * math.Exp(law.LogDensity(0.4, v, 0.7, 0.5-h*(float64(i)+0.5)))
			}
			above, below := law.LogSurvival(0.4, v, 0.7, 0.5)
			assert.InDelta(t, 1, math.Exp(above)+math.Exp(below), 1e-12)
			assert.InDelta(t, sum, math.Exp(below), 2e-4)
			for _, p := range []float64{1e-6, 0.1, 0.5, 0.99, 1 - 1e-9} {
				_, below := law.LogSurvival(0.4, v, 0.7, law.Quantile(0.4, v, 0.7, p))
				assert.InDelta(t, p, math.Exp(below), 1e-9, "%v %g %g", law, v, p)
			}
		}
	}
}

// A function that varies by less than its rounding has the distributions of its mean.
func TestNarrowFunctions(t *testing.T) {
	for _, v := range []float64{1e-100, 1e-26, 0} {
		for _, y := range []float64{0, 3, 900} {
			d := CountDistribution{Mean: 5, Variance: v, Exposure: 1, R: 2}
			want := CountDistribution{Mean: 5, Variance: 1e-12, Exposure: 1, R: 2}.LogProbability(y)
			assert.InDelta(t, want, d.LogProbability(y), 1e-8*(1+math.Abs(want)), "%g", v)
		}
		for _, at := range []float64{3, 5, 6} {
			above, below := Weibull.LogSurvival(5, v, 0.5, at)
			wantAbove, wantBelow := Weibull.LogSurvival(5, 1e-12, 0.5, at)
			assert.InDelta(t, wantAbove, above, 1e-8*(1+math.Abs(wantAbove)), "%g", v)
			assert.InDelta(t, wantBelow, below, 1e-8*(1+math.Abs(wantBelow)), "%g", v)
		}
		for _, at := range []float64{-300, -350, -1e4} { // the exponential of an early time is lost, and its logarithm is not
			above, below := Weibull.LogSurvival(5, v, 0.5, at)
			assert.InDelta(t, 0, above, 1e-250, "%g", v)
			assert.InEpsilon(t, 2*(at-5), below, 1e-12, "%g", v)
		}
	}
}

// The distribution of a count is the one that drawing f and then the count makes.
func TestCountDistribution(t *testing.T) {
	for _, d := range []CountDistribution{
		{Mean: 0.3, Variance: 0.5, Exposure: 2}, {Mean: 0.3, Variance: 0.5, Exposure: 2, R: 1.5},
		{Mean: -2, Variance: 0, Exposure: 1}, {Mean: 1, Variance: 1, Exposure: 0.1, R: 20},
		{Mean: -9, Variance: 2, Exposure: 1}, {Mean: -7, Variance: 1, Exposure: 1, R: 0.5}, // rare counts
		{Mean: 0.3, Variance: 0.5, Exposure: 2, Nu: 3}, {Mean: -2, Exposure: 1, Nu: 1.5}, {Mean: 3, Variance: 0.1, Exposure: 2, Nu: 40},
	} {
		mean, variance := d.Moments()
		var sum, first, second float64
		for y := 0.0; y < 4000; y++ {
			p := math.Exp(d.LogProbability(y))
			sum += p
			first += p * y
			second += p * (y - mean) * (y - mean)
			if y > mean+20 && p < 1e-13 {
				break
			}
		}
		assert.InDelta(t, 1, sum, 1e-6)
		assert.InDelta(t, mean, first, 1e-3*(1+mean))
		assert.InDelta(t, variance, second, 0.02*(1+variance))
		for i, p := range []float64{0.05, 0.5, 0.95} {
			q := d.Quantiles([]float64{0.05, 0.5, 0.95})[i]
			below := 0.0
			for y := 0.0; y < q; y++ {
				below += math.Exp(d.LogProbability(y))
			}
			assert.Less(t, below, p)
			assert.GreaterOrEqual(t, below+math.Exp(d.LogProbability(q)), p-1e-12)
			upTo := below + math.Exp(d.LogProbability(q))
			crps, at := 0.0, 0.0
			for k := range 4000 {
				at += math.Exp(d.LogProbability(float64(k)))
				if step := at; float64(k) < q {
					crps += step * step
				} else {
					crps += (1 - at) * (1 - at)
				}
			}
			gotBelow, gotUpTo := d.CDF(q)
			assert.InDelta(t, below, gotBelow, 1e-6)
			assert.InDelta(t, upTo, gotUpTo, 1e-6)
			assert.InDelta(t, crps, d.CRPS(q), 1e-3*(1+crps))
		}
	}
	// A count far beyond the distribution costs its distance to the distribution.
	// Moments beyond the largest number, and factors that overflow while the moments do not.
	for _, c := range []struct {
		d              CountDistribution
		mean, variance float64
	}{
		{CountDistribution{Mean: 400, Exposure: 1}, math.Exp(400), math.Exp(400)},
		{CountDistribution{Mean: 800, Variance: 1, Exposure: 1, R: 2}, math.MaxFloat64, math.MaxFloat64},
		{CountDistribution{Mean: -1150, Variance: 800, Exposure: 1}, math.Exp(-750), math.Exp(-700)},
	} {
		mean, variance := c.d.Moments()
		assert.InEpsilon(t, 1+c.mean, 1+mean, 1e-12)
		assert.InEpsilon(t, c.variance, variance, 1e-12)
		assert.LessOrEqual(t, c.d.Quantiles([]float64{0.9})[0], math.MaxFloat64)
	}

	// Where the probability of a count is less than rounding, the probability up to the count is not below the probability before it.
	for _, d := range []CountDistribution{{Mean: 34, Variance: 2, Exposure: 1}, {Mean: 30, Variance: 3, Exposure: 10, R: 3}} {
		for k := range 500 {
			y := math.Round(math.Exp(30 + float64(k)/100))
			below, upTo := d.CDF(y)
			require.LessOrEqual(t, below, upTo, "%v, %g", d, y)
		}
	}

	rare := CountDistribution{Mean: -9, Variance: 2, Exposure: 1}
	below, upTo := rare.CDF(3e5)
	assert.Equal(t, []float64{1, 1}, []float64{below, upTo})
	assert.InDelta(t, 3e5, rare.CRPS(3e5), 1e-2)
	// Where counts are many, a hundred times the exposure has a hundred times the counts.
	d := CountDistribution{Mean: 8, Variance: 0.3, Exposure: 1, R: 20}
	many := d
	many.Exposure = 100
	few, lots := d.Quantiles([]float64{0.1, 0.9}), many.Quantiles([]float64{0.1, 0.9})
	for i := range few {
		assert.InDelta(t, 100, lots[i]/few[i], 1)
		_, own := d.CDF(few[i])
		below, upTo := many.CDF(100 * few[i])
		assert.InDelta(t, own, upTo, 0.01)
		assert.LessOrEqual(t, below, upTo)
		assert.InDelta(t, 100, many.CRPS(100*few[i])/d.CRPS(few[i]), 1)
	}
}

// Far from the mean the logarithms of both probabilities of a Weibull time are sums over a fine grid of f. They are
// probabilities, in order, however far the time is.
func TestFarTimes(t *testing.T) {
	grid := func(v, from, to float64, of func(f float64) float64) float64 {
		const nodes = 400_000
		h := (to - from) / nodes
		logs, top := make([]float64, nodes), math.Inf(-1)
		for i := range logs {
			f := from + (float64(i)+0.5)*h
			logs[i] = of(f) - 0.5*f*f/v
			top = max(top, logs[i])
		}
		var sum float64
		for _, l := range logs {
			sum += math.Exp(l - top)
		}
		return top + math.Log(sum*h) - 0.5*math.Log(2*math.Pi*v)
	}
	for _, c := range []struct{ v, sigma, at float64 }{{100, 0.1, 30}, {1, 0.1, 30}, {1, 0.7, 700}, {4, 3, 900}, {0.04, 0.1, -2}} {
		reach := 12 * math.Sqrt(c.v)
		above, below := Weibull.LogSurvival(0, c.v, c.sigma, c.at)
		want := grid(c.v, -reach, c.at+reach+10*c.sigma, func(f float64) float64 { return -math.Exp((c.at - f) / c.sigma) })
		assert.InDelta(t, want, above, 1e-8*(1+math.Abs(want)), "%+v", c)
		if c.at < 0 {
			want = grid(c.v, c.at-reach, reach, func(f float64) float64 { return math.Log(-math.Expm1(-math.Exp((c.at - f) / c.sigma))) })
			assert.InDelta(t, want, below, 1e-8*(1+math.Abs(want)), "%+v", c)
		}
	}
	for _, law := range []Law{LogNormal, Weibull} {
		for _, v := range []float64{0, 1e-8, 0.04, 1, 100, 1e12} {
			for _, sigma := range []float64{0.1, 0.7, 3} {
				last, rest := 0.0, math.Inf(-1)
				for _, at := range []float64{math.Inf(-1), -1e300, -1e160, -1e8, -1e4, -700, -30, 0, 5, 30, 100, 700, 1e4, 1e8, 1e160, 1e300, math.Inf(1)} {
					above, below := law.LogSurvival(0, v, sigma, at)
					assert.LessOrEqual(t, above, last+1e-12, "%v %g %g %g", law, v, sigma, at)
					assert.GreaterOrEqual(t, below, rest-1e-12, "%v %g %g %g", law, v, sigma, at)
					assert.LessOrEqual(t, below, 0.0)
					assert.Less(t, law.LogDensity(0, v, sigma, at), math.Inf(1), "%v %g %g %g", law, v, sigma, at) // and it is a number or −∞
					if sum := math.Exp(above) + math.Exp(below); at > -40 {
						assert.InDelta(t, 1, sum, 1e-9, "%v %g %g %g", law, v, sigma, at)
					}
					last, rest = above, below
				}
				assert.True(t, math.IsInf(last, -1), "%v %g %g", law, v, sigma)
			}
		}
	}
}

// The likelihood of a time between two others goes on where both are so early that their exponentials are lost. There
// P = E_u − E_l.
func TestEarlyIntervals(t *testing.T) {
	for _, l := range []float64{math.Inf(-1), -703, -700.5} {
		const sigma = 0.5
		of := func(f float64) logLikelihood { return gumbel(sigma*l, sigma*-700.1, f, sigma) }
		got := of(0)
		want := -700.1 + math.Log(-math.Expm1(l+700.1))
		assert.InDelta(t, want, got.log, 1e-12*700)
		near := of(-0.1) // where an exponential is one yet
		assert.InDelta(t, near.log-0.1/sigma, got.log, 1e-9)
		assert.InDelta(t, near.first, got.first, 1e-9)
		assert.InDelta(t, near.shape+0.5*0.1/sigma, got.shape, 1e-9)
		assert.Zero(t, got.second)
		h := 1e-5
		up, down := gumbel(sigma*l, sigma*-700.1, 0, sigma*math.Exp(h)), gumbel(sigma*l, sigma*-700.1, 0, sigma*math.Exp(-h))
		assert.InDelta(t, (up.log-down.log)/(4*h), got.shape, 1e-5*700) // η is log σ²
	}
}

// The likelihood of a time in a narrow interval goes on where the exponentials of both bounds overflow, because σ is small or the interval is
// late. The integrals in the other order are sums over a grid of the error e.
func TestLateIntervals(t *testing.T) {
	const v = 1.0
	probability := func(mean, sigma, l, u float64) float64 {
		const h = 1e-3
		var sum float64
		for e := -40.0; e < 5; e += h {
			at := mean + sigma*e
			sum += h * math.Exp(e-math.Exp(e)) * 0.5 * (math.Erfc((l-at)/math.Sqrt(2*v)) - math.Erfc((u-at)/math.Sqrt(2*v)))
		}
		return math.Log(sum)
	}
	for _, sigma := range []float64{0.01, 0.003, 0.0014, 0.0005} {
		for _, at := range [][2]float64{{1, 1.05}, {3, 3.05}} {
			slopes := make([]float64, 1)
			c := Censored{Lower: at[:1], Upper: at[1:], Law: Weibull}
			m := c.moments(0, 0, v, []float64{2 * math.Log(sigma)}, slopes)
			of := func(mean, scale float64) float64 { return probability(mean, sigma*scale, at[0], at[1]) }
			assert.InDelta(t, of(0, 1), m.logZ, 1e-9, "%g %g", sigma, at)
			const step = 1e-3
			up, down := of(step, 1), of(-step, 1)
			assert.InDelta(t, (up-down)/(2*step), m.slope, 1e-5, "%g %g", sigma, at)
			assert.InDelta(t, (2*of(0, 1)-up-down)/(step*step), m.bend, 1e-5, "%g %g", sigma, at)
			assert.InEpsilon(t, (of(0, math.Exp(step))-of(0, math.Exp(-step)))/(4*step), slopes[0], 1e-4, "%g %g", sigma, at) // η is log σ²
		}
	}
	// Far out an interval has the probability of the times after its lower bound, but for the ones after its upper bound.
	got, _ := weibullMoments(80, 85, 0, 1, 0.1)
	want, _ := weibullMoments(80, math.Inf(1), 0, 1, 0.1)
	assert.InDelta(t, want.logZ, got.logZ, 1e-6)
	assert.InDelta(t, want.slope, got.slope, 1e-6)
}

// Moments without variance are the limit of those with little.
func TestMomentsWithoutVariance(t *testing.T) {
	for _, l := range []Likelihood{
		Counts{Y: []float64{7}}, Counts{Y: []float64{7}, Dispersed: true}, Counts{Y: []float64{3e6}, Dispersed: true}, Counts{Y: []float64{7}, Narrow: true},
		Censored{Lower: []float64{0.3}, Upper: []float64{0.3}, Law: Weibull}, Censored{Lower: []float64{0.3}, Upper: []float64{math.Inf(1)}, Law: Weibull},
	} {
		near, at := []float64{0}, []float64{0}
		eta := []float64{0.4}
		want := l.moments(0, 0.9, 1e-12, eta, near)
		for _, v := range []float64{0, leastVariance} {
			got := l.moments(0, 0.9, v, eta, at)
			assert.InDelta(t, 1, got.logZ/want.logZ, 1e-5, l.Name())
			assert.InDelta(t, 1, got.slope/want.slope, 1e-5, l.Name())
			assert.InDelta(t, 1, got.bend/want.bend, 1e-5, l.Name())
			if near[0] != 0 {
				assert.InDelta(t, 1, at[0]/near[0], 1e-5, l.Name())
			}
		}
	}
}

// gaussianOf returns the Gaussian kernel of width 1 of samples with one feature.
func gaussianOf(t *testing.T, x la.Matrix[float64]) *vi.Dense {
	t.Helper()
	gram := la.NewMatrix[float64](x.Rows, x.Rows)
	for i := range x.Rows {
		for j := range x.Rows {
			d := x.At(i, 0) - x.At(j, 0)
			gram.Set(i, j, math.Exp(-0.5*d*d))
		}
	}
	k, err := vi.NewDense(gram)
	require.NoError(t, err)
	return k
}

// A fit that starts where another has ended ends there too, in fewer steps.
func TestLikelihoodStart(t *testing.T) {
	like := Ordinal{Y: []int{0, 0, 1, 2, 1, 2, 2, 0, 1, 2}, Grades: 3}
	ones, line := la.NewMatrix[float64](10, 10), la.NewMatrix[float64](10, 10)
	ones.Fill(1)
	for i := range 10 {
		for j := range 10 {
			line.Set(i, j, float64(i*j))
		}
	}
	k, err := vi.NewDense(line, ones)
	require.NoError(t, err)
	want, err := Evidence{}.FitLikelihood(t.Context(), k, like)
	require.NoError(t, err)
	s := want.Posterior.State()
	got, err := Evidence{Start: &EvidenceStart{Gamma: s.Gamma, Shape: s.Shape}}.FitLikelihood(t.Context(), k, like)
	require.NoError(t, err)
	assert.InDelta(t, want.LogEvidence, got.LogEvidence, 1e-3)
	assert.Less(t, len(got.Record.Trace), len(want.Record.Trace))
	for _, shape := range [][]float64{{1}, {math.NaN(), 0, 0}} {
		_, err = Evidence{Start: &EvidenceStart{Shape: shape}}.FitLikelihood(t.Context(), k, like)
		assert.ErrorContains(t, err, "vi: Start.Shape: ")
	}
}
