package record

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// Records have the bits of the predictors where bounds hold, and the model's where bounds are only assumed or too large.
func TestRecordsAreFast(t *testing.T) {
	x, y := la.NewMatrix[float64](20, 1), make([]float64, 20)
	labels, has := make([]string, len(y)), make([]bool, len(y))
	for i := range y {
		x.Set(i, 0, float64(i%7)-3)
		y[i] = x.At(i, 0) * x.At(i, 0)
		labels[i], has[i] = []string{"a", "b"}[i%7/4], i%7 > 2
	}
	fitting := mkl.Fitting{Notes: map[string]string{"mkl-command": `{"targets":["y"],"views":[{"name":"v","columns":["x"]}]}`}}
	views := []mkl.View{{X: x, Kernel: kernel.RBF{Width: 2}}}
	at := []mkl.Features{mkl.Column([]float64{0.7})}
	const tolerance = 0.01
	opt := mkl.PredictorOptions{Tolerance: tolerance}
	of := func(m mkl.Model) *Predictor {
		p, err := New(m)
		require.NoError(t, err)
		p, err = p.Within(tolerance)
		require.NoError(t, err)
		return p
	}
	predict := func(p *Predictor) (out Prediction, ok bool) {
		one := make([]Prediction, 1)
		left, err := p.near.predict(t.Context(), p, at, one)
		require.NoError(t, err)
		return one[0], len(left) == 0
	}

	numbers, err := mkl.MultiGP{Fitting: fitting}.Fit(t.Context(), views, y)
	require.NoError(t, err)
	p := of(numbers)
	got, ok := predict(p)
	require.True(t, ok)
	one, err := numbers.Predictor(opt)
	require.NoError(t, err)
	b, err := one.PredictWithBound([]float64{0.7})
	require.NoError(t, err)
	assert.Equal(t, b.Mean, got.Numbers[0].Mean)
	p.near.tolerance = 1e-30 * tolerance // as if the predictor were too coarse
	_, ok = predict(p)
	assert.Equal(t, max(b.MeanError, b.SDError) == 0, ok)

	classes, err := mkl.MultiGPClassifier[string]{Fitting: fitting}.Fit(t.Context(), views, labels)
	require.NoError(t, err)
	got, ok = predict(of(classes))
	require.True(t, ok)
	class, err := classes.Predictor(opt)
	require.NoError(t, err)
	q := make([]float64, 2)
	name, _, err := class.PredictWithBound(q, []float64{0.7})
	require.NoError(t, err)
	assert.Equal(t, Prediction{Class: name, Classes: []Class{{Class: "a", Probability: q[0]}, {Class: "b", Probability: q[1]}}}, got)

	labelled, err := mkl.MultiLabel{Fitting: fitting}.Fit(t.Context(), views, mkl.LabelsOf(has))
	require.NoError(t, err)
	got, ok = predict(of(labelled))
	require.True(t, ok)
	label, err := labelled.Predictor(opt)
	require.NoError(t, err)
	_, err = label.PredictWithBound(q[:1], []float64{0.7})
	require.NoError(t, err)
	assert.Equal(t, []Label{{"y", q[0] >= 0.5, q[0]}}, got.Labels)

	s := &near{tolerance: 0.1}
	for _, c := range []struct {
		bound   float64
		assumed bool
		holds   bool
	}{{0, true, true}, {0, false, true}, {0.1, false, true}, {0.1, true, false}, {0.11, false, false}, {1, false, false}, {1, true, false}} {
		s.assumed = c.assumed
		assert.Equal(t, c.holds, s.holds(c.bound), "%+v", c)
	}
	for _, c := range []struct {
		mean, sd float64
		kind     mkl.BoundKind
		holds    bool
	}{
		{0, 0, mkl.BoundProved, true}, {0.2, 0.2, mkl.BoundCalibrated, true}, {0.21, 0, mkl.BoundProved, false}, {0, 0.21, mkl.BoundProved, false},
		{0, 0, mkl.BoundAssumed, false}, {math.NaN(), 0, mkl.BoundProved, false}, {0.3, 0.3, mkl.BoundAssumed, false},
	} { // in units of the standard deviation, which is 2
		b := mkl.BoundedPrediction{Variance: 4, MeanError: c.mean, SDError: c.sd, Kind: c.kind}
		assert.Equal(t, c.holds, s.holdsOf(&b), "%+v", c)
	}
	assert.Equal(t, strings.Repeat("é", 40), brief(strings.Repeat("é", 40)))
	assert.Equal(t, strings.Repeat("é", 40)+"…", brief(strings.Repeat("é", 41)))
}

// Of several records those whose bounds hold have the bits of PredictMany, and the others the bits of the model.
func TestSomeRecordsByTheModel(t *testing.T) {
	const n = 80
	r := rand.New(rand.NewPCG(3, 1))
	x, y := la.NewMatrix[float64](n, 3), make([]float64, n)
	for i := range y {
		for j := range 3 {
			x.Set(i, j, r.NormFloat64())
		}
		y[i] = math.Sin(x.At(i, 0)) + 0.3*r.NormFloat64()
	}
	m, err := mkl.MultiGP{Fitting: mkl.Fitting{Notes: map[string]string{"mkl-command": `{"targets":["y"],"views":[{"name":"v","columns":["a","b","c"]}]}`}}}.
		Fit(t.Context(), []mkl.View{{X: x, Kernel: kernel.RBF{Width: 1}}}, y)
	require.NoError(t, err)
	p, err := New(m)
	require.NoError(t, err)
	p, err = p.Within(0.01)
	require.NoError(t, err)
	rows := []mkl.Features{x.Slice(0, 9, 0, 3)}
	many, err := p.near.numbers[0].PredictMany(t.Context(), 1, rows...)
	require.NoError(t, err)
	exact, err := m.PredictTargets(t.Context(), mkl.PredictOptions{}, rows...)
	require.NoError(t, err)
	var bounds []float64
	for _, b := range many {
		bounds = append(bounds, max(b.MeanError, b.SDError)/math.Sqrt(b.Variance))
	}
	sorted := slices.Sorted(slices.Values(bounds))
	require.Less(t, sorted[3], sorted[4])
	p.near.tolerance = 0.5 * (sorted[3] + sorted[4]) // as if the predictor were too coarse for five of them
	out := make([]Prediction, len(bounds))
	require.NoError(t, p.predict(t.Context(), rows, beside{}, out))
	for i, bound := range bounds {
		got := out[i].Numbers[0]
		lower, upper := got.Interval(0.9)
		mean, sd := many[i].Mean, math.Sqrt(many[i].Variance)
		low, high := many[i].Interval(0.9)
		if bound > p.near.tolerance {
			mean, sd = exact.Mean[0][i], math.Sqrt(exact.Variance[0][i])
			low, high = exact.Interval(0, i, 0.9)
		}
		assert.Equal(t, []float64{mean, sd, low, high}, []float64{got.Mean, got.SD, lower, upper}, "row %d", i)
	}
}
