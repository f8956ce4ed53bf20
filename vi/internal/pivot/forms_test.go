package pivot

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/bmkl/bmkl/internal/testkit"
	_ "github.com/bmkl/bmkl/internal/testkit/golden" // the flag -golden
	"github.com/bmkl/bmkl/la"
)

// naiveForm returns tᵀAt.
func naiveForm(a la.Matrix[float64], t []float64) (sum float64) {
	for i, u := range t {
		for j, v := range t {
			sum += u * a.At(i, j) * v
		}
	}
	return sum
}

// Forms are off by no more than they say, of definite and of indefinite matrices whose
// elements are as large for small coordinates as for large ones, and by no more than a few of
// the units that they may leave out.
func TestForms(t *testing.T) {
	src := rand.New(rand.NewPCG(7, 7))
	for _, n := range []int{1, 5, 60} {
		for _, share := range []float64{10, 1, 0.01} {
			t.Run(fmt.Sprintf("n=%d/share=%g", n, share), func(t *testing.T) {
				ws := &la.Workspace{}
				sizes, units := make([]float64, n), []float64{1e-3, 1e-4}
				for i := range sizes {
					sizes[i] = math.Exp(-float64(i) / 4)
				}
				x, definite := testkit.Normal(src, n, n), la.NewMatrix[float64](n, n)
				la.Syrk(ws, la.NoTrans, 1, x, 0, definite)
				definite.MirrorLower()
				x.MirrorLower()
				a := []la.Matrix[float64]{definite, x}
				f := NewForms(ws, a, units, sizes, share)
				scratch, got := make([]float64, f.ScratchSize()), make([]float64, 2)
				worst := 0.0
				for range 300 {
					at, length := make([]float64, n), 0.0
					for i, size := range sizes {
						v := src.NormFloat64()
						at[i] = size * v
						length += v * v
					}
					assert.InDelta(t, length, f.At(ws, at, scratch, got), 1e-12*length)
					for i := range a {
						off := math.Abs(got[i] - naiveForm(a[i], at))
						assert.LessOrEqual(t, off, f.Off[i]*length)
						worst = max(worst, off/(f.Off[i]*length))
					}
				}
				for i, unit := range units {
					assert.Less(t, f.Off[i], 20*share*unit+1e-5*frobenius(a[i]))
				}
				if n == 60 {
					assert.Greater(t, worst, 1e-3, "the bound says something")
					assert.Less(t, f.inner.Rows, 58)
				}
				t.Logf("rank %d of %d, largest error %.2g of its bound", f.inner.Rows, n, worst)
			})
		}
	}
	f := NewForms(nil, nil, nil, []float64{1, 2}, 1)
	assert.Zero(t, f.ScratchSize())
}

func TestSpectral(t *testing.T) {
	ws := &la.Workspace{}
	x := la.NewMatrix[float64](3, 3)
	assert.Zero(t, spectral(ws, x))
	for i, v := range []float64{2, -5, 1} {
		x.Set(i, i, v)
	}
	assert.InDelta(t, 5, spectral(ws, x), 0.01)
	for _, v := range []float64{3, -1e-30, 7e100} { // the norm of a matrix of one number is the number, and rounding must not make it less
		one := la.NewMatrix[float64](1, 1)
		one.Set(0, 0, v)
		assert.Greater(t, spectral(ws, one), math.Abs(v))
		assert.InEpsilon(t, math.Abs(v), spectral(ws, one), 1e-8)
	}
	x.Set(1, 1, math.NaN())
	assert.True(t, math.IsNaN(spectral(ws, x)))
}
