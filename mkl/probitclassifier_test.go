package mkl

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
)

func TestProbitClassifier(t *testing.T) {
	x, views, y := gpProblem(60, 3)
	labels := parts(y, 3)
	rules := map[string]Rule{"WSum": WeightedSum{}, "WProd": WeightedProduct{}}
	if !testing.Short() {
		rules["FixSum"], rules["Bin"] = FixedSum{}, SwitchedSum{NotEmpty: true}
		rules["FixProd"] = FixedProduct{Powers: []float64{1, 1, 1}} // of columns, it is the kernel of them all
	}
	for name, rule := range rules {
		c := ProbitClassifier[int]{Ascent: Ascent{MaxSweeps: 60}, Rule: rule}
		m, err := c.Fit(context.Background(), views(x), labels)
		require.NoError(t, err, name)
		assert.Equal(t, name, m.Rule())
		assert.ElementsMatch(t, []int{0, 1, 2}, m.Classes())
		assert.Contains(t, m.String(), name)
		assert.Contains(t, m.Summary(), "class 2")
		w := m.KernelWeights()
		if name == "WSum" || name == "WProd" || name == "Bin" {
			assert.Greater(t, w[0].Mean, w[1].Mean, name)
			assert.Greater(t, w[0].Mean, w[2].Mean, name)
			assert.Zero(t, m.EffectiveSampleSize())
		}
		p, err := m.PredictClasses(context.Background(), PredictOptions{}, columns(views(x))...)
		require.NoError(t, err)
		right := 0
		for i, label := range p.Label {
			if label == labels[i] {
				right++
			}
			assert.InDelta(t, 1, vec.Total(p.Probability[i]), 1e-12)
		}
		assert.Greater(t, right, 45, name)
		only, err := m.PredictClasses(context.Background(), PredictOptions{MeanOnly: true}, columns(views(x))...)
		require.NoError(t, err)
		assert.Nil(t, only.Probability)
		assert.Equal(t, p.Decision, only.Decision)
	}

	sampled, err := ProbitClassifier[int]{Ascent: Ascent{MaxSweeps: 40}, Rule: WeightedSum{}, Search: WeightSearchSampling, Samples: 300}.Fit(context.Background(), views(x), labels)
	require.NoError(t, err)
	assert.Greater(t, sampled.EffectiveSampleSize(), 1.0)
	assert.Greater(t, sampled.KernelWeights()[0].SD, 0.0)

	own, err := ProbitClassifier[int]{ClassAlpha: map[int]Gamma{2: {Shape: 50, Scale: 1}}, Ridge: 0.1}.Fit(context.Background(), views(x), labels)
	require.NoError(t, err)
	s := own.Posterior().State()
	c := slices.Index(own.Classes(), 2)
	assert.Greater(t, s.Alpha.At(c, 0), 10*s.Alpha.At(1-min(c, 1), 0))

	for want, c := range map[string]probitEstimator[int]{
		"mkl: vi: Kappa is -1 and Xi 0: they must be positive and finite": ProbitClassifier[int]{Rule: WeightedProduct{Kappa: -1}},
		"mkl: vi: On: 1 values for 3 kernels":                             ProbitClassifier[int]{Rule: SwitchedSum{On: []float64{0.5}}},
		"mkl: ClassAlpha: 7 is not one of the classes":                    ProbitClassifier[int]{ClassAlpha: map[int]Gamma{7: {Shape: 1, Scale: 1}}},
		"mkl: mcmc: Sampling.Chains is -1: it must not be negative":       ProbitSampler[int]{GibbsDraws: GibbsDraws{Chains: -1}},
		"mkl: vi: Beta: 1 weights for 3 kernels":                          ProbitClassifier[int]{Rule: FixedSum{Weights: []float64{1}}},
	} {
		_, err := c.Fit(context.Background(), views(x), labels)
		assert.EqualError(t, err, want)
	}
}

// Priors of the weights' hyperparameters reach both ways of inference.
func TestProbitPriorsOfWeights(t *testing.T) {
	testkit.NotShort(t)
	x, views, y := gpProblem(40, 3)
	labels := parts(y, 3)
	on := func(c probitEstimator[int]) (w []float64) {
		m, err := c.Fit(context.Background(), views(x), labels)
		require.NoError(t, err)
		for _, k := range m.KernelWeights() {
			w = append(w, k.Mean)
		}
		return w
	}
	forty, short := Ascent{MaxSweeps: 40}, GibbsDraws{Chains: 2, Draws: 30, Thin: 1, BurnIn: 20}
	rare, often := []float64{1e-6, 1e-6, 1 - 1e-6}, []float64{1 - 1e-6, 1 - 1e-6, 1 - 1e-6}
	for name, by := range map[string]func(r Rule) probitEstimator[int]{
		"variational": func(r Rule) probitEstimator[int] {
			return ProbitClassifier[int]{Ascent: forty, Rule: r, Update: WeightUpdateMeanField}
		},
		"Gibbs": func(r Rule) probitEstimator[int] { return ProbitSampler[int]{Rule: r, GibbsDraws: short} },
	} {
		few, all := on(by(SwitchedSum{On: rare, NotEmpty: true})), on(by(SwitchedSum{On: often, NotEmpty: true}))
		assert.Less(t, few[0]+few[1], all[0]+all[1], name)
	}
	for name, by := range map[string]func(r Rule) probitEstimator[int]{
		"variational": func(r Rule) probitEstimator[int] { return ProbitClassifier[int]{Ascent: forty, Rule: r} },
		"Gibbs":       func(r Rule) probitEstimator[int] { return ProbitSampler[int]{Rule: r, GibbsDraws: short} },
	} {
		assert.NotEqual(t, on(by(WeightedProduct{})), on(by(WeightedProduct{Kappa: 1e3, Xi: 1e-6})), name)
	}
	even := on(ProbitSampler[int]{Rule: WeightedSum{Rho: Gamma{Shape: 1e6, Scale: 1}}, GibbsDraws: short})
	for _, w := range even {
		assert.InDelta(t, 1.0/3, w, 0.01)
	}
}

// The weights of fixed rules do not let functions grow, or the product vanish, when
// there are many kernels.
func TestProbitFixedWeights(t *testing.T) {
	x, _, y := gpProblem(60, 3)
	labels := parts(y, 3)
	var views []View
	for p := -3; p <= 3; p++ {
		views = append(views, View{X: x, Kernel: kernel.RBF{Medians: math.Ldexp(1, p)}})
	}
	fit := func(c ProbitClassifier[int]) (*ProbitClassifierModel[int], error) {
		c.MaxSweeps = 60
		return c.Fit(context.Background(), views, labels)
	}
	for want, rule := range map[float64]Rule{1 / math.Sqrt(7): FixedSum{}, 1.0 / 7: FixedProduct{}} {
		m, err := fit(ProbitClassifier[int]{Rule: rule})
		require.NoError(t, err)
		for _, w := range m.KernelWeights() {
			assert.Equal(t, want, w.Mean)
		}
		p, err := m.PredictClasses(context.Background(), PredictOptions{}, x)
		require.NoError(t, err)
		right := 0
		for i, label := range p.Label {
			if label == labels[i] {
				right++
			}
		}
		assert.Greater(t, right, 45, m.Rule())
	}
	ones := slices.Repeat([]float64{1}, len(views))
	m, err := fit(ProbitClassifier[int]{Rule: FixedSum{Weights: ones}})
	require.NoError(t, err)
	assert.Equal(t, 1.0, m.KernelWeights()[0].Mean)
	views[0].Kernel = kernel.RBF{Medians: 1.0 / 40}
	_, err = fit(ProbitClassifier[int]{Rule: FixedProduct{Powers: ones}})
	assert.ErrorContains(t, err, "mkl: FixedProduct: the product of the 7 kernels is nearly the identity")
	// A narrow kernel among others does not spoil their mean.
	_, err = fit(ProbitClassifier[int]{Rule: FixedProduct{Powers: []float64{0, 1, 0, 0, 0, 0, 0}}})
	assert.NoError(t, err)
}

func TestProbitFilesAreChecked(t *testing.T) {
	x, views, y := gpProblem(30, 2)
	m, err := ProbitClassifier[int]{Ascent: Ascent{MaxSweeps: 60}, Alpha: Gamma{Shape: 1e-6, Scale: 1e6}, Prune: 20}.Fit(context.Background(), views(x), parts(y, 3))
	require.NoError(t, err)
	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	back, err := LoadAs[*ProbitClassifierModel[int]](bytes.NewReader(file.Bytes()))
	require.NoError(t, err)
	assert.Equal(t, m.Classes(), back.Classes())
	want, err := m.PredictClasses(context.Background(), PredictOptions{}, columns(views(x))...)
	require.NoError(t, err)
	got, err := back.PredictClasses(context.Background(), PredictOptions{}, columns(views(x))...)
	require.NoError(t, err)
	assert.Equal(t, want, got)
	assert.Equal(t, m.Summary(), back.Summary())
	_, err = LoadAs[*MultiGPModel](bytes.NewReader(file.Bytes()))
	assert.ErrorContains(t, err, "the file holds")

	for _, c := range []struct {
		want   string
		change func(metadata map[string]string, ts map[string]tensor)
	}{
		{"not expected", func(_ map[string]string, ts map[string]tensor) {
			ts["b"] = tensor{name: "b", shape: []int{1}, data: []float64{1}}
		}},
		{"is missing", func(_ map[string]string, ts map[string]tensor) { delete(ts, "beta.cov") }},
		{"do not fit", func(_ map[string]string, ts map[string]tensor) { delete(ts, "gram") }},
		{`tensor "w" is missing`, func(_ map[string]string, ts map[string]tensor) { delete(ts, "w") }},
		{"do not fit", func(_ map[string]string, ts map[string]tensor) { delete(ts, "alpha") }},
		{"Alpha: entry (0, 1) is -1", func(_ map[string]string, ts map[string]tensor) { ts["alpha"].data[1] = -1 }},
		{"BetaCov: entry (0, 0)", func(_ map[string]string, ts map[string]tensor) { ts["beta.cov"].data[0] = -1 }},
		{"not positive definite", func(_ map[string]string, ts map[string]tensor) {
			for i := range ts["gram"].data {
				ts["gram"].data[i] = -1e9
			}
		}},
		{`unknown field "probit"`, func(md map[string]string, _ map[string]tensor) { md["kind"] = "classifier" }},
		{`rule "FixSun" is not known`, func(md map[string]string, _ map[string]tensor) {
			md["model"] = strings.Replace(md["model"], "FixSum", "FixSun", 1)
		}},
		{`unknown field "margin"`, func(md map[string]string, _ map[string]tensor) {
			md["model"] = strings.Replace(md["model"], "{", `{"margin":1,`, 1)
		}},
	} {
		assertRefused(t, file.Bytes(), c.change, c.want)
	}
}

func TestStructuredProbit(t *testing.T) {
	x, views, y := gpProblem(30, 2)
	c := ProbitClassifier[int]{Ascent: Ascent{MaxSweeps: 30}, Rule: SwitchedSum{}, Update: WeightUpdateStructured, Alpha: Gamma{Shape: 20, Scale: 1}}
	m, err := c.Fit(context.Background(), views(x), parts(y, 3))
	require.NoError(t, err)
	s := m.Posterior().State()
	require.Greater(t, len(s.Components), 1)
	for i, w := range m.KernelWeights() {
		var on float64
		for _, c := range s.Components {
			on += c.Probability * c.Beta[i]
		}
		assert.InDelta(t, on, w.Mean, 1e-15)
		assert.InDelta(t, math.Sqrt(on*(1-on)), w.SD, 1e-12)
	}
	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	S := len(s.Components)
	for _, c := range []struct {
		want   string
		change func(metadata map[string]string, ts map[string]tensor)
	}{
		{"not expected", func(_ map[string]string, ts map[string]tensor) {
			ts["gram"] = tensor{name: "gram", shape: []int{1}, data: []float64{1}}
		}},
		{"do not fit", func(_ map[string]string, ts map[string]tensor) { delete(ts, "state.gram") }},
		{"do not fit", func(_ map[string]string, ts map[string]tensor) { delete(ts, "state.probability") }},
		{"do not fit", func(_ map[string]string, ts map[string]tensor) {
			ts["state.probability"] = tensor{name: "state.probability", shape: []int{S - 1}, data: make([]float64, S-1)}
		}},
		{`tensor "state.w" is missing`, func(_ map[string]string, ts map[string]tensor) { delete(ts, "state.w") }},
		{"add up to", func(_ map[string]string, ts map[string]tensor) { ts["state.probability"].data[0] *= 2 }},
		{"not 0 or 1", func(_ map[string]string, ts map[string]tensor) { ts["state.beta"].data[0] = 0.5 }},
		{"not positive definite", func(_ map[string]string, ts map[string]tensor) {
			for i := range ts["state.gram"].data {
				ts["state.gram"].data[i] = -1e9
			}
		}},
		{"components are of Bin", func(md map[string]string, _ map[string]tensor) {
			md["model"] = strings.Replace(md["model"], `"Bin"`, `"WSum"`, 1)
		}},
	} {
		assertRefused(t, file.Bytes(), c.change, c.want)
	}
	c.MemoryLimit = 1000
	_, err = c.Fit(context.Background(), views(x), parts(y, 3))
	var memory *MemoryError
	require.ErrorAs(t, err, &memory)
	c.Update = WeightUpdateMeanField
	_, err = c.Fit(context.Background(), views(x), parts(y, 3))
	var less *MemoryError
	require.ErrorAs(t, err, &less)
	assert.Greater(t, memory.Need, less.Need)
}
