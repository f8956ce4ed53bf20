package mkl

import (
	"bytes"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// categories returns samples of three features with two, three and five categories, whose
// codes are no small numbers. Of the first feature the last sample has a category of its own.
func categories(seed uint64, n int) Features {
	rng := rand.New(rand.NewPCG(seed, 7))
	x := matrix(n, 3, func(_, j int) float64 { return float64(rng.IntN([]int{2, 3, 5}[j]))*1e5 - 3.25 })
	x.Set(n-1, 0, 1e300)
	return x
}

// differing counts by a plain loop the features in which two samples differ, as a share.
func differing(x, y []float64) float64 {
	n := 0
	for j := range x {
		if x[j] != y[j] {
			n++
		}
	}
	return float64(n) / float64(len(x))
}

func TestCategoricalAgainstFormula(t *testing.T) {
	const n, m = 70, 9 // more than one block of rows
	x, z := categories(1, n), categories(2, m)
	z.Set(0, 1, 0.5) // no training sample has it
	var shares []float64
	mean := 0.0
	for i := range n {
		for j := range n {
			mean += differing(x.Row(i), x.Row(j)) / (n * n)
			if j < i {
				shares = append(shares, differing(x.Row(i), x.Row(j)))
			}
		}
	}
	slices.Sort(shares)
	median := shares[(len(shares)-1)/2]
	for _, c := range []struct {
		kernel kernel.Kernel
		name   string
		f      func(h float64) float64
	}{
		{kernel.Categorical{Width: 0.4}, "categorical(width=0.4)", func(h float64) float64 { return math.Exp(-h / 0.4) }},
		{kernel.Categorical{}, "categorical(width=mean)", func(h float64) float64 { return math.Exp(-h / mean) }},
		{kernel.Categorical{Medians: 2}, "categorical(medians=2)", func(h float64) float64 { return math.Exp(-h / (2 * median)) }},
		{kernel.Categorical{Overlap: true}, "categorical(overlap)", func(h float64) float64 { return 1 - h }},
	} {
		assert.Equal(t, c.name, c.kernel.String())
		k := matrix(n, n, func(i, j int) float64 { return c.f(differing(x.Row(i), x.Row(j))) })
		kt := matrix(n, m, func(i, j int) float64 { return c.f(differing(x.Row(i), z.Row(j))) })
		self := slices.Repeat([]float64{1}, m)
		for _, center := range []bool{false, true} {
			for _, normalize := range []bool{false, true} {
				wantK, wantKt := centredNormalized(center, normalize, k, kt, self)
				_, train, cross := trained(t, 2, []View{{X: x, Kernel: c.kernel, Center: center, Normalize: normalize}}, []Features{z})
				requireClose(t, wantK, train[0], 1e-12)
				requireClose(t, wantKt, cross[0], 1e-12)
			}
		}
		for i := range n { // positive semidefinite: with a little on its diagonal it has a factor
			k.Row(i)[i] += 1e-9
		}
		assert.NoError(t, la.Cholesky(nil, k), c.name)
	}
}

// A width makes the kernel a product: for each feature 1 where samples agree, else ρ.
func TestCategoricalIsAProduct(t *testing.T) {
	x := categories(3, 12)
	rho := math.Exp(-1 / (3 * 0.7))
	_, train, _ := trained(t, 1, []View{{X: x, Kernel: kernel.Categorical{Width: 0.7}}}, nil)
	want := matrix(12, 12, func(i, j int) float64 {
		product := 1.0
		for f := range 3 {
			if x.At(i, f) != x.At(j, f) {
				product *= rho
			}
		}
		return product
	})
	requireClose(t, want, train[0], 1e-14)
}

// Categories that a fit has not seen are ordinary samples to every sort of model, whose
// predictors and saved files say what it says.
func TestCategoricalInModels(t *testing.T) {
	const n = 40
	x := categories(4, n)
	var y []float64
	var class []string
	for i := range n {
		y = append(y, x.At(i, 1)/1e5+math.Sin(float64(i)))
		class = append(class, []string{"low", "high"}[min(1, int(x.At(i, 2)/2e5))])
	}
	views := []View{
		{Name: "kinds", X: x, Kernel: kernel.Categorical{}},
		{Name: "shares", X: x, Columns: []int{2, 1}, Kernel: kernel.Categorical{Overlap: true}},
	}
	new := categories(5, 6)
	new.Set(2, 1, 77)
	few := fitting{Ascent: Ascent{MaxSweeps: 20}}
	for _, c := range []struct {
		name string
		fit  func() (Model, error)
	}{
		{"Regression", func() (Model, error) {
			return Regression{Fitting: few.Fitting, Ascent: few.Ascent}.Fit(t.Context(), views, y)
		}},
		{"MultiGP", func() (Model, error) {
			return MultiGP{Fitting: few.Fitting, Climb: few.climb()}.Fit(t.Context(), views, y)
		}},
		{"MultiTask", func() (Model, error) {
			return MultiTask{Fitting: few.Fitting, Ascent: few.Ascent}.Fit(t.Context(), views[:1], y, class01(class))
		}},
		{"LandmarkGP", func() (Model, error) {
			return LandmarkGP{Fitting: few.Fitting, Climb: few.climb(), Landmarks: &Landmarks{Count: 20}}.Fit(t.Context(), views, y)
		}},
		{"Classifier", func() (Model, error) {
			return Classifier[string]{Fitting: few.Fitting, Ascent: few.Ascent}.Fit(t.Context(), views, class)
		}},
		{"ProbitClassifier", func() (Model, error) {
			return ProbitClassifier[string]{Fitting: few.Fitting, Ascent: few.Ascent}.Fit(t.Context(), views, class)
		}},
	} {
		m, err := c.fit()
		require.NoError(t, err, c.name)
		var file bytes.Buffer
		require.NoError(t, m.Save(&file), c.name)
		loaded, err := Load(&file)
		require.NoError(t, err, c.name)
		switch m := m.(type) {
		case TargetModel:
			p, err := m.PredictTargets(t.Context(), PredictOptions{}, new)
			require.NoError(t, err, c.name)
			again, err := loaded.(TargetModel).PredictTargets(t.Context(), PredictOptions{}, new)
			require.NoError(t, err, c.name)
			assert.Equal(t, p, again, c.name)
			var one interface {
				Predict(x ...[]float64) (mean, variance float64, err error)
			}
			switch m := m.(type) {
			case *RegressionModel:
				one, err = m.Predictor(PredictorOptions{Exact: true})
			case *MultiGPModel:
				one, err = m.Predictor(PredictorOptions{Exact: true})
			default:
				continue
			}
			require.NoError(t, err, c.name)
			for i := range new.Rows {
				mean, variance, err := one.Predict(new.Row(i))
				require.NoError(t, err)
				assert.InEpsilon(t, p.Mean[0][i], mean, 1e-9, c.name)
				assert.InEpsilon(t, p.Variance[0][i], variance, 1e-9, c.name)
			}
		case ClassModel[string]:
			p, err := m.PredictClasses(t.Context(), PredictOptions{}, new)
			require.NoError(t, err, c.name)
			again, err := loaded.(ClassModel[string]).PredictClasses(t.Context(), PredictOptions{}, new)
			require.NoError(t, err, c.name)
			assert.Equal(t, p, again, c.name)
		}
	}
}

// class01 is 1 for the samples of the class "high".
func class01(class []string) (y []float64) {
	for _, c := range class {
		y = append(y, float64(strings.Count(c, "high")))
	}
	return y
}

func TestCategoricalErrors(t *testing.T) {
	x, y := categories(6, 12), make([]float64, 12)
	for i := range y {
		y[i] = float64(i % 5)
	}
	constant := la.NewMatrix[float64](12, 2)
	for _, c := range []struct {
		view View
		want string
	}{
		{View{X: x, Kernel: kernel.Categorical{Width: -1}}, "Width is -1"},
		{View{X: x, Kernel: kernel.Categorical{Width: 1, Overlap: true}}, "more than one of Width, Medians and Overlap is set"},
		{View{X: x, Kernel: kernel.Categorical{}, Standardize: true}, "Standardize and Ranks are for quantities, not for categories"},
		{View{X: x, Kernel: kernel.Categorical{}, Ranks: true}, "Standardize and Ranks are for quantities, not for categories"},
		{View{X: constant, Kernel: kernel.Categorical{}}, "the mean distance between the training samples is 0: give a width or scale"},
	} {
		_, err := Regression{}.Fit(t.Context(), []View{c.view}, y)
		assert.ErrorContains(t, err, c.want)
	}

	// Files that say what no fit says.
	m, err := Regression{Ascent: Ascent{MaxSweeps: 3}}.Fit(t.Context(), []View{{X: x, Kernel: kernel.Categorical{Width: 0.5}}}, y)
	require.NoError(t, err)
	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	for _, c := range []struct{ old, new, want string }{
		{`"width":0.5`, `"width":0`, "lacks its width"},
		{`"width":0.5`, `"width":0.5,"overlap":true`, "more than one of Width, Medians and Overlap is set"},
		{`"largest"`, `"ranks":true,"largest"`, "standardize or ranks with categories"},
		{`"largest"`, `"standardize":true,"largest"`, "has no means"},
	} {
		metadata, ts, err := readTensors(bytes.NewReader(file.Bytes()))
		require.NoError(t, err)
		require.Contains(t, metadata["model"], c.old)
		metadata["model"] = strings.Replace(metadata["model"], c.old, c.new, 1)
		var bad bytes.Buffer
		require.NoError(t, writeTensors(&bad, metadata, slices.Collect(maps.Values(ts))))
		_, err = Load(&bad)
		assert.ErrorContains(t, err, c.want)
	}
}

// The slope of the bound by the logarithm of a width is its finite difference.
func TestCategoricalSlope(t *testing.T) {
	x := categories(7, 20)
	var y []float64
	for i := range 20 {
		y = append(y, x.At(i, 1)/1e5+math.Sin(float64(3*i)))
	}
	fit := func(width float64) (float64, Slopes) {
		var s Slopes
		m, err := Regression{Ascent: Ascent{Tolerance: 1e-13, MaxSweeps: 20000}, Slopes: func(got Slopes) { s = got }}.Fit(
			t.Context(), []View{{X: x, Kernel: kernel.Categorical{Width: width}}}, y)
		require.NoError(t, err)
		bounds := m.Trace().Bounds
		return bounds[len(bounds)-1], s
	}
	const width, step = 0.6, 1e-4
	_, s := fit(width)
	up, _ := fit(width * math.Exp(step))
	down, _ := fit(width * math.Exp(-step))
	assert.Equal(t, []float64{width}, s.Views[0].Widths)
	assert.InEpsilon(t, (up-down)/(2*step), s.Views[0].Slopes[0], 1e-3)
}
