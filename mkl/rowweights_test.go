package mkl

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// unequal returns n samples of two views, with the true function and the weights 1/σ_n². The noise of every third sample has the
// standard deviation 2, and of the others 0.1.
func unequal(n int, seed uint64) (views []View, y, truth, weights []float64) {
	src := rand.New(rand.NewPCG(seed, 1))
	a, b := la.NewMatrix[float64](n, 2), la.NewMatrix[float64](n, 2)
	for i := range n {
		for j := range 2 {
			a.Row(i)[j], b.Row(i)[j] = src.NormFloat64(), src.NormFloat64()
		}
		f := 10 + math.Sin(2*a.At(i, 0)) + 0.5*a.At(i, 1)
		sd := 0.1
		if i%3 == 0 {
			sd = 2
		}
		truth, y, weights = append(truth, f), append(y, f+sd*src.NormFloat64()), append(weights, 1/(sd*sd))
	}
	return []View{{Name: "a", X: a, Input: "a"}, {Name: "b", X: b, Input: "b"}}, y, truth, weights
}

// rootMeanSquare returns the root mean square of a − b.
func rootMeanSquare(a, b []float64) float64 {
	var sum float64
	for i, v := range a {
		sum += (v - b[i]) * (v - b[i])
	}
	return math.Sqrt(sum / float64(len(a)))
}

// Weights find the function where noise without them hides it.
func TestWeightsFindTheFunction(t *testing.T) {
	settings := func(weights []float64) []Auto {
		return []Auto{{}, {Weights: weights}, {Weights: weights, KnownNoise: 1}}
	}
	var off [3]float64 // of the settings, over three sets of samples
	for seed := range uint64(3) {
		views, y, truth, weights := unequal(90, 8+seed)
		for k, a := range settings(weights) {
			mean, _, err := fitPool(t, a, views, y).Predict(views[0].X, views[1].X)
			require.NoError(t, err)
			off[k] = math.Hypot(off[k], rootMeanSquare(mean, truth))
		}
	}
	assert.Less(t, off[1], 0.7*off[0])
	assert.Less(t, off[2], 0.7*off[0])
}

// The noise of weight 1 is found, or known, intervals hold, and the unit of the weights has no effect.
func TestWeightsOfPool(t *testing.T) {
	views, y, truth, weights := unequal(90, 8)
	x := []Features{views[0].X, views[1].X}
	fit := func(a Auto) *AutoModel {
		m, err := a.Fit(t.Context(), views, y)
		require.NoError(t, err)
		return m
	}
	off := func(m *AutoModel) float64 {
		mean, _, err := m.Predict(x...)
		require.NoError(t, err)
		return rootMeanSquare(mean, truth)
	}
	m := fit(Auto{Weights: weights})
	assert.InDelta(t, 1, m.NoiseSD()[0], 0.25, "of weight 1")

	known := fit(Auto{Weights: weights, KnownNoise: 1})
	assert.InEpsilon(t, 1, known.NoiseSD()[0], 1e-9)
	assert.Len(t, known.Views(), 2)
	assert.Greater(t, known.Views()[0].In, 0.9)
	loo := known.LeaveOneOut()
	var in int // central intervals of probability 0.9
	for i, v := range y {
		if math.Abs(v-loo.Mean[0][i]) < 1.645*math.Sqrt(loo.Variance[0][i]) {
			in++
		}
	}
	assert.InDelta(t, 81, in, 9)

	scaled := slices.Clone(weights)
	la.Scal(1e4, scaled)
	other := fit(Auto{Weights: scaled})
	assert.InEpsilon(t, 100*m.NoiseSD()[0], other.NoiseSD()[0], 1e-3)
	assert.InDelta(t, off(m), off(other), 1e-3)
}

// Files, predictors and joint predictions of models with weights say what the models say.
func TestModelsWithWeights(t *testing.T) {
	views, y, _, weights := unequal(70, 8)
	x := []Features{views[0].X.Slice(0, 5, 0, 2), views[1].X.Slice(0, 5, 0, 2)}
	kernels := func(v []View) []View {
		out, _, err := FillViews(KernelsBroad, v)
		require.NoError(t, err)
		return out
	}
	for name, fit := range map[string]func() (TargetModel, error){
		"pool":  func() (TargetModel, error) { return Auto{Weights: weights}.Fit(t.Context(), views, y) },
		"draws": func() (TargetModel, error) { return MultiGP{Weights: weights}.Fit(t.Context(), kernels(views), y) },
		"points": func() (TargetModel, error) {
			return MultiGP{Weights: weights, PointScales: true}.Fit(t.Context(), kernels(views), y)
		},
		"varying": func() (TargetModel, error) {
			return MultiGP{Weights: weights, Noise: VaryingNoise}.Fit(t.Context(), kernels(views), y)
		},
		"heavy": func() (TargetModel, error) {
			return MultiGP{Weights: weights, Noise: HeavyNoise}.Fit(t.Context(), kernels(views), y)
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := fit()
			require.NoError(t, err)
			want, err := m.PredictTargets(t.Context(), PredictOptions{}, x...)
			require.NoError(t, err)
			var file bytes.Buffer
			require.NoError(t, m.Save(&file))
			loaded, err := Load(&file)
			require.NoError(t, err)
			got, err := loaded.(TargetModel).PredictTargets(t.Context(), PredictOptions{}, x...)
			require.NoError(t, err)
			assert.Equal(t, want, got)
			assert.Equal(t, m.NoiseSD(), loaded.(TargetModel).NoiseSD())
			for _, exact := range []bool{true, false} {
				p, err := loaded.(interface {
					Predictor(PredictorOptions) (*Predictor, error)
				}).Predictor(PredictorOptions{Exact: exact})
				require.NoError(t, err)
				for i := range 5 {
					mean, variance, err := p.Predict(views[0].X.Row(i), views[1].X.Row(i))
					require.NoError(t, err)
					assert.InEpsilon(t, want.Mean[0][i], mean, 1e-3)
					assert.InEpsilon(t, want.Variance[0][i], variance, 1e-2)
				}
			}
		})
	}
}

func TestWeightsThatAreRefused(t *testing.T) {
	views, y, _, weights := unequal(30, 8)
	views[0].Kernel, views[1].Kernel = kernel.RBF{}, kernel.RBF{}
	wrong := slices.Clone(weights)
	wrong[4] = -1
	for want, g := range map[string]MultiGP{
		"mkl: Weights: 1 where y has 30 samples":                 {Weights: weights[:1]},
		"mkl: Weights[4] is -1: a weight is positive and finite": {Weights: wrong},
		"mkl: Weights[1] is 99.99999999999999: its noise of 1.0000000000000002e-06 is less than 0.0001 of the target's standard deviation": {Weights: weights, KnownNoise: 1e-5},
	} {
		_, err := g.Fit(context.Background(), views, y)
		assert.ErrorContains(t, err, want)
		if g.KnownNoise == 0 {
			_, err = Auto{Weights: g.Weights}.Fit(context.Background(), views, y)
			assert.ErrorContains(t, err, want)
		}
	}
}

// Of more samples than MaxSamples, the members are fitted to a part.
func TestWeightsOfManySamples(t *testing.T) {
	views, y, _, weights := unequal(120, 8)
	m, err := Auto{Weights: weights, MaxSamples: 60}.Fit(t.Context(), views, y)
	require.NoError(t, err)
	assert.Equal(t, 60, m.Samples())
	assert.Contains(t, m.Story(), "60 of the 120 samples")
}

// A sample of nearly no weight, and one of a huge weight, do not set the units of the target.
func TestStandardizeWeighted(t *testing.T) {
	y := []float64{1, 2, 3, 4, 1e6}
	targets, _ := standardizeWeighted(y, []float64{1, 1, 1, 1, 1e-9}, false)
	assert.InDelta(t, 2.5, targets[0].mean, 1e-2)
	targets, _ = standardizeWeighted([]float64{1, 2, 3, 4}, []float64{1, 1, 1, 1e9}, false)
	assert.InDelta(t, (0.5*6+4)/2.5, targets[0].mean, 1e-6)
	same, z := standardizeWeighted(y, []float64{3, 3, 3, 3, 3}, false)
	plain, want := standardizeTargets([][]float64{y}, false)
	assert.InEpsilon(t, plain[0].mean, same[0].mean, 1e-12)
	assert.InEpsilon(t, plain[0].sd, same[0].sd, 1e-12)
	assert.InDeltaSlice(t, want.Row(0), z.Row(0), 1e-12)
	assert.Equal(t, 1, z.Rows)

	for _, unit := range []float64{1e-200, 1, 1e200} { // targets as far below 0 as above
		weights, y := []float64{1, 4, 2, 0.5}, []float64{-2 * unit, unit, -unit, 2 * unit}
		got, _ := standardizeWeighted(y, weights, false)
		var all, mean, square float64
		for i, w := range weights {
			u := w / (w + 2) // the upper of both weights in the middle
			all += u
			mean += u * y[i] / unit
			square += u * y[i] / unit * (y[i] / unit)
		}
		mean /= all
		assert.InDelta(t, mean, got[0].mean/unit, 1e-12)
		assert.InEpsilon(t, math.Sqrt((square/all-mean*mean)*4/3), got[0].sd/unit, 1e-12)
	}
}
