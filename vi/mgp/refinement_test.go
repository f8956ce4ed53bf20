package mgp

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/vi"
)

// Every step of a refinement has an interval with the standard deviation that float64 computes, and a mean with its bits. The intervals
// of steps lie in each other but for the error of rounding, and the last step is what Predict returns but for the order of sums.
func TestRefinement(t *testing.T) {
	const n = 330 // so many that the triangle is divided, and has integers
	x, y := make([]float64, n), make([]float64, n)
	r := rand.New(rand.NewPCG(21, 22))
	for i := range x {
		x[i] = r.Float64() * 60
		y[i] = float64(0.5*math.Sin(x[i])) + 0.2*r.NormFloat64()
	}
	k, err := vi.NewDense(bellsOf(x, x))
	require.NoError(t, err)
	fit, err := Evidence{}.Fit(t.Context(), k, y)
	require.NoError(t, err)
	post := fit.Posterior
	self, noise := 1/post.State().Gamma[0], 1/post.State().Tau
	for _, tolerance := range []float64{1e-2, 1e-12} {
		triangle := post.Triangle(nil, tolerance)
		require.NotNil(t, triangle)
		require.True(t, triangle.Divided())
		scratch := NewTriangleScratch(n)
		refinement := NewRefinement(n)
		for _, at := range []float64{x[3], 10.02, -0.5, 70, 1e6} {
			for i, v := range bellsOf([]float64{at}, x).Row(0) {
				refinement.K[i] = v * self
			}
			exact := post.PredictOne(slices.Clone(refinement.K), self, false) // overwrites the kernels
			sd := math.Sqrt(exact.Variance)
			c := refinement.Begin(triangle, self)
			assert.InEpsilon(t, math.Sqrt(noise+self), math.Sqrt(c.Variance)+c.SDError, 1e-12, "no row has taken any variance")
			assert.InEpsilon(t, math.Sqrt(noise), c.LeastSD, 1e-12)
			rows := NewTriangleScratch(n)
			triangle.Start(refinement.K, self, triangle.Coarse(), rows)
			steps := 0
			for done := false; ; steps++ {
				assert.Equal(t, exact.Mean, c.Mean)
				assert.InDelta(t, sd, math.Sqrt(c.Variance), c.SDError+1e-9*sd, "%g, step %d", at, steps)
				assert.LessOrEqual(t, c.LeastSD, sd*(1+1e-9))
				if done {
					break
				}
				before := c
				c, done = refinement.Refine()
				if square, e, all := triangle.Add(rows); !all { // the most that the function may vary by what the rows know
					assert.InEpsilon(t, math.Sqrt(noise+max(0, self-square)+e), math.Sqrt(c.Variance)+c.SDError, 1e-12)
				}
				if !done {
					assert.LessOrEqual(t, c.SDError, before.SDError*1.01+1e-4*sd)
				}
			}
			assert.GreaterOrEqual(t, steps, 3)
			want := triangle.Predict(refinement.K, self, triangle.Coarse(), scratch) // sums its rows in another order
			if !want.Within(tolerance) {
				want = triangle.Predict(refinement.K, self, false, scratch)
			}
			assert.InEpsilon(t, want.Variance, c.Variance, 1e-12)
			assert.InDelta(t, want.SDError, c.SDError, 1e-12)
		}
	}
}
