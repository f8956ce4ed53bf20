package record_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/mkl/record"
)

// Records, alone and among others, are within the tolerance of what the model predicts, from a compiled file as from the model.
func TestWithin(t *testing.T) {
	x, y := features()
	views := []mkl.View{{X: x, Kernel: kernel.RBF{Width: 3}}}
	labels, has, own := make([]string, len(y)), make([]bool, len(y)), map[string]string{"mkl-command": notes}
	for i, v := range y {
		labels[i] = []string{"cheap", "fair", "dear"}[i%3]
		has[i] = v > 2
	}
	fitting := mkl.Fitting{Notes: own}
	classes, err := mkl.MultiGPClassifier[string]{Fitting: fitting}.Fit(t.Context(), views, labels)
	require.NoError(t, err)
	several, err := mkl.MultiLabel{Fitting: fitting}.Fit(t.Context(), views, mkl.LabelsOf(has))
	require.NoError(t, err)
	for _, m := range []mkl.Model{fitted(t, own), classes, several} {
		for _, tolerance := range []float64{0.01, 1e-6} {
			var file bytes.Buffer
			require.NoError(t, mkl.Compile(&file, m))
			p, err := record.New(m)
			require.NoError(t, err)
			near, err := p.Within(tolerance)
			require.NoError(t, err)
			ready, err := record.Open(&file)
			require.NoError(t, err)
			ready, err = ready.Within(tolerance)
			require.NoError(t, err)
			for _, size := range []any{0, 1.3, 40, nil} {
				one := map[string]any{"size": size, "city": "Ulm", "built": "1970-01-04", "garden": true}
				want, err := p.Predict(t.Context(), one)
				require.NoError(t, err)
				got, err := near.Predict(t.Context(), one)
				require.NoError(t, err)
				same, err := ready.Predict(t.Context(), one)
				require.NoError(t, err)
				assert.Equal(t, got, same)
				within(t, tolerance, want, got)
				others := map[string]any{"size": 2.5, "city": "Ulm", "built": "1970-01-02", "garden": false}
				exact, err := p.PredictRows(t.Context(), []map[string]any{one, others, one})
				require.NoError(t, err)
				several, err := near.PredictRows(t.Context(), []map[string]any{one, others, one})
				require.NoError(t, err)
				assert.Equal(t, several[0], several[2])
				for i := range exact {
					within(t, tolerance, &exact[i], &several[i])
				}
			}
		}
	}
	_, p := opened(t)
	for _, tolerance := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		_, err := p.Within(tolerance)
		assert.ErrorContains(t, err, "is not positive")
	}
}

// within asserts that a prediction is within the tolerance of what the model predicts.
func within(t *testing.T, tolerance float64, want, got *record.Prediction) {
	t.Helper()
	assert.Equal(t, want.Missing, got.Missing)
	require.Len(t, got.Numbers, len(want.Numbers))
	for i, w := range want.Numbers {
		g := got.Numbers[i]
		assert.InDelta(t, w.Mean, g.Mean, tolerance*w.SD)
		assert.InDelta(t, w.SD, g.SD, tolerance*w.SD)
		low, high := w.Interval(0.8)
		lower, upper := g.Interval(0.8)
		assert.InDeltaSlice(t, []float64{low, high}, []float64{lower, upper}, 3*tolerance*w.SD)
		assert.Equal(t, w.Target, g.Target)
	}
	assert.Equal(t, want.Class, got.Class)
	require.Len(t, got.Classes, len(want.Classes))
	for i, w := range want.Classes {
		assert.Equal(t, w.Class, got.Classes[i].Class)
		assert.InDelta(t, w.Probability, got.Classes[i].Probability, tolerance)
	}
	require.Len(t, got.Labels, len(want.Labels))
	for i, w := range want.Labels {
		assert.Equal(t, w.Target, got.Labels[i].Target)
		assert.Equal(t, w.Present, got.Labels[i].Present)
		assert.InDelta(t, w.Probability, got.Labels[i].Probability, tolerance)
	}
}

// Bounds of a pruned linear kernel are only assumed: a record far from the training samples would violate them. Such records are
// predicted by the model.
func TestWithinDoesNotTrustAssumedBounds(t *testing.T) {
	x, _ := features()
	has := make([]bool, x.Rows)
	for i := range has {
		has[i] = x.At(i, 4) > 5
	}
	m, err := mkl.MultiLabel{Fitting: mkl.Fitting{Notes: map[string]string{"mkl-command": notes}}}.Fit(t.Context(),
		[]mkl.View{{X: x, Kernel: kernel.Linear{}}}, mkl.LabelsOf(has))
	require.NoError(t, err)
	fast, err := m.Predictor(mkl.PredictorOptions{Tolerance: 0.5})
	require.NoError(t, err)
	require.Equal(t, mkl.BoundAssumed, fast.Info()[0].Kind)
	p, err := record.New(m)
	require.NoError(t, err)
	near, err := p.Within(0.5)
	require.NoError(t, err)
	for _, size := range []float64{0, 3, 1e3} {
		one := map[string]any{"size": size, "city": "Ulm", "built": "1970-01-04", "garden": true}
		want, err := p.Predict(t.Context(), one)
		require.NoError(t, err)
		got, err := near.Predict(t.Context(), one)
		require.NoError(t, err)
		assert.Equal(t, want.Labels, got.Labels)
	}
}
