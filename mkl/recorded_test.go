package mkl

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

func TestCommonStep(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func(n int, f func() float64) (y []float64) {
		for range n {
			y = append(y, f())
		}
		return y
	}
	for name, c := range map[string]struct {
		y    []float64
		step float64
	}{
		"counts":            {[]float64{0, 0, 3, 7, 1, 0}, 1},
		"two values":        {[]float64{2, 5, 5, 2}, 3},
		"three values":      {[]float64{0.3, 1, 0}, 0.1},
		"sevenths":          {[]float64{2.0 / 7, 9.0 / 7, 1}, 1.0 / 7},
		"multiples of 25":   {[]float64{-50, 1000, 75}, 25},
		"far from 0":        {[]float64{1e6 + 0.25, 1e6 + 1, 1e6 + 4.5}, 0.25},
		"equal":             {[]float64{4, 4, 4}, 0},
		"a finer one among": {[]float64{1, 2, 3, 4.5, 9}, 0.5},
		"percent":           {draw(200, func() float64 { return math.Round(1000*rng.Float64()) / 10 }), 0.1},
	} {
		assert.InEpsilon(t, 1+c.step, 1+commonStep(c.y), 1e-12, name)
		if c.step == 0 {
			continue
		}
		for _, unit := range []float64{2.54, 1.0 / 3, -1e-30, 7e200} { // and another origin
			y := slices.Clone(c.y)
			for i := range y {
				y[i] = unit*y[i] + 11*unit
			}
			rng.Shuffle(len(y), func(i, j int) { y[i], y[j] = y[j], y[i] })
			assert.InEpsilon(t, c.step, commonStep(y)/math.Abs(unit), 1e-6, "%s in units of %g", name, unit)
		}
	}
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 3))
		y := draw(3+int(seed), rng.NormFloat64)
		assert.Less(t, commonStep(y), 1e-4, "a target without steps")
	}
}

// With the least variance the target itself has the variance of rounding, on each scale.
func TestLeastVariance(t *testing.T) {
	for _, s := range targetScales {
		for _, step := range []float64{1e-3, 1, 20} {
			r := recorded{s, step}
			for _, mean := range []float64{0.01, 0.5, 1, 3} {
				_, v := s.moments(mean, r.leastVariance(mean))
				assert.InEpsilon(t, step*step/12, v, 1e-9, "%s %g %g", s, step, mean)
				p := poolScale{recorded: r}
				assert.Equal(t, 1e6, p.variance(mean, 1e6))
				assert.Equal(t, r.leastVariance(mean), p.variance(mean, 0))
			}
		}
		assert.Zero(t, recorded{scale: s}.leastVariance(1))
	}
	assert.False(t, math.IsInf(recorded{logScale, 1}.leastVariance(-1e9), 0))
}

// A mixture of normal densities, none narrower than rounding, is no denser than rounding alone.
func TestRecordedLogDensity(t *testing.T) {
	r := recorded{step: 2}
	least := 4.0 / 12
	assert.Equal(t, 7.0, recorded{}.logDensity(7, 0, 0, 0))
	assert.Equal(t, normalLogDensity(0.5, least), r.logDensity(7, 0.5, 0, 1e-9))
	assert.Equal(t, normalLogDensity(0, least), r.logDensity(7, 0, 0, 5))
	assert.Equal(t, -3.0, r.logDensity(-3, 0, 0, 5))
}

// ticks are counts as of ticks on grouse chicks: groups of samples nearly without any, and groups of many.
func ticks(seed uint64, n int) (x Features, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 41))
	x = la.NewMatrix[float64](n, 2)
	for i := range n {
		group := float64(rng.IntN(12))
		x.Set(i, 0, group)
		x.Set(i, 1, rng.NormFloat64())
		switch {
		case group < 7 && rng.Float64() < 0.03:
			y = append(y, 1)
		case group < 7:
			y = append(y, 0)
		default:
			y = append(y, math.Round(math.Exp(0.5*(group-6)+0.7*rng.NormFloat64())))
		}
	}
	return x, y
}

// Counts with groups of zeros have noise that varies from nearly none. The pool does not promise zeros exactly, and what single predictions,
// many and files say agrees.
func TestPoolOfTicks(t *testing.T) {
	x, y := ticks(3, 150)
	m, err := Auto{}.Fit(context.Background(), []View{{X: x}}, y)
	require.NoError(t, err)
	least := 1.0 / 151
	assert.InEpsilon(t, least, m.step*m.step/12, 1e-12)
	at, truth := ticks(4, 400)
	p, err := m.PredictTargets(context.Background(), PredictOptions{}, at)
	require.NoError(t, err)
	var density float64
	inside, floored := 0, 0
	for i, v := range truth {
		assert.GreaterOrEqual(t, p.Variance[0][i], least*(1-1e-12))
		if p.Variance[0][i] < least*(1+1e-12) {
			floored++
		}
		density += p.LogDensity(0, i, v) / float64(len(truth))
		if low, high := p.Interval(0, i, 0.95); low <= v && v <= high {
			inside++
		}
	}
	assert.Positive(t, floored, "the least variance counts in this test")
	assert.Greater(t, density, -5.0)
	assert.InDelta(t, 0.95, float64(inside)/float64(len(truth)), 0.05)
	assert.GreaterOrEqual(t, m.NoiseSD()[0], math.Sqrt(least)*(1-1e-12))

	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	loaded, err := Load(&file)
	require.NoError(t, err)
	again, err := loaded.(*AutoModel).PredictTargets(context.Background(), PredictOptions{}, at)
	require.NoError(t, err)
	assert.Equal(t, p.Variance, again.Variance)
	single, err := m.Predictor(PredictorOptions{})
	require.NoError(t, err)
	for i := range 40 {
		b, err := single.PredictWithBound(at.Row(i))
		require.NoError(t, err)
		sd := math.Sqrt(p.Variance[0][i])
		assert.InDelta(t, p.Mean[0][i], b.Mean, b.MeanError+1e-4*sd)
		assert.InDelta(t, sd, math.Sqrt(b.Variance), b.SDError+1e-4*sd)
	}
}

// Rounded targets of a function that is known but for rounding have intervals that hold their share; exact functions whose values are integers
// keep their exactness.
func TestPoolOfRounding(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	x, at := normal(rng, 100, 2), normal(rng, 500, 2)
	round := func(x Features) (y []float64) {
		for i := range x.Rows {
			y = append(y, 0.5*math.Round(2*(math.Sin(x.At(i, 0))+2*x.At(i, 1))))
		}
		return y
	}
	m, err := Auto{}.Fit(context.Background(), []View{{X: x}}, round(x))
	require.NoError(t, err)
	mean, variance, err := m.Predict(at)
	require.NoError(t, err)
	inside := 0
	for i, v := range round(at) {
		if math.Abs(v-mean[i]) < 1.96*math.Sqrt(variance[i]) {
			inside++
		}
	}
	assert.InDelta(t, 0.96, float64(inside)/500, 0.04)

	grid, sum := la.NewMatrix[float64](49, 2), make([]float64, 49)
	for i := range sum {
		grid.Set(i, 0, float64(i%7))
		grid.Set(i, 1, float64(i/7))
		sum[i] = float64(i%7 + 3*(i/7))
	}
	exact, err := Auto{}.Fit(context.Background(), []View{{X: grid}}, sum)
	require.NoError(t, err)
	meanSum, ofSum, err := exact.Predict(grid)
	require.NoError(t, err)
	for i, v := range ofSum {
		assert.InEpsilon(t, 1.0/50, v, 0.3, "one of 50 may be a step off")
		assert.InDelta(t, sum[i], meanSum[i], 0.05)
	}
}

// A rule that all training targets follow exactly promises no other value less than one of so many targets suggests.
func TestRuleOfSteps(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 6))
	x := normal(rng, 60, 2)
	y := make([]float64, 60)
	for i := range y {
		x.Set(i, 0, float64(i%2))
		y[i] = 6 + float64(i%2)
	}
	m, err := Auto{OwnScale: true}.Fit(context.Background(), []View{{X: x}}, y)
	require.NoError(t, err)
	p, err := m.PredictTargets(context.Background(), PredictOptions{}, x)
	require.NoError(t, err)
	for i, v := range y {
		assert.InDelta(t, v, p.Mean[0][i], 0.1)
		assert.Greater(t, p.LogDensity(0, i, v+1), -50.0)
		assert.Greater(t, p.CDF(0, i, v+0.5)-p.CDF(0, i, v-0.5), 0.995)
	}
	known, err := Auto{KnownNoise: 1e-3}.Fit(context.Background(), []View{{X: x}}, y)
	require.NoError(t, err)
	assert.Zero(t, known.step)
}
