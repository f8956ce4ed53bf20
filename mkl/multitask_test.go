package mkl

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// relatedTasks returns four targets made from two functions of x, in units of
// their own, with a gap in the first, and what is in the gap.
func relatedTasks(n int) (x Features, y [][]float64, gap map[int]float64) {
	rng := rand.New(rand.NewPCG(3, 8))
	x = la.NewMatrix[float64](n, 1)
	y, gap = rows(4, n), map[int]float64{}
	for i := range n {
		v := 8 * float64(i) / float64(n)
		x.Set(i, 0, v)
		f, g := math.Sin(2*v), math.Cos(v)
		y[0][i] = 10 + 4*f + 0.1*rng.NormFloat64()
		y[1][i] = -3*f + 2*g + 0.1*rng.NormFloat64()
		y[2][i] = 100 * (f + g + 0.1*rng.NormFloat64())
		y[3][i] = g + 0.1*rng.NormFloat64()
		if i > n/3 && i < n/2 {
			gap[i] = y[0][i]
			y[0][i] = math.NaN()
		}
	}
	return x, y, gap
}

func TestMultiTaskLearnsFromRelatedTargets(t *testing.T) {
	testkit.NotShort(t)
	x, y, gap := relatedTasks(60)
	views := []View{{Name: "time", X: x, Kernel: kernel.RBF{Width: 1}}}
	estimator := MultiTask{Fitting: Fitting{Notes: map[string]string{"k": "v"}}, Ascent: Ascent{Restarts: 2}, Latents: 3, MissingTargets: true}
	m, err := estimator.Fit(context.Background(), views, y...)
	require.NoError(t, err)
	p, err := m.PredictTargets(context.Background(), PredictOptions{}, x)
	require.NoError(t, err)
	require.Len(t, gap, 9)
	for i, want := range gap {
		assert.InDelta(t, want, p.Mean[0][i], 1, "sample %d", i)
		assert.InDelta(t, want, p.Mean[0][i], 5*math.Sqrt(p.Variance[0][i]), "sample %d", i)
	}
	for q, sd := range m.NoiseSD() {
		want := 0.1
		if q == 2 {
			want = 10
		}
		assert.InDelta(t, want, sd, 0.4*want, "noise of target %d", q)
	}
	assert.Equal(t, 4, m.Targets())
	weights := m.KernelWeights()
	require.Len(t, weights, 3)
	assert.Equal(t, "time #1", weights[0].View)
	for q := range 4 {
		var most float64
		for _, w := range m.Weights(q) {
			most = max(most, w.Inclusion)
		}
		assert.Greater(t, most, 0.99, "target %d", q)
	}
	assert.Contains(t, m.Summary(), "multi-task model of 4 targets with 3 latent functions")
	assert.Empty(t, m.Collapsed())

	// The targets are the latent functions times the weights.
	l, err := m.PredictLatents(context.Background(), PredictOptions{}, x)
	require.NoError(t, err)
	for i := range x.Rows {
		sum := m.targets[2].mean
		for k, w := range m.Weights(2) {
			sum += w.Mean * l.Mean[k][i]
		}
		assert.InDelta(t, sum, p.Mean[2][i], 1e-9*math.Abs(sum)+1e-9)
	}

	again, err := requireFile(t, m, LoadAs[*MultiTaskModel], 4999).PredictTargets(context.Background(), PredictOptions{}, x)
	require.NoError(t, err)
	assert.Equal(t, p, again)
}

// Given kernels and distances, and kernels whose widths are held, make the same
// model as features.
func TestMultiTaskGivenKernels(t *testing.T) {
	x, y, _ := relatedTasks(24)
	y = y[1:]
	similarity, distance := la.NewMatrix[float64](24, 24), la.NewMatrix[float64](24, 24)
	for i := range 24 {
		for j := range 24 {
			d := x.At(i, 0) - x.At(j, 0)
			similarity.Set(i, j, math.Exp(-d*d/2))
			distance.Set(i, j, d*d/2)
		}
	}
	withSelf := la.NewMatrix[float64](24, 25)
	for i := range 24 {
		copy(withSelf.Row(i), similarity.Row(i))
		withSelf.Set(i, 24, 1)
	}
	var want *Prediction
	for _, c := range []struct {
		name  string
		view  View
		fixed bool
		x     Features
	}{
		{"features", View{X: x, Kernel: kernel.RBF{Width: 1}}, true, x},
		{"scale", View{X: x, Kernel: kernel.RBF{Scale: math.Sqrt2}}, true, x},
		{"kernel", View{X: similarity, Kernel: kernel.Precomputed{}}, false, withSelf},
		{"distance", View{X: distance, Kernel: kernel.FromDistance{Scale: 1}}, true, distance},
	} {
		m, err := MultiTask{Ascent: Ascent{MaxSweeps: 50}, Latents: 2, FixedKernels: c.fixed}.Fit(context.Background(), []View{c.view}, y...)
		require.NoError(t, err, c.name)
		p, err := m.PredictTargets(context.Background(), PredictOptions{}, c.x)
		require.NoError(t, err, c.name)
		if want == nil {
			want = p
		}
		for q := range y {
			assert.InDeltaSlice(t, want.Mean[q], p.Mean[q], 1e-3*m.targets[q].sd, c.name)
			assert.InDeltaSlice(t, want.Variance[q], p.Variance[q], 1e-3*m.targets[q].sd*m.targets[q].sd, c.name)
		}
	}
	for _, k := range []kernel.Kernel{kernel.RBF{Width: 0.5}, kernel.RBF{Scale: 2}, kernel.Laplacian{Width: 3}, kernel.FromDistance{Scale: 2}} {
		view, at := View{X: x, Kernel: k}, x
		if _, ok := k.(kernel.FromDistance); ok {
			view.X, at = distance, distance
		}
		m, err := MultiTask{Ascent: Ascent{MaxSweeps: 30}, Latents: 1}.Fit(context.Background(), []View{view}, y...)
		require.NoError(t, err, k.String())
		assert.NotEqual(t, k.String(), m.KernelWeights()[0].Kernel, "its length is learned")
		// Training and test kernels are the same function.
		p, err := m.PredictTargets(context.Background(), PredictOptions{}, at)
		require.NoError(t, err)
		train := m.posterior.Train(inferenceAll)
		for q := range y {
			for i, v := range train.Mean.Row(q) {
				assert.InDelta(t, m.targets[q].mean+m.targets[q].sd*v, p.Mean[q][i], 1e-6*m.targets[q].sd, k.String())
				assert.InDelta(t, train.Variance.At(q, i)*m.targets[q].sd*m.targets[q].sd, p.Variance[q][i], 1e-6*m.targets[q].sd*m.targets[q].sd, k.String())
			}
		}
	}
}

var inferenceAll = PredictOptions{}.inference()

func TestMultiTaskRefusals(t *testing.T) {
	x, y, _ := relatedTasks(12)
	views := []View{{X: x, Kernel: kernel.RBF{}}}
	asymmetric := la.NewMatrix[float64](12, 12)
	asymmetric.Set(3, 1, 1)
	asymmetric.Set(1, 3, 2)
	rect := la.NewMatrix[float64](12, 5)
	rect.Fill(1)
	for _, c := range []struct {
		m     MultiTask
		views []View
		want  string
	}{
		{MultiTask{}, nil, "mkl: views: none given"},
		{MultiTask{Latents: -1}, views, "mkl: Latents is -1: it must not be negative"},
		{MultiTask{}, []View{{X: asymmetric, Kernel: kernel.FromDistance{Scale: 1}}}, "mkl: views[0] (distance(scale=1)): X is not symmetric: X[1][3] is 2 and X[3][1] is 1"},
		{MultiTask{}, []View{{X: rect, Kernel: kernel.Precomputed{}}}, "mkl: views[0] (precomputed): 5 basis points for 12 samples: the model needs square kernels"},
		{MultiTask{Prior: SlabPrior{Variance: -1}}, views, "mkl: vi: Prior.Variance is -1: it must be positive and finite"},
	} {
		m, err := c.m.Fit(context.Background(), c.views, y[1:]...)
		assert.Nil(t, m)
		assert.EqualError(t, err, c.want)
	}
	_, err := MultiTask{}.Fit(context.Background(), views, y...)
	assert.ErrorContains(t, err, "mkl: y[0][5] is NaN")
	_, err = MultiTask{Fitting: Fitting{MemoryLimit: 1000}}.Fit(context.Background(), views, y[1:]...)
	var limit *MemoryError
	assert.ErrorAs(t, err, &limit)
	m, err := MultiTask{Ascent: Ascent{MaxSweeps: 5}, MeanOnly: true}.Fit(context.Background(), views, y[1:]...)
	require.NoError(t, err)
	_, err = m.PredictTargets(context.Background(), PredictOptions{}, x)
	assert.ErrorContains(t, err, "means only")
	p, err := m.PredictTargets(context.Background(), PredictOptions{MeanOnly: true}, x)
	require.NoError(t, err)
	assert.Nil(t, p.Variance)
	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	loaded, err := LoadAs[*MultiTaskModel](&file)
	require.NoError(t, err)
	again, err := loaded.PredictTargets(context.Background(), PredictOptions{MeanOnly: true}, x)
	require.NoError(t, err)
	assert.Equal(t, p, again)
}

// A fit asks for the forms of kernels that it holds where no target is missing, and only there.
func TestMultiTaskMemoryOfForms(t *testing.T) {
	const n = 30
	x, y, gap := relatedTasks(n)
	views := []View{{X: x, Kernel: kernel.RBF{Width: 1}}, {X: x, Kernel: kernel.Laplacian{Width: 1}}, {X: x, Kernel: kernel.Linear{}, Center: true}}
	need := func(est MultiTask, y [][]float64) int64 {
		est.MemoryLimit = 1
		_, err := est.Fit(t.Context(), views, y...)
		var refused *MemoryError
		require.ErrorAs(t, err, &refused)
		return refused.Need
	}
	const form = 8 * n * n / 2
	missing := y
	y = append([][]float64{nil}, y[1:]...)
	for i, v := range missing[0] {
		if there, ok := gap[i]; ok {
			v = there
		}
		y[0] = append(y[0], v)
	}
	all := MultiTask{}.EstimateMemory(FitSize{Samples: n, Kernels: 3, Outputs: 4})
	assert.Equal(t, all, need(MultiTask{FixedKernels: true}, y))
	assert.Equal(t, all-2*form, need(MultiTask{MissingTargets: true}, y), "two of the widths are learned")
	assert.Equal(t, all-3*form, need(MultiTask{FixedKernels: true, MissingTargets: true}, missing))
}
