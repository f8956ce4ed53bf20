package mkl

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// functionsProblem returns samples of six features and two targets. Both are sparse combinations of the features, the second
// plus a smooth function of another input.
func functionsProblem(n int) (x, u Features, y [][]float64) {
	src := rand.New(rand.NewPCG(8, 3))
	x, u = testkit.Normal(src, n, 6), la.NewMatrix[float64](n, 1)
	y = make([][]float64, 2)
	for i := range n {
		u.Set(i, 0, 4*src.Float64())
		x.Set(i, 2, 10+3*x.At(i, 2))
		y[0] = append(y[0], 7+2*x.At(i, 1)-x.At(i, 2)+0.3*src.NormFloat64())
		y[1] = append(y[1], x.At(i, 1)+2*math.Sin(2*u.At(i, 0))+0.3*src.NormFloat64())
	}
	return x, u, y
}

// Of functions that are known alone the model is sparse linear regression, which SpikeSlab fits otherwise.
func TestMultiTaskOfFunctionsIsSpikeSlab(t *testing.T) {
	x, _, y := functionsProblem(60)
	f := fitting{Fitting: Fitting{Seed: 2}, Ascent: Ascent{Tolerance: 1e-12, MaxSweeps: 5000}}
	want, err := SpikeSlab{Fitting: f.Fitting, Ascent: f.Ascent}.Fit(t.Context(), x, y[0])
	require.NoError(t, err)
	got, err := MultiTask{Fitting: f.Fitting, Ascent: f.Ascent}.Fit(t.Context(), []View{{X: x, Kernel: kernel.KnownFunction{}, Standardize: true}}, y[0])
	require.NoError(t, err)
	assert.InDelta(t, want.Bound(), got.Bound(), 1e-6)
	assert.InEpsilon(t, want.NoiseSD()[0], got.NoiseSD()[0], 1e-6)
	mean, variance, err := want.Predict(x)
	require.NoError(t, err)
	p, err := got.PredictTargets(t.Context(), PredictOptions{}, x)
	require.NoError(t, err)
	assert.InDeltaSlice(t, mean, p.Mean[0], 1e-6)
	assert.InEpsilonSlice(t, variance, p.Variance[0], 1e-6)
	_, sd := gram.ColumnStats(x)
	for j, w := range want.Weights() {
		g := got.Weights(0)[j]
		assert.InDelta(t, w.Inclusion, g.Inclusion, 1e-6)
		assert.InDelta(t, w.Mean*sd[j], g.Mean, 1e-6) // of the standardised feature
	}
	assert.Equal(t, "function of #3", got.KernelWeights()[2].View)
	assert.Equal(t, "function", got.KernelWeights()[2].Kernel)
}

// Known functions and processes work together, in predictions, predictors and files.
func TestMultiTaskOfFunctionsAndProcesses(t *testing.T) {
	const n = 60
	x, u, y := functionsProblem(n + 40)
	tx, tu := x.Slice(n, n+40, 0, 6), u.Slice(n, n+40, 0, 1)
	y[0][4] = math.NaN()
	views := []View{
		{Name: "f", X: x.Slice(0, n, 0, 6), Input: "x1", Kernel: kernel.KnownFunction{}, Standardize: true, Columns: []int{1, 2, 4}},
		{X: u.Slice(0, n, 0, 1), Input: "x2", Kernel: kernel.RBF{Width: 0.7}},
	}
	m, err := MultiTask{Fitting: Fitting{Seed: 1}, Latents: 2, MissingTargets: true}.Fit(t.Context(), views, y[0][:n], y[1][:n])
	require.NoError(t, err)
	var names []string
	for _, w := range m.KernelWeights() {
		names = append(names, w.View)
	}
	assert.Equal(t, []string{"f #2", "f #3", "f #5", "x2 #1", "x2 #2"}, names)
	p, err := m.PredictTargets(t.Context(), PredictOptions{}, tx, tu)
	require.NoError(t, err)
	for q := range 2 {
		var square, z float64
		for i := range 40 {
			d := y[q][n+i] - p.Mean[q][i]
			square += d * d / 40
			z += d * d / p.Variance[q][i] / 40
		}
		assert.Less(t, math.Sqrt(square), 0.5) // of noise with .3
		assert.InDelta(t, 1, z, 0.6)
	}
	// The weights of what is not there are off.
	assert.Less(t, m.Weights(0)[2].Inclusion, 0.5)
	assert.Greater(t, m.Weights(0)[0].Inclusion, 0.9)
	latents, err := m.PredictLatents(t.Context(), PredictOptions{}, tx, tu)
	require.NoError(t, err)
	mean, sd := gram.ColumnStats(views[0].X)
	assert.InDelta(t, (tx.At(3, 2)-mean[2])/sd[2], latents.Mean[1][3], 1e-14)
	assert.Zero(t, latents.Variance[1][3])

	predictor, err := m.Predictor(PredictorOptions{Exact: true})
	require.NoError(t, err)
	assert.Contains(t, predictor.Info()[0].Kernels, 1)
	one, variance := make([]float64, 2), make([]float64, 2)
	for i := range 40 {
		require.NoError(t, predictor.Predict(one, variance, tx.Row(i), tu.Row(i)))
		for q := range 2 {
			assert.InDelta(t, p.Mean[q][i], one[q], 1e-7)
			assert.InEpsilon(t, p.Variance[q][i], variance[q], 1e-6)
		}
	}
	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	text := file.String()
	loaded, err := Load(&file)
	require.NoError(t, err)
	again, err := loaded.(*MultiTaskModel).PredictTargets(t.Context(), PredictOptions{}, tx, tu)
	require.NoError(t, err)
	assert.Equal(t, p.Mean, again.Mean)
	assert.Equal(t, p.Variance, again.Variance)
	from, err := MultiTask{Latents: 2, MissingTargets: true, From: m}.Fit(t.Context(), views, y[0][:n], y[1][:n])
	require.NoError(t, err)
	assert.GreaterOrEqual(t, from.Bound(), m.Bound()-1e-6)

	forged := strings.Replace(text, `standardize\":true`, `center\":true     `, 1)
	require.False(t, forged == text)
	_, err = Load(bytes.NewReader(signed([]byte(forged))))
	assert.ErrorContains(t, err, "a function is one column, neither centred nor normalised")
}

func TestFunctionsRefused(t *testing.T) {
	x, _, y := functionsProblem(20)
	for want, v := range map[string]View{
		"mkl: views[0] (function): Center and Normalize are for kernels": {X: x, Kernel: kernel.KnownFunction{}, Center: true},
		"mkl: views[0] (function): Columns is empty: nil stands for all": {X: x, Kernel: kernel.KnownFunction{}, Columns: []int{}},
		"mkl: views[0] (function): Columns[1] is 9, and X has 6 columns": {X: x, Kernel: kernel.KnownFunction{}, Columns: []int{1, 9}},
		"mkl: views[0] (function): X has no columns":                     {X: la.NewMatrix[float64](20, 0), Kernel: kernel.KnownFunction{}},
	} {
		_, err := MultiTask{}.Fit(t.Context(), []View{v}, y[0])
		assert.ErrorContains(t, err, want)
	}
	views := []View{{X: x, Kernel: kernel.KnownFunction{}}}
	_, err := MultiGP{}.Fit(t.Context(), views, y[0])
	assert.EqualError(t, err, "mkl: views[0] (function): a KnownFunction is for MultiTask")
	_, err = Regression{}.Fit(t.Context(), views, y[0])
	assert.EqualError(t, err, "mkl: views[0] (function): a KnownFunction is for MultiTask")
	_, err = LandmarkGP{}.Fit(t.Context(), views, y[0])
	assert.ErrorContains(t, err, "a KnownFunction is for MultiTask")
	assert.Less(t, MultiTask{}.EstimateMemory(FitSize{Samples: 50000, Outputs: 3}), int64(1<<30))

	views = []View{{X: x, Kernel: kernel.Constant{}, Columns: []int{0}}, {X: x, Kernel: kernel.Linear{}, Standardize: true}}
	m, err := Regression{}.Fit(t.Context(), views, y[0])
	require.NoError(t, err)
	assertRefused(t, saved(t, m), func(f map[string]string, _ map[string]tensor) {
		f["model"] = strings.Replace(f["model"], `"constant"`, `"function"`, 1)
	}, "model: views[0]: a function is for multi-task models")
}
