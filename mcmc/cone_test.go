package mcmc

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// The probabilities depend on differences only, and of two classes they are
// Φ(±(f_1 − f_2)/√2), wherever f lies.
func TestConeProbabilitiesFarOut(t *testing.T) {
	at := func(f ...float64) []float64 {
		p := make([]float64, len(f))
		coneProbabilities(f, p, make([]float64, len(f)))
		return p
	}
	near := at(0, 1, -2)
	assert.InDelta(t, 1, near[0]+near[1]+near[2], 4e-16)
	for _, d := range []float64{0, 0.5, 1, 3} {
		upper := math.Exp(special.LogNormalCDF(d / math.Sqrt2))
		for _, centre := range []float64{0, 1e5, 0x1p48} {
			p := at(centre, centre+d)
			assert.InDelta(t, upper, p[1], 2e-15, "%g + (0, %g)", centre, d)
			assert.InDelta(t, 1-upper, p[0], 2e-15, "%g + (0, %g)", centre, d)
		}
	}
	for _, centre := range []float64{1e5, 0x1p40, -0x1p45} {
		assert.Equal(t, near, at(centre, centre+1, centre-2), "around %g", centre)
	}
	for _, x := range []float64{1e14, 3e16, 1e20, 1e160, math.MaxFloat64} {
		assert.Equal(t, []float64{0, 1, 0}, at(-x, x, 0), "%g", x)
		assert.InDeltaSlice(t, []float64{0.5, 0, 0.5}, at(x, -x, x), 2e-16, "%g", x)
	}
	for _, x := range []float64{math.NaN(), math.Inf(1)} {
		for _, p := range at(x, 0) {
			assert.True(t, math.IsNaN(p))
		}
	}
}

func TestDrawConeFarOut(t *testing.T) {
	var cone special.Cone
	r := rand.New(newStream(1, 0))
	y := make([]float64, 3)
	for _, x := range []float64{1e9, 3e16, 1e100, 1e150} {
		require.NoError(t, drawCone(r, &cone, 0, []float64{-x, x, 0}, y), "%g", x)
		assert.InEpsilon(t, x, y[0]+2*x, 2, "%g", x)
		assert.Less(t, y[1], y[0])
		assert.Less(t, y[2], y[0])
	}
	for _, m := range [][]float64{{math.NaN(), 0, 0}, {-1e200, 1e200, 0}, {0, math.Inf(1), 0}} {
		assert.ErrorContains(t, drawCone(r, &cone, 0, m, y), "outside the range of the sampler")
	}
}

func TestLogGammaOfNoShape(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, shape := range []float64{math.NaN(), math.Inf(1), -1e18} {
		assert.True(t, math.IsNaN(logGamma(r, shape)), "%g", shape)
	}
}

// The end of the context ends a prediction between two blocks of samples of a draw.
func TestPredictionOfManySamplesAsksTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := &classProbabilities{sum: la.NewMatrix[float64](64, 2)}
	c.add(ctx, la.NewMatrix[float64](2, 64), 1)
	assert.Zero(t, c.sum.Data[0])
	c.add(t.Context(), la.NewMatrix[float64](2, 64), 1)
	assert.InDelta(t, 0.5, c.sum.Data[0], 1e-15)
}
