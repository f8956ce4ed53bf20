package mkl

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// codedClasses are samples as in [coded], with classes whose log odds are sums of effects of the first column and a function of the number.
// It also returns the probabilities of the classes.
func codedClasses(seed uint64, n, classes int) (x Features, label []string, p [][]float64) {
	const levels = 150
	of := rand.New(rand.NewPCG(1, 1))
	effect := la.NewMatrix[float64](levels, classes)
	for i := range effect.Data {
		effect.Data[i] = 1.5 * of.NormFloat64()
	}
	rng := rand.New(rand.NewPCG(seed, 5))
	x, label = la.NewMatrix[float64](n, 3), make([]string, n)
	for i := range n {
		code := rng.IntN(levels)
		x.Set(i, 0, float64(code))
		x.Set(i, 1, float64(rng.IntN(40)))
		x.Set(i, 2, rng.NormFloat64())
		q, sum := make([]float64, classes), 0.0
		for k := range q {
			eta := effect.At(code, k)
			if k == 0 {
				eta += math.Sin(2 * x.At(i, 2))
			}
			q[k] = math.Exp(eta)
			sum += q[k]
		}
		u, at := rng.Float64(), 0
		for k := range q {
			q[k] /= sum
			if u -= q[k]; u > 0 && k < classes-1 {
				at = k + 1
			}
		}
		label[i] = string(rune('a' + at))
		p = append(p, q)
	}
	return x, label, p
}

// logLoss returns the mean of −log p of the labels a, b, ….
func logLoss(label []string, p [][]float64) (sum float64) {
	for i, l := range label {
		sum -= math.Log(p[i][l[0]-'a']) / float64(len(label))
	}
	return sum
}

func TestEffectsOfLevelsOnClasses(t *testing.T) {
	for _, classes := range []int{2, 3} {
		const n = DefaultExactSamples + 300
		x, label, _ := codedClasses(1, n, classes)
		at, want, exact := codedClasses(2, 400, classes)
		pool := AutoClassifier[string]{Time: time.Second, Climb: Climb{MaxSteps: 3}, Classes: []string{"a", "b", "c"}[:classes]}
		m, err := pool.Fit(context.Background(), codedViews(x), label)
		require.NoError(t, err)
		require.NotNil(t, m.levels, m.Story())
		assert.Contains(t, m.Story(), "the effects of the levels of #1 on the log odds")
		assert.Contains(t, m.Story(), "the levels of #2 have no effect that predicts other samples, and are left out")
		assert.Equal(t, 3, m.Inputs()[0].Cols)
		_, p, err := m.Predict(at)
		require.NoError(t, err)
		assert.Less(t, logLoss(want, p), logLoss(want, exact)+0.1, "%d classes", classes)

		other := at.Clone()
		for i := range other.Rows {
			other.Set(i, 0, -1)
		}
		_, unknown, err := m.Predict(other)
		require.NoError(t, err)
		for i := range unknown {
			assert.Less(t, vec.LargestAbs(unknown[i]), 0.97, "of a level that is not known")
		}
		requireOddsAddUp(t, m, at)

		if !testing.Short() && classes == 3 {
			order := rand.New(rand.NewPCG(3, 4)).Perm(n)
			pool.Workers = 7
			moved := make([]string, n)
			for i, from := range order {
				moved[i] = label[from]
			}
			shuffled, err := pool.Fit(context.Background(), codedViews(x.TakeRows(order)), moved)
			require.NoError(t, err)
			_, q, err := shuffled.Predict(at)
			require.NoError(t, err)
			assert.Equal(t, p, q)
		}

		back := requireFile(t, m, LoadAs[*AutoClassifierModel[string]], 900_001)
		_, q, err := back.Predict(other)
		require.NoError(t, err)
		assert.Equal(t, unknown, q)
		assert.Equal(t, m.Summary(), back.Summary())
		assert.Equal(t, m.Inputs(), back.Inputs())
		var file bytes.Buffer
		require.NoError(t, m.Save(&file))
		for _, d := range []struct {
			want   string
			change func(metadata map[string]string, ts map[string]tensor)
		}{
			{"is missing", func(_ map[string]string, ts map[string]tensor) { delete(ts, "levels.0") }},
			{"row 1 is", func(_ map[string]string, ts map[string]tensor) {
				l := ts["levels.0"]
				l.data[l.shape[1]] = 0
			}},
		} {
			assertRefused(t, file.Bytes(), d.change, d.want)
		}

		one, err := m.Predictor(PredictorOptions{})
		require.NoError(t, err)
		many, err := one.PredictMany(context.Background(), 3, at)
		require.NoError(t, err)
		got := make([]float64, classes)
		for i := range at.Rows {
			_, bound, err := one.PredictWithBound(got, at.Row(i))
			require.NoError(t, err)
			assert.InDeltaSlice(t, p[i], got, bound+1e-9)
			assert.InDeltaSlice(t, p[i], many.Probability[i], many.Bound[i]+1e-9)
		}
		_, _, err = one.PredictWithBound(got, at.Row(0)[:2])
		require.ErrorContains(t, err, "2 values where 3 are needed")

		spreads, err := m.KernelSpreads(context.Background(), PredictOptions{}, at)
		require.NoError(t, err)
		assert.Len(t, spreads, len(m.KernelWeights()))
		for _, wrong := range [][]Features{{at.Slice(0, 9, 0, 2)}, {}, {at, at}} {
			_, _, err = m.Predict(wrong...)
			require.ErrorContains(t, err, "where")
			_, err = m.KernelSpreads(context.Background(), PredictOptions{}, wrong...)
			require.Error(t, err)
		}
		for _, column := range []int{0, 2} {
			bad := at.Clone()
			bad.Set(3, column, math.NaN())
			_, _, err = m.Predict(bad)
			require.ErrorContains(t, err, "NaN")
		}
	}
}

// Little time leaves the effects out, and the kernel of categories stays.
func TestNoTimeForEffectsOfLevelsOnClasses(t *testing.T) {
	x, label, _ := codedClasses(1, DefaultExactSamples+1, 2)
	m, err := AutoClassifier[string]{Time: 10 * time.Millisecond, Climb: Climb{MaxSteps: 1}}.Fit(context.Background(), codedViews(x), label)
	require.NoError(t, err)
	assert.Nil(t, m.levels)
	assert.Contains(t, m.Story(), "effects of levels: left out")
}

// Effects of several classes are behind the columns of their input, in the order of the columns.
func TestRowsWithEffectsOnClasses(t *testing.T) {
	l := &levelOdds{[]oddsColumn{
		{input: 0, column: 1, codes: []float64{3, 5}, classes: []int{0, 2}, effects: [][]float64{{0.1, 0.2}, {0.3, 0.4}}},
		{input: 1, column: 0},
		{input: 0, column: 0, codes: []float64{7}, classes: []int{0, 1, 2}, effects: [][]float64{{1}, {2}, {3}}},
	}}
	x := []Features{la.NewMatrix[float64](2, 3), la.NewMatrix[float64](2, 1)}
	copy(x[0].Row(0), []float64{7, 5, 9})
	copy(x[0].Row(1), []float64{8, 4, 9})
	x[1].Set(0, 0, 4)
	inputs := l.inputs([]ModelInput{{Cols: 6}, {Cols: 1}})
	assert.Equal(t, []ModelInput{{Cols: 3}, {Cols: 1}}, inputs)
	got, err := l.matrices(inputs, x)
	require.NoError(t, err)
	assert.Equal(t, []float64{1, 0.2, 9, 0.4, 2, 3, 0, 0, 9, 0, 0, 0}, got[0].Data)
	assert.Equal(t, []float64{0, 0}, got[1].Data)
	var r levelRow
	for i := range 2 { // levels that the fit did not have have no effects
		assert.Equal(t, [][]float64{got[0].Row(i), {0}}, l.point(&r, [][]float64{x[0].Row(i), x[1].Row(i)}))
	}
	assert.Equal(t, []gram.Input{{Cols: 3}, {Cols: 1}}, l.points([]gram.Input{{Cols: 6}, {Cols: 1}}))
	var none *levelOdds
	assert.Equal(t, []gram.Input{{Cols: 6}}, none.points([]gram.Input{{Cols: 6}}))
}
