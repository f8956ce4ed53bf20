package mkl

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A model whose noise is next to nothing says what rounding may do to it.
func TestRounding(t *testing.T) {
	src := rand.New(rand.NewPCG(3, 1))
	const n = 100
	x, y, noisy := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = 6 * src.Float64()
		y[i] = math.Sin(x[i])
		noisy[i] = y[i] + 0.1*src.NormFloat64()
	}
	for _, c := range []struct {
		y    []float64
		warn bool
	}{{y, true}, {noisy, false}} {
		m, err := MultiGP{Method: Factorised, Family: ARD, Fitting: Fitting{MaxSweeps: 200}}.Fit(context.Background(), []View{{X: Column(x), Kernel: RBF{Width: 1}}}, c.y)
		require.NoError(t, err)
		assert.Equal(t, c.warn, m.Rounding() > noticeable, "%g", m.Rounding())
		if c.warn {
			assert.Contains(t, m.Summary(), "ILL-CONDITIONED: rounding may move predictions by ")
		} else {
			assert.NotContains(t, m.Summary(), "ILL-CONDITIONED")
		}
	}
}
