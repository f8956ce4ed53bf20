package mkl

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/archive"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// compiledModels returns small models of all kinds that Compile takes, fitted to rows of two features.
func compiledModels(t testing.TB) map[string]Model {
	t.Helper()
	ctx, src := context.Background(), rand.New(rand.NewPCG(301, 302))
	x := normal(src, 70, 2)
	y, labels := make([]float64, x.Rows), make([]string, x.Rows)
	two := make([]string, x.Rows)
	for i := range y {
		y[i] = x.At(i, 0) - x.At(i, 1)*x.At(i, 1) + 0.3*src.NormFloat64()
		labels[i], two[i] = string(rune('a'+i%3)), "no"
		if y[i] > 0 {
			labels[i], two[i] = "d", "yes"
		}
	}
	wide := []View{{X: x, Kernel: kernel.RBF{Width: 2}}, {X: x, Kernel: kernel.RBF{Width: 0.2}}}
	line := []View{{X: x.Slice(0, x.Rows, 0, 1).Clone(), Kernel: kernel.RBF{Width: 3}}}
	few := &Landmarks{Count: 20}
	models := map[string]Model{}
	keep := func(name string, m Model, err error) {
		require.NoError(t, err, name)
		models[name] = m
	}
	process, err := MultiGP{}.Fit(ctx, wide, y)
	keep("process", process, err)
	pivots, err := MultiGP{}.Fit(ctx, line, y)
	keep("pivots", pivots, err)
	varying, err := MultiGP{Noise: VaryingNoise}.Fit(ctx, wide, y)
	keep("varying noise", varying, err)
	classes, err := MultiGPClassifier[string]{}.Fit(ctx, wide, labels)
	keep("classes", classes, err)
	landmarks, err := LandmarkGP{Landmarks: few}.Fit(ctx, wide, y)
	keep("landmarks", landmarks, err)
	landmarkClasses, err := LandmarkClassifier[string]{Landmarks: few}.Fit(ctx, wide, two)
	keep("landmark classes", landmarkClasses, err)
	pool, err := Auto{}.Fit(ctx, []View{{X: x}}, y)
	keep("pool", pool, err)
	price := make([]float64, len(y))
	for i, v := range y {
		price[i] = math.Exp(v)
	}
	scaled, err := Auto{}.Fit(ctx, []View{{X: x}}, price)
	keep("pool of a square root", scaled, err)
	require.Equal(t, rootScale, scaled.scale)
	classPool, err := AutoClassifier[string]{}.Fit(ctx, []View{{X: x}}, labels)
	keep("class pool", classPool, err)
	addCompiledWeights(t, keep, wide, line, y, labels)
	return models
}

// addCompiledWeights adds models of weighted kernels: those with triangles, also in integers, with pivots, and with neither.
func addCompiledWeights(t testing.TB, keep func(name string, m Model, err error), wide, line []View, y []float64, labels []string) {
	t.Helper()
	ctx, src := context.Background(), rand.New(rand.NewPCG(307, 308))
	ascent := Ascent{MaxSweeps: 60}
	second := make([]float64, len(y))
	has := make([]bool, len(y))
	for i, v := range y {
		second[i], has[i] = float64(v*v), v > 0
	}
	healed, err := Regression{Ascent: ascent}.Fit(ctx, wide, y, second)
	keep("regression", healed, err)
	pivots, err := Regression{Ascent: ascent}.Fit(ctx, line, y)
	keep("regression with pivots", pivots, err)
	shared, err := SharedRegression{Ascent: ascent}.Fit(ctx, wide, y, second)
	keep("shared regression", shared, err)
	tasks, err := TaskRegression{Ascent: Ascent{MaxSweeps: 9}}.Fit(ctx, wide, y, second)
	keep("regression of tasks", tasks, err)
	classes, err := Classifier[string]{Ascent: ascent}.Fit(ctx, wide, labels)
	keep("scores of classes", classes, err)
	several, err := MultiLabel{Ascent: ascent}.Fit(ctx, wide, LabelsOf(has))
	keep("labels", several, err)
	taskLabels, err := TaskClassifier{Ascent: Ascent{MaxSweeps: 9}}.Fit(ctx, wide, LabelsOf(has))
	keep("labels of tasks", taskLabels, err)

	const n = 260 // integers are tried from 256 samples on
	x, f := normal(src, n, 2), make([]float64, n)
	for i := range f {
		f[i] = math.Sin(3*x.At(i, 0)) + x.At(i, 1) + src.NormFloat64()
	}
	many := []View{{X: x, Kernel: kernel.RBF{Width: 2}}, {X: x, Kernel: kernel.RBF{Width: 0.2}}}
	integers, err := Regression{Ascent: ascent}.Fit(ctx, many, f)
	keep("regression in integers", integers, err)
	p, err := integers.Predictor(PredictorOptions{})
	require.NoError(t, err)
	require.NotNil(t, p.weights.rounded)
}

// bitsOf returns the bits of the numbers.
func bitsOf(x []float64) (bits []uint64) {
	for _, v := range x {
		bits = append(bits, math.Float64bits(v))
	}
	return bits
}

// predictions returns what the predictor of a model with these options predicts of some rows, and of rows far away.
func predictions(t testing.TB, m Model, opt PredictorOptions) (out []float64, err error) {
	src := rand.New(rand.NewPCG(303, 304))
	rows := func(do func(row [][]float64)) {
		for i := range 12 {
			row := make([][]float64, len(m.Inputs()))
			for j, in := range m.Inputs() {
				for range in.Cols {
					row[j] = append(row[j], src.NormFloat64()*float64(1+i/4*i/4))
				}
			}
			do(row)
		}
	}
	switch m := m.(type) {
	case interface {
		Predictor(PredictorOptions) (*Predictor, error)
	}:
		p, err := m.Predictor(opt)
		if err != nil {
			return nil, err
		}
		rows(func(row [][]float64) {
			b, err := p.PredictWithBound(row...)
			if err != nil {
				b = nothing
			}
			out = append(out, b.Mean, b.Variance, b.MeanError, b.SDError)
		})
	case interface {
		Predictor(PredictorOptions) (*ClassPredictor[string], error)
	}:
		p, err := m.Predictor(opt)
		if err != nil {
			return nil, err
		}
		rows(func(row [][]float64) {
			probability := make([]float64, len(m.(ClassModel[string]).Classes()))
			_, bound, _ := p.PredictWithBound(probability, row...)
			out = append(append(out, probability...), bound)
		})
	case LabelModel:
		p, err := m.(interface {
			Predictor(PredictorOptions) (*LabelPredictor, error)
		}).Predictor(opt)
		if err != nil {
			return nil, err
		}
		rows(func(row [][]float64) {
			probability := make([]float64, m.Labels())
			bound, _ := p.PredictWithBound(probability, row...)
			out = append(append(out, probability...), bound)
		})
	default:
		t.Fatalf("%T", m)
	}
	return out, nil
}

// A compiled file predicts to the bit what the model predicts, with the options that it has prepared and with others, and
// whether it is read or mapped.
func TestCompiled(t *testing.T) {
	for name, m := range compiledModels(t) {
		t.Run(name, func(t *testing.T) {
			options := []PredictorOptions{{}, {Tolerance: 1e-4}}
			if _, ok := m.(TargetModel); ok {
				options = append(options, PredictorOptions{MeanOnly: true})
			}
			var file bytes.Buffer
			require.NoError(t, Compile(&file, m, options...))
			path := filepath.Join(t.TempDir(), "model")
			require.NoError(t, os.WriteFile(path, file.Bytes(), 0o600))
			read, err := Load(bytes.NewReader(file.Bytes()))
			require.NoError(t, err)
			f, err := OpenFile(path)
			require.NoError(t, err)
			assert.Equal(t, options, Prepared(read))
			assert.Nil(t, Prepared(m))
			for _, opt := range append(options, PredictorOptions{Tolerance: 1e-3}, PredictorOptions{Exact: true}) {
				want, err := predictions(t, m, opt)
				require.NoError(t, err)
				for _, loaded := range []Model{read, f.Model} {
					got, err := predictions(t, loaded, opt)
					require.NoError(t, err)
					assert.Equal(t, bitsOf(want), bitsOf(got))
				}
			}
			var saved, again bytes.Buffer
			require.NoError(t, m.Save(&saved))
			require.NoError(t, read.Save(&again))
			assert.Equal(t, saved.Bytes(), again.Bytes(), "a saved model has no prepared values")
			require.NoError(t, f.Close())

			// The predictor comes from the file: another file's values predict something else, or are refused.
			k := read.(interface{ kept() *prepared }).kept()
			k.data[0] = slices.Clone(k.data[0])
			for i := len(k.data[0]) / 2; i < len(k.data[0]); i++ {
				k.data[0][i] ^= 0x15
			}
			want, err := predictions(t, m, options[0])
			require.NoError(t, err)
			got, err := predictions(t, read, options[0])
			assert.True(t, err != nil || !slices.Equal(bitsOf(want), bitsOf(got)))
		})
	}
}

// Compile refuses other models, and options that have no predictor.
func TestCompileRefuses(t *testing.T) {
	x, y := normal(rand.New(rand.NewPCG(1, 1)), 12, 2), make([]float64, 12)
	for i := range y {
		y[i] = x.At(i, 0)
	}
	m, err := SpikeSlab{Ascent: Ascent{MaxSweeps: 3}}.Fit(context.Background(), x, y)
	require.NoError(t, err)
	assert.EqualError(t, Compile(&bytes.Buffer{}, m), "mkl: Compile: a model of the kind spike-slab makes its predictor in little time")
	g, err := MultiGP{}.Fit(context.Background(), []View{{X: x, Kernel: kernel.RBF{Width: 1}}}, y)
	require.NoError(t, err)
	assert.ErrorContains(t, Compile(&bytes.Buffer{}, g, PredictorOptions{Target: 1}), "target 1 of 1")

	var file bytes.Buffer
	require.NoError(t, Compile(&file, g))
	for _, c := range []struct {
		change func(metadata map[string]string, ts map[string]tensor)
		want   string
	}{
		{func(m map[string]string, _ map[string]tensor) { delete(m, preparedKey) }, `tensor "prepared.0" is not expected`},
		{func(m map[string]string, _ map[string]tensor) { m[preparedKey] = "{" }, "prepared: unexpected end of JSON input"},
		{func(_ map[string]string, ts map[string]tensor) { delete(ts, "prepared.0") }, `tensor "prepared.0" is missing`},
		{func(_ map[string]string, ts map[string]tensor) {
			ts["prepared.1"] = ts["prepared.0"].called("prepared.1")
		},
			`tensor "prepared.1" is not expected`},
	} {
		assertRefused(t, file.Bytes(), c.change, c.want)
	}
	damaged := slices.Clone(file.Bytes())
	damaged[len(damaged)/2] ^= 1
	_, err = Load(bytes.NewReader(damaged))
	assert.ErrorContains(t, err, "the checksum does not match: the file is damaged")
	_, err = OpenFile(filepath.Join(t.TempDir(), "none"))
	assert.ErrorIs(t, err, os.ErrNotExist)
	empty := filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	_, err = OpenFile(empty)
	assert.ErrorContains(t, err, "the header's length: unexpected EOF")

	// Values of another version are ignored.
	older := strings.ReplaceAll(file.String(), `\"version\":\"`+preparedVersion+`\"`, `\"version\":\"0\"`)
	require.NotEqual(t, older, file.String())
	back, err := Load(bytes.NewReader(signed([]byte(older))))
	require.NoError(t, err)
	assert.Nil(t, Prepared(back))
	want, err := predictions(t, g, PredictorOptions{})
	require.NoError(t, err)
	got, err := predictions(t, back, PredictorOptions{})
	require.NoError(t, err)
	assert.Equal(t, bitsOf(want), bitsOf(got))
}

// called returns the tensor with another name.
func (t tensor) called(name string) tensor {
	t.name = name
	return t
}

// Values that were cut or changed are refused, or predict something; nothing panics.
func TestForgedPreparedValues(t *testing.T) {
	src := rand.New(rand.NewPCG(305, 306))
	for name, m := range compiledModels(t) {
		var file bytes.Buffer
		require.NoError(t, Compile(&file, m))
		read, err := Load(bytes.NewReader(file.Bytes()))
		require.NoError(t, err)
		k := read.(interface{ kept() *prepared }).kept()
		whole := k.data[0]
		attack := func(data []byte) (refused bool) {
			k.data[0] = data
			_, err := predictions(t, read, PredictorOptions{})
			return err != nil
		}
		for _, n := range []int{0, 1, 8, 16, len(whole) / 3, len(whole) - 64} {
			assert.True(t, attack(whole[:n:n]), "%s cut to %d of %d", name, n, len(whole))
		}
		assert.True(t, attack(append(slices.Clone(whole), make([]byte, 64)...)), name)
		for range 200 {
			data := slices.Clone(whole)
			for range 1 + src.IntN(3) {
				at := src.IntN(len(data)) / 8 * 8
				if src.IntN(2) == 0 {
					at = src.IntN(min(len(data), 512)) / 8 * 8 // lengths are at the front
				}
				word := []uint64{0, 1, 2, 63, 70, 1 << 20, 1 << 40, 1 << 62, 1<<64 - 1, 0x7ff8000000000001}[src.IntN(10)]
				for b := range 8 {
					data[at+b] = byte(word >> (8 * b))
				}
			}
			attack(data)
		}
	}
}

// Kernels and samples that a model does not have, or that are out of order, are refused, and so are bounds that are no numbers.
func TestForgedPruning(t *testing.T) {
	for want, p := range map[string]pruning{
		"":                          {kernels: []int{0, 1}, samples: []int{0, 2}},
		"kernel 2 is not one of 2":  {kernels: []int{2}, samples: []int{0}},
		"sample -1 is not one of 3": {kernels: []int{0}, samples: []int{-1, 0}},
		"a bound on an error is no number from 0 on": {kernels: []int{0}, samples: []int{0}, meanError: math.NaN()},
		"kernels or samples are not in their order":  {kernels: []int{0}, samples: []int{1, 1}},
		"a factor has another order of samples":      {kernels: []int{0}, samples: []int{0, 1}, order: []int{0}},
		"a factor has a higher rank than its matrix": {kernels: []int{0}, samples: []int{0}, ct: la.NewMatrix[float64](2, 1)},
	} {
		covariance := strings.HasPrefix(want, "a factor")
		a := archive.New()
		p.archive(a, 9, 9, covariance)
		r := archive.Open(a.Bytes())
		new(pruning).archive(r, 2, 3, covariance)
		if want == "" {
			assert.NoError(t, r.Close())
		} else {
			assert.EqualError(t, r.Close(), want)
		}
	}
}

// FuzzCompiled changes compiled files, corrects their checksums, and makes predictions.
func FuzzCompiled(f *testing.F) {
	const longest = 1 << 14
	x, y := normal(rand.New(rand.NewPCG(1, 1)), 9, 1), make([]float64, 9)
	for i := range y {
		y[i] = x.At(i, 0)
	}
	for _, width := range []float64{0.1, 3} {
		m, err := MultiGP{}.Fit(context.Background(), []View{{X: x, Kernel: kernel.RBF{Width: width}}}, y)
		require.NoError(f, err)
		var file bytes.Buffer
		require.NoError(f, Compile(&file, m))
		f.Add(file.Bytes())
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		if len(file) > longest {
			return
		}
		m, err := Load(bytes.NewReader(signed(file)))
		if err != nil {
			return
		}
		for _, in := range m.Inputs() {
			if in.Cols > longest {
				return
			}
		}
		if _, ok := m.(*MultiGPModel); ok {
			_, _ = predictions(t, m, PredictorOptions{})
		}
	})
}
