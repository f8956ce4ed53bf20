package onnx

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/internal/testkit"
	_ "github.com/bmkl/bmkl/internal/testkit/golden" // accepts -golden
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// sample is data of two inputs, the second with a column of categories, that targets and classes depend on.
type sample struct {
	x, z    mkl.Features
	y       [2][]float64
	kind    []string
	classes []string
}

func draw(seed uint64, n int) (s sample) {
	rng := rand.New(rand.NewPCG(seed, 3))
	s.x, s.z = la.NewMatrix[float64](n, 3), la.NewMatrix[float64](n, 2)
	for i := range n {
		for j := range 3 {
			s.x.Set(i, j, 5+float64(j)*rng.NormFloat64())
		}
		s.x.Set(i, 0, math.Round(4*rng.NormFloat64())/4)
		s.z.Set(i, 0, 10*rng.NormFloat64())
		s.z.Set(i, 1, float64(rng.IntN(3)))
		f := math.Sin(s.x.At(i, 1)-5) + 0.1*s.z.At(i, 0) + s.z.At(i, 1)
		s.y[0] = append(s.y[0], 100+20*(f+0.2*rng.NormFloat64()))
		s.y[1] = append(s.y[1], s.x.At(i, 0)+0.1*rng.NormFloat64())
		s.kind = append(s.kind, []string{"low", "high"}[min(1, int(max(0, f+0.3*rng.NormFloat64())))])
		s.classes = append(s.classes, []string{"a", "b", "c"}[min(2, int(max(0, f+0.5*rng.NormFloat64())))])
	}
	return s
}

// views have every kernel and what can be done to one.
func (s sample) views() []mkl.View {
	return []mkl.View{
		{X: s.x, Input: "x1", Kernel: kernel.RBF{}, Standardize: true},
		{X: s.x, Input: "x1", Kernel: kernel.RBF{Scale: 3}, Columns: []int{2, 0}},
		{X: s.x, Input: "x1", Kernel: kernel.RBF{Widths: []float64{0.5, 2, 4}}, Center: true},
		{X: s.x, Input: "x1", Kernel: kernel.RBF{Width: 1e-3}, Normalize: true},
		{X: s.x, Input: "x1", Kernel: kernel.Laplacian{Width: 3}},
		{X: s.x, Input: "x1", Kernel: kernel.Laplacian{Manhattan: true}, Ranks: true},
		{X: s.x, Input: "x1", Kernel: kernel.Laplacian{Widths: []float64{1, 3}}, Columns: []int{1, 2}, Standardize: true},
		{X: s.z, Input: "x2", Kernel: kernel.Linear{}, Standardize: true, Columns: []int{0}},
		{X: s.z, Input: "x2", Kernel: kernel.Polynomial{Degree: 3, Offset: 1, Scale: 0.5}, Standardize: true, Center: true, Normalize: true},
		{X: s.z, Input: "x2", Kernel: kernel.Constant{}},
		{X: s.z, Input: "x2", Kernel: kernel.Categorical{}, Columns: []int{1}},
		{X: s.z, Input: "x2", Kernel: kernel.Categorical{Overlap: true}},
		{X: s.x, Input: "x1", Kernel: kernel.Matern{}, Standardize: true},
		{X: s.x, Input: "x1", Kernel: kernel.Matern{Widths: []float64{1, 3}, Smoothness: 2.5}, Columns: []int{1, 2}},
		{X: s.x, Input: "x1", Kernel: kernel.RationalQuadratic{Alpha: 0.7}, Standardize: true},
		{X: s.x, Input: "x1", Kernel: kernel.PowerExponential{}, Standardize: true},
		{X: s.x, Input: "x1", Kernel: kernel.PowerExponential{Norm: 0.9, Power: 0.7}, Standardize: true},
		{X: s.x, Input: "x1", Kernel: kernel.Interaction{}, Standardize: true},
		{X: s.x, Input: "x1", Kernel: kernel.Interaction{Order: 3, Width: 0.8}, Standardize: true, Normalize: true},
		{X: s.z, Input: "x2", Kernel: kernel.Periodic{Period: 7, Width: 2}, Columns: []int{0}},
		{X: s.x, Input: "x1", Kernel: kernel.Periodic{Period: 3, Width: 2, Decay: 4}, Columns: []int{1, 2}},
		{X: s.x, Input: "x1", Kernel: kernel.Spectral{Period: 9, Width: 4}, Columns: []int{0, 2}},
		{X: s.x, Input: "x1", Kernel: kernel.Tanimoto{}},
		{X: s.x, Input: "x1", Kernel: kernel.ChiSquare{}, Center: true},
		{X: s.x, Input: "x1", Kernel: kernel.ChiSquare{Additive: true}, Normalize: true},
		{X: s.x, Input: "x1", Kernel: kernel.Intersection{}},
		{X: s.x, Input: "x1", Kernel: kernel.Clinical{}},
		{X: s.z, Input: "x2", Kernel: kernel.IBS{}, Columns: []int{1}},
	}
}

// filled is two views with the default kernels.
func (s sample) filled(t *testing.T) []mkl.View {
	t.Helper()
	views, _, err := mkl.FillViews(0, []mkl.View{{Name: "x", X: s.x, Input: "x1"}, {Name: "z", X: s.z, Input: "x2"}})
	require.NoError(t, err)
	return views
}

// uncentred is the views as kernels with landmarks take them.
func (s sample) uncentred() []mkl.View {
	views := s.views()
	for i := range views {
		views[i].Center = false
	}
	return views
}

// counts are about exp(y/20), from 0 to 400 or so.
func (s sample) counts() (n []float64) {
	for _, y := range s.y[0] {
		n = append(n, math.Floor(special.Exp((y-60)/20)))
	}
	return n
}

// few are counts of about 5 that vary little.
func (s sample) few() (n []float64) {
	for _, y := range s.y[0] {
		n = append(n, math.Round(4+math.Sin(y/20)))
	}
	return n
}

// times are times of events, and of ends of observations.
func (s sample) times() (all []mkl.Lifetime) {
	for i, y := range s.y[0] {
		at := special.Exp((y-60)/20 + float64(i%5)/3)
		if i%4 == 3 {
			all = append(all, mkl.EventAfter(at))
		} else {
			all = append(all, mkl.EventAt(at))
		}
	}
	return all
}

// inTime are the options of graphs of times.
var inTime = Options{Interval: 0.8, Times: []float64{0.01, 3, 20, 400, 1e6}}

func matrixArray(x mkl.Features) array {
	a := array{shape: []int{x.Rows, x.Cols}}
	for i := range x.Rows {
		a.numbers = append(a.numbers, x.Row(i)...)
	}
	return a
}

// exported returns the graph of a model.
func exported(t *testing.T, m mkl.Model, opt Options) []byte {
	t.Helper()
	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	opt.Interval, opt.Times = inTime.Interval, inTime.Times
	graph, err := Export(file.Bytes(), opt)
	require.NoError(t, err)
	return graph
}

// fitted is models of all kinds that can be exported.
var fitted = []struct {
	name string
	fit  func(t *testing.T, s sample) (mkl.Model, error)
}{
	{"regression, healed, two targets", func(t *testing.T, s sample) (mkl.Model, error) {
		return mkl.Regression{Fitting: one, Ascent: few}.Fit(t.Context(), s.views(), s.y[0], s.y[1])
	}},
	{"regression, targets missing", func(t *testing.T, s sample) (mkl.Model, error) {
		some := slices.Clone(s.y[1])
		some[3], some[8] = math.NaN(), math.NaN()
		return mkl.Regression{Fitting: one, Ascent: few, MissingTargets: true}.Fit(t.Context(), s.views(), s.y[0], some)
	}},
	{"regression with landmarks", func(t *testing.T, s sample) (mkl.Model, error) {
		return mkl.Regression{Fitting: one, Ascent: few, Landmarks: &mkl.Landmarks{Count: 12}}.Fit(t.Context(), s.uncentred(), s.y[0], s.y[1])
	}},
	{"three classes with landmarks", func(t *testing.T, s sample) (mkl.Model, error) {
		return mkl.Classifier[string]{Fitting: one, Ascent: few, Landmarks: &mkl.Landmarks{Count: 12}}.Fit(t.Context(), s.uncentred(), s.classes)
	}},
	{"two classes", func(t *testing.T, s sample) (mkl.Model, error) {
		return mkl.Classifier[string]{Fitting: one, Ascent: few}.Fit(t.Context(), s.views(), s.kind)
	}},
	{"three classes with a margin", func(t *testing.T, s sample) (mkl.Model, error) {
		return mkl.Classifier[string]{Fitting: one, Ascent: few, Margin: 0.5}.Fit(t.Context(), s.views(), s.classes)
	}},
	{"labels", func(t *testing.T, s sample) (mkl.Model, error) {
		is := make([][]bool, 2)
		for i := range s.kind {
			is[0], is[1] = append(is[0], s.kind[i] == "low"), append(is[1], s.classes[i] == "b")
		}
		return mkl.MultiLabel{Fitting: one, Ascent: few}.Fit(t.Context(), s.views(), mkl.LabelsOf(is[0]), mkl.LabelsOf(is[1]))
	}},
	{"processes averaged over draws", func(t *testing.T, s sample) (mkl.Model, error) {
		return mkl.MultiGP{Fitting: one, Climb: fewSteps}.Fit(t.Context(), s.views(), s.y[0])
	}},
	{"processes with noise that varies", func(t *testing.T, s sample) (mkl.Model, error) {
		return mkl.MultiGP{Fitting: one, Climb: fewSteps, Noise: mkl.VaryingNoise}.Fit(t.Context(), s.views(), s.y[0])
	}},
	{"processes with heavy tails", func(t *testing.T, s sample) (mkl.Model, error) {
		return mkl.MultiGP{Fitting: one, Climb: fewSteps, Noise: mkl.HeavyNoise}.Fit(t.Context(), s.views(), s.y[0])
	}},
	{"processes of few features", func(t *testing.T, _ sample) (mkl.Model, error) {
		s := draw(4, 120)
		return mkl.MultiGP{Fitting: one, Climb: fewSteps}.Fit(t.Context(), []mkl.View{
			{X: s.x, Input: "x1", Kernel: kernel.Linear{}, Center: true},
			{X: s.z, Input: "x2", Kernel: kernel.Linear{Scale: 2}, Ranks: true, Center: true},
			{X: s.z, Input: "x2", Kernel: kernel.Linear{}, Standardize: true},
		}, s.y[0])
	}},
	{"processes of two classes", func(t *testing.T, s sample) (mkl.Model, error) {
		return mkl.MultiGPClassifier[string]{Fitting: one, Climb: fewSteps}.Fit(t.Context(), s.views(), s.kind)
	}},
	{"processes of three classes, widths learned", func(t *testing.T, s sample) (mkl.Model, error) {
		views := []mkl.View{{X: s.x, Input: "x1", Kernel: kernel.RBF{ARD: true}, Standardize: true}, {X: s.z, Input: "x2", Kernel: kernel.Laplacian{ARD: true}, Ranks: true}}
		return mkl.MultiGPClassifier[string]{Fitting: one, Climb: fewSteps}.Fit(t.Context(), views, s.classes)
	}},
	{"counts, dispersed", func(t *testing.T, s sample) (mkl.Model, error) {
		return mkl.Counts{Fitting: one, Climb: fewSteps}.Fit(t.Context(), s.views(), s.counts())
	}},
	{"counts, Poisson", func(t *testing.T, s sample) (mkl.Model, error) {
		return mkl.Counts{Fitting: one, Climb: fewSteps, Law: mkl.Poisson}.Fit(t.Context(), s.views(), s.counts())
	}},
	{"counts that vary little", func(t *testing.T, s sample) (mkl.Model, error) {
		return mkl.Counts{Fitting: one, Climb: fewSteps, Law: mkl.DoublePoisson}.Fit(t.Context(), s.views(), s.few())
	}},
	{"times, log-normal", func(t *testing.T, s sample) (mkl.Model, error) {
		return mkl.Survival{Fitting: one, Climb: fewSteps, Law: mkl.LogNormal}.Fit(t.Context(), s.views(), s.times())
	}},
	{"times, Weibull", func(t *testing.T, s sample) (mkl.Model, error) {
		return mkl.Survival{Fitting: one, Climb: fewSteps, Law: mkl.Weibull}.Fit(t.Context(), s.views(), s.times())
	}},
	{"counts of several views", func(t *testing.T, s sample) (mkl.Model, error) {
		return mkl.Counts{Fitting: one, Climb: fewSteps}.Fit(t.Context(), s.filled(t), s.few())
	}},
	{"times of several views", func(t *testing.T, s sample) (mkl.Model, error) {
		m, err := mkl.Survival{Fitting: one, Climb: fewSteps, Law: mkl.Weibull}.Fit(t.Context(), s.filled(t), s.times())
		require.NoError(t, err)
		require.Len(t, m.Views(), 2)
		return m, err
	}},
	{"grades", func(t *testing.T, s sample) (mkl.Model, error) {
		return mkl.Ordinal[string]{Fitting: one, Climb: fewSteps, Grades: []string{"a", "b", "c", "d"}}.Fit(t.Context(), s.views(), s.classes)
	}},
	{"landmarks", func(t *testing.T, s sample) (mkl.Model, error) {
		views := s.views()
		views[8].Normalize = false // which landmarks do not go with, where the view is centred
		return mkl.LandmarkGP{Fitting: one, Climb: fewSteps, Landmarks: &mkl.Landmarks{Count: 12, Sample: 25}}.Fit(t.Context(), views, s.y[0])
	}},
	{"pool", func(t *testing.T, s sample) (mkl.Model, error) {
		testkit.NotShort(t)
		return mkl.Auto{Fitting: one, Climb: fewest}.Fit(t.Context(), []mkl.View{{X: s.x, Input: "x1"}, {X: s.z, Input: "x2"}}, s.y[0])
	}},
	{"pool of classes", func(t *testing.T, s sample) (mkl.Model, error) {
		testkit.NotShort(t)
		return mkl.AutoClassifier[string]{Fitting: one, Climb: fewest}.Fit(t.Context(), []mkl.View{{X: s.x, Input: "x1"}, {X: s.z, Input: "x2"}}, s.kind)
	}},
	{"pool of classes in two views", func(t *testing.T, s sample) (mkl.Model, error) {
		return mkl.AutoClassifier[string]{Fitting: one, Climb: fewest}.Fit(t.Context(), []mkl.View{{X: s.x, Input: "x1"}, {X: s.z, Input: "x2"}}, s.classes)
	}},
	{"pool with all columns as one table", func(t *testing.T, _ sample) (mkl.Model, error) {
		s := draw(3, 60)
		m, err := mkl.Auto{Fitting: one, Climb: fewest}.Fit(t.Context(), []mkl.View{{X: s.x, Input: "x1"}, {X: s.z, Input: "x2"}}, s.together())
		requireTable(t, m, err)
		return m, err
	}},
	{"pool of classes with all columns as one table", func(t *testing.T, _ sample) (mkl.Model, error) {
		s := draw(3, 60)
		class := make([]string, 60)
		for i, v := range s.together() {
			class[i] = map[bool]string{true: "high", false: "low"}[v > 0]
		}
		m, err := mkl.AutoClassifier[string]{Fitting: one, Climb: fewest}.Fit(t.Context(), []mkl.View{{X: s.x, Input: "x1"}, {X: s.z, Input: "x2"}}, class)
		requireTable(t, m, err)
		return m, err
	}},
	{"pool of two classes with given kernels", func(t *testing.T, s sample) (mkl.Model, error) {
		return mkl.AutoClassifier[string]{Fitting: one, Climb: fewest}.Fit(t.Context(), s.views(), s.kind)
	}},
}

// together is a target that needs columns of both inputs: the sign of a product of two.
func (s sample) together() (y []float64) {
	for i := range s.x.Rows {
		y = append(y, math.Copysign(1, s.x.At(i, 0)*s.z.At(i, 0)))
	}
	return y
}

// requireTable requires that a pool has all columns as one table.
func requireTable(t *testing.T, m interface{ Members() ([]string, []float64) }, err error) {
	t.Helper()
	require.NoError(t, err)
	names, _ := m.Members()
	require.Contains(t, names, "all columns as one table")
}

var (
	one              = mkl.Fitting{Seed: 1, Workers: 1}
	few              = mkl.Ascent{MaxSweeps: 15}
	fewSteps, fewest = mkl.Climb{MaxSteps: 15}, mkl.Climb{MaxSteps: 3}
)

// compare holds the outputs of a graph to the model's predictions. The tolerance is relative to the
// size of targets, and absolute for probabilities.
func compare(t *testing.T, m mkl.Model, x []mkl.Features, out map[string]array, tolerance float64) (worst float64) {
	t.Helper()
	check := func(want, got, unit float64) {
		t.Helper()
		off := math.Abs(want-got) / unit
		worst = max(worst, off)
		require.LessOrEqual(t, off, tolerance, "%g where the model says %g", got, want)
	}
	switch m := m.(type) {
	case mkl.TargetModel:
		p, err := m.PredictTargets(t.Context(), mkl.PredictOptions{}, x...)
		require.NoError(t, err)
		for o := range p.Mean {
			unit := slices.Max(p.Mean[o]) - slices.Min(p.Mean[o])
			for i := range p.Mean[o] {
				check(p.Mean[o][i], out["mean"].at(i, o), unit)
				check(math.Sqrt(p.Variance[o][i]), out["sd"].at(i, o), unit)
			}
		}
	case *mkl.CountModel:
		p, err := m.Predict(x...)
		require.NoError(t, err)
		mean, variance := p.Moments()
		for i, v := range variance {
			check(mean[i], out["mean"].at(i, 0), mean[i])
			check(math.Sqrt(v), out["sd"].at(i, 0), math.Sqrt(v))
		}
	case *mkl.SurvivalModel:
		p, err := m.Predict(x...)
		require.NoError(t, err)
		for i, risk := range p.Risk() {
			check(risk, out["risk"].at(i, 0), 1)
			lower, upper := p.Interval(i, inTime.Interval)
			for name, want := range map[string]float64{"median": p.Median()[i], "lower": lower, "upper": upper} {
				check(want, out[name].at(i, 0), want)
			}
			for k, want := range p.Survival(i, inTime.Times) {
				check(want, out["p_after"].at(i, k), 1)
			}
		}
	case mkl.ClassModel[string]:
		p, err := m.PredictClasses(t.Context(), mkl.PredictOptions{}, x...)
		require.NoError(t, err)
		for i, row := range p.Probability {
			for c, want := range row {
				check(want, out["probability"].at(i, c), 1)
			}
		}
		if tolerance < 1e-6 {
			assert.Equal(t, p.Label, out["label"].texts)
		}
	case mkl.LabelModel:
		p, err := m.PredictLabels(t.Context(), mkl.PredictOptions{}, x...)
		require.NoError(t, err)
		for o, row := range p.Probability {
			for i, want := range row {
				check(want, out["probability"].at(i, o), 1)
			}
		}
	default:
		require.Fail(t, "no model to compare")
	}
	return worst
}

// others are samples to predict: near the training samples, one of them, and far away.
func others() sample {
	s, train := draw(2, 9), draw(1, 30)
	copy(s.x.Row(0), train.x.Row(4))
	copy(s.z.Row(0), train.z.Row(4))
	for j := range 3 {
		s.x.Set(1, j, 40)
	}
	s.z.Set(2, 1, 7) // a category that is new
	return s
}

func TestExport(t *testing.T) {
	s, new := draw(1, 30), others()
	for _, c := range fitted {
		t.Run(c.name, func(t *testing.T) {
			m, err := c.fit(t, s)
			require.NoError(t, err)
			x := []mkl.Features{new.x, new.z}
			p := readProgram(t, exported(t, m, Options{}))
			assert.Equal(t, []string{"x1", "x2"}, p.in)
			assert.Equal(t, []int{3, 2}, p.columns)
			worst := compare(t, m, x, p.run(t, matrixArray(new.x), matrixArray(new.z)), 1e-9)
			single := readProgram(t, exported(t, m, Options{Float32: true}))
			assert.True(t, single.single)
			rough := compare(t, m, x, single.run(t, matrixArray(new.x), matrixArray(new.z)), 1e-5)
			t.Logf("%.1e in float64, %.1e in float32", worst, rough)
		})
	}
}

// TestEffectsOfLevels exports counts and grades with effects of the codes in two columns.
func TestEffectsOfLevels(t *testing.T) {
	const n, landmarks = 1200, 80
	rng := rand.New(rand.NewPCG(4, 4))
	effect := map[float64]float64{}
	for code := 100.0; code < 140; code++ {
		effect[code], effect[code+100] = rng.NormFloat64(), rng.NormFloat64()
	}
	x, counts, grades := la.NewMatrix[float64](n, 3), make([]float64, n), make([]string, n)
	for i := range n {
		x.Set(i, 0, 100+float64(rng.IntN(40)))
		x.Set(i, 1, rng.NormFloat64())
		x.Set(i, 2, 200+float64(rng.IntN(40)))
		f := math.Sin(x.At(i, 1)) + effect[x.At(i, 0)] + effect[x.At(i, 2)]
		counts[i] = math.Floor(math.Exp(f + 0.3*rng.NormFloat64() + 0.5))
		grades[i] = []string{"a", "b", "c"}[min(2, int(max(0, f+1.5+0.5*rng.NormFloat64())))]
	}
	views := []mkl.View{{X: x, Columns: []int{1}, Kernel: kernel.RBF{}}, {X: x, Columns: []int{0, 2}, Kernel: kernel.Categorical{}}}
	at := mkl.Features(x.TakeRows([]int{3, 70, 200, 201, 500}))
	at.Set(1, 0, 7) // codes that are new
	at.Set(2, 2, 8)
	for _, fit := range []func() (mkl.Model, error){
		func() (mkl.Model, error) {
			return mkl.Counts{Fitting: one, Climb: fewSteps, Landmarks: landmarks}.Fit(t.Context(), views, counts)
		},
		func() (mkl.Model, error) {
			return mkl.Ordinal[string]{Fitting: one, Climb: fewSteps, Landmarks: landmarks, Grades: []string{"a", "b", "c"}}.Fit(t.Context(), views, grades)
		},
	} {
		m, err := fit()
		require.NoError(t, err)
		require.Len(t, m.(interface{ LevelEffects() []string }).LevelEffects(), 2)
		compare(t, m, []mkl.Features{at}, readProgram(t, exported(t, m, Options{})).run(t, matrixArray(at)), 1e-9)
		compare(t, m, []mkl.Features{at}, readProgram(t, exported(t, m, Options{Float32: true})).run(t, matrixArray(at)), 1e-5)
	}
}

// TestGiven exports models of kernels and distances that are given.
func TestGiven(t *testing.T) {
	s, new := draw(1, 30), others()
	distance := func(a, b sample) mkl.Features {
		d := la.NewMatrix[float64](a.x.Rows, b.x.Rows)
		for i := range d.Rows {
			for j := range d.Cols {
				d.Set(i, j, math.Abs(a.x.At(i, 1)-b.x.At(j, 1)))
			}
		}
		return d
	}
	gram := func(a, b sample) mkl.Features { // with each sample's own kernel as one more column
		k := la.NewMatrix[float64](a.z.Rows, b.z.Rows+1)
		for i := range k.Rows {
			for j := range b.z.Rows {
				k.Set(i, j, la.Dot(a.z.Row(i), b.z.Row(j)))
			}
			k.Set(i, b.z.Rows, la.Dot(a.z.Row(i), a.z.Row(i)))
		}
		return k
	}
	views := []mkl.View{
		{X: distance(s, s), Input: "x1", Kernel: kernel.FromDistance{}, Center: true},
		{X: gram(s, s).Slice(0, 30, 0, 30), Input: "x2", Kernel: kernel.Precomputed{}, Normalize: true},
	}
	for _, fit := range []func(views []mkl.View) (mkl.Model, error){
		func(views []mkl.View) (mkl.Model, error) {
			return mkl.Regression{Fitting: one, Ascent: few}.Fit(t.Context(), views, s.y[0])
		},
		func(views []mkl.View) (mkl.Model, error) {
			return mkl.MultiGP{Fitting: one, Climb: fewSteps}.Fit(t.Context(), views, s.y[0])
		},
	} {
		for _, n := range []int{1, 2} { // distances alone have known kernels of samples with themselves
			m, err := fit(views[:n])
			require.NoError(t, err)
			x := []mkl.Features{distance(new, s), gram(new, s)}[:n]
			var in []array
			for _, x := range x {
				in = append(in, matrixArray(x))
			}
			compare(t, m, x, readProgram(t, exported(t, m, Options{})).run(t, in...), 1e-9)
		}
	}
	views[1].Normalize = false // the graph takes as many columns as there are basis points, and is not healed
	m, err := mkl.Regression{Fitting: one, Ascent: few}.Fit(t.Context(), views, s.y[0])
	require.NoError(t, err)
	x := []mkl.Features{distance(new, s), gram(new, s).Slice(0, 9, 0, 30)}
	compare(t, m, x, readProgram(t, exported(t, m, Options{})).run(t, matrixArray(x[0]), matrixArray(x[1])), 1e-9)
}

// TestPoolOfManyRows refuses a pool of very many samples with a local member.
func TestPoolOfManyRows(t *testing.T) {
	testkit.NotShort(t)
	s := draw(1, 3001)
	m, err := mkl.Auto{Fitting: one, Climb: fewest, Time: time.Second}.Fit(t.Context(), []mkl.View{{X: s.z}}, s.y[0])
	require.NoError(t, err)
	names, _ := m.Members()
	require.Contains(t, names, "nearest samples")
	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	_, err = Export(file.Bytes(), Options{})
	assert.ErrorContains(t, err, `the member "nearest samples", with `)
	assert.ErrorContains(t, err, "-model landmarks learns numbers by a model that can be exported")
}

// TestPoolOfManyPositiveTargets exports exact members and landmarks that learn another scale of the target.
func TestPoolOfManyPositiveTargets(t *testing.T) {
	testkit.NotShort(t)
	s := draw(1, 3001)
	for name, c := range map[string]struct {
		target func(float64) float64
		varies float64 // how much the noise of what is learned does
	}{"logarithm": {math.Exp, 0.5}, "square root": {func(z float64) float64 { return (z + 1.5) * (z + 1.5) }, 0}} {
		rng := rand.New(rand.NewPCG(3, 4))
		y := make([]float64, 3001)
		for i := range y {
			f := math.Sin(s.z.At(i, 0) / 10)
			y[i] = c.target(f + 0.2*(1+c.varies*f)*rng.NormFloat64())
		}
		m, err := mkl.Auto{Fitting: one, Climb: fewest, Time: time.Second}.Fit(t.Context(), []mkl.View{{X: s.z, Kernel: kernel.RBF{Width: 1}}}, y)
		require.NoError(t, err)
		assert.Contains(t, m.Story(), "the target's "+name)
		x := s.z.Slice(0, 40, 0, s.z.Cols)
		compare(t, m, []mkl.Features{x}, readProgram(t, exported(t, m, Options{})).run(t, matrixArray(x)), 1e-8)
		stepped := withStep(t, m, 1.5)
		_, variance, err := stepped.Predict(x)
		require.NoError(t, err)
		assert.InEpsilon(t, 1.5*1.5/12, slices.Min(variance), 1e-9)
		compare(t, stepped, []mkl.Features{x}, readProgram(t, exported(t, stepped, Options{})).run(t, matrixArray(x)), 1e-8)
	}
}

// TestPoolOfSteps exports a pool of a target that was recorded in steps.
func TestPoolOfSteps(t *testing.T) {
	s := draw(1, 40)
	m, err := mkl.Auto{Fitting: one, Climb: fewest}.Fit(t.Context(), []mkl.View{{X: s.z}}, s.y[0])
	require.NoError(t, err)
	x := s.z.Slice(0, 20, 0, s.z.Cols)
	_, before, err := m.Predict(x)
	require.NoError(t, err)
	step := math.Sqrt(12 * slices.Max(before))
	stepped := withStep(t, m, step)
	_, variance, err := stepped.Predict(x)
	require.NoError(t, err)
	assert.InEpsilon(t, slices.Max(before), slices.Min(variance), 1e-9)
	compare(t, stepped, []mkl.Features{x}, readProgram(t, exported(t, stepped, Options{})).run(t, matrixArray(x)), 1e-9)
}

// withStep returns a pool whose target was recorded in other steps, from its file.
func withStep(t *testing.T, m *mkl.AutoModel, step float64) *mkl.AutoModel {
	t.Helper()
	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	size := binary.LittleEndian.Uint64(file.Bytes())
	header := strings.TrimRight(string(file.Bytes()[8:8+size]), " ")
	data := file.Bytes()[8+size:]
	start := strings.LastIndex(header, `\"middle\":`)
	if start < 0 { // a pool on the target's own scale has no settings of scales
		start = strings.Index(header, `\"rule\":`)
		header = header[:start] + fmt.Sprintf(`\"scale\":{\"middle\":0,\"step\":%.17g},`, step) + header[start:]
	} else {
		header = header[:start] + fmt.Sprintf(`\"step\":%.17g,`, step) + header[start:]
	}
	for len(header)%8 != 0 {
		header += " "
	}
	out := append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), data...)
	const key = `"sha256":"`
	digits := out[bytes.Index(out, []byte(key))+len(key):][:2*sha256.Size]
	copy(digits, strings.Repeat("0", len(digits))) // the sum is of the file without it
	copy(digits, fmt.Sprintf("%x", sha256.Sum256(out)))
	loaded, err := mkl.Load(bytes.NewReader(out))
	require.NoError(t, err)
	return loaded.(*mkl.AutoModel)
}

// TestLogNormalCDF holds the operators for log Φ to the function, over all that it can be asked.
func TestLogNormalCDF(t *testing.T) {
	e := &exporter{graph: newGraph(float64s)}
	e.output("log", e.logNormalCDF(e.input("z", 1)), float64s, 1)
	file, err := e.encode(nil)
	require.NoError(t, err)
	var z array
	for _, size := range []float64{0, 1e-9, 0.01, 0.3, 1, 2.7, 5, 8, 13, 30, 100, 1e4} {
		z.numbers = append(z.numbers, -size, size)
	}
	z.shape = []int{len(z.numbers), 1}
	for i, log := range readProgram(t, file).run(t, z)["log"].numbers {
		want := special.LogNormalCDF(z.numbers[i])
		assert.InDelta(t, want, log, 4e-15*(1+math.Abs(want)), "z = %g", z.numbers[i])
	}
}
