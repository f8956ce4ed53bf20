package mkl

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// screen returns a table of targets with gaps. The first target has no gaps; the second and
// fourth are known for the same samples.
func screen(n int) (views []View, y [][]float64, x Features) {
	rng := rand.New(rand.NewPCG(3, 3))
	x = normal(rng, n, 3)
	y = rows(4, n)
	for o := range y {
		for i := range n {
			y[o][i] = float64(o) + 10*math.Sin(x.At(i, 0)+0.3*float64(o)) + rng.NormFloat64()
			if o%2 == 1 && i%3 == 0 || o == 2 && i < n/2 {
				y[o][i] = math.NaN()
			}
		}
	}
	return []View{{X: x, Kernel: kernel.RBF{Width: 1}}, {X: x, Kernel: kernel.Linear{}, Normalize: true, Center: true}}, y, x
}

// A task uses only its own samples: the model equals the model of vi on the submatrices.
func TestTaskRegressionIsThatOfItsSamples(t *testing.T) {
	ctx := context.Background()
	views, y, x := screen(24)
	est := TaskRegression{Fitting: Fitting{Seed: 4}, Ascent: Ascent{MaxSweeps: 40}, MissingTargets: true}
	m, err := est.Fit(ctx, views, y...)
	require.NoError(t, err)
	assert.Equal(t, []int{24, 16, 12, 16}, m.taskSamples())

	_, k, err := est.fitting().fixedKernels(ctx, nil, views, 24, 4, est.EstimateMemory)
	require.NoError(t, err)
	var tasks []bemkl.Task
	var own [][]int
	for _, target := range y {
		var samples []int
		var seen []float64
		for i, v := range target {
			if !math.IsNaN(v) {
				samples, seen = append(samples, i), append(seen, v)
			}
		}
		mean, sd := vec.MeanSD(seen)
		for i := range seen {
			seen[i] = (seen[i] - mean) / sd
		}
		var ks []la.Matrix[float64]
		for p := range views {
			sub := la.NewMatrix[float64](len(samples), len(samples))
			for i, r := range samples {
				for j, c := range samples {
					sub.Set(i, j, k.(*vi.Dense).At(p).At(r, c))
				}
			}
			ks = append(ks, sub)
		}
		dense, err := vi.NewDense(ks...)
		require.NoError(t, err)
		tasks, own = append(tasks, bemkl.Task{Kernels: dense, Y: seen}), append(own, samples)
	}
	fit, err := bemkl.TaskRegression{Seed: 4, Ascent: vi.Ascent{MaxSweeps: 40}}.Fit(ctx, tasks)
	require.NoError(t, err)
	for task := range fit.Posterior.State().Tasks { // of the model, too, factors lie beside the Gram matrices
		_, _, err := fit.Posterior.Task(task).WeightVariances(nil, 0)
		require.NoError(t, err)
	}
	assert.Equal(t, fit.Posterior.State(), m.Posterior().State())

	// At the training samples, unhealed, it predicts what the posterior does.
	p, err := m.PredictTargets(ctx, PredictOptions{Unhealed: true}, x)
	require.NoError(t, err)
	noise, active := m.NoiseSD(), m.Outputs()
	for o, samples := range own {
		want, err := fit.Posterior.Task(o).Predict(tasks[o].Kernels, vi.PredictOptions{})
		require.NoError(t, err)
		for i, s := range samples {
			assert.InDelta(t, m.targets[o].mean+m.targets[o].sd*want.Mean.At(0, i), p.Mean[o][s], 1e-9)
			assert.InEpsilon(t, m.targets[o].sd*m.targets[o].sd*want.Variance.At(0, i), p.Variance[o][s], 1e-9)
		}
		assert.Positive(t, noise[o])
		for _, w := range active[o].Active {
			i, found := slices.BinarySearch(samples, w.Sample)
			require.True(t, found, "task %d has a weight of sample %d, which it lacks", o, w.Sample)
			assert.Equal(t, fit.Posterior.State().Tasks[o].A[i], w.Mean)
		}
	}
	assert.Contains(t, m.Summary(), "target 2 of 16 samples: noise SD")
	assert.Contains(t, m.String(), "regression of 4 targets with samples of their own on 2 kernels")
}

// It finds the values that it was not given, and a file brings all of it back.
func TestTaskRegressionPredictsAndIsSaved(t *testing.T) {
	ctx := context.Background()
	views, y, x := screen(60)
	m, err := TaskRegression{Fitting: Fitting{Seed: 1}, MissingTargets: true}.Fit(ctx, views, y...)
	require.NoError(t, err)
	p, err := m.PredictTargets(ctx, PredictOptions{}, x)
	require.NoError(t, err)
	for o, target := range y {
		var squares, n float64
		for i, v := range target {
			if math.IsNaN(v) {
				v = float64(o) + 10*math.Sin(x.At(i, 0)+0.3*float64(o))
				squares, n = squares+(p.Mean[o][i]-v)*(p.Mean[o][i]-v), n+1
			}
		}
		if n > 0 {
			assert.Less(t, squares/n, 16.0, "a third of the variance of the true values of task %d", o)
		}
	}
	loaded := requireFile(t, m, LoadAs[*TaskRegressionModel], 997)
	again, err := loaded.PredictTargets(ctx, PredictOptions{Workers: 3}, x)
	require.NoError(t, err)
	assert.Equal(t, p, again)

	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	assertRefused(t, file.Bytes(), func(metadata map[string]string, _ map[string]tensor) {
		metadata["model"] = strings.Replace(metadata["model"], `"samples":60`, `"samples":59`, 1)
	}, "60 basis points and 59 samples do not fit the tensors")
	assertRefused(t, file.Bytes(), func(_ map[string]string, ts map[string]tensor) { ts["basis.of"].data[3] = 0.5 }, `tensor "basis.of": entry (0, 3) is 0.5`)
	assertRefused(t, file.Bytes(), func(_ map[string]string, ts map[string]tensor) { clear(ts["basis.of"].data[:60]) }, `tensor "basis.of": target 0 has no basis points`)
	assertRefused(t, file.Bytes(), func(_ map[string]string, ts map[string]tensor) { ts["basis.of"].data[3] = 0 }, `tensor "task.0.lambda": shape is [60] where [59] is expected`)
	assertRefused(t, file.Bytes(), func(_ map[string]string, ts map[string]tensor) { ts["task.1.lambda"].data[3] = -1 }, `task 1: vi: regression state: Lambda: entry (0, 3) is -1`)
}

// Rectangular kernels give every task all basis points.
func TestTaskRegressionOnFewBasisPoints(t *testing.T) {
	ctx := context.Background()
	_, y, x := screen(24)
	k := la.NewMatrix[float64](24, 5)
	for i := range 24 {
		for d := range 5 {
			k.Set(i, d, math.Exp(-math.Abs(x.At(i, 0)-x.At(d, 0))))
		}
	}
	m, err := TaskRegression{MissingTargets: true}.Fit(ctx, []View{{X: k, Kernel: kernel.Precomputed{}}}, y...)
	require.NoError(t, err)
	assert.Equal(t, 5, m.Samples())
	assert.Equal(t, []int{24, 16, 12, 16}, m.taskSamples())
	p, err := m.PredictTargets(ctx, PredictOptions{}, k)
	require.NoError(t, err)
	loaded := requireFile(t, m, LoadAs[*TaskRegressionModel], 997)
	again, err := loaded.PredictTargets(ctx, PredictOptions{}, k)
	require.NoError(t, err)
	assert.Equal(t, p, again)
	assert.Contains(t, m.Summary(), "predictions are not healed")
}

// Complete targets give the model of [Regression], from any start that both reach it from.
func TestTaskRegressionOfCompleteTargetsIsRegression(t *testing.T) {
	ctx := context.Background()
	views, y, x := screen(20)
	one, err := Regression{}.Fit(ctx, views, y[0])
	require.NoError(t, err)
	two, err := TaskRegression{}.Fit(ctx, views, y[0])
	require.NoError(t, err)
	assert.InDelta(t, one.Bound(), two.Bound(), 1e-8*math.Abs(one.Bound()))
	mean, variance, err := one.Predict(x)
	require.NoError(t, err)
	got, spread, err := two.Predict(x)
	require.NoError(t, err)
	assert.InDeltaSlice(t, mean, got, 1e-6)
	assert.InDeltaSlice(t, variance, spread, 1e-6)
}

// A predictor of a task sees its basis points alone, and is as close to the model as it says:
// of kernels with and without pivots, centred ones among them, healed or not.
func TestTaskPredictorWithinItsBounds(t *testing.T) {
	ctx := context.Background()
	views, y, x := screen(90)
	views[0] = View{X: x, Kernel: kernel.RBF{Width: 3}, Center: true}
	m, err := TaskRegression{Ascent: Ascent{MaxSweeps: 30}, MissingTargets: true}.Fit(ctx, views, y...)
	require.NoError(t, err)
	q := around(rand.New(rand.NewPCG(3, 3)), x, 40)
	pivots := 0
	for target := range y {
		for _, opt := range []PredictorOptions{{}, {Exact: true}, {Unhealed: true, Tolerance: 0.3}, {MeanOnly: true, Tolerance: 0.1}, {Published: true}} {
			opt.Target = target
			p, err := m.Predictor(opt)
			require.NoError(t, err)
			want, err := m.PredictTargets(ctx, PredictOptions{Published: opt.Published, Unhealed: opt.Unhealed}, q)
			require.NoError(t, err)
			for i := range q.Rows {
				requireWithin(t, p, want.Mean[target][i], want.Variance[target][i], q.Row(i))
			}
			for _, d := range slices.Concat(append(p.Info()[0].Pivots, p.Info()[0].Samples)...) {
				require.False(t, math.IsNaN(y[target][d]), "sample %d is not of task %d", d, target)
			}
			if p.weights.near != nil {
				pivots++
			}
			if !raceEnabled {
				point := q.Row(0)
				assert.Zero(t, testing.AllocsPerRun(20, func() { _, _, _ = p.Predict(point) }))
			}
		}
	}
	assert.Positive(t, pivots)
	_, err = m.Predictor(PredictorOptions{Target: 4})
	assert.EqualError(t, err, "mkl: Predictor: target 4 of 4")
}
