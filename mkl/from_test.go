package mkl

import (
	"bytes"
	"context"
	"testing"

	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A fit that goes on from a model, also one that was loaded, begins near where that ended and needs
// fewer sweeps, whatever has changed.
func TestFitsGoOnFromModels(t *testing.T) {
	ctx := context.Background()
	views, y, _, _ := twoInputs(1, 40)
	second := make([]float64, len(y))
	labels, known := make([]string, len(y)), make([][]bool, 2)
	for i, v := range y {
		second[i] = 1 - v + 0.1*float64(i%3)
		labels[i] = []string{"a", "b", "c"}[i%3]
		if v > 0 {
			labels[i] = "a"
		}
		known[0], known[1] = append(known[0], v > 0), append(known[1], i%3 == 0)
	}
	s, other := fitting{Ascent: Ascent{Tolerance: 1e-5}}, Gamma{Shape: 2, Scale: 1}
	for name, fit := range map[string]func(omega Gamma, from Model) (Model, error){
		"regression": func(omega Gamma, from Model) (Model, error) {
			m, _ := from.(*RegressionModel)
			return orNil(Regression{Fitting: s.Fitting, Ascent: s.Ascent, AllowDuplicates: s.allowDuplicates, Omega: omega, From: m}.Fit(ctx, views, y, second))
		},
		"shared": func(omega Gamma, from Model) (Model, error) {
			m, _ := from.(*SharedRegressionModel)
			return orNil(SharedRegression{Fitting: s.Fitting, Ascent: s.Ascent, AllowDuplicates: s.allowDuplicates, Omega: omega, From: m}.Fit(ctx, views, y, second))
		},
		"classes": func(omega Gamma, from Model) (Model, error) {
			m, _ := from.(*ClassifierModel[string])
			return orNil(Classifier[string]{Fitting: s.Fitting, Ascent: s.Ascent, AllowDuplicates: s.allowDuplicates, Omega: omega, From: m}.Fit(ctx, views, labels))
		},
		"labels": func(omega Gamma, from Model) (Model, error) {
			m, _ := from.(*MultiLabelModel)
			return orNil(MultiLabel{Fitting: s.Fitting, Ascent: s.Ascent, AllowDuplicates: s.allowDuplicates, Omega: omega, From: m}.Fit(ctx, views, allLabels(known)...))
		},
	} {
		first, err := fit(Gamma{}, nil)
		require.NoError(t, err, name)
		cold, err := fit(other, nil)
		require.NoError(t, err, name)
		warm, err := fit(other, first)
		require.NoError(t, err, name)
		assert.Less(t, warm.Trace().Sweeps, cold.Trace().Sweeps, name)
		assert.Greater(t, warm.Trace().Bounds[0], cold.Trace().Bounds[0], name)
	}
}

func TestFromRefused(t *testing.T) {
	ctx := context.Background()
	views, y, _, _ := twoInputs(1, 20)
	few := fitting{Ascent: Ascent{MaxSweeps: 2}}
	m, err := Regression{Fitting: few.Fitting, Ascent: few.Ascent, AllowDuplicates: few.allowDuplicates}.Fit(ctx, views, y)
	require.NoError(t, err)
	_, err = Regression{From: m}.Fit(ctx, views, y, y)
	assert.EqualError(t, err, "mkl: From: 1 targets, 7 kernels and 20 samples where there are 2, 7 and 20")
	_, err = Regression{From: m}.Fit(ctx, views[1:], y)
	assert.EqualError(t, err, "mkl: From: 1 targets, 7 kernels and 20 samples where there are 1, 6 and 20")
	_, err = Regression{From: m, Ascent: Ascent{Restarts: 2}}.Fit(ctx, views, y)
	assert.EqualError(t, err, "mkl: Restarts is 2: with From there is one start")
	_, err = Regression{From: m, MissingViews: true}.Fit(ctx, views, y)
	assert.EqualError(t, err, "mkl: From: not with MissingViews")

	labels := make([]int, 20)
	for i := range labels {
		labels[i] = i % 2
	}
	c, err := Classifier[int]{Fitting: few.Fitting, Ascent: few.Ascent, AllowDuplicates: few.allowDuplicates}.Fit(ctx, views, labels)
	require.NoError(t, err)
	_, err = Classifier[int]{From: c, Classes: []int{1, 0}}.Fit(ctx, views, labels)
	assert.EqualError(t, err, "mkl: From: its classes are [0 1], not [1 0]")
}

// A fit from a converged model, loaded from a file, has the same bound after two sweeps.
func TestTwoSweepsFromAModelSuffice(t *testing.T) {
	ctx := context.Background()
	views, y, _, _ := twoInputs(1, 40)
	second, labels := make([]float64, len(y)), make([]string, len(y))
	for i, v := range y {
		second[i] = 1 - v + 0.1*float64(i%3)
		labels[i] = []string{"a", "b", "c"}[i%3]
		if v > 0 {
			labels[i] = "a"
		}
	}
	ard := append([]View{{X: views[0].X, Kernel: kernel.RBF{ARD: true}}}, views[:2]...)
	type refit = func(f fitting, from Model) (Model, error)
	process := func(views []View, g MultiGP) refit {
		return func(f fitting, from Model) (Model, error) {
			g.Fitting, g.Climb = f.Fitting, f.climb()
			g.From, _ = from.(*MultiGPModel)
			return orNil(g.Fit(ctx, views, y))
		}
	}
	processClasses := func(c MultiGPClassifier[string]) refit {
		return func(f fitting, from Model) (Model, error) {
			c.Fitting, c.Climb = f.Fitting, f.climb()
			c.From, _ = from.(*MultiGPClassifierModel[string])
			return orNil(c.Fit(ctx, views, labels))
		}
	}
	rows, columns, values, has := somePairs(3, 30, 25)
	for name, fit := range map[string]refit{
		"process":                   process(views, MultiGP{PointScales: true}),
		"process of learned widths": process(ard, MultiGP{PointScales: true}),
		"process of uneven noise":   process(views, MultiGP{Noise: VaryingNoise}),
		"process of heavy noise":    process(views, MultiGP{Noise: HeavyNoise}),
		"factorised process": func(f fitting, from Model) (Model, error) {
			m, _ := from.(*MultiGPModel)
			return orNil(FactorisedGP{Fitting: f.Fitting, Tolerance: f.Tolerance, MaxSweeps: f.MaxSweeps, From: m}.Fit(ctx, views, y))
		},
		"process classes": processClasses(MultiGPClassifier[string]{}),
		"factorised process classes": func(f fitting, from Model) (Model, error) {
			m, _ := from.(*MultiGPClassifierModel[string])
			return orNil(FactorisedGPClassifier[string]{Fitting: f.Fitting, Tolerance: f.Tolerance, MaxSweeps: f.MaxSweeps, From: m}.Fit(ctx, views, labels))
		},
		"pairs": func(f fitting, from Model) (Model, error) {
			m, _ := from.(*PairRegressionModel)
			return orNil(PairRegression{Fitting: f.Fitting, Ascent: f.Ascent, AllowDuplicates: f.allowDuplicates, From: m, Components: 2}.Fit(ctx, rows, columns, values))
		},
		"pairs of labels": func(f fitting, from Model) (Model, error) {
			m, _ := from.(*PairClassifierModel)
			return orNil(PairClassifier{Fitting: f.Fitting, Ascent: f.Ascent, AllowDuplicates: f.allowDuplicates, From: m, Components: 2}.Fit(ctx, rows, columns, has))
		},
		"probit": func(f fitting, from Model) (Model, error) {
			m, _ := from.(*ProbitClassifierModel[string])
			return orNil(ProbitClassifier[string]{Fitting: f.Fitting, Ascent: f.Ascent, AllowDuplicates: f.allowDuplicates, From: m, Rule: WeightedSum{}, Update: WeightUpdateMeanField}.Fit(ctx, views, labels))
		},
		"probit at the mode": func(f fitting, from Model) (Model, error) {
			m, _ := from.(*ProbitClassifierModel[string])
			return orNil(ProbitMAP[string]{Fitting: f.Fitting, Ascent: f.Ascent, AllowDuplicates: f.allowDuplicates, From: m}.Fit(ctx, views, labels))
		},
		"spike and slab": func(f fitting, from Model) (Model, error) {
			m, _ := from.(*SpikeSlabModel)
			return orNil(SpikeSlab{Fitting: f.Fitting, Ascent: f.Ascent, From: m}.Fit(ctx, views[0].X, y))
		},
		"standard field": func(f fitting, from Model) (Model, error) {
			m, _ := from.(*SpikeSlabModel)
			return orNil(SpikeSlab{Fitting: f.Fitting, Ascent: f.Ascent, From: m, StandardField: true}.Fit(ctx, views[0].X, y))
		},
		"multi-task": func(f fitting, from Model) (Model, error) {
			m, _ := from.(*MultiTaskModel)
			return orNil(MultiTask{Fitting: f.Fitting, Ascent: f.Ascent, From: m, Latents: 1}.Fit(ctx, views, y, second))
		},
	} {
		first, err := fit(fitting{}, nil)
		require.NoError(t, err, name)
		var file bytes.Buffer
		require.NoError(t, first.Save(&file), name)
		loaded, err := Load(&file)
		require.NoError(t, err, name)
		warm, err := fit(fitting{Ascent: Ascent{MaxSweeps: 2}}, loaded)
		require.NoError(t, err, name)
		last := func(m Model) float64 { // of what the ascent of the last function climbs
			bounds := m.Trace().Bounds
			return bounds[len(bounds)-1]
		}
		assert.GreaterOrEqual(t, last(warm), last(first)-0.001, name)
		assert.LessOrEqual(t, warm.Trace().Sweeps, 2*max(1, len(warm.Outputs())), name)
	}
}

func TestFromOfOthersRefused(t *testing.T) {
	ctx := context.Background()
	views, y, _, _ := twoInputs(1, 20)
	few := fitting{Ascent: Ascent{MaxSweeps: 2}}
	labels := make([]int, 20)
	for i := range labels {
		labels[i] = i % 2
	}
	g, err := MultiGP{Fitting: few.Fitting, Climb: few.climb()}.Fit(ctx, views, y)
	require.NoError(t, err)
	_, err = MultiGP{From: g}.Fit(ctx, views[1:], y)
	assert.EqualError(t, err, "mkl: From: 1 targets, 7 kernels and 20 samples where there are 1, 6 and 20")
	ard := append([]View{{X: views[0].X, Kernel: kernel.RBF{ARD: true}}}, views[1:]...)
	_, err = MultiGP{From: g}.Fit(ctx, ard, y)
	assert.EqualError(t, err, "mkl: From: view 0 has 0 widths where 2 are learned")

	c, err := MultiGPClassifier[int]{Fitting: few.Fitting, Climb: few.climb()}.Fit(ctx, views, labels)
	require.NoError(t, err)
	_, err = MultiGPClassifier[int]{From: c, Classes: []int{1, 0}}.Fit(ctx, views, labels)
	assert.EqualError(t, err, "mkl: From: its classes are [0 1], not [1 0]")

	p, err := ProbitClassifier[int]{Fitting: few.Fitting, Ascent: few.Ascent, AllowDuplicates: few.allowDuplicates}.Fit(ctx, views, labels)
	require.NoError(t, err)
	for want, c := range map[string]ProbitClassifier[int]{
		"mkl: From: its classes are [0 1], not [1 0]":      {From: p, Classes: []int{1, 0}},
		"mkl: vi: From: its rule is FixSum, not WSum":      {From: p, Rule: WeightedSum{}},
		"mkl: Restarts is 1: with From there is one start": {From: p, Ascent: Ascent{Restarts: 1}},
	} {
		_, err = c.Fit(ctx, views, labels)
		assert.EqualError(t, err, want)
	}
	_, err = ProbitClassifier[int]{From: p}.Fit(ctx, views[1:], labels)
	assert.EqualError(t, err, "mkl: From: 2 classes, 7 kernels and 20 samples where there are 2, 6 and 20")

	rows, columns, values, has := somePairs(3, 12, 10)
	pairs, err := PairRegression{Fitting: few.Fitting, Ascent: few.Ascent, AllowDuplicates: few.allowDuplicates, Components: 2}.Fit(ctx, rows, columns, values)
	require.NoError(t, err)
	_, err = PairRegression{From: pairs, Components: 3}.Fit(ctx, rows, columns, values)
	assert.EqualError(t, err, "mkl: From: 2 components of 12 rows with 2 kernels and 10 columns with 1 kernels where there are 3 of 12 with 2 and 10 with 1")
	_, err = PairRegression{From: pairs, Components: 2, Ascent: Ascent{Restarts: 1}}.Fit(ctx, rows, columns, values)
	assert.EqualError(t, err, "mkl: Restarts is 1: with From there is one start")
	pairLabels, err := PairClassifier{Fitting: few.Fitting, Ascent: few.Ascent, AllowDuplicates: few.allowDuplicates, Components: 2}.Fit(ctx, rows, columns, has)
	require.NoError(t, err)
	_, err = PairClassifier{From: pairLabels, Components: 2}.Fit(ctx, rows[:1], columns, has)
	assert.EqualError(t, err, "mkl: From: 2 components of 12 rows with 2 kernels and 10 columns with 1 kernels where there are 2 of 12 with 1 and 10 with 1")

	s, err := SpikeSlab{Fitting: few.Fitting, Ascent: few.Ascent}.Fit(ctx, views[0].X, y)
	require.NoError(t, err)
	_, err = SpikeSlab{From: s}.Fit(ctx, views[0].X.Slice(0, 20, 0, 1), y)
	assert.EqualError(t, err, "mkl: From: 2 features where there are 1")
	m, err := MultiTask{Fitting: few.Fitting, Ascent: few.Ascent, Latents: 1}.Fit(ctx, views, y)
	require.NoError(t, err)
	_, err = MultiTask{From: m, Latents: 2}.Fit(ctx, views, y)
	assert.EqualError(t, err, "mkl: From: 1 targets, 7 latent functions and 20 samples where there are 1, 14 and 20")
}
