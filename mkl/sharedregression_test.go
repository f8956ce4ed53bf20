package mkl

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/vi/bemkl"
)

// fitShared fits two targets of which each depends on one of two inputs.
func fitShared(t testing.TB, n int) (*SharedRegressionModel, []View, [][]float64) {
	rng := rand.New(rand.NewPCG(3, 5))
	a, b := normal(rng, n, 1), normal(rng, n, 1)
	y := [][]float64{make([]float64, n), make([]float64, n)}
	for i := range n {
		y[0][i] = 10 + 3*math.Sin(2*a.At(i, 0)) + 0.1*rng.NormFloat64()
		y[1][i] = math.Sin(2*b.At(i, 0)) + 0.1*rng.NormFloat64()
	}
	views := []View{{Name: "a", X: a, Kernel: RBF{Width: 0.7}}, {Name: "b", X: b, Kernel: RBF{Width: 0.7}}}
	m, err := SharedRegression{}.Fit(context.Background(), views, y...)
	require.NoError(t, err)
	return m, views, y
}

func TestSharedRegressionTellsTargetsApart(t *testing.T) {
	m, views, y := fitShared(t, 60)
	require.True(t, m.Trace().Converged)
	for o, other := range []int{1, 0} {
		w := m.Outputs()[o].Weights
		assert.Greater(t, math.Abs(w[o].Mean), 5*math.Abs(w[other].Mean), "target %d depends on view %s", o, views[o].Name)
		assert.Equal(t, w[o], m.KernelWeights()[o], "the view's weight for the target that it matters most to")
		assert.Equal(t, m.ActiveSamples(0), m.ActiveSamples(o))
	}
	p, err := m.PredictTargets(context.Background(), PredictOptions{}, views[0].X, views[1].X)
	require.NoError(t, err)
	for o := range y {
		rest := make([]float64, len(y[o]))
		for i := range rest {
			rest[i] = y[o][i] - p.Mean[o][i]
		}
		_, sd := meanSD(y[o])
		_, left := meanSD(rest)
		assert.Less(t, left, 0.3*sd)
		assert.InEpsilon(t, sd/math.Sqrt(m.Posterior().State().Epsilon[o].Mean()), m.NoiseSD()[o], 1e-12)
	}
	assert.Contains(t, m.Summary(), "regression of 2 targets with shared sample weights on 2 kernels (2 active) and 60 samples")
}

// The estimator is bemkl.SharedRegression on standardised targets.
func TestSharedRegressionIsTheModel(t *testing.T) {
	m, views, y := fitShared(t, 30)
	_, z := standardizeTargets(y, false)
	_, k, err := (&Fitting{}).kernels(context.Background(), views, 30, 1, SharedRegression{}.EstimateMemory)
	require.NoError(t, err)
	fit, err := bemkl.SharedRegression{}.Fit(context.Background(), k, z)
	require.NoError(t, err)
	assert.Equal(t, fit.Record.Trace, m.Trace().Bounds)
	assert.Equal(t, fit.Posterior.State().BEMean, m.Posterior().State().BEMean)
}

func TestSharedPredictorWithinItsBounds(t *testing.T) {
	m, _, _ := fitShared(t, 40)
	x := newPoints(m, 20)
	p, err := m.PredictTargets(context.Background(), PredictOptions{}, x...)
	require.NoError(t, err)
	for o := range m.Targets() {
		for _, tolerance := range []float64{-1, 0, 0.5} {
			one, err := m.Predictor(PredictorOptions{Target: o, Tolerance: tolerance})
			require.NoError(t, err)
			for i := range p.Mean[o] {
				requireWithin(t, one, p.Mean[o][i], p.Variance[o][i], x[0].Row(i), x[1].Row(i))
			}
		}
	}
	_, err = m.Predictor(PredictorOptions{Target: 2})
	assert.EqualError(t, err, "mkl: Predictor: target 2 of 2")
}

func TestSharedRegressionRefuses(t *testing.T) {
	_, views, y := fitShared(t, 20)
	y[1][3] = math.NaN()
	_, err := SharedRegression{}.Fit(context.Background(), views, y...)
	assert.EqualError(t, err, "mkl: y[1][3] is NaN")

	size := Size{Samples: 1000, Kernels: 7, Outputs: 2}
	n := SharedRegression{Fitting: Fitting{Workers: 2}}.EstimateMemory(size)
	assert.Less(t, n, Regression{Fitting: Fitting{Workers: 2}}.EstimateMemory(size))
	assert.Greater(t, n, int64(8*8*1000*1000))

	m, _, _ := fitShared(t, 20)
	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	_, err = LoadAs[*RegressionModel](&file)
	assert.ErrorContains(t, err, "mkl: load: the file holds a model of another kind: \"shared-regression\", not \"regression\"")
}
