package mkl

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// gpProblem returns features, a target that depends only on the first column,
// and a view of each column.
func gpProblem(n, cols int) (x Features, views func(x Features) []View, y []float64) {
	rng := rand.New(rand.NewPCG(5, 5))
	x = normal(rng, n, cols)
	y = make([]float64, n)
	for i := range y {
		y[i] = 40 + 10*math.Sin(2*x.At(i, 0)) + rng.NormFloat64()
	}
	return x, func(x Features) []View {
		var vs []View
		for j := range cols {
			column := la.NewMatrix[float64](x.Rows, 1)
			for i := range x.Rows {
				column.Set(i, 0, x.At(i, j))
			}
			vs = append(vs, View{X: column, Input: fmt.Sprint("x", j+1), Kernel: kernel.RBF{Width: 1}})
		}
		return vs
	}, y
}

func columns(views []View) (x []Features) {
	for _, v := range views {
		x = append(x, v.X)
	}
	return x
}

func TestMultiGPFindsTheView(t *testing.T) {
	testkit.NotShort(t)
	x, views, y := gpProblem(80, 4)
	for _, family := range []Family{FamilyStudentT, FamilyLaplace, FamilyGammaVariance, FamilyGIG, FamilyFlat} {
		m, err := MultiGP{Family: family}.Fit(context.Background(), views(x), y)
		require.NoError(t, err, family.String())
		w := m.KernelWeights()
		for _, other := range w[1:] {
			assert.Greater(t, w[0].Mean, 5*other.Mean, family.String())
		}
		assert.InDelta(t, 1, m.NoiseSD()[0], 0.3, family.String())
		if family == FamilyFlat {
			assert.Contains(t, m.Prior(), "no prior")
		} else {
			assert.Contains(t, m.Prior(), family.String())
		}
		assert.Contains(t, m.Summary(), "converged")
		mean, variance, err := m.Predict(columns(views(x))...)
		require.NoError(t, err)
		var square float64
		for i := range mean {
			square += (mean[i] - y[i]) * (mean[i] - y[i]) / variance[i]
		}
		assert.InDelta(t, 1, square/float64(len(y)), 0.5, family.String())
	}
}

// The sum of given kernels is the model of their views; a sample far from the
// training samples has the prior's variance.
func TestMultiGPKernelsWithThemselves(t *testing.T) {
	x, views, y := gpProblem(40, 2)
	far := la.NewMatrix[float64](1, 2)
	far.Fill(1e3)
	m, err := MultiGP{PointScales: true}.Fit(context.Background(), views(x), y)
	require.NoError(t, err)
	_, variance, err := m.Predict(columns(views(far))...)
	require.NoError(t, err)
	s := m.Posterior().State()
	want := 1/s.Gamma[0] + 1/s.Gamma[1] + 1/s.Tau
	assert.InEpsilon(t, want*m.target.sd*m.target.sd, variance[0], 1e-12)

	var given []View
	test := make([]Features, 2)
	for j, v := range views(x) {
		k := la.NewMatrix[float64](40, 40)
		test[j] = la.NewMatrix[float64](40, 41)
		for i := range 40 {
			for l := range 40 {
				d := v.X.At(i, 0) - v.X.At(l, 0)
				k.Set(i, l, math.Exp(-d*d/2))
				test[j].Set(i, l, k.At(i, l))
			}
			test[j].Set(i, 40, 1)
		}
		given = append(given, View{X: k, Input: v.Input, Kernel: kernel.Precomputed{}})
	}
	p, err := MultiGP{PointScales: true}.Fit(context.Background(), given, y)
	require.NoError(t, err)
	wantMean, wantVariance, err := m.Predict(columns(views(x))...)
	require.NoError(t, err)
	mean, variance, err := p.Predict(test...)
	require.NoError(t, err)
	assert.InDeltaSlice(t, wantMean, mean, 1e-6)
	assert.InDeltaSlice(t, wantVariance, variance, 1e-6)

	// Centred kernels: a training sample's kernel with itself is the diagonal.
	centred := views(x)
	for i := range centred {
		centred[i].Center = true
	}
	m, err = MultiGP{PointScales: true}.Fit(context.Background(), centred, y)
	require.NoError(t, err)
	ks := []la.Matrix[float64]{la.NewMatrix[float64](40, 40), la.NewMatrix[float64](40, 40)}
	self := la.NewMatrix[float64](2, 40)
	require.NoError(t, m.design.CrossSelf(context.Background(), 1, columns(centred), 0, ks, self))
	for p := range 2 {
		for i := range 40 {
			assert.InDelta(t, ks[p].At(i, i), self.At(p, i), 1e-13)
		}
	}
}

func TestMultiGPRefusesBadData(t *testing.T) {
	x, views, y := gpProblem(10, 2)
	y[3] = math.NaN()
	_, err := MultiGP{}.Fit(context.Background(), views(x), y)
	var value *ValueError
	require.ErrorAs(t, err, &value)
	assert.Equal(t, 3, value.Row)
	_, err = MultiGP{}.Fit(context.Background(), []View{{X: normal(rand.New(rand.NewPCG(1, 1)), 10, 4), Kernel: kernel.Precomputed{}}}, make([]float64, 10))
	assert.Error(t, err)
	y[3] = 0
	_, err = MultiGP{}.Fit(context.Background(), []View{{X: normal(rand.New(rand.NewPCG(1, 1)), 10, 4), Kernel: kernel.Precomputed{}}}, y)
	assert.ErrorContains(t, err, "square kernels")
	_, err = MultiGP{Fitting: Fitting{MemoryLimit: 1}}.Fit(context.Background(), views(x), y)
	var memory *MemoryError
	assert.ErrorAs(t, err, &memory)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = MultiGP{}.Fit(ctx, views(x), y)
	assert.ErrorIs(t, err, context.Canceled)
}

// The estimate counts the kernels and the factors, and the limit holds for it.
func TestMultiGPEstimateMemory(t *testing.T) {
	const n, p = manySamples - 10, 5 // no part is fitted first
	kernels, factor := int64(8*p*n*n), int64(8*n*n)
	g := MultiGP{Fitting: Fitting{Workers: 1}, PointScales: true}
	for classes, l := range map[int]int64{2: 1, 3: 3, 4: 4} {
		need := MultiGPClassifier[int]{Fitting: g.Fitting, Climb: g.Climb}.EstimateMemory(FitSize{Samples: n, Kernels: p, Outputs: classes})
		assert.Greater(t, need, kernels+(2+l)*factor)
		assert.Less(t, need, kernels+(3+l)*factor+8<<18)
	}
	// Draws are factors too; a pool has the draws of every member.
	small := FitSize{Samples: mostDrawn, Kernels: 1, Outputs: 1}
	drawn := int64(8 * drawsOf(mostDrawn) * mostDrawn * mostDrawn)
	assert.Greater(t, MultiGP{}.EstimateMemory(small), MultiGP{PointScales: true}.EstimateMemory(small)+drawn)
	assert.Greater(t, Auto{}.EstimateMemory(small), int64(len(autoMembers))*drawn)
	more := small
	more.Samples++
	assert.Less(t, Auto{}.EstimateMemory(more), Auto{}.EstimateMemory(small)-3*drawn)
	assert.Equal(t, Auto{}.EstimateMemory(small), Auto{MaxSamples: small.Samples}.EstimateMemory(more))
	x, views, y := gpProblem(30, 2)
	g.MemoryLimit = g.EstimateMemory(FitSize{Samples: 30, Kernels: 2, Outputs: 1})
	_, err := g.Fit(context.Background(), views(x), y)
	require.NoError(t, err)
	c := MultiGPClassifier[int]{Fitting: g.Fitting, Climb: g.Climb}
	_, err = c.Fit(context.Background(), views(x), parts(y, 3))
	var memory *MemoryError
	require.ErrorAs(t, err, &memory)
	assert.Equal(t, c.EstimateMemory(FitSize{Samples: 30, Kernels: 2, Outputs: 3}), memory.Need)
}

func TestMultiGPClassifier(t *testing.T) {
	testkit.NotShort(t)
	x, views, y := gpProblem(90, 3)
	for _, K := range []int{2, 3} {
		labels := parts(y, K)
		sweeps := 0
		c := MultiGPClassifier[int]{
			Fitting: Fitting{Progress: func(p Progress) {
				sweeps++
				assert.Equal(t, map[int]int{2: 1, 3: 3}[K], p.Starts)
			}},
		}
		m, err := c.Fit(context.Background(), views(x), labels)
		require.NoError(t, err)
		assert.Len(t, m.posteriors, map[int]int{2: 1, 3: 3}[K])
		assert.Equal(t, sweeps, m.Trace().Sweeps)
		assert.ElementsMatch(t, []int{0, 1, 2}[:K], m.Classes())
		w := m.KernelWeights()
		assert.Greater(t, w[0].Mean, 5*w[1].Mean)
		assert.Greater(t, w[0].Mean, 5*w[2].Mean)
		assert.Contains(t, m.Summary(), "against")

		p, err := m.PredictClasses(context.Background(), PredictOptions{}, columns(views(x))...)
		require.NoError(t, err)
		right := 0
		for i, label := range p.Label {
			if label == labels[i] {
				right++
			}
			assert.InDelta(t, 1, vec.Total(p.Probability[i]), 1e-12)
			assert.Len(t, p.Decision[i], K)
		}
		assert.Greater(t, right, 75)
		only, err := m.PredictClasses(context.Background(), PredictOptions{MeanOnly: true}, columns(views(x))...)
		require.NoError(t, err)
		assert.Nil(t, only.Probability)
		assert.Equal(t, p.Decision, only.Decision)

		outputs := m.Outputs()
		require.Len(t, outputs, functions(K))
		for _, o := range outputs {
			assert.Contains(t, o.Prior, "highest evidence")
			assert.Len(t, o.Weights, map[bool]int{false: 3}[K == 2], "two classes share the model's weights")
		}
	}
	_, err := MultiGPClassifier[int]{}.Fit(context.Background(), views(x), make([]int, 90))
	assert.ErrorContains(t, err, "nothing to learn")
}

func TestMultiGPFilesAreChecked(t *testing.T) {
	x, views, y := gpProblem(20, 2)
	m, err := MultiGP{PointScales: true}.Fit(context.Background(), views(x), y)
	require.NoError(t, err)
	c, err := MultiGPClassifier[int]{}.Fit(context.Background(), views(x), parts(y, 2))
	require.NoError(t, err)
	var file, classes bytes.Buffer
	require.NoError(t, m.Save(&file))
	require.NoError(t, c.Save(&classes))
	back, err := LoadAs[*MultiGPModel](bytes.NewReader(file.Bytes()))
	require.NoError(t, err)
	assert.Equal(t, m.Prior(), back.Prior())
	same, err := LoadAs[*MultiGPClassifierModel[int]](bytes.NewReader(classes.Bytes()))
	require.NoError(t, err)
	assert.Equal(t, c.Classes(), same.Classes())
	_, err = LoadAs[*RegressionModel](bytes.NewReader(file.Bytes()))
	assert.ErrorContains(t, err, "the file holds")

	for _, c := range []struct {
		want   string
		change func(metadata map[string]string, ts map[string]tensor)
	}{
		{"not expected", func(_ map[string]string, ts map[string]tensor) {
			ts["b"] = tensor{name: "b", shape: []int{1}, data: []float64{1}}
		}},
		{"is missing", func(_ map[string]string, ts map[string]tensor) { delete(ts, "process.0.factor") }},
		{"do not fit", func(_ map[string]string, ts map[string]tensor) { delete(ts, "process.0.alpha") }},
		{"Gamma[1] is -1", func(_ map[string]string, ts map[string]tensor) { ts["process.0.gamma"].data[1] = -1 }},
		{"not a distribution", func(_ map[string]string, ts map[string]tensor) { ts["process.0.scales"].data[2] = -1 }},
		{"row 2", func(_ map[string]string, ts map[string]tensor) { ts["process.0.factor"].data[5] = 0 }},
		{"target.sd", func(_ map[string]string, ts map[string]tensor) { ts["target.sd"].data[0] = 0 }},
		{`unknown field "processes"`, func(md map[string]string, _ map[string]tensor) { md["kind"] = "regression" }},
		{"labels is false", func(md map[string]string, _ map[string]tensor) { md["kind"] = "multigp-classifier" }},
		{"not known", func(md map[string]string, _ map[string]tensor) {
			md["model"] = strings.Replace(md["model"], "hyperbola", "parabola", 1)
		}},
		{`unknown field "margin"`, func(md map[string]string, _ map[string]tensor) {
			md["model"] = strings.Replace(md["model"], "{", `{"margin":1,`, 1)
		}},
	} {
		assertRefused(t, file.Bytes(), c.change, c.want)
	}
}

// A view of features with a linear kernel and a known weight is a mean function. Its coefficients
// equal the coefficients of generalised least squares with the penalty of their prior.
func TestMeanFunctionOfAView(t *testing.T) {
	ctx := context.Background()
	x := la.NewMatrix[float64](70, 1)
	y, level := make([]float64, 70), 0.0
	for i := range y {
		at := float64(i)/35 - 1
		x.Set(i, 0, at)
		y[i] = 100 + 30*at + 2*math.Sin(9*at)
		level += y[i] / 70
	}
	views := []View{{Name: "trend", X: x, Kernel: kernel.Linear{Scale: 4}}, {X: x, Kernel: kernel.RBF{Width: 0.2}}}
	g := MultiGP{KnownWeights: []float64{25, 0}}
	m, err := g.Fit(ctx, views, y)
	require.NoError(t, err)
	w := m.KernelWeights()
	assert.Equal(t, 25.0, w[0].Mean)
	assert.Zero(t, w[0].SD)
	mean, sd, err := m.Coefficients(0)
	require.NoError(t, err)
	assert.InDelta(t, 30, mean[0], 2.5*sd[0])
	assert.InDelta(t, 30, mean[0], 3)
	// Far from all samples nothing but the mean function is left.
	far, _, err := m.Predict(la.MatrixOf(1, 1, []float64{50}))
	require.NoError(t, err)
	assert.InDelta(t, level, far[0]-50*mean[0], 1e-6)

	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	loaded, err := LoadAs[*MultiGPModel](&file)
	require.NoError(t, err)
	assert.Equal(t, w, loaded.KernelWeights())

	_, _, err = m.Coefficients(1)
	assert.EqualError(t, err, "mkl: Coefficients: view 1 has no linear kernel of features, uncentred and not normalised")
	_, _, err = m.Coefficients(2)
	assert.EqualError(t, err, "mkl: Coefficients: view 2 of 2")
	g = MultiGP{KnownWeights: []float64{1}}
	_, err = g.Fit(ctx, views, y)
	assert.EqualError(t, err, "mkl: vi: Known: 1 weights for 2 kernels")

	// A Cauchy process keeps its order.
	cauchy, err := MultiGP{Family: FamilyStudentT, Prior: GIG{Omega: 0.5}, HeldPrior: HeldPrior{Omega: true}}.Fit(ctx, views, y)
	require.NoError(t, err)
	assert.Equal(t, 0.5, cauchy.Posterior().State().Prior.Omega)
}

// The model has the known noise, in the target's units, for every estimator.
func TestMultiGPOfKnownNoise(t *testing.T) {
	x, y := waves(1, 70, 0.2)
	for i := range y {
		y[i] = 100 + 5*y[i]
	}
	views := []View{{X: x, Kernel: kernel.RBF{Width: 2}, Standardize: true}, {X: x, Kernel: kernel.Linear{}}}
	by := func(g MultiGP) func([]View, float64, *MultiGPModel) (*MultiGPModel, error) {
		return func(views []View, sd float64, from *MultiGPModel) (*MultiGPModel, error) {
			g.KnownNoise, g.From = sd, from
			return g.Fit(t.Context(), views, y)
		}
	}
	factorised := func(g FactorisedGP) func([]View, float64, *MultiGPModel) (*MultiGPModel, error) {
		return func(views []View, sd float64, from *MultiGPModel) (*MultiGPModel, error) {
			g.KnownNoise, g.From = sd, from
			return g.Fit(t.Context(), views, y)
		}
	}
	for _, fit := range []func([]View, float64, *MultiGPModel) (*MultiGPModel, error){
		by(MultiGP{}), by(MultiGP{RawTargets: true}), by(MultiGP{Family: FamilyStudentT}), factorised(FactorisedGP{}), factorised(FactorisedGP{Plain: true, MaxSweeps: 5}),
	} {
		for _, some := range [][]View{views, views[1:]} {
			m, err := fit(some, 2.5, nil)
			require.NoError(t, err)
			assert.InDelta(t, 2.5, m.NoiseSD()[0], 1e-12)
			m, err = fit(some, 3, m)
			require.NoError(t, err)
			assert.InDelta(t, 3, m.NoiseSD()[0], 1e-12)
		}
	}
	few, err := MultiGP{KnownNoise: 2}.Fit(t.Context(), []View{{X: x.Slice(0, 30, 0, 3), Kernel: kernel.RBF{Width: 2}}}, y[:30])
	require.NoError(t, err)
	require.NotNil(t, few.draws)
	assert.InDelta(t, 2, few.NoiseSD()[0], 1e-12)

	for want, g := range map[string]MultiGP{
		"mkl: KnownNoise is -1: it must be positive and finite, or 0":      {KnownNoise: -1},
		"mkl: KnownNoise is NaN: it must be positive and finite, or 0":     {KnownNoise: math.NaN()},
		"mkl: KnownNoise is +Inf: it must be positive and finite, or 0":    {KnownNoise: math.Inf(1)},
		"mkl: KnownNoise is 1e-09, less than 0.0001 of the target's stand": {KnownNoise: 1e-9},
		"mkl: KnownNoise: heavy noise is learned":                          {KnownNoise: 1, Noise: HeavyNoise},
		"mkl: KnownNoise: varying noise is learned":                        {KnownNoise: 1, Noise: VaryingNoise},
		"mkl: KnownNoise is 1e-08, less than 0.0001 of the target's root ": {KnownNoise: 1e-8, RawTargets: true},
		"mkl: KnownNoise is 1e-200, less than 0.0001 of the target's root": {KnownNoise: 1e-200, RawTargets: true},
	} {
		_, err := g.Fit(t.Context(), views, y)
		assert.ErrorContains(t, err, want)
	}
}
