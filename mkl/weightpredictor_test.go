package mkl

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/mkl/kernel"
)

// No prediction of weighted kernels is further from float64 than its bound, or than the tolerance, healed or not: with much noise
// and with hardly any, narrow, wide and unbounded kernels, samples that occur twice and a feature that is constant.
func TestWeightsStayWithinTheTolerance(t *testing.T) {
	const n = 260 // integers are tried from 256 samples on
	rng := rand.New(rand.NewPCG(61, 62))
	x := normal(rng, n, 6)
	f, labels := make([]float64, n), make([]string, n)
	for i := range n {
		row := x.Row(i)
		row[1] = 7
		if i%10 == 9 {
			copy(row, x.Row(i-1))
		}
		f[i] = math.Sin(3*row[0]) + row[2]
		labels[i] = []string{"a", "b", "c"}[min(2, int(math.Hypot(row[0], row[2])))]
	}
	q := anywhere(rand.New(rand.NewPCG(63, 64)), x, 240)
	for name, kernels := range map[string][]kernel.Kernel{
		"narrow and wide": {kernel.RBF{Width: 0.4}, kernel.RBF{Width: 2}, kernel.RBF{Width: 20}, kernel.Laplacian{Width: 3}},
		"unbounded":       {kernel.RBF{Width: 3}, kernel.Linear{}, kernel.Polynomial{Degree: 2, Offset: 1}},
	} {
		var views []View
		for _, k := range kernels {
			views = append(views, View{X: x, Kernel: k, Center: name == "unbounded"})
		}
		for _, noise := range []float64{1, 1e-2, 1e-4} {
			y := make([]float64, n)
			for i, v := range f {
				y[i] = v + float64(noise*rng.NormFloat64())
			}
			m, err := Regression{Ascent: Ascent{MaxSweeps: 60}}.Fit(t.Context(), views, y)
			require.NoError(t, err)
			in32 := assertBounded(t, name, m, q)
			if name == "narrow and wide" { // the others have few pivots
				assert.Greater(t, in32, q.Rows/2, "%s: predictions in float32", name)
			}
			two, err := Regression{Ascent: Ascent{MaxSweeps: 30}}.Fit(t.Context(), views, y, f)
			require.NoError(t, err)
			assertBounded(t, name+", of two targets", two, q)
		}
		c, err := Classifier[string]{Ascent: Ascent{MaxSweeps: 60}}.Fit(t.Context(), views, labels)
		require.NoError(t, err)
		rounding := 1e-9
		if name == "unbounded" {
			rounding = 1e-8 // far away the polynomial is 10¹⁰
		}
		assertBoundedClasses(t, name, c, q, 3, rounding)
	}
}
