package mkl

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// steps are samples of a function with sharp edges.
func steps(seed uint64, n int) (x Features, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 7))
	x, y = normal(rng, n, 6), make([]float64, n)
	for i := range y {
		v := 0.0
		if x.At(i, 0) > 0.3 {
			v += 3
		}
		if (x.At(i, 1) > 0.2) != (x.At(i, 2) > -0.1) {
			v += 2
		}
		if x.At(i, 0) > 0.7 && x.At(i, 3) < -0.5 {
			v += 4
		}
		y[i] = 10 * (v + 0.3*rng.NormFloat64())
	}
	return x, y
}

// Sharp edges are learned by the member with trees, whose predictions stay the same in a file and in a predictor.
func TestManyRowsLearnsEdges(t *testing.T) {
	x, y := steps(1, DefaultExactSamples+400)
	at, want := steps(2, 500)
	m := fitPool(t, Auto{Time: quickly}, []View{{X: x}}, y)
	names, weights := m.Members()
	i := slices.Index(names, "curves and trees")
	require.NotNil(t, m.trees, "%v", names)
	assert.Greater(t, weights[i], 0.7)
	mean, variance, err := m.Predict(at)
	require.NoError(t, err)
	rmse, within := accuracy(want, mean, variance)
	assert.Less(t, rmse, 6.0) // the noise has 3, the target a standard deviation of 22
	assert.InDelta(t, 475, within, 20)

	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	back, err := LoadAs[*AutoModel](bytes.NewReader(file.Bytes()))
	require.NoError(t, err)
	assert.Equal(t, predicted(t, m, at), predicted(t, back, at))
	assert.Equal(t, m.Summary(), back.Summary())
	requirePredictors(t, back, at, mean, variance)
	assertTreeFileIsChecked(t, m, fmt.Sprintf("member.%d.", i))

	requirePartsAddUp(t, m, at)
}

// Every later version must read the pools with trees of this one and predict the same.
func TestGoldenTrees(t *testing.T) {
	const path = "../testdata/models/pool-trees-v1"
	at, _ := steps(3, 50)
	if _, err := os.Stat(path + ".safetensors"); *updateGolden && err != nil {
		x, y := steps(4, 100)
		f := &fitting{Fitting: Fitting{Notes: map[string]string{"made by": "TestGoldenTrees -update"}}}
		r, err := newManyRows(context.Background(), f, []View{{X: x}}, y, false, quickly)
		require.NoError(t, err)
		member, err := r.fitTrees(Fitting{}, vec.Picked(y, r.order))
		require.NoError(t, err)
		m := &AutoModel{trees: member}
		m.names, m.weights, m.rule, m.of, m.onLandmarks = []string{"curves and trees"}, []float64{1}, weighed, len(y), true
		m.record = f.record(Trace{})
		m.add(member)
		var file bytes.Buffer
		require.NoError(t, m.Save(&file))
		mean, variance, err := m.Predict(at)
		require.NoError(t, err)
		text, err := json.Marshal([][]float64{mean, variance})
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
	m, err := LoadAs[*AutoModel](bytes.NewReader(file))
	require.NoError(t, err)
	require.NotNil(t, m.trees)
	mean, variance, err := m.Predict(at)
	require.NoError(t, err)
	assert.InDeltaSlice(t, want[0], mean, 1e-10)
	assert.InDeltaSlice(t, want[1], variance, 1e-10)
}

// assertTreeFileIsChecked loads files of the pool whose member with trees is damaged.
func assertTreeFileIsChecked(t *testing.T, m *AutoModel, prefix string) {
	t.Helper()
	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	for _, d := range []struct {
		want   string
		change func(metadata map[string]string, ts map[string]tensor)
	}{
		{"is missing", func(_ map[string]string, ts map[string]tensor) { delete(ts, prefix+"covariance") }},
		{"row 1 is", func(_ map[string]string, ts map[string]tensor) { ts[prefix+"features"].data[9] = 0 }},
		{"element 1 is NaN", func(_ map[string]string, ts map[string]tensor) { ts[prefix+"at"].data[1] = math.NaN() }},
		{"knot 1 of feature 0", func(_ map[string]string, ts map[string]tensor) { ts[prefix+"knots"].data[1] = -1e9 }},
		{"covariance of height 0", func(_ map[string]string, ts map[string]tensor) { ts[prefix+"covariance"].data[0] = -1 }},
	} {
		assertRefused(t, file.Bytes(), d.change, d.want)
	}
	for _, j := range []struct {
		want   string
		change func(*treesJSON)
	}{
		{"target: a mean", func(j *treesJSON) { j.Target[1] = 0 }},
		{"samples of", func(j *treesJSON) { j.Samples = 0 }},
		{"curves[0] has", func(j *treesJSON) { j.Curves[0][1] = 1 << 30 }},
		{"belong to no tree", func(j *treesJSON) { j.Trees = j.Trees[1:] }},
		{"splits where", func(j *treesJSON) { j.Trees = append(j.Trees, j.Trees...) }},
		{"leads to", func(j *treesJSON) { j.Trees[0][0][1] = 0 }},
		{"feature 77", func(j *treesJSON) { j.Trees[0][0][0] = 77 }},
		{"columns[0] is", func(j *treesJSON) { j.Columns[0][1] = 9 }},
		{"noise 0", func(j *treesJSON) { j.Noise = 0 }},
	} {
		var f fileWriter
		settings := m.encode(&f)
		j.change(&settings.Trees.Model)
		var damaged bytes.Buffer
		require.NoError(t, f.write(&damaged, m.Kind(), settings))
		_, err := Load(bytes.NewReader(damaged.Bytes()))
		assert.ErrorContains(t, err, j.want)
	}
}
