package mgp

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// A posterior that has rested has the factor that it had, but for rounding, in whatever blocks its samples come.
func TestRest(t *testing.T) {
	const n = 150
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = 7 * math.Sin(float64(i*i))
		y[i] = math.Copysign(1, math.Sin(x[i])+0.5*math.Cos(float64(9*i)))
	}
	linear := la.NewMatrix[float64](n, n)
	for i := range n {
		for j := range n {
			linear.Set(i, j, x[i]*x[j])
		}
	}
	k, err := vi.NewDense(bellsOf(x, x), linear)
	require.NoError(t, err)
	fit, err := Evidence{}.FitLabels(t.Context(), k, y)
	require.NoError(t, err)
	p := fit.Posterior
	resting := p.Rest()
	assert.True(t, resting.Resting())
	assert.False(t, p.Resting(), "p is unchanged")
	assert.Equal(t, p.State().Alpha, resting.State().Alpha)

	for _, block := range []int{1, 64, n} {
		w := resting.Wake()
		for first := 0; first < n; first += block {
			end := min(n, first+block)
			some, err := vi.NewDense(bellsOf(x, x[first:end]), linear.Slice(0, n, first, end))
			require.NoError(t, err)
			require.NoError(t, w.Add(some))
			if end < n {
				_, err = w.Finish(1)
				assert.ErrorContains(t, err, "of 150 samples")
			}
		}
		assert.ErrorContains(t, w.Add(k), "of which 0 are left")
		awake, err := w.Finish(2)
		require.NoError(t, err)
		for i := range n {
			want, got := p.State().Factor.Row(i)[:i+1], awake.State().Factor.Row(i)[:i+1]
			assert.InDeltaSlice(t, want, got, 1e-12, "block %d, row %d", block, i)
		}
	}

	w := resting.Wake()
	w.some = la.NewMatrix[float64](64, n) // so few at a time
	require.NoError(t, w.Add(k))
	awake, err := w.Finish(1)
	require.NoError(t, err)
	for i := range n {
		assert.InDeltaSlice(t, p.State().Factor.Row(i)[:i+1], awake.State().Factor.Row(i)[:i+1], 1e-12, "row %d", i)
	}

	for _, state := range []func(s *Posterior){func(p *Posterior) { p.s.Freedom = 5 }, func(p *Posterior) { p.s.Samples = 2 * n }} {
		other := *p // the sites say more than B
		state(&other)
		assert.Same(t, &other, other.Rest())
	}
	few, err := vi.NewDense(linear)
	require.NoError(t, err)
	assert.ErrorContains(t, resting.Wake().Add(few), "1 kernels of 150×150 where 2 with 150 samples are needed")
	targets, err := Evidence{}.Fit(t.Context(), k, x)
	require.NoError(t, err)
	assert.Same(t, targets.Posterior, targets.Posterior.Rest(), "it has no sites")
}
