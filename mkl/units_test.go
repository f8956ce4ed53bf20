package mkl

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// unitViews are views of samples in units that are one scale'th of others, with widths
// in the same units, where the kernel has one.
func unitViews(a, b Features, scale float64) []View {
	a, b = a.Clone(), b.Clone()
	la.Scal(scale, a.Data)
	la.Scal(scale, b.Data)
	return []View{
		{Name: "a", X: a, Input: "x1", Kernel: kernel.RBF{Width: 0.5 * scale}},
		{Name: "a", X: a, Input: "x1", Kernel: kernel.RBF{Widths: []float64{0.75 * scale, 3 * scale}}},
		{Name: "a", X: a, Input: "x1", Kernel: kernel.RBF{}, Standardize: true},
		{Name: "b", X: b, Input: "x2", Kernel: kernel.Linear{}, Center: true, Normalize: true},
		{Name: "b", X: b, Input: "x2", Kernel: kernel.Laplacian{Width: 2 * scale}, Center: true},
		{Name: "b", X: b, Input: "x2", Kernel: kernel.Laplacian{Manhattan: true}},
	}
}

// In units that are a power of two of others, of features and of targets alike, every
// estimator has the same model and predicts the same, bit for bit.
func TestUnitsOfPowersOfTwo(t *testing.T) {
	changes := []struct{ feature, target float64 }{{1 << 10, 1.0 / 1024}, {1.0 / 1024, 1}, {1, 1 << 10}}
	if testing.Short() {
		changes = changes[:1]
	}
	eachEstimator(t, func(t *testing.T, e estimator) {
		_, y, a, b := twoInputs(2, 24)
		s := fitting{Fitting: Fitting{Workers: 1}, Ascent: Ascent{MaxSweeps: e.sweeps(12)}}
		m := mustFit(t, e, s, unitViews(a, b, 1), y)
		x := newPoints(m, 5)
		for _, c := range changes {
			if e.counted {
				c.target = 1
			}
			scaled := make([]float64, len(y))
			for i, v := range y {
				scaled[i] = c.target * v
			}
			n := mustFit(t, e, s, unitViews(a, b, c.feature), scaled)
			z := make([]Features, len(x))
			for i := range x {
				z[i] = x[i].Clone()
				la.Scal(c.feature, z[i].Data)
			}
			if p, ok := m.(TargetModel); ok {
				want, err := p.PredictTargets(t.Context(), PredictOptions{Workers: 1}, x...)
				require.NoError(t, err)
				got, err := n.(TargetModel).PredictTargets(t.Context(), PredictOptions{Workers: 1}, z...)
				require.NoError(t, err)
				for o := range want.Mean {
					la.Scal(c.target, want.Mean[o])
					la.Scal(c.target*c.target, want.Variance[o])
				}
				assert.Equal(t, want.Mean, got.Mean, "%+v", c)
				assert.Equal(t, want.Variance, got.Variance, "%+v", c)
			} else {
				want, err := e.predict(m, 1, x...)
				require.NoError(t, err)
				got, err := e.predict(n, 1, z...)
				require.NoError(t, err)
				assert.Equal(t, want, got, "%+v", c)
			}
			assert.Equal(t, m.Trace().Bounds, n.Trace().Bounds, "%+v", c)
		}
	})
}
