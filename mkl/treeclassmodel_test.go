package mkl

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// terraces returns samples of three classes with sharp edges between them.
func terraces(seed uint64, n int) (x Features, labels []int) {
	x, y := steps(seed, n)
	for _, v := range y {
		label := 5
		for _, edge := range []float64{10, 45} {
			if v > edge {
				label++
			}
		}
		labels = append(labels, label)
	}
	return x, labels
}

// Sharp edges between classes are learned by the member with trees, whose predictions stay the same in a file and in a predictor.
func TestManyRowsLearnsEdgesOfClasses(t *testing.T) {
	x, labels := terraces(1, DefaultExactSamples+200)
	at, want := terraces(2, 500)
	m := fitClasses(t, AutoClassifier[int]{Time: quickly}, []View{{X: x}}, labels)
	names, weights := m.Members()
	i := slices.Index(names, "trees")
	require.NotNil(t, m.trees, "%v", names)
	assert.Greater(t, weights[i], 0.5)
	got, probability, err := m.Predict(at)
	require.NoError(t, err)
	wrong, loss := 0, 0.0
	for i, c := range want {
		if got[i] != c {
			wrong++
		}
		loss -= math.Log(probability[i][slices.Index(m.Classes(), c)]) / float64(len(want))
	}
	assert.Less(t, wrong, 60)
	assert.Less(t, loss, 0.35)
	requireOddsAddUp(t, m, at)

	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	back, err := LoadAs[*AutoClassifierModel[int]](bytes.NewReader(file.Bytes()))
	require.NoError(t, err)
	assert.Equal(t, predicted(t, m, at), predicted(t, back, at))
	assert.Equal(t, m.Summary(), back.Summary())
	p, err := back.Predictor(PredictorOptions{Tolerance: 1e-6})
	require.NoError(t, err)
	one := make([]float64, 3)
	for i := range 20 {
		label, err := p.Predict(one, at.Row(i))
		require.NoError(t, err)
		assert.Equal(t, got[i], label)
		assert.InDeltaSlice(t, probability[i], one, 1e-5)
	}
	prefix := fmt.Sprintf("member.%d.", i)
	for _, d := range []struct {
		want   string
		change func(metadata map[string]string, ts map[string]tensor)
	}{
		{"is missing", func(_ map[string]string, ts map[string]tensor) { delete(ts, prefix+"heights") }},
		{"element 1 is NaN", func(_ map[string]string, ts map[string]tensor) { ts[prefix+"at"].data[1] = math.NaN() }},
		{"row 1 is", func(_ map[string]string, ts map[string]tensor) { ts[prefix+"features"].data[9] = 0 }},
	} {
		assertRefused(t, file.Bytes(), d.change, d.want)
	}
}

// A column of categories is left out by the members that see features alone. They learn from the other columns.
func TestManyRowsOfClassesWithCategories(t *testing.T) {
	testkit.NotShort(t)
	x, labels := terraces(1, DefaultExactSamples+200)
	code := la.NewMatrix[float64](x.Rows, 1)
	for i := range x.Rows {
		code.Set(i, 0, float64(i*i%97))
	}
	m := fitClasses(t, AutoClassifier[int]{Time: quickly}, []View{{X: x, Input: "x"}, {X: code, Input: "code", Kernel: kernel.Categorical{}}}, labels)
	require.NotNil(t, m.trees, m.Story())
	assert.Contains(t, m.Story(), "nearest samples")
	assert.Len(t, m.trees.features.columns, x.Cols)
	for _, c := range m.trees.features.columns {
		assert.Equal(t, 0, c.input)
	}
	loaded, err := LoadAs[*AutoClassifierModel[int]](bytes.NewReader(saved(t, m)))
	require.NoError(t, err)
	few := []Features{x.Slice(0, 50, 0, x.Cols), code.Slice(0, 50, 0, 1)}
	assert.Equal(t, predicted(t, m, few...), predicted(t, loaded, few...))
	requireOddsAddUp(t, loaded, few...)

	r := manyRows{views: []View{{X: x}, {X: code, Kernel: kernel.Categorical{Overlap: true}}}}
	assert.True(t, r.kernelsGiven())
	r.views = []View{{X: code, Kernel: kernel.Categorical{}}}
	assert.True(t, r.kernelsGiven(), "no features")
}

// Every later version must read the pools of classes with trees of this one and predict the same.
func TestGoldenTreesOfClasses(t *testing.T) {
	const path = "../testdata/models/pool-tree-classes-v1"
	at, _ := terraces(3, 50)
	if _, err := os.Stat(path + ".safetensors"); *updateGolden && err != nil {
		x, labels := terraces(4, 200)
		classes, class, err := checkLabels(nil, labels)
		require.NoError(t, err)
		f := &fitting{Fitting: Fitting{Notes: map[string]string{"made by": "TestGoldenTreesOfClasses -update"}}}
		r, err := newManyRows(context.Background(), f, []View{{X: x}}, vec.Floats(class), true, quickly)
		require.NoError(t, err)
		m := &AutoClassifierModel[int]{}
		require.NoError(t, AutoClassifier[int]{}.addTrees(r, m, classes, vec.Picked(class, r.order)))
		require.NotNil(t, m.trees, "%v", r.remarks)
		m.weights, m.rule, m.of, m.onLandmarks = []float64{1}, weighed, len(labels), true
		m.record = f.record(Trace{})
		var file bytes.Buffer
		require.NoError(t, m.Save(&file))
		_, probability, err := m.Predict(at)
		require.NoError(t, err)
		text, err := json.Marshal(probability)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path+".safetensors", file.Bytes(), 0o644))
		require.NoError(t, os.WriteFile(path+".json", text, 0o644))
	}
	file, err := os.ReadFile(path + ".safetensors")
	require.NoError(t, err)
	text, err := os.ReadFile(path + ".json")
	require.NoError(t, err)
	var want [][]float64
	require.NoError(t, json.Unmarshal(text, &want))
	m, err := LoadAs[*AutoClassifierModel[int]](bytes.NewReader(file))
	require.NoError(t, err)
	require.NotNil(t, m.trees)
	_, probability, err := m.Predict(at)
	require.NoError(t, err)
	for i := range want {
		assert.InDeltaSlice(t, want[i], probability[i], 1e-10)
	}
}
