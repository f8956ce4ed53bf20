package mkl

import (
	"math"
	"testing"

	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/stretchr/testify/assert"
)

// FuzzSettings fits two estimators to fixed data with settings of any size: an error or
// a model, and a model predicts numbers or says why not.
func FuzzSettings(f *testing.F) {
	f.Add(1.0, 1.0, 1.0, 0.0, 2, 1, uint64(1), 1.0)
	f.Add(1e-10, 1e10, 5e-324, -1.0, -1, 0, uint64(1), 1e160)
	f.Add(0.001, 1e-300, 1e308, 1e-300, 5, 3, uint64(1), -1e16)
	f.Fuzz(func(t *testing.T, shape, scale, width, tolerance float64, sweeps, restarts int, seed uint64, at float64) {
		s := fitting{Fitting: Fitting{Seed: seed, Workers: 1}, Ascent: Ascent{MaxSweeps: min(sweeps, 20), Tolerance: tolerance, Restarts: min(restarts, 2)}}
		prior := Gamma{Shape: shape, Scale: scale}
		views := []View{{X: Column([]float64{1, 2, 4, 3, 7}), Input: "x1", Kernel: kernel.RBF{Width: width}}, {X: Column([]float64{0, 1, -1, 2, 5}), Input: "x2", Kernel: kernel.Linear{}}}
		x := []Features{Column([]float64{at}), Column([]float64{-at})}
		m, err := Regression{Fitting: s.Fitting, Ascent: s.Ascent, Lambda: prior, Omega: prior, Upsilon: prior}.Fit(t.Context(), views, []float64{1, -1, 2, 0.5, 3})
		if m != nil {
			if p, err := m.PredictTargets(t.Context(), PredictOptions{}, x...); err == nil {
				assert.False(t, math.IsNaN(p.Mean[0][0]) || !(p.Variance[0][0] > 0))
			}
		} else {
			assert.Error(t, err)
		}
		c, err := Classifier[int]{Fitting: s.Fitting, Ascent: s.Ascent, Lambda: prior, Gamma: prior}.Fit(t.Context(), views, []int{0, 1, 0, 2, 1})
		if c != nil {
			if p, err := c.PredictClasses(t.Context(), PredictOptions{}, x...); err == nil {
				assert.InDelta(t, 1, vec.Total(p.Probability[0]), 1e-9)
			}
		} else {
			assert.Error(t, err)
		}
	})
}
