package mkl

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// Relevance vectors are a model of few samples, which predicts, saves and loads as any
// other, and as one on all samples with kernels that are given.
func TestRelevanceVectors(t *testing.T) {
	const n = 150
	r := rand.New(rand.NewPCG(4, 2))
	x, labels := la.NewMatrix[float64](n, 2), make([]string, n)
	for i := range n {
		class := i % 3
		labels[i] = []string{"left", "middle", "right"}[class]
		x.Set(i, 0, float64(4*class)+r.NormFloat64())
		x.Set(i, 1, float64(2*class%2)+r.NormFloat64())
	}
	views := []View{
		{Name: "ranks", X: x, Kernel: kernel.Laplacian{Width: 2}, Ranks: true},
		{Name: "wide", X: x, Kernel: kernel.Polynomial{Degree: 2, Offset: 1}, Standardize: true, Normalize: true},
	}
	for name, c := range map[string]struct{ whole, gaps probitEstimator[string] }{
		"relevance vectors": {RelevanceClassifier[string]{Rule: WeightedSum{}}, RelevanceClassifier[string]{Rule: WeightedSum{}, MissingViews: true}},
		"pruned vectors":    {PrunedClassifier[string]{Rule: WeightedSum{}}, PrunedClassifier[string]{Rule: WeightedSum{}, MissingViews: true}},
	} {
		t.Run(name, func(t *testing.T) { testRelevanceVectors(t, c.whole, c.gaps, x, views, labels) })
	}
}

func testRelevanceVectors(t *testing.T, c, gapped probitEstimator[string], x la.Matrix[float64], views []View, labels []string) {
	n := len(labels)
	m, err := c.Fit(context.Background(), views, labels)
	require.NoError(t, err)
	assert.Less(t, len(m.Vectors()), 20)
	assert.Contains(t, m.String(), "by relevance vectors of 150 samples")
	for class := range 3 {
		for _, a := range m.ActiveSamples(class) {
			assert.Contains(t, m.Vectors(), a.Sample)
		}
	}
	got, probability, err := m.Predict(x)
	require.NoError(t, err)
	right := 0
	for i, l := range labels {
		if l == got[i] {
			right++
		}
	}
	assert.Greater(t, right, 140)

	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	loaded := testkit.Must(Load(&file)).(*ProbitClassifierModel[string])
	assert.Equal(t, m.Vectors(), loaded.Vectors())
	assert.Equal(t, 150, loaded.Posterior().State().Samples)
	_, again, err := loaded.Predict(x)
	require.NoError(t, err)
	assert.Equal(t, probability, again)

	// The same by kernels that are given, or centred: all samples stay.
	ds := testkit.Must(bindViews(views, n, false))
	full := testkit.Must(ds.Train(context.Background(), 1))
	given := make([]View, len(views))
	for i := range given {
		given[i] = View{X: full[i], Input: fmt.Sprint(i), Kernel: kernel.Precomputed{AllowIndefinite: true}}
	}
	whole, err := c.Fit(context.Background(), given, labels)
	require.NoError(t, err)
	assert.Nil(t, whole.Vectors())
	_, all, err := whole.Predict(full...)
	require.NoError(t, err)
	for i := range all {
		assert.InDeltaSlice(t, probability[i], all[i], 1e-9)
	}
	centred := testkit.Must(c.Fit(context.Background(), []View{{X: x, Kernel: kernel.RBF{}, Center: true}}, labels))
	assert.Nil(t, centred.Vectors())
	assert.Equal(t, n, centred.Samples())

	// Others stand in for samples that lack a view, so that all stay too.
	gaps := x.Clone()
	for j := range gaps.Cols {
		gaps.Set(0, j, math.NaN())
	}
	lacking := testkit.Must(gapped.Fit(context.Background(), []View{{X: x, Input: "x1", Kernel: kernel.RBF{}}, {X: gaps, Input: "x2", Kernel: kernel.RBF{Width: 1}}}, labels))
	assert.Nil(t, lacking.Vectors())
	_, probability, err = lacking.Predict(x, gaps)
	require.NoError(t, err)
	for i := range probability {
		assert.InDelta(t, 1, vec.Total(probability[i]), 1e-9)
	}
}

// Priors of single classes work together with the default of pruned vectors, and settings that do not fit are refused.
func TestPrunedVectorsSettings(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	x, labels := la.NewMatrix[float64](40, 1), make([]int, 40)
	for i := range labels {
		labels[i] = i % 2
		x.Set(i, 0, float64(3*labels[i])+r.NormFloat64())
	}
	views := []View{{X: x, Kernel: kernel.RBF{Width: 2}}}
	fit := func(c PrunedClassifier[int]) (*ProbitClassifierModel[int], error) {
		return c.Fit(context.Background(), views, labels)
	}
	standard := testkit.Must(fit(PrunedClassifier[int]{}))
	same := testkit.Must(fit(PrunedClassifier[int]{ClassAlpha: map[int]Gamma{1: {Shape: 1e-5, Scale: 1e5}}, Prune: 1e4}))
	assert.Equal(t, standard.Vectors(), same.Vectors())
	assert.Equal(t, standard.Posterior().State().W, same.Posterior().State().W)

	_, err := fit(PrunedClassifier[int]{Alpha: Gamma{Shape: 1, Scale: 1}})
	assert.EqualError(t, err, "mkl: vi: Prune is 10000, and by Alpha precisions are at most 1.5: no basis point would go")
	_, err = PrunedClassifier[int]{}.Fit(context.Background(), []View{{X: x, Kernel: kernel.RBF{ARD: true}}}, labels)
	assert.ErrorContains(t, err, "this estimator cannot learn widths")
}
