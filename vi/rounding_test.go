package vi

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

// The bound holds for random and for the worst vectors, and is not far above what the worst vector shows.
func TestSingleFactor(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for _, n := range []int{1, 5, 60, 200} {
		for _, noise := range []float64{1, 0.01, 1e-5} {
			x, b := make([]float64, n), la.NewMatrix[float64](n, n)
			for i := range x {
				x[i] = 3 * rng.NormFloat64()
			}
			for i := range n {
				for j := range n {
					b.Set(i, j, math.Exp(-(x[i]-x[j])*(x[i]-x[j])/2))
				}
				b.Set(i, i, 1+noise)
			}
			ws := &la.Workspace{}
			require.NoError(t, la.Cholesky(ws, b))
			rounded := b.Clone()
			for i := range n {
				for j := range n {
					rounded.Set(i, j, float64(float32(b.At(i, j))))
				}
			}
			cheap, best := SingleFactor(ws, b, noise, math.Inf(1)), SingleFactor(ws, b, noise, 0)
			tight := SingleFactor(ws, b, noise, cheap/math.Pow(float64(n), 0.2))
			assert.GreaterOrEqual(t, cheap, tight, "n = %d, noise %g", n, noise)
			assert.GreaterOrEqual(t, cheap, best)
			square := func(l la.Matrix[float64], k []float64) float64 {
				v := la.MatrixOf(n, 1, append([]float64(nil), k...))
				la.Trsm(ws, la.Left, la.NoTrans, l, v)
				return la.SumSq(v.Data)
			}
			for range 50 {
				k := make([]float64, n)
				at := 3 * rng.NormFloat64()
				for i := range k {
					if k[i] = math.Exp(-(x[i] - at) * (x[i] - at) / 2); at > 3 {
						k[i] = rng.NormFloat64() // rough vectors meet the small eigenvalues
					}
				}
				q := square(b, k)
				assert.LessOrEqual(t, math.Abs(square(rounded, k)-q), tight*q, "n = %d, noise %g", n, noise)
			}
		}
	}
	huge := la.MatrixOf(1, 1, []float64{1e300})
	assert.Equal(t, math.Inf(1), SingleFactor(nil, huge, 1, 1), "float32 overflows")
	tiny := la.MatrixOf(1, 1, []float64{1e-300})
	assert.Equal(t, math.Inf(1), SingleFactor(nil, tiny, 1e-600, 1))
}
