package measure

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
)

// Law has the measures of Target where distributions are normal, and its own where a model learns the logarithm.
func TestLaw(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := la.NewMatrix[float64](90, 1), make([]float64, 90)
	for i := range y {
		x.Set(i, 0, rng.NormFloat64())
		y[i] = math.Exp(3 + x.At(i, 0) + 0.3*rng.NormFloat64())
	}
	for _, own := range []bool{true, false} {
		m, err := mkl.Auto{OwnScale: own}.Fit(t.Context(), []mkl.View{{X: x}}, y)
		require.NoError(t, err)
		p := m.LeaveOneOut()
		truth := append([]float64{math.NaN()}, y[1:]...)
		v, err := Target(truth, p.Mean[0], p.Variance[0], 0.9)
		require.NoError(t, err)
		normal := map[string]float64{}
		for name, value := range v {
			normal[name] = value
		}
		require.NoError(t, Law(v, p, 0, truth, 0.9))
		inside, density := 0.0, 0.0
		for i, of := range y[1:] {
			low, high := p.Interval(0, i+1, 0.9)
			if low <= of && of <= high {
				inside++
			}
			density += p.LogDensity(0, i+1, of) / 89
		}
		assert.InDelta(t, inside/89, v["coverage"], 1e-12)
		assert.InDelta(t, density, v["log density"], 1e-12)
		assert.Equal(t, normal["RMSE"], v["RMSE"])
		for name := range v {
			if own {
				assert.InDelta(t, normal[name], v[name], 1e-9*(1+math.Abs(v[name])), name)
			}
		}
		if !own {
			assert.Greater(t, v["log density"], normal["log density"])
		}
	}
}
