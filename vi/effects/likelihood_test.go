package effects

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/mgp"
)

// normal is the likelihood of targets with normal noise, whose variance is e^θ.
type normal []float64

func (y normal) Samples() int                { return len(y) }
func (y normal) Prior() (mean, sd []float64) { return []float64{0, 0}, []float64{2, 2} }
func (y normal) Moments(n int, mean, variance float64, theta, slopes []float64) (logZ, slope, bend float64) {
	noise := math.Exp(theta[0])
	v, d := noise+variance, y[n]-mean
	if slopes != nil {
		slopes[0] = 0.5 * noise * (d*d/v - 1) / v
	}
	return -0.5 * (math.Log(2*math.Pi*v) + d*d/v), d / v, 1 / v
}

// strict is normal with much known of θ.
type strict struct{ normal }

func (strict) Prior() (mean, sd []float64) { return []float64{0, 0.3}, []float64{2, 0.02} }

// counts makes the targets counts whose mean is the exponential of the targets without noise, which have the prior 0.
func (p *problem) counts(t *testing.T, r float64) (*mgp.Observed, []float64) {
	rng := rand.New(rand.NewPCG(5, 6))
	y := make([]float64, len(p.y))
	for i, v := range p.y {
		mean := math.Exp(v)
		if r > 0 { // a gamma variable of the shape r, a whole number, is a sum of exponential ones
			var g float64
			for range int(r) {
				g += rng.ExpFloat64()
			}
			mean *= g / r
		}
		for sum := rng.ExpFloat64(); sum < mean; sum += rng.ExpFloat64() {
			y[i]++
		}
	}
	l, err := mgp.Observe(mgp.Counts{Y: y, Dispersed: r > 0})
	require.NoError(t, err)
	return l, y
}

// Sites of normal targets are exact, so that the fit is the linear mixed model.
func TestNormalObservations(t *testing.T) {
	p := newProblem(900, []int{40, 25}, []float64{0.8, 0.5})
	want, err := Process{Seed: 1}.Fit(context.Background(), p.features, p.columns, p.y)
	require.NoError(t, err)
	m, err := Process{Seed: 1}.FitLikelihood(context.Background(), p.features, p.columns, normal(p.y))
	require.NoError(t, err)
	assert.InEpsilon(t, want.Noise, math.Exp(m.Theta[0]), 0.01)
	assert.InDeltaSlice(t, want.Beta, m.Beta, 0.01)
	offset := make([]float64, len(p.y))
	la.Gemv(nil, la.NoTrans, 1, p.phi, m.Beta, 0, offset)
	rest := make([]float64, len(p.y))
	kept := make([]bool, len(p.y))
	for i, v := range p.y {
		rest[i], kept[i] = v-offset[i], i%3 != 0 && p.columns[0].Of[i] != 7
	}
	got, err := m.Without(context.Background(), 1, p.columns, offset, kept)
	require.NoError(t, err)
	without, err := want.Without(context.Background(), p.columns, rest, kept)
	require.NoError(t, err)
	for c, e := range want.Effects {
		assert.InEpsilon(t, e.Prior, m.Effects[c].Prior, 0.03)
		assert.InDeltaSlice(t, e.Mean, m.Effects[c].Mean, 0.03)
		assert.InDeltaSlice(t, e.Variance, m.Effects[c].Variance, 0.005)
		assert.InDeltaSlice(t, without[c].Mean, got[c].Mean, 0.03)
		assert.InDeltaSlice(t, without[c].Variance, got[c].Variance, 0.02)
	}
	assert.Zero(t, got[0].Mean[7], "a level without samples")
	assert.Equal(t, m.Effects[0].Prior, got[0].Variance[7])
}

// Given the intercept, the effects of one column of levels are independent: quadrature of each is the posterior.
func TestCountsOfOneColumn(t *testing.T) {
	p := newProblem(1200, []int{400}, []float64{0.8})
	p.features.Groups, p.features.Rows = nil, func(lo, hi int) la.Matrix[float64] { return p.phi.Slice(lo, hi, 0, 1).Clone() }
	for i := range p.y { // without the other features and the noise
		row := p.phi.Row(i)
		p.y[i] -= 0.7*row[1] - 0.4*row[2] + 0.2*row[3]
	}
	for _, r := range []float64{0, 3} {
		l, y := p.counts(t, r)
		m, err := Process{Seed: 1}.FitLikelihood(context.Background(), p.features, p.columns, l)
		require.NoError(t, err)
		offset := make([]float64, len(y))
		for i := range offset {
			offset[i] = m.Beta[0]
		}
		kept := make([]bool, len(y))
		for i := range kept {
			kept[i] = i%5 != 0
		}
		without, err := m.Without(context.Background(), 2, p.columns, offset, kept)
		require.NoError(t, err)
		sd := math.Sqrt(m.Effects[0].Prior)
		for level := range 60 {
			for _, some := range []bool{false, true} {
				e := m.Effects[0]
				if some {
					e = without[0]
				}
				var sum, first, second float64
				for u := -8 * sd; u <= 8*sd; u += 0.02 * sd {
					log := -0.5 * u * u / m.Effects[0].Prior
					for i, of := range p.columns[0].Of {
						if of == level && (!some || kept[i]) {
							logZ, _, _ := l.Moments(i, m.Beta[0]+u, 0, m.Theta, nil)
							log += logZ
						}
					}
					w := math.Exp(log)
					sum, first, second = sum+w, first+w*u, second+w*u*u
				}
				mean := first / sum
				v := second/sum - mean*mean
				assert.InDelta(t, mean, e.Mean[level], 0.03*sd, "r %g, level %d", r, level)
				// The variance that expectation propagation finds for rare counts is some percent below the posterior's. The quadrature has no variance of
				// the intercept.
				intercept := m.Effects[0].Prior / 400
				assert.InDelta(t, v, e.Variance[level], 0.06*v+2*intercept, "r %g, level %d", r, level)
			}
		}
	}
}

// The effects without some samples do not see the order of the samples, nor how blocks divide them.
func TestWithoutInAnyOrder(t *testing.T) {
	p := newProblem(blockRows+400, []int{300}, []float64{0.8})
	l, y := p.counts(t, 0)
	m, err := Process{Seed: 1}.FitLikelihood(context.Background(), p.features, p.columns, l)
	require.NoError(t, err)
	n := len(y)
	backward := *m
	backward.sites.weight, backward.sites.shift = make([]float64, n), make([]float64, n)
	columns := []Column{{Levels: 300, Of: make([]int, n)}}
	offset, kept, counts := [2][]float64{make([]float64, n), make([]float64, n)}, [2][]bool{make([]bool, n), make([]bool, n)}, make([]float64, n)
	la.Gemv(nil, la.NoTrans, 1, p.phi, m.Beta, 0, offset[0])
	for i := range y {
		j := n - 1 - i
		kept[0][i], kept[1][j] = i%3 > 0, i%3 > 0
		offset[1][j], counts[j], columns[0].Of[j] = offset[0][i], y[i], p.columns[0].Of[i]
		backward.sites.weight[j], backward.sites.shift[j] = m.sites.weight[i], m.sites.shift[i]
	}
	backward.sites.likelihood, err = mgp.Observe(mgp.Counts{Y: counts})
	require.NoError(t, err)
	want, err := m.Without(context.Background(), 1, p.columns, offset[0], kept[0])
	require.NoError(t, err)
	got, err := backward.Without(context.Background(), 1, columns, offset[1], kept[1])
	require.NoError(t, err)
	assert.InDeltaSlice(t, want[0].Mean, got[0].Mean, 1e-9)
	assert.InDeltaSlice(t, want[0].Variance, got[0].Variance, 1e-9)
}

// The variances and the dispersion of simulated counts are found, also with three samples for each level.
func TestVariancesOfCounts(t *testing.T) {
	p := newProblem(6000, []int{2000, 40}, []float64{0.8, 0.4})
	rng := rand.New(rand.NewPCG(3, 4)) // repeats the noise of the targets, to take the effects alone
	for _, n := range []int{2000, 40} {
		for range n {
			rng.NormFloat64()
		}
	}
	for i := range p.y {
		for range 3 {
			rng.NormFloat64()
		}
		p.y[i] -= rng.NormFloat64()
		rng.IntN(2000)
		rng.IntN(40)
	}
	l, _ := p.counts(t, 4)
	m, err := Process{Seed: 1}.FitLikelihood(context.Background(), p.features, p.columns, l)
	require.NoError(t, err)
	assert.InDelta(t, 0.8, math.Sqrt(m.Effects[0].Prior), 0.05)
	assert.InDelta(t, 0.4, math.Sqrt(m.Effects[1].Prior), 0.12)
	assert.InDelta(t, math.Log(4), m.Theta[0], 0.3)
	assert.InDelta(t, 0.7, m.Beta[1], 0.05)
	one, err := Process{Seed: 1, Workers: 1}.FitLikelihood(context.Background(), p.features, p.columns, l)
	require.NoError(t, err)
	assert.Equal(t, m, one, "the bits for one worker")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(assert.AnError)
	_, err = Process{}.FitLikelihood(ctx, p.features, p.columns, l)
	require.ErrorIs(t, err, assert.AnError)
}

// Grades and censored times with effects of levels: the variances, and a variance near 0 for a column without effects.
func TestGradesAndTimes(t *testing.T) {
	p := newProblem(5000, []int{300, 50}, []float64{0.9, 0})
	grades := make([]int, len(p.y))
	lower, upper := make([]float64, len(p.y)), make([]float64, len(p.y))
	for i, v := range p.y {
		for _, cut := range []float64{-1.5, -0.2, 0.1, 2} {
			if v > cut {
				grades[i]++
			}
		}
		lower[i], upper[i] = v/1.5, v/1.5
		if v > 1 {
			lower[i], upper[i] = 1/1.5, math.Inf(1)
		}
	}
	for of, l := range map[float64]mgp.Likelihood{1: mgp.Ordinal{Y: grades, Grades: 5}, 1.5: mgp.Censored{Lower: lower, Upper: upper}} {
		observed, err := mgp.Observe(l)
		require.NoError(t, err)
		m, err := Process{Seed: 1}.FitLikelihood(context.Background(), p.features, p.columns, observed)
		require.NoError(t, err)
		assert.InDelta(t, 0.9/of, math.Sqrt(m.Effects[0].Prior), 0.09/of, l.Name())
		assert.Less(t, math.Sqrt(m.Effects[1].Prior), 0.1/of, l.Name())
		assert.InDelta(t, 0.7/of, m.Beta[1], 0.05/of, l.Name())
		if of != 1 {
			assert.InDelta(t, 2*math.Log(1/of), m.Theta[0], 0.1)
		}
	}
}

// numeric is a likelihood of one number η, with moments by quadrature: log p(y | η) = log(η).
type numeric struct{ log func(eta float64) float64 }

func (numeric) Samples() int                { return 1 }
func (numeric) Prior() (mean, sd []float64) { return []float64{0}, []float64{2} }
func (l numeric) Moments(_ int, mean, variance float64, _, _ []float64) (logZ, slope, bend float64) {
	z, m, v := l.tilted(mean, variance)
	return math.Log(z), (m - mean) / variance, (1 - v/variance) / variance
}

// tilted returns the integral of the likelihood under N(mean, variance), and the mean and the variance of what is integrated.
func (l numeric) tilted(mean, variance float64) (z, m, v float64) {
	sd := math.Sqrt(variance)
	const step = 0.005
	var first, second float64
	for x := -9.0; x <= 9; x += step {
		w := math.Exp(l.log(mean+sd*x)-0.5*x*x) * step / math.Sqrt(2*math.Pi)
		z, first, second = z+w, first+w*x, second+w*x*x
	}
	return z, mean + sd*first/z, variance * (second/z - first/z*first/z)
}

// A site moves on the way to the ratio of the normal density with the moments under the likelihood and the cavity, where the cavity is what is left
// of the normal density of η without the site.
func TestSitesByQuadrature(t *testing.T) {
	count := numeric{func(eta float64) float64 { return 3*eta - math.Exp(eta) }}
	flat := numeric{func(float64) float64 { return 0 }}
	for _, c := range []struct {
		l                                    numeric
		weight, shift, mean, variance, prior float64
		cavity                               float64 // what its variance should be
	}{
		{count, 0, 0, 0.3, 0.5, 0.5, 0.5},
		{count, 1.2, 0.7, 0.4, 0.3, 0.9, 1 / (1/0.3 - 1.2)},
		{count, 2, -1, -0.5, 0.25, 0.9, 0.5},
		{count, 3, 0.5, 1, 0.25, 0.8, 0.8}, // without the site more than the prior
		{count, 5, 0.5, 1, 0.25, 0.8, 0.8}, // a site of more than all precision
		{count, 4, 0.5, 1, 0.25, 0.8, 0.8}, // of just all
		{flat, 1, 0.5, 1, 0.25, 0.8, 1.0 / 3},
	} {
		s := sites{likelihood: c.l, weight: []float64{c.weight}, shift: []float64{c.shift}}
		logZ := s.renew(0, c.mean, c.variance, c.prior, nil)
		middle := c.mean + c.cavity*(c.weight*c.mean-c.shift)
		if c.cavity < c.prior { // the natural parameters differ by the site's
			assert.InDelta(t, middle, (c.mean/c.variance-c.shift)/(1/c.variance-c.weight), 1e-12)
		}
		z, m, v := c.l.tilted(middle, c.cavity)
		assert.InDelta(t, math.Log(z), logZ, 1e-9, "%+v", c)
		assert.InDelta(t, c.weight+oneSweep*(1/v-1/c.cavity-c.weight), s.weight[0], 1e-7, "%+v", c)
		assert.InDelta(t, c.shift+oneSweep*(m/v-middle/c.cavity-c.shift), s.shift[0], 1e-7, "%+v", c)
	}
}

// A step of two parameters solves the equations of the gradient and the squares, with the prior, and has a limit.
func TestStepOfParameters(t *testing.T) {
	f := &observing{sites: sites{theta: []float64{0.7, -0.4}}, priorMean: []float64{0.2, 0.5}, priorSD: []float64{0.5, 2}}
	square := la.MatrixOf(2, 2, []float64{9, 2, 2, 3})
	gradient := []float64{1.5, -2.5}
	a, b, d := 9+1/0.25, 2.0, 3+1/4.0
	g, h := 1.5-(0.7-0.2)/0.25, -2.5-(-0.4-0.5)/4
	det := a*d - b*b
	by := []float64{(d*g - b*h) / det, (a*h - b*g) / det}
	require.Less(t, by[1], -mostTheta, "the limit is at work")
	moved, err := f.step(gradient, square)
	require.NoError(t, err)
	assert.InDelta(t, 0.7+by[0], f.sites.theta[0], 1e-12)
	assert.InDelta(t, -0.4-mostTheta, f.sites.theta[1], 1e-12)
	assert.InDelta(t, mostTheta, moved, 1e-12)
	moved, err = f.step([]float64{(0.7 + by[0] - 0.2) / 0.25, (-0.4 - mostTheta - 0.5) / 4}, la.MatrixOf(2, 2, []float64{1, 0, 0, 1}))
	require.NoError(t, err)
	assert.InDelta(t, 0, moved, 1e-12, "the gradient of likelihood and prior is 0")
}

// The score is of each sample without itself: with normal targets a level's other samples predict it, by a loop over them. The samples fill a block.
func TestScoreWithoutTheSample(t *testing.T) {
	p := newProblem(blockRows, []int{250}, []float64{0.8})
	m, err := Process{Seed: 1}.FitLikelihood(context.Background(), p.features, p.columns, normal(p.y))
	require.NoError(t, err)
	// score returns what it says, and its slope by θ with the log prior.
	score := func(m *Observed, theta float64) (sum, slope float64) {
		noise, prior := math.Exp(theta), m.Effects[0].Prior
		rest := append([]float64{}, p.y...)
		la.Gemv(nil, la.NoTrans, -1, p.phi, m.Beta, 1, rest)
		for n, y := range rest {
			precision, pull := 1/prior, 0.0
			for i, level := range p.columns[0].Of {
				if i != n && level == p.columns[0].Of[n] {
					precision, pull = precision+1/noise, pull+rest[i]/noise
				}
			}
			v := noise + 1/precision
			d := y - pull/precision
			sum -= 0.5 * (math.Log(2*math.Pi*v) + d*d/v)
			slope += 0.5 * noise * (d*d/v - 1) / v
		}
		return sum, slope - (theta-0.3)/(0.02*0.02)
	}
	want, _ := score(m, m.Theta[0])
	assert.InEpsilon(t, want, m.LogScore, 2e-4)
	m, err = Process{Seed: 1}.FitLikelihood(context.Background(), p.features, p.columns, strict{p.y})
	require.NoError(t, err)
	_, below := score(m, m.Theta[0]-0.015)
	_, above := score(m, m.Theta[0]+0.015)
	assert.Positive(t, below, "the observations and the prior of θ weigh about the same")
	assert.Negative(t, above)
	for _, y := range []float64{math.NaN(), math.Inf(1)} {
		p.y[7] = y
		_, err = Process{Seed: 1}.FitLikelihood(context.Background(), p.features, p.columns, normal(p.y))
		assert.ErrorContains(t, err, "effects: the log probability of the observations is")
	}
}
