package mkl

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi/mgp"
)

// areas are squares of a noisy function.
func areas(seed uint64, n int) (x Features, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 9))
	x = normal(rng, n, 2)
	for i := range n {
		z := 5 + 3.5*math.Sin(x.At(i, 0)) + 0.5*rng.NormFloat64()
		y = append(y, z*z)
	}
	return x, y
}

// learnedMixture returns the mean and the variance of the mixture of the members of a pool, on the scale that they learn.
func learnedMixture(t *testing.T, m *AutoModel, x Features) (mean, variance []float64) {
	t.Helper()
	mean, variance = make([]float64, x.Rows), make([]float64, x.Rows)
	_, weights := m.Members()
	for i, member := range m.members {
		of, v, err := member.Predict(x)
		require.NoError(t, err)
		for j := range mean {
			mean[j] += weights[i] * of[j]
			variance[j] += weights[i] * (v[j] + of[j]*of[j])
		}
	}
	for j, v := range mean {
		variance[j] -= v * v
	}
	return mean, variance
}

// Predictions of a pool on another scale are the moments, quantiles, probabilities and densities of a sampler.
func TestScaledPoolAgainstSampler(t *testing.T) {
	x, price, _ := prices(1, 120)
	xs, area := areas(1, 200)
	for name, c := range map[string]struct {
		x      Features
		y      []float64
		scale  targetScale
		target func(z float64) float64
	}{"prices": {x, price, logScale, math.Exp}, "areas": {xs, area, rootScale, func(z float64) float64 { return z * z }}} {
		t.Run(name, func(t *testing.T) {
			m := fitPool(t, Auto{}, []View{{X: c.x}}, c.y)
			require.Equal(t, c.scale, m.scale)
			assert.Contains(t, m.Story(), "the target's "+string(c.scale))
			at := c.x.Slice(0, 5, 0, c.x.Cols)
			p, err := m.PredictTargets(t.Context(), PredictOptions{}, at)
			require.NoError(t, err)
			mean, variance := learnedMixture(t, m, at)
			rng := rand.New(rand.NewPCG(3, 3))
			const n = 200_000
			for i := range at.Rows {
				draws, square := make([]float64, n), 0.0
				for k := range draws {
					draws[k] = c.target(mean[i] + math.Sqrt(variance[i])*rng.NormFloat64())
				}
				center, sd := vec.MeanSD(draws)
				for _, v := range draws {
					square += (v - center) * (v - center) / n
				}
				slices.Sort(draws)
				assert.InDelta(t, center, p.Mean[0][i], 5*sd/math.Sqrt(n))
				assert.InEpsilon(t, square, p.Variance[0][i], 0.05)
				low, high := p.Interval(0, i, 0.9)
				assert.InDelta(t, draws[n/20], low, 0.02*sd)
				assert.InDelta(t, draws[n-n/20], high, 0.03*sd)
				assert.InDelta(t, 0.25, p.CDF(0, i, draws[n/4]), 0.005)
				between := math.Log(0.02 / (draws[n*51/100] - draws[n*49/100]))
				assert.InDelta(t, between, p.LogDensity(0, i, draws[n/2]), 0.06)
			}
		})
	}
}

// Files, single predictions and the noise of a pool on another scale agree with the pool.
func TestScaledPoolFile(t *testing.T) {
	x, price, _ := prices(1, 120)
	m := fitPool(t, Auto{}, []View{{X: x}}, price)
	require.Equal(t, logScale, m.scale)
	at := normal(rand.New(rand.NewPCG(5, 5)), 20, 3)
	back := requireFile(t, m, LoadAs[*AutoModel], 5003)
	all, err := m.PredictTargets(t.Context(), PredictOptions{}, at)
	require.NoError(t, err)
	loaded, err := back.PredictTargets(t.Context(), PredictOptions{}, at)
	require.NoError(t, err)
	assert.Equal(t, all, loaded, "the distributions too")
	means, err := back.PredictTargets(t.Context(), PredictOptions{MeanOnly: true}, at)
	require.NoError(t, err)
	assert.Equal(t, all.Mean, means.Mean)
	assert.Nil(t, means.Variance)
	assert.Equal(t, m.NoiseSD(), back.NoiseSD())
	var logs float64
	for _, v := range price {
		logs += math.Log(v) / float64(len(price))
	}
	assert.InEpsilon(t, logs, m.middle, 1e-12)
	assert.InDelta(t, 0.15*math.Exp(7), m.NoiseSD()[0], 90)
	for _, exact := range []bool{false, true} {
		one, err := back.Predictor(PredictorOptions{Exact: exact})
		require.NoError(t, err)
		for i := range at.Rows {
			b, err := one.PredictWithBound(at.Row(i))
			require.NoError(t, err)
			sd := math.Sqrt(all.Variance[0][i])
			assert.InDelta(t, all.Mean[0][i], b.Mean, b.MeanError+1e-4*sd)
			assert.InDelta(t, sd, math.Sqrt(b.Variance), b.SDError+1e-4*sd)
			low, high := b.Interval(0.95)
			from, to := all.Interval(0, i, 0.95)
			assert.InDelta(t, from, low, b.MeanError+3*b.SDError+1e-3*sd)
			assert.InDelta(t, to, high, 3*b.MeanError+6*b.SDError+1e-3*sd)
		}
	}
}

// The bounds on errors of moments hold for all moments within the bounds on what was learned.
func TestScaledBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, s := range []targetScale{rootScale, logScale} {
		for range 2000 {
			p := &poolScale{recorded: recorded{s, []float64{0, 0.7}[rng.IntN(2)]}, largest: []float64{0, 0.2, 2}[rng.IntN(3)]}
			mean, sd := rng.NormFloat64(), 0.05+rng.Float64()
			meanError, sdError := rng.Float64()*0.5, rng.Float64()*0.4*sd
			b := p.one(BoundedPrediction{Mean: mean, Variance: sd * sd, MeanError: meanError, SDError: sdError})
			assert.Equal(t, BoundProved, b.Kind)
			real := p.one(BoundedPrediction{Mean: mean + meanError*(2*rng.Float64()-1), Variance: math.Pow(sd+sdError*(2*rng.Float64()-1), 2)})
			assert.InDelta(t, b.Mean, real.Mean, b.MeanError+1e-12)
			assert.InDelta(t, math.Sqrt(b.Variance), math.Sqrt(real.Variance), b.SDError+1e-12)
			assert.Zero(t, real.MeanError)
		}
		wide := &poolScale{recorded: recorded{scale: s}, widening: widening{at: []float64{0}, log: []float64{0.1}}}
		assert.Equal(t, BoundCalibrated, wide.one(BoundedPrediction{Mean: 1, Variance: 1, MeanError: 0.1}).Kind)
	}
}

// Far from all samples, where a learned value is uncertain, the mean of the target is no larger than the largest training target. Where the value is
// sure, it may be. Intervals stay as they are.
func TestMeansFarOutside(t *testing.T) {
	x := la.NewMatrix[float64](60, 1)
	y := make([]float64, 60)
	rng := rand.New(rand.NewPCG(8, 4))
	for i := range y {
		v := float64(i) / 10
		x.Set(i, 0, v)
		y[i] = math.Exp(0.8*v + 0.3*math.Sin(3*v) + 0.2*rng.NormFloat64())
	}
	m, err := Auto{}.Fit(context.Background(), []View{{X: x}}, y)
	require.NoError(t, err)
	require.Equal(t, logScale, m.scale)
	far := la.MatrixOf(4, 1, []float64{3, 6.2, 20, 1e3})
	p, err := m.PredictTargets(context.Background(), PredictOptions{}, far)
	require.NoError(t, err)
	free := m.poolScale
	free.largest = 0
	for i, mean := range p.learned[0].mean {
		sd := math.Sqrt(p.learned[0].variance[i])
		assert.InEpsilon(t, min(math.Exp(min(mean+sd*sd/2, mostLogTarget)), max(slices.Max(y), math.Exp(min(mean-sd, mostLogTarget)))), p.Mean[0][i], 1e-9)
		same, _ := free.moments(mean, sd*sd)
		if i == 0 {
			assert.Equal(t, same, p.Mean[0][i], "within the samples nothing changes")
		}
		low, high := p.Interval(0, i, 0.95)
		assert.InEpsilon(t, math.Exp(min(mean+1.959964*sd, mostLogTarget)), high, 1e-5)
		assert.Less(t, low, p.Mean[0][i])
	}
	root := &poolScale{recorded: recorded{scale: rootScale}, largest: 100}
	mean, variance := root.moments(-260, 1)
	assert.Zero(t, mean)
	assert.InEpsilon(t, 2+4*260.0*260, variance, 1e-12)
	mean, _ = root.moments(3, 1)
	assert.Equal(t, 10.0, mean)
	mean, _ = root.moments(20, 1)
	assert.Equal(t, 361.0, mean)

	back := requireFile(t, m, LoadAs[*AutoModel], 9001)
	assert.Equal(t, m.poolScale, back.poolScale)
}

// naiveWithout predicts sample i by a fit of all other samples, from the covariance of all samples at the scales of m.
func naiveWithout(t *testing.T, m *MultiGPModel, y []float64, i int) (mean, variance float64) {
	t.Helper()
	require.Len(t, m.posteriors, 1)
	require.Nil(t, m.posteriors[0].State().Sites)
	l := m.posteriors[0].State().Factor
	covariance := func(a, b int) float64 { return la.Dot(l.Row(a)[:min(a, b)+1], l.Row(b)[:min(a, b)+1]) }
	rest := without(vec.UpTo(len(y)), i)
	b, z, own := la.NewMatrix[float64](len(rest), len(rest)), make([]float64, len(rest)), make([]float64, len(rest))
	for j, a := range rest {
		z[j], own[j] = (y[a]-m.target.mean)/m.target.sd, covariance(a, i)
		for k, c := range rest {
			b.Set(j, k, covariance(a, c))
		}
	}
	by := slices.Clone(own)
	require.NoError(t, la.Cholesky(nil, b))
	la.CholeskySolveVec(b, by)
	return m.target.mean + m.target.sd*la.Dot(by, z), m.target.sd * m.target.sd * (covariance(i, i) - la.Dot(by, own))
}

// Leave-one-out predictions are in the target's units. They equal predictions of naive fits without the sample, at the kernels' weights and the noise
// of all samples, whose mixture on the logarithms has a log-normal target.
func TestScaledLeaveOneOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	x, price := normal(rng, 150, 2), make([]float64, 150)
	for i := range price {
		price[i] = math.Exp(3 + math.Sin(x.At(i, 0)) + 0.5*x.At(i, 1) + 0.2*rng.NormFloat64())
	}
	views := []View{{X: x, Kernel: kernel.RBF{Width: 2}}, {X: x, Kernel: kernel.Linear{}}}
	m := fitPool(t, Auto{}, views, price)
	require.Equal(t, logScale, m.scale)
	p := m.LeaveOneOut()
	require.Len(t, p.Mean[0], 150)
	logs := logScale.all(price)
	for i := 0; i < 150; i += 9 {
		var mean, square float64
		_, weights := m.Members()
		for k, member := range m.members {
			of, v := naiveWithout(t, member, logs, i)
			mean += weights[k] * of
			square += weights[k] * (v + of*of)
		}
		variance := square - mean*mean
		assert.InEpsilon(t, math.Exp(mean+variance/2), p.Mean[0][i], 1e-5, i)
		assert.InEpsilon(t, math.Expm1(variance)*math.Exp(2*mean+variance), p.Variance[0][i], 1e-4, i)
	}
}

// Sums of views and joint posteriors are of what the members learn: a pool on another scale refuses them.
func TestScaledPoolRefuses(t *testing.T) {
	x, price, plain := prices(1, 120)
	m := fitPool(t, Auto{}, []View{{X: x}}, price)
	_, err := m.PredictViews(t.Context(), PredictOptions{}, x)
	require.ErrorIs(t, err, ErrNoViews)
	assert.EqualError(t, err, "mkl: the predictions are no sum over views: the members learn the target's logarithm; "+ownScaleInstead)
	_, err = m.PredictJoint(t.Context(), PredictOptions{}, x)
	assert.ErrorContains(t, err, "PredictJoint: the joint posterior is of the target's logarithm, which the members learn")
	m = fitPool(t, Auto{}, []View{{X: x}}, plain)
	_, err = m.PredictViews(t.Context(), PredictOptions{}, x)
	require.NoError(t, err)
	_, err = m.PredictJoint(t.Context(), PredictOptions{}, x.Slice(0, 3, 0, 3))
	require.NoError(t, err)
}

// Targets keep their scale where another has no meaning or no gain.
func TestOwnScale(t *testing.T) {
	x, price, plain := prices(1, 60)
	zero, alike := slices.Clone(price), make([]float64, 60)
	zero[7] = 0
	for i, v := range plain {
		alike[i] = 40 + v // less than twice the least
	}
	ones := slices.Repeat([]float64{1}, 60)
	ones[3] = 2
	for name, c := range map[string]struct {
		a Auto
		y []float64
	}{
		"normal": {Auto{}, plain}, "zero": {Auto{}, zero}, "alike": {Auto{}, alike}, "known noise": {Auto{KnownNoise: 200}, price},
		"weights": {Auto{Weights: ones}, price}, "part": {Auto{part: true}, price}, "kept": {Auto{OwnScale: true}, price}, "few": {Auto{MaxSamples: leastScaleRows - 1}, price},
	} {
		m := fitPool(t, c.a, []View{{X: x}}, c.y)
		assert.Equal(t, ownScale, m.scale, name)
		assert.Nil(t, m.encode(&fileWriter{}).Scale, name)
	}
	m := fitPool(t, Auto{Time: time.Nanosecond}, []View{{X: x}}, price)
	assert.Equal(t, ownScale, m.scale)
	assert.Contains(t, m.Story(), "scales of the target: not compared, for lack of time")
	assert.Equal(t, logScale, fitPool(t, Auto{Time: time.Hour}, []View{{X: x}}, price).scale)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Auto{}.Fit(ctx, []View{{X: x}}, price)
	assert.ErrorIs(t, err, context.Canceled)
	var none context.Context
	_, err = Auto{}.Fit(none, []View{{X: x}}, price)
	assert.Error(t, err)
}

// The promise of a scale is the gain of the best constant variance, which a search finds.
func TestPromise(t *testing.T) {
	_, price, _ := prices(1, 50)
	mean := make([]float64, 50)
	rng := rand.New(rand.NewPCG(6, 6))
	for i, v := range price {
		mean[i] = v * math.Exp(0.2*rng.NormFloat64())
	}
	mean[3] = -5 // counts as the least target
	best := func(s targetScale) float64 {
		top := math.Inf(-1)
		for log := -8.0; log < 12; log += 0.001 {
			sum, sd := 0.0, math.Exp(log)
			for i, v := range price {
				e := s.learned(v) - s.learned(max(mean[i], slices.Min(price)))
				if s == ownScale {
					e = v - mean[i]
				}
				sum += (s.logSlope(v) - math.Log(sd) - e*e/(2*sd*sd)) / 50
			}
			top = max(top, sum)
		}
		return top
	}
	for _, s := range []targetScale{rootScale, logScale} {
		assert.InDelta(t, best(s)-best(ownScale), s.promise(mean, price), 1e-4)
	}
}

// Scores and conditions of the choice, by hand.
func TestScaleScore(t *testing.T) {
	// Errors 1, -2 and 2: the mean square is 3.
	assert.InDelta(t, 4-0.5*math.Log(3), scaleScore([]float64{5, 6, 7}, []float64{4, 8, 5}, []float64{3, 4, 5}), 1e-12)
	spread := func(n int, least, most float64) []float64 {
		y := slices.Repeat([]float64{least}, n)
		y[n/2] = most
		return y
	}
	for _, c := range []struct {
		y    []float64
		want bool
	}{
		{spread(20, 3, 6), true}, {spread(19, 3, 6), false}, {spread(20, 3, 5.9), false}, {spread(20, 0.1, 0.3), true}, {spread(20, 0, 6), false}, {spread(20, -1, 6), false},
	} {
		assert.Equal(t, c.want, mayScale(c.y), "%d samples: %g", len(c.y), c.y[:11])
	}
}

// A zero anywhere among very many targets, also after the samples that compare the scales, leaves them on their own.
func TestZeroAfterTheFirstRows(t *testing.T) {
	x, price, _ := prices(1, 900)
	for _, at := range []int{3, 899} {
		y := slices.Clone(price)
		y[at] = 0
		m := &manyRows{fitting: &fitting{}, ctx: t.Context(), views: []View{{X: x}}}
		got, err := m.chooseScale(Climb{}, y)
		require.NoError(t, err)
		assert.Equal(t, ownScale, got)
		assert.Empty(t, m.remarks)
	}
	for i := range price {
		price[i] /= 1e4 // some are below 1
	}
	m := &manyRows{fitting: &fitting{}, ctx: t.Context(), views: []View{{X: x}}}
	got, err := m.chooseScale(Climb{}, price)
	require.NoError(t, err)
	assert.Equal(t, logScale, got)
	require.Len(t, m.remarks, 1)
	assert.Contains(t, m.remarks[0], "the target's logarithm: it makes 600 targets")
}

// A context that ended ends the choice; a process that cannot be fitted leaves the target on its own scale and says so.
func TestChoiceOfScaleFails(t *testing.T) {
	x, price, _ := prices(1, 60)
	plan, err := newPoolPlan([]View{{X: x}}, price, nil, 0, 0, false)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = plan.chooseScale(ctx, &Auto{}, price)
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, plan.notes)
	few := plan.members[0].views
	plan.members[0].views = slices.Clone(few)
	plan.members[0].views[0].X.Data = slices.Clone(few[0].X.Data)
	plan.members[0].views[0].X.Data[0] = math.NaN()
	c, err := plan.chooseScale(t.Context(), &Auto{}, price)
	require.NoError(t, err)
	assert.Equal(t, scaleChoice{}, c)
	require.Len(t, plan.notes, 1)
	assert.Contains(t, plan.notes[0], "scales of the target: left out (")
}

// Each of several targets has a scale of its own, in predictions and in files.
func TestScalesOfTargets(t *testing.T) {
	x, price, plain := prices(1, 80)
	price[5] = math.NaN()
	m, err := AutoTargets{MissingTargets: true}.Fit(t.Context(), []View{{X: x}}, plain, price)
	require.NoError(t, err)
	assert.Equal(t, ownScale, m.Target(0).scale)
	assert.Equal(t, logScale, m.Target(1).scale)
	kept, err := AutoTargets{MissingTargets: true, OwnScale: true}.Fit(t.Context(), []View{{X: x}}, plain, price)
	require.NoError(t, err)
	assert.Equal(t, ownScale, kept.Target(1).scale)
	back := requireFile(t, m, LoadAs[*AutoTargetsModel], 9001)
	p, err := back.PredictTargets(t.Context(), PredictOptions{}, x)
	require.NoError(t, err)
	for o := range 2 {
		one, err := m.Target(o).PredictTargets(t.Context(), PredictOptions{}, x)
		require.NoError(t, err)
		for i := range 80 {
			low, high := p.Interval(o, i, 0.9)
			from, to := one.Interval(0, i, 0.9)
			assert.Equal(t, []float64{from, to}, []float64{low, high})
			assert.Equal(t, one.LogDensity(0, i, 1200), p.LogDensity(o, i, 1200))
			if o == 0 {
				assert.InDelta(t, p.Mean[0][i], (low+high)/2, 1e-9)
			} else {
				assert.Greater(t, p.Mean[1][i]-low, 0.0)
				assert.Greater(t, high-p.Mean[1][i], p.Mean[1][i]-low, "skewed")
			}
		}
	}
}

// A member that predicts the logarithm well, but one sample with so much uncertainty that its mean exceeds all targets, is not worthy.
func TestMeansBeyondAllTargets(t *testing.T) {
	z := make([]float64, 40)
	for n := range z {
		z[n] = math.Sin(float64(n))
	}
	member := func(sd float64) (*MultiGPModel, []float64) {
		l := &mgp.LeaveOneOut{Mean: slices.Clone(z), Variance: slices.Repeat([]float64{0.01}, len(z))}
		for n := range z {
			l.Mean[n] += 0.1 * math.Cos(7*float64(n))
		}
		l.Variance[3] = sd * sd
		m := &MultiGPModel{processes: processes{leaveOneOut: []*mgp.LeaveOneOut{l}}, target: target{sd: 1}}
		return m, m.leftOutDensity(z)
	}
	good, ofGood := member(0.1)
	bad, ofBad := member(10) // E y = e⁵⁰ at sample 3
	assert.InDelta(t, vec.Total(ofGood), vec.Total(ofBad), 5, "densities hardly differ")
	c := scaleChoice{scale: logScale, bar: -3}
	assert.Equal(t, []bool{true, false}, c.worthy([]*MultiGPModel{good, bad}, [][]float64{ofGood, ofBad}, z))
	assert.Equal(t, []bool{true}, c.worthy([]*MultiGPModel{bad}, [][]float64{ofBad}, z), "one member stays")
}
