package work

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "github.com/bmkl/bmkl/internal/testkit/golden" // the flag -golden
	"github.com/bmkl/bmkl/la"
)

// logDet returns log|I + c·A| of a symmetric A from its pivots in 256 bits.
func logDet(a la.Matrix[float64], c float64) (sum float64) {
	num := func(x float64) *big.Float { return new(big.Float).SetPrec(256).SetFloat64(x) }
	n := a.Rows
	b := make([][]*big.Float, n)
	for i := range b {
		for j := range n {
			v := num(a.At(max(i, j), min(i, j)))
			v.Mul(v, num(c))
			if i == j {
				v.Add(v, num(1))
			}
			b[i] = append(b[i], v)
		}
	}
	for k := range n {
		pivot, _ := b[k][k].Float64()
		sum += math.Log(pivot)
		for i := k + 1; i < n; i++ {
			f := num(0).Quo(b[i][k], b[k][k])
			for j := k; j < n; j++ {
				b[i][j].Sub(b[i][j], num(0).Mul(f, b[k][j]))
			}
		}
	}
	return sum
}

func TestRoundoffOfALogDeterminant(t *testing.T) {
	const n, rank = 24, 9
	for _, c := range []float64{1e4, 1e8, 1e12} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			var worst float64
			for seed := range uint64(20) {
				src := rand.New(rand.NewPCG(seed, 1))
				g, a := la.NewMatrix[float64](n, rank), la.NewMatrix[float64](n, n)
				for i := range g.Data {
					g.Data[i] = src.NormFloat64()
				}
				la.Syrk(nil, la.NoTrans, 1, g, 0, a)
				b, x := a.Clone(), make([]float64, n)
				for i := range b.Data {
					b.Data[i] *= c
				}
				for i := range n {
					b.Set(i, i, 1+b.At(i, i))
					x[i] = b.At(i, i)
				}
				require.NoError(t, la.Cholesky(nil, b))
				err := math.Abs(0.5 * (la.LogDet(b) - logDet(a, c)))
				inverse := make([]float64, n)
				la.CholeskyInvDiag(nil, b, inverse)
				worst = max(worst, (err-1e-13)/(Roundoff(n)*la.Dot(x, inverse)))
			}
			assert.Less(t, worst, 1.0)
			assert.Greater(t, worst, 0.005, "the estimate says nothing")
		})
	}
}

func TestMemory(t *testing.T) {
	a, b := []float64{1, 2}, []float64{3}
	var m Memory
	m.Of(a, b)
	m.Keep()
	a[1], b[0] = 7, 8
	m.Restore()
	assert.Equal(t, []float64{1, 2, 3}, append(a, b...))
	a[0] = 5
	m.Keep()
	a[0] = 6
	m.Restore()
	assert.Equal(t, 5.0, a[0])
}
