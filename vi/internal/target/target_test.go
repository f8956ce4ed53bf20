package target

import (
	"math"
	"math/rand/v2"
	"testing"

	_ "github.com/bmkl/bmkl/internal/testkit/golden" // the flag -golden
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/stretchr/testify/assert"
)

// latent is a likelihood with latent targets, to be tested: it reads m from location and stores E[t] in mean.
type latent struct {
	name        string
	make        func(location, mean la.Matrix[float64]) Likelihood
	density     func(row, i int, t float64) float64 // p(y_i | t), 1 where y_i is missing
	missing     func(row, i int) bool
	rows, cols  int
	probability func(mean, sd float64) float64 // of the data +1, given the predicted target
	positive    func(t float64) float64        // p(+1 | t)
}

var labels = la.MatrixOf(2, 4, []float64{1, -1, 0, 1, -1, 1, 1, -1})

func probit(margin float64) latent {
	beyond := func(y, t float64) float64 {
		if y*t > margin {
			return 1
		}
		return 0
	}
	return latent{
		name: "probit",
		make: func(location, mean la.Matrix[float64]) Likelihood {
			return NewProbit(labels, location, mean, margin)
		},
		density: func(row, i int, t float64) float64 { return beyond(labels.At(row, i), t) },
		missing: func(row, i int) bool { return labels.At(row, i) == 0 },
		rows:    labels.Rows, cols: labels.Cols,
		probability: func(mean, sd float64) float64 { return Probability(mean, sd, margin) },
		positive:    func(t float64) float64 { return beyond(1, t) / max(beyond(1, t)+beyond(-1, t), 1) },
	}
}

// integrate integrates f from low to high by the midpoint rule. A jump of f is at most at a multiple of .1.
func integrate(low, high float64, f func(float64) float64) (sum float64) {
	const each = 2000
	n := int(math.Round((high - low) * each))
	for i := range n {
		sum += f(low+(float64(i)+0.5)/each) / each
	}
	return sum
}

func normal(t, mean, precision float64) float64 {
	return math.Sqrt(precision/(2*math.Pi)) * math.Exp(-0.5*precision*(t-mean)*(t-mean))
}

// TestLatentTargets compares q(t), its normaliser and its terms of the bound with integrals, and checks
// that no other location of q(t) has a higher bound.
func TestLatentTargets(t *testing.T) {
	for _, c := range []latent{probit(0), probit(0.3)} {
		location, mean := la.NewMatrix[float64](c.rows, c.cols), la.NewMatrix[float64](c.rows, c.cols)
		like := c.make(location, mean)
		assert.True(t, like.Latent(), c.name)
		src := rand.New(rand.NewPCG(3, 1))
		for i := range location.Data {
			location.Data[i] = 1.5 * src.NormFloat64()
		}
		like.UpdateTargets()

		// Scores that have moved since, each with a variance.
		scores, variance, eps := location.Clone(), 0.2, like.Precision()
		for i := range scores.Data {
			scores.Data[i] += 0.4 * src.NormFloat64()
		}
		square := func() (sum float64) {
			for r := range c.rows {
				for i := range c.cols {
					if d := mean.At(r, i) - scores.At(r, i); !c.missing(r, i) {
						sum += d*d + variance
					}
				}
			}
			return sum
		}
		terms := func() float64 {
			noise, logZ, fit := like.Terms(square())
			sum := noise + logZ + fit
			for r := range c.rows {
				sum += 0.5 * eps * like.Shift(r)
			}
			return sum
		}
		var wantZ, wantTerms float64
		for r := range c.rows {
			for i := range c.cols {
				if c.missing(r, i) {
					assert.Zero(t, mean.At(r, i), "%s: a target without data", c.name)
					continue
				}
				m, s := location.At(r, i), scores.At(r, i)
				q := func(x float64) float64 { return c.density(r, i, x) * normal(x, m, eps) }
				z := integrate(-12, 12, q)
				first := integrate(-12, 12, func(x float64) float64 { return x * q(x) }) / z
				assert.InDelta(t, first, mean.At(r, i), 1e-6, "%s: E[t] of (%d, %d)", c.name, r, i)
				wantZ += math.Log(z)
				wantTerms += integrate(-12, 12, func(x float64) float64 {
					p := q(x) / z
					if p == 0 {
						return 0
					}
					like := math.Log(c.density(r, i, x)) + math.Log(normal(x, s, eps)) - 0.5*eps*variance
					return p * (like - math.Log(p))
				})
			}
		}
		_, logZ, _ := like.Terms(square())
		assert.InDelta(t, wantZ, logZ, 1e-6, "%s: log Z", c.name)
		assert.InDelta(t, wantTerms, terms(), 1e-5, "%s: terms of the bound", c.name)

		copy(location.Data, scores.Data)
		like.UpdateTargets()
		best := terms()
		assert.Greater(t, best, wantTerms, c.name)
		for i := range location.Data {
			for _, step := range []float64{-1e-3, 1e-3} {
				location.Data[i] += step
				like.UpdateTargets()
				change := terms() - best
				assert.True(t, change <= 1e-13 && change > -1e-6, "%s: the bound rises by %g away from E[s]", c.name, change)
				location.Data[i] -= step
			}
		}

		p := vi.Predictions{Mean: []float64{-1.3, 0.2, 2}, SD: []float64{1.1, 1.5, 1.2}}
		for i, m := range p.Mean {
			sd := p.SD[i]
			want := integrate(-12, 12, func(x float64) float64 { return c.positive(x) * normal(x, m, 1/(sd*sd)) })
			outside := want + integrate(-12, 12, func(x float64) float64 { return c.positive(-x) * normal(x, m, 1/(sd*sd)) })
			assert.InDelta(t, want/outside, c.probability(m, sd), 1e-6, "%s: probability", c.name)
		}
		like.Predictions(&p)
		assert.True(t, p.Probabilities, c.name)
		assert.InDelta(t, probit(0).probability(-1.3, 1.1), p.Mean[0], 1e-14, "%s: for the record of sweeps there is no gap", c.name)
	}
}

// TestNormal compares the terms of targets that are the data with integrals over ε, and checks that no
// other scale of q(ε) has a higher bound.
func TestNormal(t *testing.T) {
	const n, square = 5, 3.7
	prior := vi.Gamma{Shape: 1.5, Scale: 0.8}
	like := NewNormal(prior, n)
	assert.True(t, like.Learns())
	assert.False(t, like.Latent())
	like.UpdateNoise(square)
	noise, logZ, fit := like.Terms(square)
	logDensity := func(g vi.Gamma, x float64) float64 {
		lg, _ := math.Lgamma(g.Shape)
		return (g.Shape-1)*math.Log(x) - x/g.Scale - lg - g.Shape*math.Log(g.Scale)
	}
	q := like.At(0)
	var mean, wantNoise, wantFit float64
	mass := integrate(0, 30, func(x float64) float64 {
		p := math.Exp(logDensity(q, x))
		mean += x * p / 2000
		wantNoise += p * (logDensity(prior, x) - logDensity(q, x)) / 2000
		wantFit += p * 0.5 * (n*math.Log(x/(2*math.Pi)) - x*square) / 2000
		return p
	})
	assert.InDelta(t, 1, mass, 1e-6)
	assert.InDelta(t, mean, like.Precision(), 1e-6)
	assert.InDelta(t, wantNoise, noise, 1e-5)
	assert.InDelta(t, wantFit, fit, 1e-5)
	assert.Zero(t, logZ)
	assert.Zero(t, like.Shift(0))
	best, scale := noise+fit, like.Scale[0]
	for _, share := range []float64{0.99, 1.01} {
		like.Scale[0] = share * scale
		noise, _, fit = like.Terms(square)
		assert.Less(t, noise+fit, best)
		assert.Greater(t, noise+fit, best-1e-2)
	}

	known := KnownNormal(4, n)
	assert.False(t, known.Learns())
	known.UpdateNoise(square)
	assert.Equal(t, 4.0, known.Precision())
	noise, logZ, fit = known.Terms(square)
	want := 0.5 * (n*math.Log(4/(2*math.Pi)) - 4*square)
	assert.InDelta(t, want, noise+logZ+fit, 1e-13)
}

func TestMargin(t *testing.T) {
	assert.NoError(t, CheckMargin(0))
	for _, v := range []float64{-1, math.NaN(), math.Inf(1)} {
		assert.ErrorContains(t, CheckMargin(v), "vi: Margin is ")
	}
	assert.True(t, IsLabel(1) && IsLabel(-1))
	assert.False(t, IsLabel(0) || IsLabel(math.NaN()))
}
