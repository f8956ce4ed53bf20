package bemkl

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// The limit holds for every kernel at samples among, beside and far from the training samples, and for the vector that is worst.
func TestWeightLimitHolds(t *testing.T) {
	const N = 60
	src := rand.New(rand.NewPCG(9, 3))
	for _, lambda := range []vi.Gamma{{Shape: 1, Scale: 1}, {Shape: 1e-10, Scale: 1e10}, {Shape: 100, Scale: 1}} {
		c := rbfColumns{widths: []float64{0.05, 1, 30}}
		y := la.NewMatrix[float64](2, N)
		for i := range N {
			x := src.NormFloat64()
			c.points = append(c.points, x)
			y.Set(0, i, math.Sin(3*x)+0.1*src.NormFloat64())
			y.Set(1, i, x+src.NormFloat64())
		}
		r := Regression{Ascent: vi.Ascent{MaxSweeps: 15}, Lambda: lambda}
		fit, err := r.Fit(context.Background(), c.with(c.points), y)
		require.NoError(t, err)
		for o := range y.Rows {
			p, limit := fit.Posterior, fit.Posterior.WeightLimit(o)
			rows := make([]int, N)
			for i := range rows {
				rows[i] = i
			}
			cov, err := p.WeightCovariance(&la.Workspace{}, o, rows)
			require.NoError(t, err)
			form := func(k []float64) (sum float64) {
				for i, v := range k {
					sum += v * la.Dot(cov.Row(i), k)
				}
				return sum
			}
			k := make([]float64, N)
			for m := range c.widths {
				for range 40 {
					x := 3 * src.NormFloat64()
					for i, at := range c.points {
						k[i] = c.at(m, x, at)
					}
					assert.LessOrEqual(t, form(k), limit*(1+1e-9))
				}
				// φ = Φᵀw of |φ|² = wᵀKw has k = Kw: the power method on Cov·K finds the worst.
				w := make([]float64, N)
				for i := range w {
					w[i] = src.NormFloat64()
				}
				kernel := func(w []float64) []float64 {
					k := make([]float64, N)
					for i, x := range c.points {
						for j, z := range c.points {
							k[i] += c.at(m, x, z) * w[j]
						}
					}
					return k
				}
				var worst float64
				for range 30 {
					k := kernel(w)
					worst = form(k) / la.Dot(w, k)
					for i := range w {
						w[i] = la.Dot(cov.Row(i), k)
					}
					la.Scal(1/math.Sqrt(la.SumSq(w)), w)
				}
				assert.LessOrEqual(t, worst, limit*(1+1e-9))
				assert.Greater(t, worst, 1e-4*limit, "the limit is of use")
			}
		}
	}
}
