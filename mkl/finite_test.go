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
