package amplitude

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A correction that is a sum over views says the same as the views' prior odds: few views move the other variables along, and more do not.
func TestCorrectionActsAsPrior(t *testing.T) {
	for _, views := range []int{3, 5} {
		src := rand.New(rand.NewPCG(3, uint64(views)))
		k, l := simulated(t, src, views, 20, false)
		l.Group = nil
		p := Problem{Kernels: k, Layout: l, Y: targets(src, 1, 20), Workers: 1}
		include := []float64{0.2, 0.9, 0.5, 0.01, 0.7}[:views]
		how := Sampling{Sweeps: 60, BurnIn: 5, Seed: 4}
		want, err := p.Select(context.Background(), Sparse, include, how)
		require.NoError(t, err)
		p.Correction = func(included []bool) (sum float64) {
			for v, is := range included {
				if is {
					sum += math.Log(include[v] / (1 - include[v]))
				}
			}
			return sum
		}
		got, err := p.Select(context.Background(), Sparse, nil, how)
		require.NoError(t, err)
		assert.Equal(t, want.Sweeps, got.Sweeps)
		assert.InDeltaSlice(t, want.Included, got.Included, 1e-9)
	}
}

// A correction is of the views that are included, also where a group switches them, and half of the samples have half of it.
func TestCorrectionOfSets(t *testing.T) {
	src := rand.New(rand.NewPCG(3, 9))
	k, l := simulated(t, src, 3, 20, false)
	l.Group = []int{-1, 0, 0}
	p := Problem{Kernels: k, Layout: l, Y: targets(src, 1, 20), Workers: 1}
	const forbidden = -1e3
	p.Correction = func(included []bool) float64 {
		if included[0] && (included[1] || included[2]) {
			return forbidden
		}
		return 0
	}
	s, err := p.Select(context.Background(), Sparse, nil, Sampling{Sweeps: 300, BurnIn: 10, Seed: 4})
	require.NoError(t, err)
	var first, others int
	for _, on := range s.Sweeps {
		assert.False(t, on[0] && (on[1] || on[2]))
		if on[0] {
			first++
		}
		if on[1] || on[2] {
			others++
		}
	}
	assert.Positive(t, first)
	assert.Positive(t, others)

	half, err := p.Part([]int{0, 2, 4, 6, 8, 10, 12, 14, 16, 18})
	require.NoError(t, err)
	assert.InDelta(t, forbidden/2, half.Correction([]bool{true, true, false}), 1e-9)
	assert.Zero(t, half.Correction([]bool{true, false, false}))
}
