package mkl

import (
	"bytes"
	"context"
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// fitShared fits two targets; each depends on one of two inputs.
func fitShared(t testing.TB, n int) (*SharedRegressionModel, []View, [][]float64) {
	rng := rand.New(rand.NewPCG(3, 5))
	a, b := normal(rng, n, 1), normal(rng, n, 1)
	y := [][]float64{make([]float64, n), make([]float64, n)}
	for i := range n {
		y[0][i] = 10 + 3*math.Sin(2*a.At(i, 0)) + 0.1*rng.NormFloat64()
		y[1][i] = math.Sin(2*b.At(i, 0)) + 0.1*rng.NormFloat64()
	}
	views := []View{{Name: "a", X: a, Input: "x1", Kernel: kernel.RBF{Width: 0.7}}, {Name: "b", X: b, Input: "x2", Kernel: kernel.RBF{Width: 0.7}}}
	m, err := SharedRegression{}.Fit(context.Background(), views, y...)
	require.NoError(t, err)
	return m, views, y
}

func TestSharedRegressionTellsTargetsApart(t *testing.T) {
	m, views, y := fitShared(t, 60)
	require.True(t, m.Trace().Converged)
	for o, other := range []int{1, 0} {
		w := m.Outputs()[o].Weights
		assert.Greater(t, math.Abs(w[o].Mean), 5*math.Abs(w[other].Mean), "target %d depends on view %s", o, views[o].Name)
		assert.Equal(t, w[o], m.KernelWeights()[o], "the view's weight for the target that it matters most to")
		assert.Equal(t, m.ActiveSamples(0), m.ActiveSamples(o))
	}
	p, err := m.PredictTargets(context.Background(), PredictOptions{}, views[0].X, views[1].X)
	require.NoError(t, err)
	for o := range y {
		rest := make([]float64, len(y[o]))
		for i := range rest {
			rest[i] = y[o][i] - p.Mean[o][i]
		}
		_, sd := vec.MeanSD(y[o])
		_, left := vec.MeanSD(rest)
		assert.Less(t, left, 0.3*sd)
		assert.InEpsilon(t, sd/math.Sqrt(m.Posterior().State().Epsilon[o].Mean()), m.NoiseSD()[o], 1e-12)
	}
	assert.Contains(t, m.Summary(), "regression of 2 targets with shared sample weights on 2 kernels (2 active) and 60 samples")
}

// The estimator is bemkl.SharedRegression on standardised targets.
func TestSharedRegressionIsTheModel(t *testing.T) {
	m, views, y := fitShared(t, 30)
	_, z := standardizeTargets(y, false)
	_, k, err := (&fitting{}).fixedKernels(context.Background(), nil, views, 30, 1, SharedRegression{}.EstimateMemory)
	require.NoError(t, err)
	fit, err := bemkl.SharedRegression{}.Fit(context.Background(), k, z)
	require.NoError(t, err)
	assert.Equal(t, fit.Record.Trace, m.Trace().Bounds)
	assert.Equal(t, fit.Posterior.State().BEMean, m.Posterior().State().BEMean)
}

func TestSharedPredictorWithinItsBounds(t *testing.T) {
	m, views, y := fitShared(t, 40)
	requireSharedPredictorWithin(t, m)
	withGaps(y)
	m, err := SharedRegression{MissingTargets: true}.Fit(context.Background(), views, y...)
	require.NoError(t, err)
	requireSharedPredictorWithin(t, m)
	_, err = m.Predictor(PredictorOptions{Target: 2})
	assert.EqualError(t, err, "mkl: Predictor: target 2 of 2")
}

// withGaps makes targets of two missing: of some samples one, of some both.
func withGaps(y [][]float64) {
	for i := range y[0] {
		if i%3 == 1 {
			y[0][i] = math.NaN()
		}
		if i%5 == 2 || i%3 == 2 {
			y[1][i] = math.NaN()
		}
	}
}

func requireSharedPredictorWithin(t *testing.T, m *SharedRegressionModel) {
	t.Helper()
	x := newPoints(m, 20)
	p, err := m.PredictTargets(context.Background(), PredictOptions{}, x...)
	require.NoError(t, err)
	for o := range m.Targets() {
		for _, opt := range []PredictorOptions{{Target: o}, {Target: o, Exact: true}, {Target: o, Tolerance: 0.5}} {
			one, err := m.Predictor(opt)
			require.NoError(t, err)
			for i := range p.Mean[o] {
				requireWithin(t, one, p.Mean[o][i], p.Variance[o][i], x[0].Row(i), x[1].Row(i))
			}
		}
	}
}

// Targets that are complete give the same bits with MissingTargets; those that are not are
// predicted, and the model is the same from a file.
func TestSharedRegressionOfMissingTargets(t *testing.T) {
	ctx := context.Background()
	m, views, y := fitShared(t, 60)
	same, err := SharedRegression{MissingTargets: true}.Fit(ctx, views, y...)
	require.NoError(t, err)
	var one, two bytes.Buffer
	require.NoError(t, m.Save(&one))
	require.NoError(t, same.Save(&two))
	assert.Equal(t, one.Bytes(), two.Bytes())

	truth := [][]float64{slices.Clone(y[0]), slices.Clone(y[1])}
	withGaps(y)
	gaps, err := SharedRegression{MissingTargets: true}.Fit(ctx, views, y...)
	require.NoError(t, err)
	require.True(t, gaps.Posterior().Healable())
	p, err := gaps.PredictTargets(ctx, PredictOptions{}, views[0].X, views[1].X)
	require.NoError(t, err)
	for o := range y {
		var rest, all float64
		mean, _ := vec.MeanSD(truth[o])
		for i, v := range y[o] {
			if math.IsNaN(v) {
				rest += math.Pow(truth[o][i]-p.Mean[o][i], 2)
				all += math.Pow(truth[o][i]-mean, 2)
			}
		}
		assert.Less(t, rest, 0.2*all, "target %d where it was missing", o)
	}
	loaded := requireFile(t, gaps, LoadAs[*SharedRegressionModel], 997)
	again, err := loaded.PredictTargets(ctx, PredictOptions{Workers: 2}, views[0].X, views[1].X)
	require.NoError(t, err)
	assert.Equal(t, p, again)

	warm, err := SharedRegression{MissingTargets: true, From: loaded}.Fit(ctx, views, y...)
	require.NoError(t, err)
	assert.Less(t, warm.Trace().Sweeps, gaps.Trace().Sweeps)
	on, err := SharedRegression{MissingTargets: true, Landmarks: &Landmarks{Count: 20}}.Fit(ctx, views, y...)
	require.NoError(t, err)
	assert.False(t, on.Posterior().Healable())

	size := FitSize{Samples: 1000, Kernels: 7, Outputs: 2}
	assert.Greater(t, SharedRegression{MissingTargets: true}.EstimateMemory(size), SharedRegression{}.EstimateMemory(size))

	var file bytes.Buffer
	require.NoError(t, gaps.Save(&file))
	assertRefused(t, file.Bytes(), func(_ map[string]string, ts map[string]tensor) { ts["healing.patterns"].data[3] = 0.5 },
		"tensor \"healing.patterns\": element 3 is 0.5: a whole number is needed")
	assertRefused(t, file.Bytes(), func(_ map[string]string, ts map[string]tensor) { ts["healing.patterns"].data[3] = 99 },
		"vi: shared regression state: Healing.Patterns[3] is 99 of ")
}

var gapSets = flag.Int("shared.sets", 2, "sets that TestSharedRegressionWithGapsIsCalibrated simulates")

// TestSharedRegressionWithGapsIsCalibrated simulates targets, makes some of them missing, and
// counts how many of these and of new samples lie in their 90 % intervals: about as many as where
// nothing is missing. docs/lab/tasks.md has its counts for more sets.
func TestSharedRegressionWithGapsIsCalibrated(t *testing.T) {
	testkit.NotShort(t)
	const n, more, L = 60, 60, 3
	places := [3]string{"new samples, nothing missing", "new samples", "missing targets"}
	var inside, count [3]float64
	for seed := range uint64(*gapSets) {
		rng := rand.New(rand.NewPCG(seed, 9))
		a, b := normal(rng, n+more, 1), normal(rng, n+more, 1)
		whole, seen := make([][]float64, L), make([][]float64, L)
		for o, mix := range [L][2]float64{{1, 0}, {0, 1}, {0.7, -0.7}} {
			whole[o] = make([]float64, n+more)
			for i := range whole[o] {
				f, g := math.Sin(2*a.At(i, 0)), math.Sin(2*b.At(i, 0))
				whole[o][i] = float64(mix[0]*f) + float64(mix[1]*g) + float64(0.3*rng.NormFloat64())
			}
			seen[o] = slices.Clone(whole[o][:n])
			for i := range seen[o] {
				if rng.Float64() < 0.4 {
					seen[o][i] = math.NaN()
				}
			}
		}
		views := []View{{X: a.Slice(0, n, 0, 1), Input: "x1", Kernel: kernel.RBF{Width: 0.7}}, {X: b.Slice(0, n, 0, 1), Input: "x2", Kernel: kernel.RBF{Width: 0.7}}}
		complete := [][]float64{whole[0][:n], whole[1][:n], whole[2][:n]}
		for k, y := range [2][][]float64{complete, seen} {
			m, err := SharedRegression{MissingTargets: true}.Fit(context.Background(), views, y...)
			require.NoError(t, err)
			p, err := m.PredictTargets(context.Background(), PredictOptions{}, a, b)
			require.NoError(t, err)
			for o := range y {
				for i, v := range whole[o] {
					place := k
					if i < n {
						if place = 2; !math.IsNaN(y[o][i]) {
							continue
						}
					}
					count[place]++
					if math.Abs(v-p.Mean[o][i]) < 1.6448536269514722*math.Sqrt(p.Variance[o][i]) {
						inside[place]++
					}
				}
			}
		}
	}
	for k, place := range places {
		t.Logf("%s: %.1f %% of %g in 90 %%", place, 100*inside[k]/count[k], count[k])
		assert.InDelta(t, inside[0]/count[0], inside[k]/count[k], 0.03, place)
	}
}

func TestSharedRegressionRefuses(t *testing.T) {
	_, views, y := fitShared(t, 20)
	y[1][3] = math.NaN()
	_, err := SharedRegression{}.Fit(context.Background(), views, y...)
	assert.EqualError(t, err, "mkl: y[1][3] is NaN")
	for i := range y[1] {
		if i > 0 {
			y[1][i] = math.NaN()
		}
	}
	_, err = SharedRegression{MissingTargets: true}.Fit(context.Background(), views, y...)
	assert.EqualError(t, err, "mkl: y[1]: 1 samples with a target where at least 2 are needed")

	size := FitSize{Samples: 1000, Kernels: 7, Outputs: 2}
	n := SharedRegression{Fitting: Fitting{Workers: 2}}.EstimateMemory(size)
	assert.Less(t, n, Regression{Fitting: Fitting{Workers: 2}}.EstimateMemory(size))
	assert.Greater(t, n, int64(8*8*1000*1000))

	m, _, _ := fitShared(t, 20)
	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	_, err = LoadAs[*RegressionModel](&file)
	assert.ErrorContains(t, err, "mkl: load: the file holds \"shared-regression\", not \"regression\"")
}
