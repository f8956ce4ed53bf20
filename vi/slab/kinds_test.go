package slab

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// logLikelihood is log p(y|f), by package math.
func logLikelihood(k FactorKind, y, f float64) float64 {
	rate := math.Log1p(math.Exp(f))
	if k == Bernoulli {
		return y*f - rate
	}
	gamma, _ := math.Lgamma(y + 1)
	return y*math.Log(rate) - rate - gamma
}

// TestSitesAreBelow: a site is nowhere above the log likelihood, it touches the likelihood if the function is certain, and
// no site of another mean or variance has a higher mean.
func TestSitesAreBelow(t *testing.T) {
	for _, k := range []FactorKind{Bernoulli, Poisson} {
		for _, y := range []float64{0, 1, 2, 7, 40, 900} {
			if k.Check(y) != nil {
				continue
			}
			for _, mean := range []float64{-12, -3, -0.4, 0, 0.5, 1, 2.5, 9, 60} {
				certain := k.site(y, mean, 0)
				at := func(s site, f float64) float64 { return s.level - 0.5*s.precision*(s.target-f)*(s.target-f) }
				size := 1 + math.Abs(certain.level)
				assert.InDelta(t, logLikelihood(k, y, mean), at(certain, mean), 1e-10*size, "%d: y=%g, f=%g", k, y, mean)
				for _, variance := range []float64{1e-8, 0.1, 2, 30} {
					s := k.site(y, mean, variance)
					for f := -30.0; f < 90; f += 0.37 {
						require.LessOrEqual(t, at(s, f), logLikelihood(k, y, f)+1e-10*size, "%d: y=%g, q(f)=N(%g, %g), f=%g", k, y, mean, variance, f)
					}
					best := at(s, mean) - 0.5*s.precision*variance
					for _, by := range []float64{0.7, 0.97, 1.03, 1.4} {
						for _, o := range []site{k.site(y, mean, by*variance), k.site(y, mean+by-1, variance)} {
							require.LessOrEqual(t, at(o, mean)-0.5*o.precision*variance, best+1e-9*size, "%d: y=%g, q(f)=N(%g, %g)", k, y, mean, variance)
						}
					}
				}
			}
		}
	}
}

// The deviance is twice the difference from the log likelihood at its maximum: where the rate is y, or without bound.
func TestKindDeviance(t *testing.T) {
	for _, f := range []float64{-12, -3, 0, 0.7, 4, 30} {
		for _, y := range []float64{0, 1, 2, 7, 40} {
			top := 0.0 // of y = 0, whose probability tends to 1
			if y > 0 {
				top = logLikelihood(Poisson, y, math.Log(math.Expm1(y)))
			}
			want := 2 * (top - logLikelihood(Poisson, y, f))
			assert.InDelta(t, want, Poisson.deviance(y, f), 1e-10*(1+want), "%g %g", y, f)
		}
		for _, y := range []float64{0, 1} {
			assert.InDelta(t, -2*logLikelihood(Bernoulli, y, f), Bernoulli.deviance(y, f), 1e-10*(1+math.Abs(f)), "%g %g", y, f)
		}
	}
	assert.Equal(t, 0.75, share(1, 4))
	assert.Zero(t, share(0, 0), "nothing is explained of a view without variation")
}

func TestKindNames(t *testing.T) {
	for k, name := range map[FactorKind]string{Gaussian: "gaussian", Bernoulli: "bernoulli", Poisson: "poisson"} {
		assert.Equal(t, name, k.String())
		text, err := k.MarshalText()
		require.NoError(t, err)
		again := FactorKind(-1)
		require.NoError(t, again.UnmarshalText(text))
		assert.Equal(t, k, again)
	}
	for _, k := range []FactorKind{-1, 3} {
		assert.Contains(t, k.String(), "FactorKind(")
		_, err := k.MarshalText()
		require.Error(t, err)
	}
}

// TestSoftplusBend compares the curvature κ with the smallest that makes a parabola a bound, by search.
func TestSoftplusBend(t *testing.T) {
	value := func(f float64) float64 {
		if f < -30 {
			return -f
		}
		return -math.Log(math.Log1p(math.Exp(f)))
	}
	worst := 1.0
	for x := -200.0; x < 600; x += 0.25 + 0.05*math.Abs(x) {
		_, slope := logSoftplus(x)
		least := softplusCurvature(x)
		for f := -1000.0; f < 1000; f += 0.05 {
			if d := f - x; math.Abs(d) > 0.02 {
				least = max(least, 2*(value(f)-value(x)+slope*d)/(d*d))
			}
		}
		require.Greater(t, softplusBend(x), least, "at %g", x)
		if x > -5 {
			worst = max(worst, softplusBend(x)/least)
		}
	}
	assert.Less(t, worst, 1.2)
}

// TestKindMoments compares means and variances of entries with sums over a fine grid.
func TestKindMoments(t *testing.T) {
	for _, c := range []struct{ mean, variance float64 }{{0, 0}, {0.3, 1e-20}, {-1, 0.5}, {2, 4}, {-6, 30}, {40, 2}} {
		var p, first, second, weight float64
		sd := max(math.Sqrt(c.variance), 1e-300)
		for x := -9.0; x <= 9; x += 1e-3 {
			f, w := c.mean+sd*x, math.Exp(-x*x/2)
			rate := math.Log1p(math.Exp(f))
			p, first, second, weight = p+w/(1+math.Exp(-f)), first+w*rate, second+w*(rate+rate*rate), weight+w
		}
		p, first, second = p/weight, first/weight, second/weight
		m, v := Bernoulli.moments(c.mean, c.variance)
		assert.InDelta(t, p, m, 1e-12)
		assert.InDelta(t, p*(1-p), v, 1e-12)
		m, v = Poisson.moments(c.mean, c.variance)
		assert.InEpsilon(t, first, m, 1e-11)
		assert.InEpsilon(t, second-first*first, v, 1e-9)
	}
	assert.InDelta(t, 0.3, func() float64 { m, _ := Bernoulli.moments(Bernoulli.start(0.3, 1e6), 0); return m }(), 1e-6)
	assert.InDelta(t, 50, Poisson.start(50, 1e6), 1e-4)
}

// kindsGolden is the posterior of a small table, by a sampler: see testdata/golden/factors.
type kindsGolden struct {
	Kinds           []FactorKind
	Variance, Noise float64
	Y, Function     [][]float64
	SD, Mean        [][]float64
}

// TestFactorKindsGolden compares means of functions and of entries with a sampler's, which are within 0.1 posterior standard deviations
// of the exact ones.
func TestFactorKindsGolden(t *testing.T) {
	text, err := os.ReadFile("../../testdata/golden/factors/kinds.json")
	require.NoError(t, err)
	var g kindsGolden
	require.NoError(t, json.Unmarshal(text, &g))
	N, Q := len(g.Y), len(g.Kinds)
	y := la.NewMatrix[float64](N, Q)
	for n, row := range g.Y {
		copy(y.Row(n), row)
	}
	o, err := ObserveMatrix(y)
	require.NoError(t, err)
	noise := slices.Repeat([]float64{g.Noise}, Q)
	fit, err := Factors{
		Count: 2, Views: []int{5, 5, 5}, Kinds: kindsOfViews(g.Kinds, []int{5, 5, 5}), Prior: Prior{Pi: 1 - 1e-12, Variance: g.Variance},
		Held: Held{Pi: true, Variance: true, Noise: true}, Start: &FactorStart{Weights: startOf(Q, 2), Noise: noise},
		Ascent: vi.Ascent{MaxSweeps: 2000},
	}.Fit(t.Context(), o)
	require.NoError(t, err)
	for v, name := range []string{"Bernoulli", "Gaussian", "Poisson"} {
		var off, wide, entry, count float64
		for n := range N {
			for q := 5 * v; q < 5*v+5; q++ {
				f, variance := fit.Posterior.Entry(n, q)
				mean, _ := fit.Posterior.Outcome(q, f, variance)
				d := (f - g.Function[n][q]) / g.SD[n][q]
				off, wide, count = off+d*d, wide+math.Sqrt(variance)/g.SD[n][q], count+1
				entry += (mean - g.Mean[n][q]) * (mean - g.Mean[n][q])
			}
		}
		t.Logf("%s: means off by %.3f posterior SD, SD %.3f of the sampler's, mean entries off by %.3f", name,
			math.Sqrt(off/count), wide/count, math.Sqrt(entry/count))
		assert.Less(t, math.Sqrt(off/count), 0.2, name)
		assert.InDelta(t, 0.95, wide/count, 0.1, name)
		assert.Less(t, math.Sqrt(entry/count), 0.05, name)
	}
}

// startOf are weights that tell M factors apart.
func startOf(Q, M int) (w []Pair) {
	for i := range Q * M {
		w = append(w, Pair{Logit: math.Inf(1), Mean: math.Cos(float64(2 * i * i)), Variance: 0.1})
	}
	return w
}

// TestFactorKindsTransform: the factors of a new object are the fixed point of the updates with sites, and an entry that is not of its kind
// is refused by its place.
func TestFactorKindsTransform(t *testing.T) {
	p := factorProblem{60, 11, 2, 0, 0.3, true, mixed}
	y, _ := p.draw(7)
	o, err := ObserveMatrix(y)
	require.NoError(t, err)
	fit, err := Factors{Count: 2, Offsets: true, Views: []int{3, 5, 3}, Kinds: threeKinds, Ascent: vi.Ascent{MaxSweeps: 200}}.Fit(t.Context(), o)
	require.NoError(t, err)
	for _, n := range []int{0, 9, 31} {
		tasks, entries := o.Object(n)
		mean, variance, err := fit.Posterior.Transform(tasks, entries)
		require.NoError(t, err)
		for k, v := range variance {
			assert.InDelta(t, fit.Posterior.s.Mean.At(n, k), mean[k], 0.7*math.Sqrt(v), "row %d", n)
			assert.Greater(t, v, 0.8*fit.Posterior.s.Variance.At(n, k))
		}
	}
	_, _, err = fit.Posterior.Transform([]int{4, 0}, []float64{0.3, 0.3})
	assert.EqualError(t, err, "vi: y[1] is 0.3: it must be 0 or 1")
	y.Set(3, 9, 1.5)
	o, err = ObserveMatrix(y)
	require.NoError(t, err)
	_, err = Factors{Count: 2, Views: []int{3, 5, 3}, Kinds: threeKinds}.Fit(t.Context(), o)
	assert.EqualError(t, err, "vi: y: entry (3, 9) is 1.5: counts are 0, 1, 2, …, and at most 2⁵³")
	_, err = Factors{Count: 2, Views: []int{3, 5, 3}, Kinds: threeKinds[:1]}.Fit(t.Context(), o)
	assert.EqualError(t, err, "vi: Kinds: 1 for 3 views")

	s := fit.Posterior.State()
	again, err := NewFactorPosterior(s)
	require.NoError(t, err)
	for q := range p.Q {
		f, v := fit.Posterior.Entry(3, q)
		a, b := fit.Posterior.Outcome(q, f, v)
		c, d := again.Outcome(q, f, v)
		assert.Equal(t, []float64{a, b}, []float64{c, d})
	}
	s.Kinds = s.Kinds[:2]
	_, err = NewFactorPosterior(s)
	assert.EqualError(t, err, "vi: factor state: Kinds: 2 for 3 views")
}

// TestFactorsOfBinaryViews finds all factors of views of 0 and 1. In these four tables a plain start loses one, at a lower bound.
func TestFactorsOfBinaryViews(t *testing.T) {
	const N, K, M = 80, 3, 6
	views := []int{50, 50}
	for _, seed := range []uint64{1, 3, 6, 9} {
		src := rand.New(rand.NewPCG(seed, 12))
		z := la.NewMatrix[float64](N, K)
		for i := range z.Data {
			z.Data[i] = src.NormFloat64()
		}
		var entries []Entry
		for q := range views[0] + views[1] {
			w := make([]float64, K)
			for k := range w {
				if k == 0 || (k == 1) == (q < views[0]) {
					w[k] = 2 * src.NormFloat64() * float64(src.IntN(2))
				}
			}
			for n := range N {
				y := 0.0
				if src.Float64() < 1/(1+math.Exp(-la.Dot(w, z.Row(n)))) {
					y = 1
				}
				if src.Float64() > 0.2 {
					entries = append(entries, Entry{int32(n), int32(q), y})
				}
			}
		}
		y, err := ObserveEntries(N, views[0]+views[1], entries)
		require.NoError(t, err)
		found := func(plain bool) (used int, bound float64) {
			f := Factors{Count: M, Views: views, Kinds: []FactorKind{Bernoulli, Bernoulli}, Offsets: true, Seed: 1, Workers: 1, Plain: plain}
			fit, err := f.Fit(t.Context(), y)
			require.NoError(t, err)
			each, _, err := fit.Posterior.Explained(y)
			require.NoError(t, err)
			for k := range M {
				if max(each.At(0, k), each.At(1, k)) > 0.01 {
					used++
				}
			}
			return used, fit.Record.Bound()
		}
		before, low := found(true)
		after, high := found(false)
		assert.Less(t, before, K, "seed %d", seed)
		assert.Equal(t, K, after, "seed %d", seed)
		assert.Greater(t, high, low+20, "seed %d", seed)
	}
}
