package mkl

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/mkl/kernel"
)

// Probabilities of blocks are within their bounds and the tolerance, and depend neither on workers nor on other samples.
func TestPredictManyClasses(t *testing.T) {
	ctx := context.Background()
	x, three := classProblem(140)
	two := make([]int, len(three))
	for i, c := range three {
		two[i] = min(1, c)
	}
	views := []View{{X: x, Kernel: kernel.RBF{Width: 0.5}}, {X: x, Kernel: kernel.Laplacian{Width: 2}}, {X: x, Kernel: kernel.Linear{}}}
	q := anywhere(rand.New(rand.NewPCG(67, 68)), x, 100)
	type model interface {
		PredictClasses(context.Context, PredictOptions, ...Features) (*ClassPrediction[int], error)
		Predictor(PredictorOptions) (*ClassPredictor[int], error)
	}
	models := map[string]model{}
	for name, labels := range map[string][]int{"two": two, "three": three} {
		m, err := MultiGPClassifier[int]{}.Fit(ctx, views, labels)
		require.NoError(t, err)
		models[name] = m
		pool, err := AutoClassifier[int]{Climb: Climb{MaxSteps: 3}}.Fit(ctx, []View{{X: x}}, labels)
		require.NoError(t, err)
		models[name+", pool"] = pool
	}
	scores, err := Classifier[int]{}.Fit(ctx, views, three)
	require.NoError(t, err)
	models["scores"] = scores
	for name, m := range models {
		want, err := m.PredictClasses(ctx, PredictOptions{}, q)
		require.NoError(t, err)
		for _, opt := range []PredictorOptions{{}, {Tolerance: 1e-4}, {Tolerance: 1e-9}, {Exact: true}} {
			p, err := m.Predictor(opt)
			require.NoError(t, err)
			if name != "scores" {
				assert.Equal(t, opt.Exact || opt.Tolerance == 1e-9, p.processes.blocks() == nil, "%s, %+v", name, opt)
			}
			many, err := p.PredictMany(ctx, 1, q)
			require.NoError(t, err)
			few, err := p.PredictMany(ctx, 3, Features(q.Slice(31, 77, 0, q.Cols)))
			require.NoError(t, err)
			require.Len(t, few.Class, 46)
			assert.Equal(t, many.Class[31:77], few.Class)
			assert.Equal(t, many.Probability[31:77], few.Probability, "%s, %+v", name, opt)
			assert.Equal(t, many.Bound[31:77], few.Bound)
			for i, bound := range many.Bound {
				if name != "scores" {
					assert.LessOrEqual(t, bound, max(opt.Tolerance, 1e-2))
				}
				for c, v := range want.Probability[i] {
					assert.InDelta(t, v, many.Probability[i][c], bound+1e-8, "%s, %+v, row %d", name, opt, i)
				}
				one := make([]float64, len(want.Probability[i]))
				class, _, err := p.PredictWithBound(one, q.Row(i))
				require.NoError(t, err)
				if top := math.Abs(one[0] - one[1]); len(one) == 2 && top > 1e-6 {
					assert.Equal(t, class, many.Class[i])
				}
			}
		}
	}
	p, err := models["three, pool"].Predictor(PredictorOptions{})
	require.NoError(t, err)
	none, err := p.PredictMany(ctx, 0, Features(q.Slice(0, 0, 0, q.Cols)))
	require.NoError(t, err)
	assert.Empty(t, none.Class)
	_, err = p.PredictMany(ctx, 0)
	require.EqualError(t, err, "mkl: no input matrices")
	bad := q.Clone()
	bad.Set(70, 1, math.Inf(1))
	bad.Set(45, 0, math.NaN())
	_, err = p.PredictMany(ctx, 2, bad)
	var value *ValueError
	require.ErrorAs(t, err, &value)
	assert.Equal(t, 45, value.Row)
	assert.Equal(t, 0, value.Col)
	ended, stop := context.WithCancel(ctx)
	stop()
	_, err = p.PredictMany(ended, 0, q)
	assert.ErrorIs(t, err, context.Canceled)
}

// The memory of a prediction of many classes does not grow with a row but for its result.
func TestPredictManyClassesAllocations(t *testing.T) {
	ctx := context.Background()
	x, three := classProblem(140)
	m, err := MultiGPClassifier[int]{Fitting: Fitting{}}.Fit(ctx, []View{{X: x, Kernel: kernel.Laplacian{Width: 2}}}, three)
	require.NoError(t, err)
	p, err := m.Predictor(PredictorOptions{})
	require.NoError(t, err)
	q := anywhere(rand.New(rand.NewPCG(69, 70)), x, 320)
	allocations := func(n int) float64 {
		return testing.AllocsPerRun(5, func() {
			_, err := p.PredictMany(ctx, 1, Features(q.Slice(0, n, 0, q.Cols)))
			require.NoError(t, err)
		})
	}
	assert.InDelta(t, allocations(32), allocations(320), 8)
}
