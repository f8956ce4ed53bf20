package mkl

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/mkl/kernel"
)

// A variance beyond the largest number is the largest number. The samples beside keep their predictions.
func TestVarianceBeyondTheLargestNumber(t *testing.T) {
	x, y := Features{Rows: 20, Cols: 1, Stride: 1, Data: make([]float64, 20)}, make([]float64, 20)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range y {
		x.Data[i] = r.NormFloat64()
		y[i] = 1e139 * (x.Data[i] + r.NormFloat64())
	}
	views := []View{{X: x, Kernel: kernel.Linear{}, Standardize: true}}
	at := Column([]float64{0.5, 1e60, -0.3})
	near := Column([]float64{0.5, -0.3})
	for name, fit := range map[string]func() (TargetModel, error){
		"process":    func() (TargetModel, error) { return MultiGP{}.Fit(t.Context(), views, y) },
		"regression": func() (TargetModel, error) { return Regression{}.Fit(t.Context(), views, y) },
		"pool":       func() (TargetModel, error) { return Auto{}.Fit(t.Context(), []View{views[0], {X: x}}, y) },
		"pools":      func() (TargetModel, error) { return AutoTargets{}.Fit(t.Context(), views, y, y) },
	} {
		m, err := fit()
		require.NoError(t, err, name)
		p, err := m.PredictTargets(t.Context(), PredictOptions{}, at)
		require.NoError(t, err, name)
		want, err := m.PredictTargets(t.Context(), PredictOptions{}, near)
		require.NoError(t, err, name)
		assert.Equal(t, want.Mean[0], []float64{p.Mean[0][0], p.Mean[0][2]}, name)
		assert.Equal(t, want.Variance[0], []float64{p.Variance[0][0], p.Variance[0][2]}, name)
		assert.Equal(t, math.MaxFloat64, p.Variance[0][1], name)
		assert.Greater(t, math.Abs(p.Mean[0][1]), 1e160, name)
		predictor, err := m.(interface {
			Predictor(PredictorOptions) (*Predictor, error)
		}).Predictor(PredictorOptions{Exact: true})
		require.NoError(t, err, name)
		b, err := predictor.PredictWithBound([]float64{1e60})
		require.NoError(t, err, name)
		assert.Equal(t, math.MaxFloat64, b.Variance, name)
		assert.InEpsilon(t, p.Mean[0][1], b.Mean, 1e-9, name)
		assert.False(t, math.IsNaN(b.SDError), name)
	}
}

// Of counts and times, as of targets, an error names the samples that cannot be predicted, and the others can.
func TestWildSamplesOfCountsAndTimes(t *testing.T) {
	x, y := Features{Rows: 20, Cols: 1, Stride: 1, Data: make([]float64, 20)}, make([]float64, 20)
	var times []Lifetime
	for i := range y {
		x.Data[i] = 1e-3 * float64(i)
		y[i] = math.Floor(math.Exp(float64(i) / 3))
		times = append(times, EventAt(1+y[i]))
	}
	views := []View{{X: x, Kernel: kernel.Linear{}}}
	for name, fit := range map[string]func() (func(...Features) error, error){
		"counts": func() (func(...Features) error, error) {
			m, err := Counts{}.Fit(t.Context(), views, y)
			return func(x ...Features) error { _, err := m.Predict(x...); return err }, err
		},
		"log-normal times": func() (func(...Features) error, error) {
			m, err := Survival{Law: LogNormal}.Fit(t.Context(), views, times)
			return func(x ...Features) error { _, err := m.Predict(x...); return err }, err
		},
		"Weibull times": func() (func(...Features) error, error) {
			m, err := Survival{Law: Weibull}.Fit(t.Context(), views, times)
			return func(x ...Features) error { _, err := m.Predict(x...); return err }, err
		},
	} {
		predict, err := fit()
		require.NoError(t, err, name)
		var wild *SampleError
		require.ErrorAs(t, predict(Column([]float64{0.005, 1.3e154, 0.001})), &wild, name) // ∞ − ∞ is its variance
		assert.Equal(t, []int{1}, wild.Samples, name)
		require.NoError(t, predict(Column([]float64{0.005, 0.001})), name)
	}
}

// A function without a number is the fault of its sample, and the error names all such samples.
func TestCheckFunction(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	variance := []float64{1, 0, inf, nan, 1}
	err := checkFunction([]float64{1, 2, 3, 4, inf}, variance)
	var wild *SampleError
	require.ErrorAs(t, err, &wild)
	assert.Equal(t, []int{3, 4}, wild.Samples)
	require.EqualError(t, err,
		"mkl: sample 3: its function has mean 4 and variance NaN: the data, their units or the sample are beyond the range of floating-point numbers")
	assert.Equal(t, math.MaxFloat64, variance[2])
	require.NoError(t, checkFunction([]float64{1, 2}, []float64{0, inf}))
}
