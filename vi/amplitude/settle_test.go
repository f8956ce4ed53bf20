package amplitude

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

// Shares repeat from seed to seed, within three percentage points and a quarter of their standard deviations. The standard deviations
// agree with a long chain: they do not shrink with the number of draws.
func TestSharesSettle(t *testing.T) {
	const views, n, seeds = 3, 20, 6
	src := rand.New(rand.NewPCG(3, 40))
	k, l := simulated(t, src, views, n, false)
	p := Problem{Kernels: k, Layout: l, Workers: 1}
	drawTargets(t, &p, drawn{amplitude: []float64{0.4, 0.4, 0.3, 0.3, 0, 0}, noise: 0.4}, src, 1)
	standardise(p.Y.Row(0))
	ctx := context.Background()
	moments := func(s *Shares, v int) (mean, sd float64) {
		for d := range s.Function.Rows {
			mean += s.Function.At(d, v) / float64(s.Function.Rows)
		}
		for d := range s.Function.Rows {
			gap := s.Function.At(d, v) - mean
			sd += float64(gap * gap / float64(s.Function.Rows-1))
		}
		return mean, math.Sqrt(sd)
	}
	long, err := p.Select(ctx, Sparse, nil, Sampling{Sweeps: 4000, Draws: 4000, Seed: 99})
	require.NoError(t, err)
	truth, err := p.Shares(ctx, long.Draws, 99)
	require.NoError(t, err)
	var square [views]float64
	for seed := range uint64(seeds) {
		s, shares, err := p.SelectShares(ctx, Sparse, Sampling{Sweeps: 110, Seed: seed}, 1100)
		require.NoError(t, err)
		assert.Len(t, s.Sweeps, shares.Function.Rows)
		for v := range views {
			mean, sd := moments(shares, v)
			want, spread := moments(truth, v)
			square[v] += float64((mean - want) * (mean - want) / seeds)
			assert.InEpsilon(t, spread, sd, 0.25, "seed %d, view %d", seed, v)
		}
	}
	for v := range views {
		_, spread := moments(truth, v)
		t.Logf("view %d: SD %.3f, error %.3f", v, spread, math.Sqrt(square[v]))
		assert.Less(t, math.Sqrt(square[v]), min(0.03, spread/4), "view %d", v)
	}
}

// With as many sweeps as the most there are the draws and shares of the same seed that Select and Shares have.
func TestSettledSharesOfOneRound(t *testing.T) {
	src := rand.New(rand.NewPCG(4, 40))
	k, l := simulated(t, src, 2, 12, false)
	p := Problem{Kernels: k, Layout: l, Y: targets(src, 1, 12), Workers: 1}
	ctx := context.Background()
	s, shares, err := p.SelectShares(ctx, Sparse, Sampling{Sweeps: 40, Seed: 5}, 40)
	require.NoError(t, err)
	want, err := p.Select(ctx, Sparse, nil, Sampling{Sweeps: 40, Draws: 40, Seed: 5})
	require.NoError(t, err)
	assert.Equal(t, want, s)
	other, err := p.Shares(ctx, want.Draws, 5)
	require.NoError(t, err)
	assert.Equal(t, other.Function.Data, shares.Function.Data)
	_, _, err = p.SelectShares(ctx, Sparse, Sampling{Sweeps: 40, Draws: 5}, 40)
	require.ErrorContains(t, err, "5 draws")
	ended, stop := context.WithCancel(ctx)
	stop()
	_, _, err = p.SelectShares(ended, Sparse, Sampling{Sweeps: 40}, 40)
	require.ErrorIs(t, err, context.Canceled)
}

// Draws of functions depend on the order of the samples. The number of sweeps must not: it sees the mean functions alone.
func TestSettledSeesMeanFunctions(t *testing.T) {
	const n = 100
	still, moving := la.NewMatrix[float64](n, 1), la.NewMatrix[float64](n, 1)
	for d := range n {
		still.Set(d, 0, 0.5+0.01*float64(d%2))
		moving.Set(d, 0, float64(d/50)) // half of the draws each, and the chain has moved once
	}
	assert.True(t, (&Shares{Mean: still, Function: moving}).settled())
	assert.False(t, (&Shares{Mean: moving, Function: still}).settled())
}
