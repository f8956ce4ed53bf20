package mkl

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// blobs returns n samples of k classes around the corners of a polygon.
func blobs(seed uint64, n, k int) (x Features, class []int) {
	rng := rand.New(rand.NewPCG(seed, 2))
	x = normal(rng, n, 2)
	for i := range n {
		c := i * k / n
		x.Row(i)[0] = 0.5*x.At(i, 0) + 2*math.Cos(2*math.Pi*float64(c)/float64(k))
		x.Row(i)[1] = 0.5*x.At(i, 1) + 2*math.Sin(2*math.Pi*float64(c)/float64(k))
		class = append(class, c)
	}
	return x, class
}

func rbfs(x Features) []View {
	return []View{{X: x, Kernel: kernel.RBF{Width: 0.5}}, {X: x, Kernel: kernel.RBF{Width: 2}}}
}

func TestClassifier(t *testing.T) {
	counts := []int{2, 3, 5}
	if testing.Short() {
		counts = counts[:2]
	}
	for _, k := range counts {
		x, class := blobs(1, 24*k, k)
		names := []string{"vega", "deneb", "altair", "sirius", "rigel"}[:k]
		labels := make([]string, len(class))
		for i, c := range class {
			labels[i] = names[c]
		}
		m, err := Classifier[string]{Ascent: Ascent{MaxSweeps: 60}}.Fit(context.Background(), rbfs(x), labels)
		require.NoError(t, err)
		assert.Equal(t, names, m.Classes())

		z, truth := blobs(2, 24*k, k)
		p, err := m.PredictClasses(context.Background(), PredictOptions{}, z)
		require.NoError(t, err)
		right := 0
		for i, row := range p.Probability {
			var sum float64
			for _, v := range row {
				require.GreaterOrEqual(t, v, 0.0)
				sum += v
			}
			require.InDelta(t, 1, sum, 1e-12)
			require.Equal(t, names[vec.ArgMax(row)], p.Label[i])
			if p.Label[i] == names[truth[i]] {
				right++
			}
			if k == 2 {
				require.Equal(t, -p.Decision[i][0], p.Decision[i][1])
				require.Equal(t, row[1] > row[0], p.Decision[i][1] > 0)
			}
		}
		assert.Greater(t, float64(right)/float64(len(truth)), 0.9)

		short, probability, err := m.Predict(z)
		require.NoError(t, err)
		assert.Equal(t, p.Label, short)
		assert.Equal(t, p.Probability, probability)

		fast, err := m.PredictClasses(context.Background(), PredictOptions{MeanOnly: true}, z)
		require.NoError(t, err)
		assert.Nil(t, fast.Probability)
		assert.Equal(t, p.Decision, fast.Decision)
	}
}

// The estimator must give exactly what vi gives on the rows of ±1 it stands for.
func TestClassifierAgainstInference(t *testing.T) {
	x, class := blobs(3, 45, 3)
	z, _ := blobs(4, 12, 3)
	y := la.NewMatrix[float64](3, 45)
	for i, c := range class {
		for o := range 3 {
			y.Set(o, i, -1)
		}
		y.Set(c, i, 1)
	}
	_, train, cross := trained(t, 1, rbfs(x), []Features{z})
	k, err := vi.NewDense(train...)
	require.NoError(t, err)
	kt, err := vi.NewDense(cross...)
	require.NoError(t, err)
	fit, err := bemkl.Classification{Seed: 5, Margin: 0.5, SigmaG: 0.3, Ascent: vi.Ascent{MaxSweeps: 20}}.Fit(context.Background(), k, y)
	require.NoError(t, err)
	settings := fitting{Fitting: Fitting{Seed: 5}, Ascent: Ascent{MaxSweeps: 20}}
	m, err := Classifier[int]{Fitting: settings.Fitting, Ascent: settings.Ascent, Margin: 0.5, SigmaG: 0.3}.Fit(context.Background(), rbfs(x), class)
	require.NoError(t, err)
	labels := make([][]bool, 3)
	for o := range labels {
		for _, v := range y.Row(o) {
			labels[o] = append(labels[o], v > 0)
		}
	}
	multi, err := MultiLabel{Fitting: settings.Fitting, Ascent: settings.Ascent, Margin: 0.5, SigmaG: 0.3}.Fit(context.Background(), rbfs(x), allLabels(labels)...)
	require.NoError(t, err)
	assert.Equal(t, fit.Record.Trace, m.Trace().Bounds)
	assert.Equal(t, fit.Record.Trace, multi.Trace().Bounds)
	for _, opt := range []PredictOptions{{}, {Published: true}} {
		want, err := fit.Posterior.Predict(kt, opt.inference())
		require.NoError(t, err)
		normal := want.Normalise()
		got, err := m.PredictClasses(context.Background(), opt, z)
		require.NoError(t, err)
		each, err := multi.PredictLabels(context.Background(), opt, z)
		require.NoError(t, err)
		for o := range 3 {
			assert.Equal(t, want.Probability.Row(o), each.Probability[o])
			assert.Equal(t, want.Mean.Row(o), each.Decision[o])
			for i := range z.Rows {
				assert.Equal(t, normal.At(o, i), got.Probability[i][o])
				assert.Equal(t, want.Mean.At(o, i), got.Decision[i][o])
				assert.Equal(t, each.Label[o][i], each.Probability[o][i] >= 0.5)
			}
		}
	}
}

func TestClassOrder(t *testing.T) {
	x, class := blobs(1, 30, 3)
	fit := func(classes []int, labels []int) (*ClassifierModel[int], error) {
		return Classifier[int]{Ascent: Ascent{MaxSweeps: 5}, Classes: classes}.Fit(context.Background(), rbfs(x), labels)
	}
	slices.Reverse(class)
	m, err := fit(nil, class)
	require.NoError(t, err)
	assert.Equal(t, []int{2, 1, 0}, m.Classes())
	m, err = fit([]int{1, 0, 2}, class)
	require.NoError(t, err)
	assert.Equal(t, []int{1, 0, 2}, m.Classes())
	assert.Contains(t, m.Summary(), "class 1, ")

	for _, c := range []struct {
		classes, labels []int
		want            string
	}{
		{nil, nil, "mkl: labels: 0 samples where at least 2 are needed"},
		{nil, make([]int, 30), "mkl: labels: every label is 0: there is nothing to learn"},
		{[]int{0, 1}, class, "mkl: labels[0] is 2, which is not one of Classes"},
		{[]int{0, 1, 2, 3}, class, "mkl: labels: class 3 has no sample"},
		{[]int{0, 1, 2, 1}, class, "mkl: Classes[1] and Classes[3] are both 1"},
	} {
		_, err := fit(c.classes, c.labels)
		assert.EqualError(t, err, c.want)
	}
	_, err = Classifier[float64]{}.Fit(context.Background(), rbfs(x), []float64{1, math.NaN()})
	assert.EqualError(t, err, "mkl: labels[1]: NaN is no class, as it does not equal itself")
}

func TestMultiLabelRefusals(t *testing.T) {
	x, _ := blobs(1, 4, 2)
	some := []bool{true, false, true, false}
	for _, c := range []struct {
		labels [][]bool
		want   string
	}{
		{nil, "mkl: labels: none given"},
		{[][]bool{some, some[:3]}, "mkl: labels[1]: 3 samples where labels[0] has 4"},
		{[][]bool{some, {true, true, true, true}}, "mkl: labels[1]: no sample is known not to have it: there is nothing to learn"},
		{[][]bool{{true}}, "mkl: labels[0]: 1 samples where at least 2 are needed"},
	} {
		_, err := MultiLabel{}.Fit(context.Background(), rbfs(x), allLabels(c.labels)...)
		assert.EqualError(t, err, c.want)
	}
}

// Classes of any type must come back from a file as they were.
func TestClassesInFiles(t *testing.T) {
	type place struct {
		Country string
		Zone    int
	}
	x, class := blobs(1, 24, 2)
	places := []place{{"is", 1}, {"no", 2}}
	var labels []place
	for _, c := range class {
		labels = append(labels, places[c])
	}
	m, err := Classifier[place]{Ascent: Ascent{MaxSweeps: 5}}.Fit(context.Background(), rbfs(x), labels)
	require.NoError(t, err)
	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	back, err := LoadAs[*ClassifierModel[place]](bytes.NewReader(file.Bytes()))
	require.NoError(t, err)
	assert.Equal(t, places, back.Classes())

	text, err := Load(bytes.NewReader(file.Bytes()))
	require.NoError(t, err)
	assert.Equal(t, []string{`{"Country":"is","Zone":1}`, `{"Country":"no","Zone":2}`}, text.(*ClassifierModel[string]).Classes())

	_, err = LoadAs[*ClassifierModel[int]](bytes.NewReader(file.Bytes()))
	assert.ErrorContains(t, err, "mkl: load: model: classes[0]: json: cannot unmarshal object")
	_, err = LoadAs[*ClassifierModel[struct{ Country string }]](bytes.NewReader(file.Bytes()))
	assert.ErrorContains(t, err, "unknown field")
	_, err = LoadAs[*RegressionModel](bytes.NewReader(file.Bytes()))
	assert.ErrorContains(t, err, "mkl: load: the file holds \"classifier\", not \"regression\"")
	_, err = LoadAs[*MultiLabelModel](bytes.NewReader(file.Bytes()))
	assert.ErrorContains(t, err, "the file holds")
}

func TestClassPredictor(t *testing.T) {
	for _, k := range []int{2, 4} {
		x, class := blobs(1, 20*k, k)
		m, err := Classifier[int]{Ascent: Ascent{MaxSweeps: 60}}.Fit(context.Background(), rbfs(x), class)
		require.NoError(t, err)
		z, _ := blobs(2, 10*k, k)
		for _, published := range []bool{false, true} {
			want, err := m.PredictClasses(context.Background(), PredictOptions{Published: published}, z)
			require.NoError(t, err)
			p, err := m.Predictor(PredictorOptions{Exact: true, Published: published})
			require.NoError(t, err)
			probability := make([]float64, k)
			for i := range z.Rows {
				label, err := p.Predict(probability, z.Row(i))
				require.NoError(t, err)
				require.Equal(t, want.Label[i], label)
				require.InDeltaSlice(t, want.Probability[i], probability, 1e-9)
				label, err = p.Predict(nil, z.Row(i))
				require.NoError(t, err)
				require.Equal(t, want.Label[i], label)
			}
			if !raceEnabled {
				point := z.Row(0)
				assert.Zero(t, testing.AllocsPerRun(100, func() {
					if _, err := p.Predict(probability, point); err != nil {
						panic(err)
					}
				}))
			}
		}
		p, err := m.Predictor(PredictorOptions{})
		require.NoError(t, err)
		assert.LessOrEqual(t, p.Info()[0].MeanError, DefaultPruning)
		_, err = p.Predict(make([]float64, k+1), z.Row(0))
		assert.EqualError(t, err, "mkl: probability has length "+string(rune('0'+k+1))+" and there are "+string(rune('0'+k))+" classes")
		_, err = m.Predictor(PredictorOptions{MeanOnly: true})
		assert.Error(t, err)
	}
}

// Labels that are not known are left out of the fit, and predicted.
func TestUnknownLabels(t *testing.T) {
	x, class := blobs(1, 60, 3)
	labels := [][]Label{make([]Label, 60), make([]Label, 60)}
	y := la.NewMatrix[float64](2, 60)
	for o := range labels {
		for i, c := range class {
			labels[o][i] = LabelAbsent
			if c == o {
				labels[o][i] = LabelPresent
			}
			if i%5 == 2 && o == 1 {
				labels[o][i] = LabelUnknown
			}
			y.Set(o, i, map[Label]float64{LabelUnknown: math.NaN(), LabelAbsent: -1, LabelPresent: 1}[labels[o][i]])
		}
	}
	settings := MultiLabel{Fitting: Fitting{Seed: 2}, Ascent: Ascent{MaxSweeps: 40}}
	m, err := settings.Fit(context.Background(), rbfs(x), labels...)
	require.NoError(t, err)
	_, k, err := settings.fitting().fixedKernels(context.Background(), nil, rbfs(x), 60, 2, settings.EstimateMemory)
	require.NoError(t, err)
	fit, err := bemkl.Classification{Seed: 2, Ascent: vi.Ascent{MaxSweeps: 40}}.Fit(context.Background(), k, y)
	require.NoError(t, err)
	assert.Equal(t, fit.Record.Trace, m.Trace().Bounds)
	p, err := m.PredictLabels(context.Background(), PredictOptions{}, x)
	require.NoError(t, err)
	for i, c := range class {
		if labels[1][i] == LabelUnknown {
			assert.Equal(t, c == 1, p.Label[1][i], "sample %d", i)
		}
	}
	for want, bad := range map[string][]Label{
		"mkl: labels[1]: no sample is known to have it: there is nothing to learn": make([]Label, 60),
		"mkl: labels[1][0] is Label(7)":                                            append([]Label{7}, labels[1][1:]...),
	} {
		if bad[0] == LabelUnknown {
			bad[0] = LabelAbsent
		}
		_, err := MultiLabel{}.Fit(context.Background(), rbfs(x), labels[0], bad)
		assert.EqualError(t, err, want)
	}
}

func TestLabelPredictor(t *testing.T) {
	x, class := blobs(1, 60, 3)
	labels := make([][]bool, 2)
	for o := range labels {
		for _, c := range class {
			labels[o] = append(labels[o], c <= o)
		}
	}
	m, err := MultiLabel{Ascent: Ascent{MaxSweeps: 60}}.Fit(context.Background(), rbfs(x), allLabels(labels)...)
	require.NoError(t, err)
	z, _ := blobs(2, 30, 3)
	want, err := m.PredictLabels(context.Background(), PredictOptions{}, z)
	require.NoError(t, err)
	p, err := m.Predictor(PredictorOptions{Exact: true})
	require.NoError(t, err)
	probability := make([]float64, 2)
	for i := range z.Rows {
		require.NoError(t, p.Predict(probability, z.Row(i)))
		for o, v := range probability {
			require.InDelta(t, want.Probability[o][i], v, 1e-9)
		}
	}
	if !raceEnabled {
		point := z.Row(0)
		assert.Zero(t, testing.AllocsPerRun(100, func() {
			if err := p.Predict(probability, point); err != nil {
				panic(err)
			}
		}))
	}
	assert.Positive(t, len(p.Info()[1].Samples))
	assert.EqualError(t, p.Predict(probability[:1], z.Row(0)), "mkl: probability has length 1 and there are 2 labels")
	assert.Error(t, p.Predict(probability, z.Row(0)[:1]))
	_, err = m.Predictor(PredictorOptions{MeanOnly: true})
	assert.EqualError(t, err, "mkl: Predictor: MeanOnly leaves no probabilities")
}
