package tune

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
)

// problem is y = sin 3x + noise, with a view of x and one of a column that is only noise.
func problem(n int, kernel func(view int) mkl.Kernel) (views []mkl.View, y []float64) {
	rng := rand.New(rand.NewPCG(2, 7))
	for v := range 3 {
		x := la.NewMatrix[float64](n, 2)
		for i := range x.Data {
			x.Data[i] = 4 * rng.Float64()
		}
		views = append(views, mkl.View{X: x, Kernel: kernel(v), Standardize: v == 1})
	}
	for i := range n {
		y = append(y, math.Sin(3*views[0].X.At(i, 0))+math.Cos(views[0].X.At(i, 1))+0.1*rng.NormFloat64())
	}
	return views, y
}

// The gradient agrees with finite differences of the bounds of whole fits.
func TestGradient(t *testing.T) {
	views, y := problem(24, func(v int) mkl.Kernel {
		return []mkl.Kernel{mkl.RBF{Width: 0.7}, mkl.Laplacian{Width: 1.5}, mkl.RBF{Scale: 2}}[v]
	})
	views = append(views, mkl.View{X: views[0].X, Kernel: mkl.Linear{}}, mkl.View{X: views[1].X, Kernel: mkl.Laplacian{Width: 3, Manhattan: true}})
	for _, family := range []mkl.Family{mkl.StudentT, mkl.Laplace} {
		c, err := newClimb(context.Background(), mkl.MultiGP{Fitting: mkl.Fitting{Tolerance: 1e-11}, Family: family}, views, y)
		require.NoError(t, err)
		require.Equal(t, []int{0, 1, 2, 4}, c.learned)
		p, err := c.fit(c.start)
		require.NoError(t, err)
		for l := range c.start {
			const h = 1e-3
			at := func(d float64) float64 {
				x := append([]float64(nil), c.start...)
				x[l] += d
				q, err := c.fit(x)
				require.NoError(t, err)
				return q.value()
			}
			want := (at(h) - at(-h)) / (2 * h)
			assert.InDelta(t, want, p.gradient[l], 1e-3*max(1, math.Abs(want)), "%v, width %d", family, l)
		}
	}
}

func TestFitLearnsTheWidth(t *testing.T) {
	if testing.Short() {
		t.Skip("makes some thirty fits")
	}
	views, y := problem(60, func(int) mkl.Kernel { return mkl.RBF{Width: 8} })
	views[2].Kernel = mkl.Linear{}
	r, err := MultiGP{MaxSteps: 15}.Fit(context.Background(), views, y)
	require.NoError(t, err)
	assert.Greater(t, r.Model.Bound(), r.First+5)
	assert.Greater(t, r.Fits, 3)
	assert.NotEmpty(t, r.Why)
	w := r.Views[0].Kernel.(mkl.RBF).Width
	assert.Greater(t, w, 0.2)
	assert.Less(t, w, 4.0)
	assert.Equal(t, mkl.Linear{}, r.Views[2].Kernel)
	assert.Equal(t, mkl.RBF{Width: 8}, views[0].Kernel) // as it was

	// From the widths found there is little to gain.
	again, err := MultiGP{MaxSteps: 15}.Fit(context.Background(), r.Views, y)
	require.NoError(t, err)
	assert.Less(t, again.Model.Bound()-r.Model.Bound(), 0.5)
}

func TestFitWithoutWidths(t *testing.T) {
	views, y := problem(20, func(int) mkl.Kernel { return mkl.Linear{} })
	r, err := MultiGP{}.Fit(context.Background(), views, y)
	require.NoError(t, err)
	assert.Equal(t, 1, r.Fits)
	assert.Equal(t, r.First, r.Model.Bound())

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = MultiGP{}.Fit(ctx, views, y)
	assert.ErrorIs(t, err, context.Canceled)
	views[0].Kernel = mkl.RBF{Width: -1}
	_, err = MultiGP{}.Fit(context.Background(), views, y)
	assert.Error(t, err)
	_, err = MultiGP{}.Fit(context.Background(), nil, y)
	assert.Error(t, err)
	views[0].Kernel = mkl.RBF{}
	_, err = MultiGP{}.Fit(context.Background(), views, y[:5])
	assert.ErrorContains(t, err, "20 samples")
}
