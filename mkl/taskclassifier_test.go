package mkl

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// labelScreen is screen with what is known of the signs of its targets.
func labelScreen(n int) (views []View, labels [][]Label, x Features) {
	views, y, x := screen(n)
	for o := range y {
		labels = append(labels, make([]Label, n))
		for i, v := range y[o] {
			switch {
			case v > float64(o):
				labels[o][i] = LabelPresent
			case v <= float64(o):
				labels[o][i] = LabelAbsent
			}
		}
	}
	return views, labels, x
}

// A task uses only its own samples: the model equals the model of vi on the submatrices.
func TestTaskClassifierIsThatOfItsSamples(t *testing.T) {
	ctx := context.Background()
	views, labels, x := labelScreen(24)
	est := TaskClassifier{Fitting: Fitting{Seed: 4}, Ascent: Ascent{MaxSweeps: 40}, SigmaG: 0.3}
	m, err := est.Fit(ctx, views, labels...)
	require.NoError(t, err)
	assert.Equal(t, []int{24, 16, 12, 16}, m.taskSamples())

	_, k, err := est.fitting().fixedKernels(ctx, nil, views, 24, 4, est.EstimateMemory)
	require.NoError(t, err)
	var tasks []bemkl.Task
	var own [][]int
	for _, label := range labels {
		var samples []int
		var seen []float64
		for i, v := range label {
			if v != LabelUnknown {
				samples, seen = append(samples, i), append(seen, 2*float64(v-LabelAbsent)-1)
			}
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
	fit, err := bemkl.TaskClassification{Seed: 4, SigmaG: 0.3, Ascent: vi.Ascent{MaxSweeps: 40}}.Fit(ctx, tasks)
	require.NoError(t, err)
	for task := range fit.Posterior.State().Tasks { // of the model, too, factors lie beside the Gram matrices
		_, _, err := fit.Posterior.Task(task).WeightVariances(nil, 0)
		require.NoError(t, err)
	}
	assert.Equal(t, fit.Posterior.State(), m.Posterior().State())

	p, err := m.PredictLabels(ctx, PredictOptions{}, x)
	require.NoError(t, err)
	scores, err := m.PredictLabels(ctx, PredictOptions{MeanOnly: true}, x)
	require.NoError(t, err)
	assert.Equal(t, p.Decision, scores.Decision)
	for o, samples := range own {
		want, err := fit.Posterior.Task(o).Predict(tasks[o].Kernels, vi.PredictOptions{})
		require.NoError(t, err)
		for i, s := range samples {
			assert.InDelta(t, want.Probability.At(0, i), p.Probability[o][s], 1e-9)
			assert.InDelta(t, want.Mean.At(0, i), p.Decision[o][s], 1e-9)
			assert.Equal(t, p.Decision[o][s] >= 0, p.Label[o][s])
		}
		for _, w := range m.Outputs()[o].Active {
			assert.True(t, slices.Contains(samples, w.Sample))
		}
	}
	assert.Contains(t, m.Summary(), "label 2 of 16 samples")
	assert.Contains(t, m.String(), "classification by 4 labels with samples of their own on 2 kernels")
}

// It finds the labels that it was not given, a file brings all of it back, and its predictor
// says the same of single samples.
func TestTaskClassifierPredictsAndIsSaved(t *testing.T) {
	ctx := context.Background()
	views, labels, x := labelScreen(60)
	m, err := TaskClassifier{Fitting: Fitting{Seed: 1}}.Fit(ctx, views, labels...)
	require.NoError(t, err)
	p, err := m.PredictLabels(ctx, PredictOptions{}, x)
	require.NoError(t, err)
	right, hidden := 0, 0
	for o, label := range labels {
		for i, v := range label {
			if v == LabelUnknown {
				hidden++
				if p.Label[o][i] == (math.Sin(x.At(i, 0)+0.3*float64(o)) > 0) {
					right++
				}
			}
		}
	}
	assert.Greater(t, float64(right), 0.75*float64(hidden))
	loaded := requireFile(t, m, LoadAs[*TaskClassifierModel], 997)
	again, err := loaded.PredictLabels(ctx, PredictOptions{Workers: 3}, x)
	require.NoError(t, err)
	assert.Equal(t, p, again)

	one, err := loaded.Predictor(PredictorOptions{Exact: true})
	require.NoError(t, err)
	probability := make([]float64, 4)
	for i := range x.Rows {
		require.NoError(t, one.Predict(probability, x.Row(i)))
		for o, v := range probability {
			require.InDelta(t, p.Probability[o][i], v, 1e-9)
		}
	}
	assert.Len(t, one.Info()[2].Samples, 30, "those of the task")
	assert.Equal(t, 30, one.Info()[2].Samples[0])
	if !raceEnabled {
		assert.Zero(t, testing.AllocsPerRun(50, func() { _ = one.Predict(probability, x.Row(0)) }))
	}

	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	assertRefused(t, file.Bytes(), func(metadata map[string]string, _ map[string]tensor) {
		metadata["model"] = strings.Replace(metadata["model"], `"samples":60`, `"samples":59`, 1)
	}, "60 basis points and 59 samples do not fit the tensors")
	assertRefused(t, file.Bytes(), func(_ map[string]string, ts map[string]tensor) { ts["basis.of"].data[3] = 0.5 }, `tensor "basis.of": entry (0, 3) is 0.5`)
	assertRefused(t, file.Bytes(), func(_ map[string]string, ts map[string]tensor) { ts["basis.of"].data[3] = 0 }, `tensor "task.0.lambda": shape is [60] where [59] is expected`)
	assertRefused(t, file.Bytes(), func(_ map[string]string, ts map[string]tensor) { ts["task.1.lambda"].data[3] = -1 }, `task 1: vi: classification state: Lambda: entry (0, 3) is -1`)
}

func TestTaskClassifierRefusals(t *testing.T) {
	ctx := context.Background()
	views, labels, _ := labelScreen(24)
	_, err := TaskClassifier{}.Fit(ctx, views)
	assert.EqualError(t, err, "mkl: labels: none given")
	labels[2] = slices.Repeat([]Label{LabelUnknown, LabelPresent}, 12)
	_, err = TaskClassifier{}.Fit(ctx, views, labels...)
	assert.EqualError(t, err, "mkl: labels[2]: no sample is known not to have it: there is nothing to learn")
	m, err := TaskClassifier{Ascent: Ascent{MaxSweeps: 3}}.Fit(ctx, views, labels[:2]...)
	require.NoError(t, err)
	_, err = m.Predictor(PredictorOptions{MeanOnly: true})
	assert.EqualError(t, err, "mkl: Predictor: MeanOnly leaves no probabilities")
	_, err = TaskClassifier{From: m}.Fit(ctx, views, labels[0])
	assert.EqualError(t, err, "mkl: From: 2 tasks, 2 kernels and 24 samples where there are 1, 2 and 24")
	_, err = TaskClassifier{From: m, Ascent: Ascent{Restarts: 1}}.Fit(ctx, views, labels[:2]...)
	assert.EqualError(t, err, "mkl: Restarts is 1: with From there is one start")
}

// A fit goes on from a model, also when tasks have gained and lost samples.
func TestTasksGoOnFromModels(t *testing.T) {
	ctx := context.Background()
	check := func(name string, first, cold, warm Model) {
		t.Helper()
		assert.Less(t, len(warm.Trace().Bounds), len(cold.Trace().Bounds), name)
		assert.Greater(t, warm.Trace().Bounds[0], cold.Trace().Bounds[0], name)
		assert.InDelta(t, cold.Bound(), warm.Bound(), 0.05*math.Abs(cold.Bound()), "%s: perhaps another optimum, about as good", name)
		assert.NotEqual(t, first.Bound(), warm.Bound(), name)
	}
	views, y, _ := screen(40)
	s := fitting{Ascent: Ascent{Tolerance: 1e-5}}
	first, err := TaskRegression{Fitting: s.Fitting, Ascent: s.Ascent, MissingTargets: true}.Fit(ctx, views, y...)
	require.NoError(t, err)
	y[1][3], y[2][0], y[3][4] = 2, 3, math.NaN()
	cold, err := TaskRegression{Fitting: s.Fitting, Ascent: s.Ascent, MissingTargets: true}.Fit(ctx, views, y...)
	require.NoError(t, err)
	warm, err := TaskRegression{Fitting: s.Fitting, Ascent: s.Ascent, MissingTargets: true, From: first}.Fit(ctx, views, y...)
	require.NoError(t, err)
	check("targets", first, cold, warm)
	assert.Equal(t, cold.taskSamples(), warm.taskSamples())
	_, err = TaskRegression{MissingTargets: true, From: first}.Fit(ctx, views, y[0])
	assert.EqualError(t, err, "mkl: From: 4 tasks, 2 kernels and 40 samples where there are 1, 2 and 40")

	views, labels, _ := labelScreen(40)
	one, err := TaskClassifier{Fitting: s.Fitting, Ascent: s.Ascent}.Fit(ctx, views, labels...)
	require.NoError(t, err)
	labels[1][3], labels[2][0], labels[3][4] = LabelPresent, LabelPresent, LabelUnknown
	two, err := TaskClassifier{Fitting: s.Fitting, Ascent: s.Ascent}.Fit(ctx, views, labels...)
	require.NoError(t, err)
	three, err := TaskClassifier{Fitting: s.Fitting, Ascent: s.Ascent, From: one}.Fit(ctx, views, labels...)
	require.NoError(t, err)
	check("labels", one, two, three)
}
