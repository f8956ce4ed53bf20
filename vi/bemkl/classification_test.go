package bemkl

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// labels turns the problem's targets into labels.
func (p problem) labels(t testing.TB, seed uint64) (Classification, *vi.Dense, la.Matrix[float64]) {
	_, k, y := p.draw(t, seed)
	for o := range y.Rows {
		for i, v := range y.Row(o) {
			if !math.IsNaN(v) {
				y.Set(o, i, math.Copysign(1, v))
			}
		}
	}
	return Classification{Lambda: p.lambda, Omega: p.omega, Seed: seed, Workers: 2}, k, y
}

func TestClassificationBoundRisesAtEveryUpdate(t *testing.T) {
	for _, p := range problems {
		for _, c := range []struct {
			margin, sigma float64
			plain         bool
		}{{1, 0.1, true}, {1, 0.1, false}, {0, 1, false}, {0.5, 0.5, true}, {40, 0.3, false}} {
			t.Run(fmt.Sprint(p.name, c), func(t *testing.T) {
				for seed := range testkit.Fewer(uint64(2), 1) {
					r, k, y := p.labels(t, seed)
					r.Margin, r.SigmaG, r.Plain = c.margin, c.sigma, c.plain
					m, err := r.model(k, y)
					require.NoError(t, err)
					require.NoError(t, m.Sweep(nil))
					last := m.Bound()
					for i := range testkit.Fewer(work.FirstSweeps+20, work.FirstSweeps+5) {
						require.NoError(t, m.Sweep(func(name string) {
							b := m.Bound()
							require.False(t, testkit.Fell(last, b, m.Roundoff()), "sweep %d: %s: from %.17g to %.17g (%g)", i+2, name, last, b, b-last)
							last = b
						}))
					}
				}
			})
		}
	}
}

func TestClassificationScaleStepFollowsTheRidge(t *testing.T) {
	for _, p := range problems {
		c, k, y := p.labels(t, 1)
		m, err := c.model(k, y)
		require.NoError(t, err)
		for range 3 {
			require.NoError(t, m.Sweep(nil))
		}
		m.updateScale()
		a, b, cc := m.ridge()
		assert.InDelta(t, 0, cc+a-b, 1e-9*(math.Abs(a)+b+cc), "%s: s = 1 is the root after the step", p.name)
		from := m.Bound()
		for _, s := range []float64{0.25, 0.9, 1.1, 3} {
			m.rescale(s)
			change := -a*math.Log(s) - b*(1/s-1) - cc*(s-1)
			assert.InDelta(t, change, m.Bound()-from, 1e-9*(1+math.Abs(from)), "%s: s = %g", p.name, s)
			m.rescale(1 / s)
		}
	}
}

// TestClassificationBoundIsBelowTheEvidence samples the prior of a, b and e for
// two labels; G and f are integrated exactly:
// P(y | a, b, e) = Π Φ((y·(e·aᵀk_i + b) − ν)/√(1 + e²σ_g²)).
func TestClassificationBoundIsBelowTheEvidence(t *testing.T) {
	k, err := vi.NewDense(la.MatrixOf(2, 2, []float64{1, 0.5, 0.5, 1}))
	require.NoError(t, err)
	pr := vi.Gamma{Shape: 2, Scale: 0.5}
	c := Classification{Lambda: pr, Gamma: pr, Omega: pr, Margin: 0.5, SigmaG: 0.4}
	fit, err := c.Fit(context.Background(), k, la.MatrixOf(1, 2, []float64{1, -1}))
	require.NoError(t, err)

	src := rand.New(rand.NewPCG(11, 11))
	draw := func() float64 { return src.NormFloat64() / math.Sqrt(0.5*(src.ExpFloat64()+src.ExpFloat64())) }
	const n = 200000
	var sum, squares float64
	for range n {
		a1, a2, b, e := draw(), draw(), draw(), draw()
		s := math.Sqrt(1 + e*e*0.16)
		p := 0.25 * math.Erfc((0.5-b-e*(a1+0.5*a2))/s/math.Sqrt2) * math.Erfc((0.5+b+e*(0.5*a1+a2))/s/math.Sqrt2)
		sum += p
		squares += p * p
	}
	mean := sum / n
	se := math.Sqrt((squares/n - mean*mean) / n)
	require.Less(t, se/mean, 0.01)
	assert.Less(t, fit.Record.Bound(), math.Log(mean)-3*se/mean)
	assert.Greater(t, fit.Record.Bound(), math.Log(mean)-5)
	require.Len(t, fit.PublishedTrace, len(fit.Record.Trace))
	assert.Less(t, fit.PublishedTrace[0], fit.Record.Trace[0])
}

func TestClassificationWorkersDoNotChangeBits(t *testing.T) {
	for _, p := range problems {
		var want *classification
		for _, workers := range []int{1, 2, 7} {
			c, k, y := p.labels(t, 2)
			c.Workers = workers
			m, err := c.model(k, y)
			require.NoError(t, err)
			for range 20 {
				require.NoError(t, m.Sweep(nil))
			}
			if want == nil {
				want = m
				continue
			}
			assert.Equal(t, want.AMean, m.AMean, p.name)
			assert.Equal(t, want.f, m.f, p.name)
			assert.Equal(t, want.be.Cov, m.be.Cov, p.name)
		}
	}
}

func TestClassificationSeparates(t *testing.T) {
	c, k, y := problem{P: 3, D: 30, N: 30, L: 3, missing: 0.1}.labels(t, 5)
	fit, err := c.Fit(context.Background(), k, y)
	require.NoError(t, err)
	assert.Equal(t, vi.Converged, fit.Record.Reason)
	assert.Empty(t, fit.Collapsed)
	p, err := fit.Posterior.Predict(k, vi.PredictOptions{})
	require.NoError(t, err)
	right, seen := 0, 0
	for o := range 3 {
		for i, v := range y.Row(o) {
			if !math.IsNaN(v) {
				seen++
				if (p.Probability.At(o, i) > 0.5) == (v > 0) {
					right++
				}
			}
		}
	}
	assert.Greater(t, float64(right), 0.85*float64(seen))
	classes := p.Normalise()
	for i := range 30 {
		assert.InDelta(t, 1, classes.At(0, i)+classes.At(1, i)+classes.At(2, i), 1e-15)
	}

	restored, err := NewClassificationPosterior(fit.Posterior.State())
	require.NoError(t, err)
	again, err := restored.Predict(k, vi.PredictOptions{Workers: 3})
	require.NoError(t, err)
	assert.Equal(t, p.Probability, again.Probability)
	short := fit.Posterior.State()
	short.Gamma = short.Gamma[:1]
	_, err = NewClassificationPosterior(short)
	assert.EqualError(t, err, "vi: classification state: Gamma: 1 factors where 3 are needed")
	mean, err := restored.Predict(k, vi.PredictOptions{MeanOnly: true})
	require.NoError(t, err)
	assert.Empty(t, mean.Probability.Data)
}

// TestProbabilityInTheTails has scores so far out that both tails of the
// numerator and the denominator underflow.
func TestProbabilityInTheTails(t *testing.T) {
	cov := la.NewMatrix[float64](2, 2)
	p, err := NewClassificationPosterior(ClassificationState{
		Priors: ClassificationPriors{vi.Gamma{Shape: 1, Scale: 1}, vi.Gamma{Shape: 1, Scale: 1}, vi.Gamma{Shape: 1, Scale: 1}},
		Margin: 40, SigmaG: 1e-8, Samples: 1,
		Lambda: la.MatrixOf(1, 1, []float64{1e20}), A: la.MatrixOf(1, 1, []float64{1}),
		Gamma: []vi.Gamma{{Shape: 1, Scale: 1}}, Omega: []vi.Gamma{{Shape: 1, Scale: 1}},
		BEMean: []float64{0, 1}, BECov: cov, Gram: la.MatrixOf(1, 1, []float64{1}),
	})
	require.NoError(t, err)
	scores := []float64{0, 0.01, -0.01, 5, 60, -60}
	k, err := vi.NewDense(la.MatrixOf(1, len(scores), scores))
	require.NoError(t, err)
	got, err := p.Predict(k, vi.PredictOptions{})
	require.NoError(t, err)
	// mpmath: Φ(μ−40)/(Φ(μ−40) + Φ(−40−μ)).
	want := []float64{0.5, 0.690081292565094929925, 0.309918707434905470074, 1, 1, 0}
	assert.InDeltaSlice(t, want, got.Probability.Row(0), 1e-12)
}

func TestClassificationNamesWhatIsWrong(t *testing.T) {
	k, err := vi.NewDense(la.NewMatrix[float64](2, 2))
	require.NoError(t, err)
	y := la.MatrixOf(1, 2, []float64{1, -1})
	start := &ClassificationStart{Start: Start{A: la.NewMatrix[float64](1, 2), G: y}, F: la.NewMatrix[float64](2, 2)}
	for want, c := range map[string]struct {
		c Classification
		y la.Matrix[float64]
	}{
		"vi: y: entry (0, 1) is 0: labels are −1 and +1, NaN where missing":         {y: la.MatrixOf(1, 2, []float64{1, 0})},
		"vi: y: row 0: every value is missing":                                      {y: la.MatrixOf(1, 2, []float64{math.NaN(), math.NaN()})},
		"vi: Margin is NaN: it must be at least 0 and finite":                       {Classification{Margin: math.NaN()}, y},
		"vi: Margin is -1: it must be at least 0 and finite":                        {Classification{Margin: -1}, y},
		"vi: SigmaG is -1: it must be positive and finite":                          {Classification{SigmaG: -1}, y},
		"vi: prior Gamma: Gamma(0, 1): shape and scale must be positive and finite": {Classification{Gamma: vi.Gamma{Shape: 0, Scale: 1}}, y},
		"vi: Start.F: 2×2 where 1×2 is needed":                                      {Classification{Start: start}, y},
	} {
		_, err := c.c.Fit(context.Background(), k, c.y)
		assert.EqualError(t, err, want)
	}
}
