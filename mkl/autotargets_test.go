package mkl

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/mkl/kernel"
)

// bumpyTargets are two targets of the samples of bumpy, the second of another function and unit.
func bumpyTargets(n int) (x Features, targets [][]float64) {
	x, y := bumpy(n)
	r := rand.New(rand.NewPCG(8, 3))
	second := make([]float64, n)
	for i := range second {
		second[i] = 1000 + float64(40*math.Cos(x.At(i, 2))) + r.NormFloat64()
	}
	return x, [][]float64{y, second}
}

// The pool of each target is the pool of a fit to it alone, in all digits, and so is a model that was saved.
func TestAutoTargetsEqualsSingleFits(t *testing.T) {
	x, targets := bumpyTargets(24)
	views := []View{{X: x, Columns: []int{0, 1}, Name: "a"}, {X: x, Columns: []int{2}, Name: "b"}}
	ctx := context.Background()
	m, err := AutoTargets{Fitting: Fitting{Seed: 3, Notes: map[string]string{"by": "hand"}}}.Fit(ctx, views, targets...)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"by": "hand"}, m.Notes())
	at := normal(rand.New(rand.NewPCG(1, 7)), 9, 3)
	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	loaded, err := LoadAs[*AutoTargetsModel](&file)
	require.NoError(t, err)
	assert.Equal(t, m.Summary(), loaded.Summary())
	sweeps := 0
	for o, y := range targets {
		one := fitPool(t, Auto{Fitting: Fitting{Seed: 3}}, views, y)
		sweeps += one.Trace().Sweeps
		mean, variance, err := one.Predict(at)
		require.NoError(t, err)
		for _, m := range []*AutoTargetsModel{m, loaded} {
			p, err := m.PredictTargets(ctx, PredictOptions{}, at)
			require.NoError(t, err)
			assert.Equal(t, mean, p.Mean[o])
			assert.Equal(t, variance, p.Variance[o])
			assert.Equal(t, one.NoiseSD()[0], m.NoiseSD()[o])
			assert.Equal(t, one.Story(), m.Target(o).Story())
			assert.Equal(t, one.Views(), m.Target(o).Views())
			single, err := m.Predictor(PredictorOptions{Target: o, Exact: true})
			require.NoError(t, err)
			v, _, err := single.Predict(at.Row(4))
			require.NoError(t, err)
			assert.InDelta(t, mean[4], v, 1e-9*math.Abs(mean[4]))
		}
		own := slices.DeleteFunc(m.Outputs()[o].Weights, func(w KernelWeight) bool { return w.Mean == 0 })
		assert.Len(t, own, len(slices.DeleteFunc(one.KernelWeights(), func(w KernelWeight) bool { return w.Mean == 0 })))
	}
	assert.Equal(t, sweeps, m.Trace().Sweeps)
	_, _, err = m.Predict(at)
	assert.EqualError(t, err, "mkl: Predict is for one target and the model has 2: use PredictTargets")
	_, err = m.Predictor(PredictorOptions{Target: 2})
	assert.EqualError(t, err, "mkl: Predictor: target 2 of 2")
	spreads, err := m.KernelSpreads(ctx, PredictOptions{}, at)
	require.NoError(t, err)
	assert.Len(t, spreads, len(m.KernelWeights()))
}

// A target with gaps is learned from the samples that have it.
func TestAutoTargetsWithGaps(t *testing.T) {
	x, targets := bumpyTargets(40)
	targets[1][3], targets[1][20] = math.NaN(), math.NaN()
	views, ctx := []View{{X: x}}, context.Background()
	_, err := AutoTargets{}.Fit(ctx, views, targets...)
	assert.EqualError(t, err, "mkl: y[1][3] is NaN")
	a := AutoTargets{MissingTargets: true}
	m, err := a.Fit(ctx, views, targets...)
	require.NoError(t, err)
	assert.Equal(t, 40, m.Samples())
	known := slices.DeleteFunc(slices.Clone(targets[1]), math.IsNaN)
	one := fitPool(t, Auto{}, []View{{X: x.TakeRows(knownRows(targets[1]))}}, known)
	at := normal(rand.New(rand.NewPCG(1, 7)), 5, 3)
	mean, variance, err := one.Predict(at)
	require.NoError(t, err)
	p, err := m.PredictTargets(ctx, PredictOptions{}, at)
	require.NoError(t, err)
	assert.Equal(t, mean, p.Mean[1])
	assert.Equal(t, variance, p.Variance[1])

	k := normal(rand.New(rand.NewPCG(2, 2)), 40, 40)
	for i := range 40 {
		for j := range 40 {
			k.Set(i, j, math.Exp(-math.Pow(x.At(i, 0)-x.At(j, 0), 2)))
		}
	}
	_, err = a.Fit(ctx, []View{{X: k, Kernel: kernel.Precomputed{}}}, targets...)
	assert.EqualError(t, err, "mkl: y[1]: 2 of 40 targets are missing, and a view with a given kernel or distance needs all of them")
	_, err = a.Fit(ctx, views)
	assert.EqualError(t, err, "mkl: y: no target given")
}

// Each target has an equal part of the time, and progress goes through the members of all pools once.
func TestAutoTargetsTimeAndProgress(t *testing.T) {
	x, targets := bumpyTargets(40)
	last, members := 0, 0
	a := AutoTargets{Time: 2 * time.Nanosecond, Climb: Climb{MaxSteps: 4}}
	a.Progress = func(p Progress) {
		assert.GreaterOrEqual(t, p.Member, last)
		assert.LessOrEqual(t, p.Member, p.Members)
		last, members = p.Member, p.Members
	}
	m, err := a.Fit(context.Background(), []View{{X: x}}, targets...)
	require.NoError(t, err)
	assert.Positive(t, members)
	for o := range targets {
		names, _ := m.Target(o).Members()
		assert.Len(t, names, 1, "there is no time for more than one member")
	}
}

// The estimate is at least the memory of the pools that are kept, and grows with the targets.
func TestAutoTargetsMemory(t *testing.T) {
	one := Auto{}.EstimateMemory(FitSize{Samples: 500, Kernels: 2, Outputs: 1})
	assert.Equal(t, one, AutoTargets{}.EstimateMemory(FitSize{Samples: 500, Kernels: 2, Outputs: 1}))
	three := AutoTargets{}.EstimateMemory(FitSize{Samples: 500, Kernels: 2, Outputs: 3})
	assert.GreaterOrEqual(t, three, one+2*500*500*8*int64(len(autoMembers)))
	assert.Less(t, three, 3*one)
	assert.Greater(t, AutoTargets{}.EstimateMemory(FitSize{Samples: 100000, Kernels: 2, Outputs: 3}), Auto{}.EstimateMemory(FitSize{Samples: 100000, Kernels: 2}))
}
