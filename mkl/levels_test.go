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
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// coded are samples of two columns of codes and a number. The levels of the first column have effects of the standard deviation 2, the
// second column has no effect. The code −1 is of no training sample.
func coded(seed uint64, n int) (x Features, y []float64) {
	const levels = 120
	of := rand.New(rand.NewPCG(1, 1))
	effect := make([]float64, levels)
	for i := range effect {
		effect[i] = 2 * of.NormFloat64()
	}
	rng := rand.New(rand.NewPCG(seed, 5))
	x, y = la.NewMatrix[float64](n, 3), make([]float64, n)
	for i := range y {
		code := rng.IntN(levels)
		x.Set(i, 0, float64(code))
		x.Set(i, 1, float64(rng.IntN(40)))
		x.Set(i, 2, rng.NormFloat64())
		y[i] = effect[code] + math.Sin(2*x.At(i, 2)) + 0.5*rng.NormFloat64()
	}
	return x, y
}

func codedViews(x Features) []View {
	return []View{{X: x, Columns: []int{0, 1}, Kernel: kernel.Categorical{}}, {X: x, Columns: []int{2}}}
}

func TestEffectsOfLevels(t *testing.T) {
	const n = DefaultExactSamples + 200
	x, y := coded(1, n)
	at, want := coded(2, 400)
	pool := Auto{Time: time.Second, Climb: Climb{MaxSteps: 5}}
	m := fitPool(t, pool, codedViews(x), y)
	require.NotNil(t, m.levels, m.Story())
	assert.Contains(t, m.Story(), "the effects of the levels of #1 have the standard deviation 2")
	assert.Contains(t, m.Story(), "the levels of #2 have no effect that predicts other samples, and are left out")
	assert.NotNil(t, m.local, m.Story())
	mean, variance, err := m.Predict(at)
	require.NoError(t, err)
	rmse, within := accuracy(want, mean, variance)
	assert.Less(t, rmse, 0.58) // the noise has .5, and 27 samples a level leave .1 more
	assert.InDelta(t, 380, within, 15)

	other := at.Clone()
	for i := range other.Rows {
		other.Set(i, 0, -1)
	}
	_, wide, err := m.Predict(other)
	require.NoError(t, err)
	for i, v := range wide {
		assert.InDelta(t, 4, v-variance[i], 1.5, "the variance of an effect that is not known")
	}
	requirePartsAddUp(t, m, at)
	requirePartsAddUp(t, m, other)

	if !testing.Short() {
		order := rand.New(rand.NewPCG(3, 4)).Perm(n)
		pool.Workers = 7
		shuffled := fitPool(t, pool, codedViews(x.TakeRows(order)), vec.Picked(y, order))
		assert.Equal(t, predicted(t, m, at), predicted(t, shuffled, at))
	}

	back := requireFile(t, m, LoadAs[*AutoModel], 400_001)
	assert.Equal(t, predicted(t, m, other), predicted(t, back, other))
	assert.Equal(t, m.Summary(), back.Summary())
	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	for _, d := range []struct {
		want   string
		change func(metadata map[string]string, ts map[string]tensor)
	}{
		{"is missing", func(_ map[string]string, ts map[string]tensor) { delete(ts, "levels.0") }},
		{"row 1 is", func(_ map[string]string, ts map[string]tensor) { ts["levels.0"].data[3] = 0 }},
		{"row 2 is", func(_ map[string]string, ts map[string]tensor) { ts["levels.0"].data[8] = -1 }},
	} {
		assertRefused(t, file.Bytes(), d.change, d.want)
	}

	requirePredictors(t, m, at, mean, variance)
	spreads, err := m.KernelSpreads(context.Background(), PredictOptions{}, at)
	require.NoError(t, err)
	assert.Len(t, spreads, len(m.KernelWeights()))
	_, _, err = m.Predict(at.Slice(0, 9, 0, 2))
	assert.ErrorContains(t, err, "3 columns are needed")
	_, _, err = m.Predict()
	assert.Error(t, err)
	at.Set(3, 0, math.NaN())
	_, _, err = m.Predict(at)
	assert.ErrorContains(t, err, "NaN")
}

// Columns of codes alone are enough, and inputs keep their order.
func TestEffectsOfLevelsInInputsOfTheirOwn(t *testing.T) {
	x, _ := coded(1, 200)
	f := &levelFit{views: []View{
		{X: x.Slice(0, 200, 0, 1), Input: "codes", Kernel: kernel.Categorical{}},
		{X: x, Input: "all", Columns: []int{1, 2}},
		{X: x, Input: "all", Columns: []int{0}, Kernel: kernel.Categorical{}},
	}}
	f.x = distinctInputs(f.views)
	f.find()
	require.Len(t, f.at, 2)
	seen := f.seen([][][]float64{{vec.Picked(x.Data, vec.UpTo(200))}, {make([]float64, 200)}})
	require.Len(t, seen, 2)
	assert.Equal(t, []string{"codes", "all"}, []string{seen[0].Input, seen[1].Input})
	assert.Equal(t, [][]int{{0}, {0, 1, 2}}, [][]int{seen[0].Columns, seen[1].Columns})
	assert.Nil(t, seen[0].Kernel)
	assert.Equal(t, x.Data[7], seen[0].X.At(7, 0))
	assert.Zero(t, seen[1].X.At(7, 0))
	assert.Equal(t, x.At(7, 2), seen[1].X.At(7, 2))
}

// Little time leaves the effects out, and the kernel of categories stays.
func TestNoTimeForEffectsOfLevels(t *testing.T) {
	x, y := coded(1, DefaultExactSamples+1)
	m := fitPool(t, Auto{Time: 10 * time.Millisecond, Climb: Climb{MaxSteps: 1}}, codedViews(x), y)
	assert.Nil(t, m.levels)
	assert.Contains(t, m.Story(), "effects of levels: left out")
}
