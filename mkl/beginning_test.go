package mkl

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// Deciding samples are the most influential ones, which have nine tenths of all influence, with some of each class.
// If they are too many, samples are drawn from all.
func TestDeciding(t *testing.T) {
	influence, class := make([]float64, 40), make([]int, 40)
	for i, at := range []int{3, 8, 17, 21, 25, 31, 33, 20, 36} {
		influence[at] = []float64{9, 8, 5, 7, 3, 6, 4, 0.5, 0.4}[i]
	}
	assert.Equal(t, []int{0, 3, 8, 17, 20, 21, 25, 31, 33, 36}, processSettings{seed: 1}.deciding(influence, class, 0))
	assert.Equal(t, []int{0, 1, 2, 3, 4, 8, 17, 20, 21, 25, 31, 33, 36}, processSettings{seed: 1}.deciding(influence, class, 13))
	assert.Equal(t, vec.UpTo(40), processSettings{seed: 1}.deciding(influence, class, 40))
	class[38], class[39] = 1, 1
	assert.Equal(t, []int{0, 3, 8, 17, 20, 21, 25, 31, 33, 36, 38, 39}, processSettings{seed: 1}.deciding(influence, class, 0))

	const n = 4000
	influence, class = make([]float64, n), make([]int, n)
	for i := range influence {
		influence[i] = 1
		if i%5 == 0 {
			class[i] = 1
		}
	}
	rows := processSettings{seed: 1}.deciding(influence, class, 400)
	require.Len(t, rows, mostDeciding)
	assert.True(t, slices.IsSorted(rows))
	var positive int
	for _, r := range rows {
		positive += class[r]
	}
	assert.Equal(t, mostDeciding/5, positive)
}

// Of a thousand samples and more those that decide tell the scales, for every number of workers the same, and
// a pool's member then predicts what one does whose scales were climbed with all samples.
func TestDecidingSamplesTellTheScales(t *testing.T) {
	testkit.NotShort(t)
	rng := rand.New(rand.NewPCG(6, 1))
	x, labels := normal(rng, decidedSamples, 1), make([]int, decidedSamples)
	probability := make([]float64, decidedSamples)
	for i := range labels {
		f := 3 * math.Sin(3*x.At(i, 0))
		probability[i] = 0.5 * math.Erfc(-f/math.Sqrt2)
		if f+rng.NormFloat64() > 0 {
			labels[i] = 1
		}
	}
	views := []View{{X: x, Kernel: kernel.RBF{ARD: true}}}
	fit := func(hurried bool, workers int) *MultiGPClassifierModel[int] {
		c := MultiGPClassifier[int]{Fitting: Fitting{Workers: workers}, Classes: []int{0, 1}, hurried: hurried}
		m, err := c.Fit(context.Background(), views, labels)
		require.NoError(t, err)
		assert.True(t, m.Trace().Converged)
		return m
	}
	_, want, err := fit(false, 1).Predict(x)
	require.NoError(t, err)
	some := fit(true, 1)
	assert.Equal(t, 1, some.Trace().Sweeps)
	_, p, err := some.Predict(x)
	require.NoError(t, err)
	_, same, err := fit(true, 3).Predict(x)
	require.NoError(t, err)
	assert.Equal(t, p, same)
	var off float64
	for i, p := range p {
		assert.InDelta(t, want[i][1], p[1], 0.03)
		off += math.Abs(p[1]-probability[i]) / decidedSamples
	}
	assert.Less(t, off, 0.05)
}
