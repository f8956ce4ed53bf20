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

// Forecasts of the memory of a pool of classes are a little above the peaks of processes that fitted the first training pendigits. The
// peaks are from docs/lab/rows.md, under "Memory of pools of classes".
func TestMemoryOfPoolsOfClasses(t *testing.T) {
	for n, peak := range map[int]float64{600: 0.211e9, 1200: 0.327e9, 2900: 1.860e9} {
		size := FitSize{Samples: n, Kernels: 1, Outputs: 10, Columns: 16}
		need := float64(AutoClassifier[string]{Fitting: Fitting{Workers: 2}}.EstimateMemory(size))
		assert.Greater(t, need, peak, "%d samples", n)
		assert.Less(t, need, 1.4*peak, "%d samples", n)
		t.Logf("%d samples: %.2f GB, %.2f of the peak", n, need/1e9, need/peak)
	}
}

// The forecast counts the kernels of the largest member, of all samples and of the part that is fitted first, or the factors that are
// made last.
func TestMemoryWhereFunctionsRest(t *testing.T) {
	const n = 4000
	square := float64(8 * n * n)
	squares := func(classes, columns int) float64 {
		s := FitSize{Samples: n, Kernels: 1, Outputs: classes, Columns: columns}
		return float64(AutoClassifier[int]{Fitting: Fitting{Workers: 1}, MaxSamples: n}.EstimateMemory(s)) / square
	}
	assert.InDelta(t, 22+3+float64(25)*1500*1500/(n*n), squares(2, 0), 0.5, "the kernels of any number of columns")
	assert.InDelta(t, 14+3+float64(17)*1500*1500/(n*n), squares(2, 3), 0.5, "the kernels of few columns")
	assert.Equal(t, squares(2, 3), squares(2, 100), "single features come in groups")
	assert.InDelta(t, 5*26/2, squares(26, 0), 4, "half of the factors")
}
