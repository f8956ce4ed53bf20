package mkl

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A fit that goes on from a model, also one that was loaded, begins near where that ended and needs
// fewer sweeps, whatever has changed.
func TestFitsGoOnFromModels(t *testing.T) {
	ctx := context.Background()
	views, y, _, _ := twoInputs(1, 40)
	second := make([]float64, len(y))
	labels, known := make([]string, len(y)), make([][]bool, 2)
	for i, v := range y {
		second[i] = 1 - v + 0.1*float64(i%3)
		labels[i] = []string{"a", "b", "c"}[i%3]
		if v > 0 {
			labels[i] = "a"
		}
		known[0], known[1] = append(known[0], v > 0), append(known[1], i%3 == 0)
	}
	s, other := Fitting{Tolerance: 1e-5}, Gamma{Shape: 2, Scale: 1}
	for name, fit := range map[string]func(omega Gamma, from Model) (Model, error){
		"regression": func(omega Gamma, from Model) (Model, error) {
			m, _ := from.(*RegressionModel)
			return orNil(Regression{Fitting: s, Omega: omega, From: m}.Fit(ctx, views, y, second))
		},
		"shared": func(omega Gamma, from Model) (Model, error) {
			m, _ := from.(*SharedRegressionModel)
			return orNil(SharedRegression{Fitting: s, Omega: omega, From: m}.Fit(ctx, views, y, second))
		},
		"classes": func(omega Gamma, from Model) (Model, error) {
			m, _ := from.(*ClassifierModel[string])
			return orNil(Classifier[string]{Fitting: s, Omega: omega, From: m}.Fit(ctx, views, labels))
		},
		"labels": func(omega Gamma, from Model) (Model, error) {
			m, _ := from.(*MultiLabelModel)
			return orNil(MultiLabel{Fitting: s, Omega: omega, From: m}.Fit(ctx, views, known...))
		},
	} {
		first, err := fit(Gamma{}, nil)
		require.NoError(t, err, name)
		cold, err := fit(other, nil)
		require.NoError(t, err, name)
		warm, err := fit(other, first)
		require.NoError(t, err, name)
		assert.Less(t, warm.Trace().Sweeps, cold.Trace().Sweeps, name)
		assert.Greater(t, warm.Trace().Bounds[0], cold.Trace().Bounds[0], name)
	}
}

func TestFromRefused(t *testing.T) {
	ctx := context.Background()
	views, y, _, _ := twoInputs(1, 20)
	few := Fitting{MaxSweeps: 2}
	m, err := Regression{Fitting: few}.Fit(ctx, views, y)
	require.NoError(t, err)
	_, err = Regression{From: m}.Fit(ctx, views, y, y)
	assert.EqualError(t, err, "mkl: From: 1 targets, 7 kernels and 20 samples where there are 2, 7 and 20")
	_, err = Regression{From: m}.Fit(ctx, views[1:], y)
	assert.EqualError(t, err, "mkl: From: 1 targets, 7 kernels and 20 samples where there are 1, 6 and 20")
	_, err = Regression{From: m, Fitting: Fitting{Restarts: 2}}.Fit(ctx, views, y)
	assert.EqualError(t, err, "mkl: Restarts is 2: with From there is one start")
	_, err = Regression{From: m, Fitting: Fitting{MissingViews: true}}.Fit(ctx, views, y)
	assert.EqualError(t, err, "mkl: From: not with MissingViews")

	labels := make([]int, 20)
	for i := range labels {
		labels[i] = i % 2
	}
	c, err := Classifier[int]{Fitting: few}.Fit(ctx, views, labels)
	require.NoError(t, err)
	_, err = Classifier[int]{From: c, Classes: []int{1, 0}}.Fit(ctx, views, labels)
	assert.EqualError(t, err, "mkl: From: its classes are [0 1], not [1 0]")
}
