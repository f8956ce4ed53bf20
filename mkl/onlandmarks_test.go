package mkl

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// onLandmarkViews are views whose kernels with landmarks take all that kernels can: units, ranks, columns and a
// kernel of a sample with itself that is 1.
func onLandmarkViews(x Features) []View {
	return []View{
		{Name: "wide", X: x, Kernel: kernel.RBF{Width: 2}, Standardize: true},
		{Name: "ranks", X: x, Kernel: kernel.Laplacian{Width: 2}, Ranks: true},
		{Name: "some", X: x, Kernel: kernel.Linear{}, Columns: []int{2, 0}, Normalize: true},
	}
}

// A fit with landmarks equals the fit to the rectangular kernels with the landmarks, computed one by one.
func TestRegressionOnLandmarks(t *testing.T) {
	const n, D = 90, 12
	x, y := waves(1, n, 0.2)
	landmarks := x.Slice(20, 20+D, 0, 3)
	at := &Landmarks{Choose: GivenLandmarks, Given: []Features{landmarks}}
	f := fitting{Fitting: Fitting{Seed: 3}, Ascent: Ascent{MaxSweeps: 12}} // each sweep enlarges what the kernels' last digits differ by
	m, err := Regression{Fitting: f.Fitting, Ascent: f.Ascent, Landmarks: at}.Fit(t.Context(), onLandmarkViews(x)[:1], y)
	require.NoError(t, err)
	assert.Equal(t, D, m.Samples())

	_, sd := gram.ColumnStats(x)
	k := la.NewMatrix[float64](n, D)
	for i := range n {
		for d := range D {
			var square float64
			for j := range 3 {
				z := (x.At(i, j) - landmarks.At(d, j)) / sd[j]
				square += z * z
			}
			k.Set(i, d, math.Exp(-square/(2*2*2)))
		}
	}
	want, err := Regression{Fitting: f.Fitting, Ascent: f.Ascent}.Fit(t.Context(), PrecomputedViews(k), y)
	require.NoError(t, err)
	assert.InEpsilonSlice(t, want.Trace().Bounds, m.Trace().Bounds, 1e-11)
	got, variance, err := m.Predict(x)
	require.NoError(t, err)
	expected, expectedVariance, err := want.Predict(k)
	require.NoError(t, err)
	assert.InDeltaSlice(t, expected, got, 1e-10)
	assert.InDeltaSlice(t, expectedVariance, variance, 1e-10)
}

// The four estimators with landmarks learn, are saved and loaded bit for bit, and their predictors follow them.
func TestEstimatorsOnLandmarks(t *testing.T) {
	const n = 300
	x, y := waves(2, n, 0.2)
	points, _ := waves(3, 40, 0)
	views, at := onLandmarkViews(x), &Landmarks{Count: 25}
	f := fitting{Ascent: Ascent{MaxSweeps: 60}}
	second := slices.Clone(y)
	for i := range second {
		second[i] += x.At(i, 1)
	}
	var models []Model
	r, err := Regression{Fitting: f.Fitting, Ascent: f.Ascent, Landmarks: at}.Fit(t.Context(), views, y)
	require.NoError(t, err)
	s, err := SharedRegression{Fitting: f.Fitting, Ascent: f.Ascent, Landmarks: at}.Fit(t.Context(), views, y, second)
	require.NoError(t, err)
	_, labels, _ := crests(2, n, 3, 0.2)
	c, err := Classifier[string]{Fitting: f.Fitting, Ascent: f.Ascent, Landmarks: at}.Fit(t.Context(), views, labels)
	require.NoError(t, err)
	high := make([]bool, n)
	for i, l := range labels {
		high[i] = l != "low"
	}
	b, err := MultiLabel{Fitting: f.Fitting, Ascent: f.Ascent, Landmarks: at}.Fit(t.Context(), views, LabelsOf(high))
	require.NoError(t, err)
	models = append(models, r, s, c, b)
	for _, m := range models {
		assert.Equal(t, 25, m.Samples(), m.Kind())
		var file bytes.Buffer
		require.NoError(t, m.Save(&file))
		l, err := Load(&file)
		require.NoError(t, err)
		assert.Equal(t, m.Summary(), l.Summary())
		switch m := m.(type) {
		case TargetModel:
			want, err := m.PredictTargets(t.Context(), PredictOptions{}, points)
			require.NoError(t, err)
			got, err := l.(TargetModel).PredictTargets(t.Context(), PredictOptions{}, points)
			require.NoError(t, err)
			assert.Equal(t, want, got)
		case ClassModel[string]:
			want, err := m.PredictClasses(t.Context(), PredictOptions{}, points)
			require.NoError(t, err)
			got, err := l.(ClassModel[string]).PredictClasses(t.Context(), PredictOptions{}, points)
			require.NoError(t, err)
			assert.Equal(t, want, got)
		case *MultiLabelModel:
			want, err := m.PredictLabels(t.Context(), PredictOptions{}, points)
			require.NoError(t, err)
			got, err := l.(*MultiLabelModel).PredictLabels(t.Context(), PredictOptions{}, points)
			require.NoError(t, err)
			assert.Equal(t, want, got)
		default:
			t.Errorf("%s: predictions are not compared", m.Kind())
		}
	}
	one, err := r.Predictor(PredictorOptions{})
	require.NoError(t, err)
	want, variance, err := r.Predict(points)
	require.NoError(t, err)
	for i := range want {
		mean, v, err := one.Predict(points.Row(i))
		require.NoError(t, err)
		assert.InDelta(t, want[i], mean, 1e-2*math.Sqrt(variance[i]))
		assert.InEpsilon(t, variance[i], v, 3e-2)
	}
}

// With every sample a landmark the fits are those without.
func TestEverySampleALandmark(t *testing.T) {
	const n = 70
	x, y := waves(5, n, 0.2)
	_, labels, _ := crests(5, n, 3, 0.2)
	points, _ := waves(6, 20, 0)
	views, f, at := onLandmarkViews(x), fitting{Ascent: Ascent{MaxSweeps: 5}}, &Landmarks{Count: n}
	same := func(a, b Model) {
		t.Helper()
		assert.InEpsilonSlice(t, a.Trace().Bounds, b.Trace().Bounds, 1e-10)
	}
	r, err := Regression{Fitting: f.Fitting, Ascent: f.Ascent}.Fit(t.Context(), views, y)
	require.NoError(t, err)
	on, err := Regression{Fitting: f.Fitting, Ascent: f.Ascent, Landmarks: at}.Fit(t.Context(), views, y)
	require.NoError(t, err)
	same(r, on)
	want, _, err := r.Predict(points)
	require.NoError(t, err)
	got, _, err := on.Predict(points)
	require.NoError(t, err)
	assert.InDeltaSlice(t, want, got, 1e-10)
	s, err := SharedRegression{Fitting: f.Fitting, Ascent: f.Ascent}.Fit(t.Context(), views, y)
	require.NoError(t, err)
	sharedOn, err := SharedRegression{Fitting: f.Fitting, Ascent: f.Ascent, Landmarks: at}.Fit(t.Context(), views, y)
	require.NoError(t, err)
	same(s, sharedOn)
	c, err := Classifier[string]{Fitting: f.Fitting, Ascent: f.Ascent}.Fit(t.Context(), views, labels)
	require.NoError(t, err)
	classOn, err := Classifier[string]{Fitting: f.Fitting, Ascent: f.Ascent, Landmarks: at}.Fit(t.Context(), views, labels)
	require.NoError(t, err)
	same(c, classOn)
}

func TestOnLandmarksRefuses(t *testing.T) {
	x, y := waves(4, 40, 0.1)
	similarity := la.NewMatrix[float64](40, 40)
	for i := range 40 {
		similarity.Set(i, i, 1)
	}
	for _, c := range []struct {
		name  string
		r     Regression
		views []View
		want  string
	}{
		{"centred", Regression{Landmarks: &Landmarks{}}, []View{{X: x, Kernel: kernel.Linear{}, Center: true}}, "Landmarks exclude Center"},
		{"given", Regression{Landmarks: &Landmarks{}}, []View{{X: similarity, Kernel: kernel.Precomputed{}}}, "landmarks need features"},
		{"slopes", Regression{Landmarks: &Landmarks{}, Slopes: func(Slopes) {}}, onLandmarkViews(x), "Slopes: not with Landmarks"},
		{"missing views", Regression{Landmarks: &Landmarks{}, MissingViews: true}, onLandmarkViews(x), "MissingViews: not with Landmarks"},
		{"storage", Regression{Landmarks: &Landmarks{}, Storage: KernelStorage{Float32: true}}, onLandmarkViews(x), "Storage: not with Landmarks"},
		{"no kernel", Regression{Landmarks: &Landmarks{}}, []View{{X: x}}, "Kernel is nil"},
		{"widths to be learned", Regression{Landmarks: &Landmarks{}}, []View{{X: x, Kernel: kernel.RBF{ARD: true}}}, "ARD: this estimator cannot learn widths"},
		{"duplicates", Regression{Landmarks: &Landmarks{}}, []View{{X: x, Kernel: kernel.Linear{}}, {X: x, Kernel: kernel.Linear{}}}, "the same kernel matrix"},
		{"memory", Regression{Landmarks: &Landmarks{}, Fitting: Fitting{MemoryLimit: 1000}}, onLandmarkViews(x), "and may take"},
	} {
		_, err := c.r.Fit(t.Context(), c.views, y)
		assert.ErrorContains(t, err, c.want, c.name)
	}
	x.Set(3, 1, math.NaN())
	_, err := Regression{Landmarks: &Landmarks{}}.Fit(t.Context(), onLandmarkViews(x), y)
	var value *ValueError
	assert.ErrorAs(t, err, &value)

	size := FitSize{Samples: 100_000, Kernels: 5, Outputs: 1}
	with, without := Regression{Landmarks: &Landmarks{Count: 200}}.EstimateMemory(size), Regression{}.EstimateMemory(size)
	assert.Less(t, 100*with, without)
}
