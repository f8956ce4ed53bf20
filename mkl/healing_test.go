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
	"github.com/bmkl/bmkl/vi"
)

// The models predict what vi does on the matrices that they stand for.
func TestHealingAgainstInference(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(2, 3))
	const n, T = 25, 9
	x, z := normal(rng, n, 2), normal(rng, T, 2)
	y, second := make([]float64, n), make([]float64, n)
	for i := range y {
		y[i], second[i] = 3+4*x.At(i, 0)*x.At(i, 1)+rng.NormFloat64(), x.At(i, 0)
	}
	second[4] = math.NaN()
	similarities := func(f func(a, b []float64) float64, a, b Features) la.Matrix[float64] {
		return matrix(a.Rows, b.Rows, func(i, j int) float64 { return f(a.Row(i), b.Row(j)) })
	}
	rbf := func(a, b []float64) float64 { return math.Exp(-euclid(a, b) * euclid(a, b) / 2) }
	cosine := func(a, b []float64) float64 { return inner(a, b) / math.Sqrt(inner(a, a)*inner(b, b)) }
	r := Regression{Ascent: Ascent{MaxSweeps: 30}, MissingTargets: true}
	m, err := r.Fit(ctx, []View{{X: x, Kernel: kernel.RBF{Width: 1}}, {X: x, Kernel: kernel.Linear{}}, {X: x, Kernel: kernel.Linear{}, Normalize: true}}, y, second)
	require.NoError(t, err)

	self := matrix(3, T, func(i, j int) float64 { return []float64{1, inner(z.Row(j), z.Row(j)), 1}[i] })
	k, err := vi.NewDense(similarities(rbf, x, z), similarities(inner, x, z), similarities(cosine, x, z))
	require.NoError(t, err)
	want, err := m.posterior.PredictHealed(k, self, vi.PredictOptions{})
	require.NoError(t, err)
	got, err := m.PredictTargets(ctx, PredictOptions{}, z)
	require.NoError(t, err)
	for o, target := range m.targets {
		for i := range T {
			assert.InDelta(t, target.mean+target.sd*want.Mean.At(o, i), got.Mean[o][i], 1e-9)
			assert.InDelta(t, target.sd*target.sd*want.Variance.At(o, i), got.Variance[o][i], 1e-9)
		}
	}
	mean, err := m.PredictTargets(ctx, PredictOptions{MeanOnly: true, Workers: 3}, z)
	require.NoError(t, err)
	assert.Equal(t, got.Mean, mean.Mean)
	plain, err := m.PredictTargets(ctx, PredictOptions{Unhealed: true}, z)
	require.NoError(t, err)
	for o := range plain.Variance {
		for i, v := range plain.Variance[o] {
			assert.Greater(t, got.Variance[o][i], v)
		}
	}

	loaded := requireFile(t, m, LoadAs[*RegressionModel], 997)
	again, err := loaded.PredictTargets(ctx, PredictOptions{Workers: 2}, z)
	require.NoError(t, err)
	assert.Equal(t, got, again)
}

// A SharedRegressionModel predicts what vi does on the matrices that it stands for, from a
// file as from the fit, and its predictor of one sample agrees.
func TestSharedHealingAgainstInference(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(2, 4))
	const n, T = 25, 9
	x, z := normal(rng, n, 2), normal(rng, T, 2)
	y := [][]float64{make([]float64, n), make([]float64, n), make([]float64, n)}
	for i := range n {
		y[0][i], y[1][i] = 3+4*x.At(i, 0)*x.At(i, 1)+rng.NormFloat64(), x.At(i, 0)
		y[2][i] = y[1][i] - y[0][i] + 0.1*rng.NormFloat64()
	}
	rbf := func(a, b []float64) float64 { return math.Exp(-euclid(a, b) * euclid(a, b) / 2) }
	m, err := SharedRegression{Ascent: Ascent{MaxSweeps: 30}}.Fit(ctx, []View{{X: x, Kernel: kernel.RBF{Width: 1}}, {X: x, Kernel: kernel.Linear{}}}, y...)
	require.NoError(t, err)
	assert.NotContains(t, m.Summary(), "healed")

	self := matrix(2, T, func(i, j int) float64 { return []float64{1, inner(z.Row(j), z.Row(j))}[i] })
	k, err := vi.NewDense(matrix(n, T, func(i, j int) float64 { return rbf(x.Row(i), z.Row(j)) }),
		matrix(n, T, func(i, j int) float64 { return inner(x.Row(i), z.Row(j)) }))
	require.NoError(t, err)
	want, err := m.posterior.PredictHealed(k, self, vi.PredictOptions{})
	require.NoError(t, err)
	got, err := m.PredictTargets(ctx, PredictOptions{}, z)
	require.NoError(t, err)
	plain, err := m.PredictTargets(ctx, PredictOptions{Unhealed: true}, z)
	require.NoError(t, err)
	again, err := requireFile(t, m, LoadAs[*SharedRegressionModel], 997).PredictTargets(ctx, PredictOptions{Workers: 2}, z)
	require.NoError(t, err)
	assert.Equal(t, got, again)
	for o, target := range m.targets {
		p, err := m.Predictor(PredictorOptions{Target: o, Exact: true})
		require.NoError(t, err)
		bare, err := m.Predictor(PredictorOptions{Target: o, Exact: true, Unhealed: true})
		require.NoError(t, err)
		for i := range T {
			assert.InDelta(t, target.mean+target.sd*want.Mean.At(o, i), got.Mean[o][i], 1e-9)
			assert.InDelta(t, target.sd*target.sd*want.Variance.At(o, i), got.Variance[o][i], 1e-9)
			assert.Greater(t, got.Variance[o][i], plain.Variance[o][i])
			mean, variance, err := p.Predict(z.Row(i))
			require.NoError(t, err)
			assert.InDelta(t, got.Mean[o][i], mean, 1e-9)
			assert.InDelta(t, got.Variance[o][i], variance, 1e-9)
			mean, variance, err = bare.Predict(z.Row(i))
			require.NoError(t, err)
			assert.InDelta(t, plain.Mean[o][i], mean, 1e-9)
			assert.InDelta(t, plain.Variance[o][i], variance, 1e-9)
		}
		if !raceEnabled {
			assert.Zero(t, testing.AllocsPerRun(100, func() {
				if _, _, err := p.Predict(z.Row(0)); err != nil {
					panic(err)
				}
			}))
		}
	}
	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	for want, change := range map[string]func(metadata map[string]string, ts map[string]tensor){
		`tensor "healing.kernels" is missing`:      func(_ map[string]string, ts map[string]tensor) { delete(ts, "healing.kernels") },
		`tensor "healing.kernels" is not expected`: func(_ map[string]string, ts map[string]tensor) { delete(ts, "healing.weights") },
		"Healing.Precision is -1":                  func(_ map[string]string, ts map[string]tensor) { ts["healing.precision"].data[0] = -1 },
	} {
		assertRefused(t, file.Bytes(), change, want)
	}
}

// Precomputed kernels are healed if the kernels of samples with themselves are there,
// and their model says so.
func TestHealingOfPrecomputedKernels(t *testing.T) {
	ctx := context.Background()
	views, y, _, b := twoInputs(4, 20)
	views = views[:2]
	given := matrix(20, 20, func(i, j int) float64 { return 1 + inner(b.Row(i), b.Row(j)) })
	views = append(views, View{X: given, Input: "given", Kernel: kernel.Precomputed{}, Center: true})
	reference := append(views[:2:2], View{X: b, Input: "x2", Kernel: kernel.Polynomial{Degree: 1, Offset: 1, Scale: 1}, Center: true})
	r := Regression{Ascent: Ascent{MaxSweeps: 20}}
	want, err := r.Fit(ctx, reference, y)
	require.NoError(t, err)
	m, err := r.Fit(ctx, views, y)
	require.NoError(t, err)
	assert.NotContains(t, want.Summary(), "healed")
	assert.Contains(t, m.Summary(), "healed only with the kernel of each sample with itself")

	rng := rand.New(rand.NewPCG(7, 7))
	x, z := normal(rng, 5, 2), normal(rng, 5, 3)
	cross := matrix(5, 21, func(i, j int) float64 {
		if j == 20 {
			return 1 + inner(z.Row(i), z.Row(i))
		}
		return 1 + inner(z.Row(i), b.Row(j))
	})
	short := cross.Slice(0, 5, 0, 20)
	near := func(a, b *Prediction, tolerance float64) {
		t.Helper()
		assert.InDeltaSlice(t, a.Mean[0], b.Mean[0], tolerance)
		assert.InDeltaSlice(t, a.Variance[0], b.Variance[0], tolerance)
	}
	predict := func(m *RegressionModel, opt PredictOptions, x ...Features) *Prediction {
		t.Helper()
		p, err := m.PredictTargets(ctx, opt, x...)
		require.NoError(t, err)
		return p
	}
	healed := predict(m, PredictOptions{}, x, cross)
	unhealed := predict(m, PredictOptions{Unhealed: true}, x, short)
	near(predict(want, PredictOptions{}, x, z), healed, 1e-7)
	near(predict(want, PredictOptions{Unhealed: true}, x, z), unhealed, 1e-7)
	assert.Equal(t, unhealed, predict(m, PredictOptions{}, x, short))

	p, err := m.Predictor(PredictorOptions{Exact: true})
	require.NoError(t, err)
	for i := range 5 {
		mean, variance, err := p.Predict(x.Row(i), cross.Row(i))
		require.NoError(t, err)
		assert.InDelta(t, healed.Mean[0][i], mean, 1e-9)
		assert.InDelta(t, healed.Variance[0][i], variance, 1e-9)
		mean, variance, err = p.Predict(x.Row(i), short.Row(i))
		require.NoError(t, err)
		assert.InDelta(t, unhealed.Mean[0][i], mean, 1e-9)
		assert.InDelta(t, unhealed.Variance[0][i], variance, 1e-9)
	}
	_, _, err = p.Predict(x.Row(0), cross.Row(0)[:19])
	assert.EqualError(t, err, "mkl: x[1]: 19 values where 20 are needed")
	_, _, err = p.Predict(x.Row(0))
	assert.EqualError(t, err, "mkl: 1 inputs where the model needs 2")
	if !raceEnabled {
		assert.Zero(t, testing.AllocsPerRun(100, func() {
			if _, _, err := p.Predict(x.Row(0), cross.Row(0)); err != nil {
				panic(err)
			}
		}))
	}
}

// Kernels between other basis points and the samples do not tell what healing needs.
func TestRectangularKernelsAreNotHealed(t *testing.T) {
	x := normal(rand.New(rand.NewPCG(1, 1)), 15, 6)
	m, err := Regression{Ascent: Ascent{MaxSweeps: 5}}.Fit(context.Background(), PrecomputedViews(x), x.Clone().Data[:15])
	require.NoError(t, err)
	assert.Contains(t, m.Summary(), "predictions are not healed")
	_, _, err = m.Predict(x)
	require.NoError(t, err)
	_, err = m.Predictor(PredictorOptions{})
	require.NoError(t, err)
}

// Far from the samples the variance is the variance of the unknown function, not the variance of
// the noise.
func TestHealedVarianceFarAway(t *testing.T) {
	x := normal(rand.New(rand.NewPCG(1, 5)), 60, 1)
	y := make([]float64, 60)
	for i := range y {
		y[i] = math.Sin(3 * x.At(i, 0))
	}
	m, err := Regression{}.Fit(context.Background(), []View{{X: x, Kernel: kernel.RBF{Width: 0.3}}, {X: x, Kernel: kernel.RBF{Width: 1}}}, y)
	require.NoError(t, err)
	_, near, err := m.Predict(x)
	require.NoError(t, err)
	_, far, err := m.Predict(Column([]float64{50}))
	require.NoError(t, err)
	plain, err := m.PredictTargets(context.Background(), PredictOptions{Unhealed: true}, Column([]float64{50}))
	require.NoError(t, err)
	var e float64
	for _, w := range m.KernelWeights() {
		e += w.Mean
	}
	sd := m.targets[0].sd
	assert.InEpsilon(t, e*e/m.posterior.State().Healing.Precision[0]*sd*sd, far[0]-plain.Variance[0][0], 1e-9)
	assert.Greater(t, far[0], 2*near[0])
}

// Kernels next to without weight go even where predictions are healed, if an error of
// the order of the noise is allowed: their weights keep a deviation of 6e-4 at the
// optimum, and the bound on what healing makes of it is wide. Samples do not go.
func TestHealedPredictorPrunes(t *testing.T) {
	testkit.NotShort(t)
	m := sparseMotorcycle(t)
	p, err := m.Predictor(PredictorOptions{Tolerance: 1, MeanOnly: true})
	require.NoError(t, err)
	info := p.Info()[0]
	assert.Less(t, len(info.Kernels), 9)
	assert.Len(t, info.Samples, 133)
	assert.Equal(t, BoundCalibrated, info.Kind)
	assert.LessOrEqual(t, info.MeanError, m.NoiseSD()[0])
}

func TestHealedFileRefusals(t *testing.T) {
	var file bytes.Buffer
	require.NoError(t, goldenFit(t).Save(&file))
	for want, change := range map[string]func(metadata map[string]string, ts map[string]tensor){
		`tensor "healing.residual" is missing`: func(_ map[string]string, ts map[string]tensor) { delete(ts, "healing.residual") },
		`tensor "healing.precision" is not expected`: func(_ map[string]string, ts map[string]tensor) {
			delete(ts, "healing.kernel")
			delete(ts, "healing.residual")
		},
		"Healing.Precision[1] is -1": func(_ map[string]string, ts map[string]tensor) { ts["healing.precision"].data[1] = -1 },
	} {
		assertRefused(t, file.Bytes(), change, want)
	}
}
