package mkl

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// taskProblem returns targets made from functions of two inputs, and views of them
// with every sort of kernel on features.
func taskProblem(n int) (views []View, y [][]float64, a, b Features) {
	rng := rand.New(rand.NewPCG(11, 3))
	a, b = normal(rng, n, 1), normal(rng, n, 3)
	y = rows(3, n)
	for i := range n {
		f, g := math.Sin(2*a.At(i, 0)), b.At(i, 0)-b.At(i, 1)
		y[0][i] = 10 + 3*f + 0.2*rng.NormFloat64()
		y[1][i] = f + 2*g + 0.2*rng.NormFloat64()
		y[2][i] = 100 * (g + 0.2*rng.NormFloat64())
	}
	return []View{
		{Name: "a", X: a, Input: "x1", Kernel: kernel.RBF{Width: 1}, Standardize: true},
		{Name: "a", X: a, Input: "x1", Kernel: kernel.Laplacian{Width: 1}},
		{Name: "b", X: b, Input: "x2", Kernel: kernel.RBF{}, Center: true},
		{Name: "b", X: b, Input: "x2", Kernel: kernel.Polynomial{Offset: 1}, Normalize: true},
		{Name: "b", X: b, Input: "x2", Kernel: kernel.Linear{}},
	}, y, a, b
}

// requireTasks checks a predictor against its model at each row of x.
func requireTasks(t *testing.T, m *MultiTaskModel, p *MultiTaskPredictor, meanOnly bool, x ...Features) {
	t.Helper()
	want, err := m.PredictTargets(context.Background(), PredictOptions{MeanOnly: meanOnly}, x...)
	require.NoError(t, err)
	mean, variance := make([]float64, m.Targets()), make([]float64, m.Targets())
	if meanOnly {
		variance = nil
	}
	for i := range x[0].Rows {
		var point [][]float64
		for _, z := range x {
			point = append(point, z.Row(i))
		}
		require.NoError(t, p.Predict(mean, variance, point...))
		for q := range mean {
			info, unit := p.Info()[q], m.targets[q].sd
			assert.LessOrEqual(t, math.Abs(mean[q]-want.Mean[q][i]), info.MeanError+1e-9*unit, "sample %d, target %d", i, q)
			if !meanOnly {
				assert.LessOrEqual(t, math.Abs(math.Sqrt(variance[q])-math.Sqrt(want.Variance[q][i])), info.SDError+1e-9*unit, "sample %d, target %d", i, q)
			}
		}
	}
}

func TestMultiTaskPredictorWithinItsBounds(t *testing.T) {
	views, y, a, b := taskProblem(40)
	m, err := MultiTask{Ascent: Ascent{MaxSweeps: 25}, Latents: 1, KeepAll: true}.Fit(context.Background(), views[:4], y...)
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(1, 1))
	far := normal(rng, 20, 3)
	la.Scal(3, far.Data)
	for _, opt := range []PredictorOptions{{}, {Exact: true}, {Tolerance: 1e-6}, {Tolerance: 0.5}, {Tolerance: 20}, {Tolerance: 0.1, MeanOnly: true}} {
		p, err := m.Predictor(opt)
		require.NoError(t, err)
		info := p.Info()[0]
		if !opt.Exact {
			noise := m.NoiseSD()
			for q := range y {
				tol := opt.Tolerance
				if tol == 0 {
					tol = DefaultPruning
				}
				assert.LessOrEqual(t, p.Info()[q].MeanError, tol*noise[q])
				assert.LessOrEqual(t, p.Info()[q].SDError, tol*noise[q])
			}
		} else {
			assert.Len(t, info.Samples, 40)
			assert.Zero(t, info.MeanError)
			assert.Zero(t, info.SDError)
		}
		requireTasks(t, m, p, opt.MeanOnly, a, b)
		if info.Kind == BoundProved {
			requireTasks(t, m, p, opt.MeanOnly, normal(rng, 20, 1), far)
		}
	}
}

// Smooth functions of one feature depend on few samples, however many there are.
func TestMultiTaskPredictorPrunes(t *testing.T) {
	x, y, _ := relatedTasks(80)
	m, err := MultiTask{Ascent: Ascent{MaxSweeps: 30}, Latents: 2, MissingTargets: true}.Fit(context.Background(), []View{{X: x, Kernel: kernel.RBF{Width: 1}}}, y...)
	require.NoError(t, err)
	around := la.NewMatrix[float64](60, 1) // where the samples are and beyond
	for i := range around.Data {
		around.Data[i] = -4 + 16*float64(i)/60
	}
	last := 80
	for _, tolerance := range []float64{1e-4, 0.01, 0.5} {
		p, err := m.Predictor(PredictorOptions{Tolerance: tolerance})
		require.NoError(t, err)
		info := p.Info()[0]
		assert.LessOrEqual(t, len(info.Samples), last)
		assert.Equal(t, BoundProved, info.Kind)
		last = len(info.Samples)
		requireTasks(t, m, p, false, x)
		requireTasks(t, m, p, false, around)
	}
	assert.Less(t, last, 30)

	// Unbounded kernels are pruned by the values of the training.
	views, targets, a, b := taskProblem(40)
	linear, err := MultiTask{Ascent: Ascent{MaxSweeps: 20}, Latents: 1}.Fit(context.Background(), []View{views[0], views[4]}, targets...)
	require.NoError(t, err)
	lp, err := linear.Predictor(PredictorOptions{Tolerance: 0.1})
	require.NoError(t, err)
	assert.Equal(t, BoundAssumed, lp.Info()[0].Kind)
	assert.Less(t, len(lp.Info()[0].Samples), 40)
	requireTasks(t, linear, lp, false, a, b)
	p, err := m.Predictor(PredictorOptions{Tolerance: 1e9})
	require.NoError(t, err)
	assert.Empty(t, p.Info()[0].Kernels)
	requireTasks(t, m, p, false, x)

	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	loaded, err := LoadAs[*MultiTaskModel](&file)
	require.NoError(t, err)
	q, err := loaded.Predictor(PredictorOptions{})
	require.NoError(t, err)
	requireTasks(t, m, q, false, x)

	var wg sync.WaitGroup
	for range 8 { // more than the pool has room for
		wg.Go(func() {
			var mean, variance [4]float64
			for i := range 80 {
				if err := q.Predict(mean[:], variance[:], x.Row(i)); err != nil || !(variance[0] > 0) {
					t.Errorf("%d: %g, %v", i, variance, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestMultiTaskPredictorOfGivenKernels(t *testing.T) {
	x, y, _ := relatedTasks(24)
	similarity, at := la.NewMatrix[float64](24, 24), la.NewMatrix[float64](24, 25)
	distance := la.NewMatrix[float64](24, 24)
	for i := range 24 {
		for j := range 24 {
			d := x.At(i, 0) - x.At(j, 0)
			distance.Set(i, j, d*d/2)
			similarity.Set(i, j, math.Exp(-d*d/2))
			at.Set(i, j, math.Exp(-d*d/2))
		}
		at.Set(i, 24, 1)
	}
	m, err := MultiTask{Ascent: Ascent{MaxSweeps: 20}, Latents: 1}.Fit(context.Background(),
		[]View{{X: similarity, Input: "x1", Kernel: kernel.Precomputed{}}, {X: distance, Input: "x2", Kernel: kernel.FromDistance{Scale: 2}}}, y[1:]...)
	require.NoError(t, err)
	p, err := m.Predictor(PredictorOptions{})
	require.NoError(t, err)
	assert.Len(t, p.Info()[0].Samples, 24)
	requireTasks(t, m, p, false, at, distance)
}

func TestMultiTaskPredictorRefusals(t *testing.T) {
	x, y, _ := relatedTasks(12)
	m, err := MultiTask{Ascent: Ascent{MaxSweeps: 5}, Latents: 1, MeanOnly: true}.Fit(context.Background(), []View{{X: x, Kernel: kernel.RBF{Width: 1}}}, y[2:]...)
	require.NoError(t, err)
	_, err = m.Predictor(PredictorOptions{})
	assert.EqualError(t, err, "mkl: Predictor: the fit had MeanOnly: the predictor needs MeanOnly too")
	p, err := m.Predictor(PredictorOptions{MeanOnly: true})
	require.NoError(t, err)
	requireTasks(t, m, p, true, x)
	mean := make([]float64, 2)
	for _, c := range []struct {
		mean, variance []float64
		x              [][]float64
		want           string
	}{
		{mean[:1], nil, nil, "mkl: mean has length 1 and there are 2 targets"},
		{mean, mean, nil, "mkl: variance: the predictor was made with MeanOnly"},
		{mean, nil, nil, "mkl: 0 inputs where the model needs 1"},
		{mean, nil, [][]float64{{math.NaN()}}, "mkl: x[0][0] is NaN"},
	} {
		assert.EqualError(t, p.Predict(c.mean, c.variance, c.x...), c.want)
	}
	full, err := MultiTask{Ascent: Ascent{MaxSweeps: 5}, Latents: 1}.Fit(context.Background(), []View{{X: x, Kernel: kernel.RBF{Width: 1}}}, y[2:]...)
	require.NoError(t, err)
	p, err = full.Predictor(PredictorOptions{})
	require.NoError(t, err)
	assert.EqualError(t, p.Predict(mean, mean[:1], []float64{1}), "mkl: variance has length 1 and there are 2 targets")
}

func TestMultiTaskPredictorDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	views, y, _, _ := taskProblem(30)
	m, err := MultiTask{Ascent: Ascent{MaxSweeps: 10}, Latents: 1, KeepAll: true}.Fit(context.Background(), views, y...)
	require.NoError(t, err)
	for _, opt := range []PredictorOptions{{}, {Exact: true}, {MeanOnly: true}} {
		p, err := m.Predictor(opt)
		require.NoError(t, err)
		a, b, mean, variance := []float64{0.1}, []float64{1, 2, 3}, make([]float64, 3), make([]float64, 3)
		if opt.MeanOnly {
			variance = nil
		}
		allocs := testing.AllocsPerRun(200, func() {
			if err := p.Predict(mean, variance, a, b); err != nil {
				panic(err)
			}
		})
		assert.Zero(t, allocs, "%+v", opt)
	}
}

func BenchmarkMultiTaskPredictor(b *testing.B) {
	for _, n := range []int{100, 400} {
		x, y, _ := relatedTasks(n)
		m, err := MultiTask{Ascent: Ascent{MaxSweeps: 30}, Latents: 2, MissingTargets: true}.Fit(context.Background(), []View{{X: x, Kernel: kernel.RBF{Width: 1}}}, y...)
		require.NoError(b, err)
		for _, c := range []struct {
			name string
			opt  PredictorOptions
		}{{"full", PredictorOptions{}}, {"mean", PredictorOptions{MeanOnly: true}}, {"unpruned", PredictorOptions{Exact: true}}} {
			p, err := m.Predictor(c.opt)
			require.NoError(b, err)
			b.Run(fmt.Sprintf("n=%d/%s", n, c.name), func(b *testing.B) {
				mean, variance, point := make([]float64, 4), make([]float64, 4), []float64{0}
				if c.opt.MeanOnly {
					variance = nil
				}
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					point[0] = float64(i % 8)
					if err := p.Predict(mean, variance, point); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(p.Samples), "samples")
			})
		}
	}
}
