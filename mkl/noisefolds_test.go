package mkl

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
)

// withCopies returns n samples of d features with normal noise. The last copies samples are copies of the first.
func withCopies(seed uint64, n, d, copies int) (x Features, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 77))
	x, y = la.NewMatrix[float64](n, d), make([]float64, n)
	for i := range n {
		for j := range d {
			x.Set(i, j, rng.NormFloat64())
		}
		y[i] = 0.5*x.At(i, 0) + rng.NormFloat64()
	}
	for i := range copies {
		copy(x.Row(n-1-i), x.Row(i))
		y[n-1-i] = y[i]
	}
	return x, y
}

// Copies of rows look like exact measurements among others with noise. Noise that varies would fit them, and promise
// exact predictions of new rows: with seed 1 the intervals held 75 % of them.
func TestPoolOfCopies(t *testing.T) {
	testkit.NotShort(t)
	for _, seed := range []uint64{1, 2, 5} {
		x, y := withCopies(seed, 64, 12, 10)
		m, err := Auto{}.Fit(context.Background(), []View{{X: x}}, y)
		require.NoError(t, err)
		assert.NotContains(t, slices.Concat(m.names, m.dropped), "one width a feature, noise that varies")
		atNew, truth := withCopies(seed+100, 500, 12, 0)
		mean, variance, err := m.Predict(atNew)
		require.NoError(t, err)
		inside := 0
		for i, v := range truth {
			if math.Abs(v-mean[i]) < 1.96*math.Sqrt(variance[i]) {
				inside++
			}
		}
		assert.InDelta(t, 0.95, float64(inside)/500, 0.05, "seed %d", seed)
	}
}

func TestCopiesTogether(t *testing.T) {
	x, y := withCopies(3, 50, 2, 20)
	y[49]++ // copies of features, not of the target
	folds := copiesTogether([]View{{X: x}}, y, 5, 1)
	require.Len(t, folds, 5)
	where := make([]int, 50)
	for k, fold := range folds {
		assert.InDelta(t, 10, len(fold), 2)
		for _, i := range fold {
			where[i] = k
		}
	}
	for i := range 20 {
		assert.Equal(t, where[i], where[49-i], "samples %d and %d", i, 49-i)
	}
	all := slices.Sorted(slices.Values(slices.Concat(folds...)))
	for i, j := range all {
		assert.Equal(t, i, j)
	}

	order := rand.New(rand.NewPCG(1, 2)).Perm(50)
	moved, to := la.NewMatrix[float64](50, 2), make([]float64, 50)
	for i, j := range order {
		copy(moved.Row(i), x.Row(j))
		to[i] = y[j]
	}
	again := copiesTogether([]View{{X: moved}}, to, 5, 1)
	for k, fold := range again {
		var was, is []float64
		for _, i := range folds[k] {
			was = append(was, y[i])
		}
		for _, i := range fold {
			is = append(is, to[i])
		}
		slices.Sort(was)
		slices.Sort(is)
		assert.Equal(t, was, is, "fold %d of samples in another order", k)
	}

	few := la.NewMatrix[float64](50, 1) // two different rows
	for i := range 50 {
		few.Set(i, 0, float64(i%2))
	}
	for _, fold := range copiesTogether([]View{{X: few}}, y, 5, 1) {
		assert.Len(t, fold, 10)
	}
}

// With so much noise that truly varies the test must not reject it.
func TestFoldsAcceptVaryingNoise(t *testing.T) {
	x, y := uneven(rand.New(rand.NewPCG(5, 6)), 200, growing)
	views, _, err := FillViews(KernelsBroad, []View{{X: x}})
	require.NoError(t, err)
	better, err := Auto{}.predictsFolds(context.Background(), MultiGP{Noise: VaryingNoise, hurried: true}, false, views, y)
	require.NoError(t, err)
	assert.True(t, better)
}

// A fit that is stopped in a fold says why; a fold that cannot be fitted speaks against the noise.
func TestFoldsEnd(t *testing.T) {
	x, y := uneven(rand.New(rand.NewPCG(5, 6)), 60, growing)
	views, _, err := FillViews(KernelsBroad, []View{{X: x}})
	require.NoError(t, err)
	g := MultiGP{Noise: VaryingNoise, hurried: true}
	enough := errors.New("enough")
	ctx, stop := context.WithCancelCause(context.Background())
	stop(enough)
	_, err = Auto{}.predictsFolds(ctx, g, false, views, y)
	assert.ErrorIs(t, err, enough)
	g.Climb.MaxSteps = -1
	better, err := Auto{}.predictsFolds(context.Background(), g, false, views, y)
	assert.NoError(t, err)
	assert.False(t, better)
}

// Which noise predicts better does not depend on the unit of the target. Noise that varies much is found with other samples too.
func TestFoldsInAnyUnit(t *testing.T) {
	constant := func(float64) float64 { return 0.3 }
	for _, c := range []struct {
		sd   func(float64) float64
		seed uint64
		unit float64
		want bool
	}{
		{growing, 5, 1e-8, true}, {growing, 5, 1, true}, {growing, 5, 1e8, true}, {growing, 6, 1, true}, {growing, 7, 1, true}, {growing, 8, 1, true},
		{constant, 5, 1e-8, false}, {constant, 5, 1, false}, {constant, 5, 1e8, false},
	} {
		x, y := uneven(rand.New(rand.NewPCG(c.seed, 6)), 120, c.sd)
		la.Scal(c.unit, y)
		views, _, err := FillViews(KernelsBroad, []View{{X: x}})
		require.NoError(t, err)
		better, err := Auto{}.predictsFolds(t.Context(), MultiGP{Noise: VaryingNoise, hurried: true}, false, views, y)
		require.NoError(t, err)
		assert.Equal(t, c.want, better, "seed %d, unit %g, varying noise %t", c.seed, c.unit, c.want)
	}
}

// Copies stay together where at least half of the samples differ, and are spread where fewer do.
func TestFewCopiesStayTogether(t *testing.T) {
	for different, together := range map[int]bool{19: false, 20: true} {
		x := la.NewMatrix[float64](40, 1)
		for i := range 40 {
			x.Set(i, 0, float64(min(i, different-1)))
		}
		y := make([]float64, 40)
		for i := range y {
			y[i] = float64(i)
		}
		holding := 0 // folds with copies
		for _, fold := range copiesTogether([]View{{X: x}}, y, 5, 1) {
			if slices.ContainsFunc(fold, func(i int) bool { return i >= different-1 }) {
				holding++
			}
		}
		assert.Equal(t, together, holding == 1, "%d different samples", different)
	}
	for seed := range uint64(20) { // of as many samples as folds too, wherever the copies are in the order
		x := la.MatrixOf(5, 1, []float64{0, 0, 1, 2, 3})
		for _, fold := range copiesTogether([]View{{X: x}}, []float64{0, 1, 2, 3, 4}, 5, seed) {
			assert.Equal(t, slices.Contains(fold, 0), slices.Contains(fold, 1))
		}
	}
}
