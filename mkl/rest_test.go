package mkl

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/mkl/kernel"
)

// Functions that rested during the fit predict as those that did not, with kernels that learn widths, are centred or see ranks.
func TestRest(t *testing.T) {
	x, y := bumpy(60)
	labels := make([]int, len(y))
	for i, v := range y {
		labels[i] = int(math.Abs(v)*7) % 3
	}
	views := []View{{X: x, Kernel: kernel.RBF{ARD: true}}, {X: x, Kernel: kernel.Linear{}, Center: true, Normalize: true}, {X: x, Kernel: kernel.RBF{}, Ranks: true}}
	fit := func(resting bool) *MultiGPClassifierModel[int] {
		m, err := MultiGPClassifier[int]{resting: resting}.Fit(t.Context(), views, labels)
		require.NoError(t, err)
		return m
	}
	want, got := fit(false), fit(true)
	assert.True(t, got.posteriors[2].Resting())
	require.NoError(t, got.wake(t.Context(), 2, distinctInputs(views)))
	assert.False(t, got.posteriors[0].Resting())
	assert.InDeltaSlice(t, predicted(t, want, x), predicted(t, got, x), 1e-10)
	require.NoError(t, got.wake(t.Context(), 2, nil), "nothing rests")

	pool := AutoClassifierModel[int]{members: []*MultiGPClassifierModel[int]{want, fit(true), fit(true)}}
	require.NoError(t, pool.wake(t.Context(), 2, views))
	for _, m := range pool.members {
		assert.False(t, m.posteriors[0].Resting())
	}
}

func TestWhatRests(t *testing.T) {
	x := normal(rand.New(rand.NewPCG(1, 1)), restingSamples, 1)
	plan := poolPlan{views: []View{{X: x}}, rows: make([]int, restingSamples)}
	assert.True(t, plan.rests(false))
	assert.False(t, plan.rests(true), "samples lack views")
	plan.views = append(plan.views, View{X: x, Kernel: kernel.Precomputed{}})
	assert.False(t, plan.rests(false), "a kernel is given")
	plan.views, plan.rows = plan.views[:1], plan.rows[1:]
	assert.False(t, plan.rests(false), "few samples")
}
