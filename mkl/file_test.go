package mkl

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var updateGolden = flag.Bool("update", false, "write testdata/models anew, where a file is missing")

// Files of goldenFit: of before predictions were healed, and since.
const (
	goldenModel = "../testdata/models/regression-v1.safetensors"
	healedModel = "../testdata/models/regression-healed-v1.safetensors"
)

// goldenFit is the fit behind the golden file: every kind of kernel and of input.
func goldenFit(t testing.TB) *RegressionModel {
	views, y, a, b := twoInputs(8, 12)
	distance := matrix(12, 12, func(i, j int) float64 { return euclid(a.Row(i), a.Row(j)) })
	similarity := matrix(12, 12, func(i, j int) float64 { return inner(b.Row(i), b.Row(j)) + 1 })
	views = append(views,
		View{Name: "given", X: distance, Input: "x3", Kernel: kernel.FromDistance{}},
		View{Name: "given", X: similarity, Input: "x4", Kernel: kernel.Precomputed{}, Center: true, Normalize: true},
		View{Name: "a", X: a, Input: "x1", Kernel: kernel.RBF{Scale: 2}})
	second := make([]float64, 12)
	for i := range second {
		second[i] = b.At(i, 0) - 2*a.At(i, 1)
	}
	m, err := Regression{Fitting: Fitting{Notes: map[string]string{"made by": "TestGoldenFile -update"}}, Ascent: Ascent{MaxSweeps: 30}}.Fit(context.Background(), views, y, second)
	require.NoError(t, err)
	return m
}

// goldenPoints are samples for the golden file's four inputs.
func goldenPoints() []Features {
	rng := rand.New(rand.NewPCG(4, 4))
	a, b := normal(rng, 5, 2), normal(rng, 5, 3)
	_, _, ta, tb := twoInputs(8, 12)
	distance := matrix(5, 12, func(i, j int) float64 { return euclid(a.Row(i), ta.Row(j)) })
	similarity := matrix(5, 13, func(i, j int) float64 {
		if j == 12 {
			return inner(b.Row(i), b.Row(i)) + 1
		}
		return inner(b.Row(i), tb.Row(j)) + 1
	})
	return []Features{a, b, distance, similarity}
}

// goldenPredictions is what was predicted when the file was written.
type goldenPredictions struct {
	Mean, Variance [][]float64
	Summary        string
}

// Every later version must read the files of this one and predict the same.
func TestGoldenFile(t *testing.T) {
	for _, name := range []string{goldenModel, healedModel} {
		t.Run(path.Base(name), func(t *testing.T) { testGoldenFile(t, name) })
	}
}

func testGoldenFile(t *testing.T, name string) {
	expected := strings.TrimSuffix(name, ".safetensors") + ".json"
	if _, err := os.Stat(name); *updateGolden && err != nil {
		m := goldenFit(t)
		var file bytes.Buffer
		require.NoError(t, m.Save(&file))
		p, err := m.PredictTargets(context.Background(), PredictOptions{}, goldenPoints()...)
		require.NoError(t, err)
		text, err := json.MarshalIndent(goldenPredictions{p.Mean, p.Variance, m.Summary()}, "", " ")
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll("../testdata/models", 0o755))
		require.NoError(t, os.WriteFile(name, file.Bytes(), 0o644))
		require.NoError(t, os.WriteFile(expected, text, 0o644))
	}
	file, err := os.ReadFile(name)
	require.NoError(t, err)
	text, err := os.ReadFile(expected)
	require.NoError(t, err)
	var want goldenPredictions
	require.NoError(t, json.Unmarshal(text, &want))

	m, err := LoadAs[*RegressionModel](bytes.NewReader(file))
	require.NoError(t, err)
	p, err := m.PredictTargets(context.Background(), PredictOptions{}, goldenPoints()...)
	require.NoError(t, err)
	for o := range want.Mean {
		assert.InDeltaSlice(t, want.Mean[o], p.Mean[o], 1e-10)
		assert.InDeltaSlice(t, want.Variance[o], p.Variance[o], 1e-10)
	}
	summary := want.Summary
	if m.healing == nil {
		summary += "predictions are not healed, and intervals away from the samples too short: the basis points are not the samples, or the file is from before healing\n"
	}
	assert.Equal(t, summary, m.Summary())
	assert.Equal(t, name == healedModel, m.healing != nil)
	var again bytes.Buffer
	require.NoError(t, m.Save(&again))
	wantMeta, wantTensors, err := readTensors(bytes.NewReader(file))
	require.NoError(t, err)
	gotMeta, gotTensors, err := readTensors(&again)
	require.NoError(t, err)
	delete(wantMeta, checksumKey)
	delete(gotMeta, checksumKey)
	assert.Equal(t, wantMeta, gotMeta)
	assert.Equal(t, wantTensors, gotTensors)
}

// The same for the other kinds of models.
func TestGoldenScores(t *testing.T) {
	views, y, _, _ := twoInputs(8, 12)
	settings := fitting{Fitting: Fitting{Notes: map[string]string{"made by": "TestGoldenScores -update"}}, Ascent: Ascent{MaxSweeps: 30}}
	grades, common := []string{"low", "middle", "high"}, Fitting{Notes: settings.Notes}
	probit := func(c probitEstimator[string], views ...View) func() (Model, error) {
		return func() (Model, error) {
			var labels []string
			for _, k := range parts(y, 3) {
				labels = append(labels, grades[k])
			}
			return orNil(c.Fit(context.Background(), views, labels))
		}
	}
	classes := func(n int) (labels []string) {
		for _, k := range parts(y, n) {
			labels = append(labels, []string{"low", "middle", "high"}[k])
		}
		return labels
	}
	learned := append(slices.Clone(views), View{Name: "learned", X: views[3].X, Kernel: kernel.RBF{ARD: true}, Standardize: true})
	for name, fit := range map[string]func() (Model, error){
		"multigp": func() (Model, error) {
			return orNil(MultiGP{Fitting: settings.Fitting, Climb: settings.climb()}.Fit(context.Background(), learned, y))
		},
		"multigp-classifier": func() (Model, error) {
			return orNil(MultiGPClassifier[string]{Fitting: settings.Fitting, Climb: settings.climb()}.Fit(context.Background(), learned, classes(3)))
		},
		"pool": func() (Model, error) {
			return orNil(Auto{Fitting: settings.Fitting, Climb: settings.climb()}.Fit(context.Background(), withOpenView(views), y))
		},
		"pools": func() (Model, error) {
			second := slices.Clone(y)
			for i := range second {
				second[i] *= float64(i % 3)
			}
			return orNil(AutoTargets{Fitting: settings.Fitting, Climb: settings.climb()}.Fit(context.Background(), withOpenView(views), y, second))
		},
		"pool-classifier": func() (Model, error) {
			return orNil(AutoClassifier[string]{Fitting: settings.Fitting, Climb: settings.climb()}.Fit(context.Background(), withOpenView(views), classes(3)))
		},
		"classifier": func() (Model, error) {
			return orNil(Classifier[string]{Fitting: settings.Fitting, Ascent: settings.Ascent}.Fit(context.Background(), views, classes(3)))
		},
		"multilabel": func() (Model, error) {
			labels := make([][]bool, 2)
			for _, k := range parts(y, 4) {
				labels[0], labels[1] = append(labels[0], k%2 == 1), append(labels[1], k > 1)
			}
			return orNil(MultiLabel{Fitting: settings.Fitting, Ascent: settings.Ascent}.Fit(context.Background(), views, allLabels(labels)...))
		},
		"task-classifier": func() (Model, error) {
			labels := make([][]bool, 2)
			for _, k := range parts(y, 4) {
				labels[0], labels[1] = append(labels[0], k%2 == 1), append(labels[1], k > 1)
			}
			return orNil(TaskClassifier{Fitting: settings.Fitting, Ascent: settings.Ascent}.Fit(context.Background(), views, known(labels, 3)...))
		},
		"shared-regression": func() (Model, error) {
			second := slices.Clone(y)
			for i := range second {
				second[i] *= float64(i % 3)
			}
			return orNil(SharedRegression{Fitting: Fitting{Notes: settings.Notes}, Ascent: Ascent{MaxSweeps: 30}}.Fit(context.Background(), views, y, second))
		},
		"shared-regression-gaps": func() (Model, error) {
			second := slices.Clone(y)
			for i := range second {
				if second[i] *= float64(i % 3); i%4 == 1 {
					second[i] = math.NaN()
				}
			}
			est := SharedRegression{Fitting: Fitting{Notes: settings.Notes}, Ascent: Ascent{MaxSweeps: 30}, MissingTargets: true}
			return orNil(est.Fit(context.Background(), views, y, second))
		},
		"task-regression": func() (Model, error) {
			second := slices.Clone(y)
			for i := range second {
				if second[i] *= float64(i % 3); i%4 == 1 {
					second[i] = math.NaN()
				}
			}
			est := TaskRegression{Fitting: Fitting{Notes: settings.Notes}, Ascent: Ascent{MaxSweeps: 30}, MissingTargets: true}
			return orNil(est.Fit(context.Background(), views, y, second))
		},
		"probit-classifier":           probit(ProbitClassifier[string]{Fitting: common, Ascent: settings.Ascent, Classes: grades, Rule: WeightedSum{}, Alpha: Gamma{Shape: 1e-6, Scale: 1e6}, Prune: 20}, views...),
		"probit-classifier-states":    probit(ProbitClassifier[string]{Fitting: common, Ascent: settings.Ascent, Classes: grades, Rule: SwitchedSum{}, Update: WeightUpdateStructured, Alpha: Gamma{Shape: 20, Scale: 1}}, views[0], views[3]),
		"probit-classifier-draws":     probit(ProbitSampler[string]{Fitting: common, Classes: grades, Rule: WeightedSum{}, GibbsDraws: GibbsDraws{Chains: 2, Draws: 5, Thin: 1, BurnIn: 8}}, views...),
		"probit-classifier-mode":      probit(ProbitMAP[string]{Fitting: common, Ascent: settings.Ascent, Classes: grades, Rule: WeightedSum{}}, views...),
		"probit-classifier-pruned":    probit(PrunedClassifier[string]{Fitting: common, Ascent: settings.Ascent, Classes: grades, Rule: WeightedSum{}}, views...),
		"probit-classifier-relevance": probit(RelevanceClassifier[string]{Fitting: common, Ascent: settings.Ascent, Classes: grades, Rule: WeightedSum{}}, views...),
	} {
		path := "../testdata/models/" + name + "-v1"
		predict := func(m Model) []float64 {
			x := goldenPoints()[:2]
			if m, ok := m.(ClassModel[string]); ok {
				p, err := m.PredictClasses(context.Background(), PredictOptions{}, x...)
				require.NoError(t, err)
				return slices.Concat(slices.Concat(p.Probability...), slices.Concat(p.Decision...))
			}
			if m, ok := m.(TargetModel); ok {
				p, err := m.PredictTargets(context.Background(), PredictOptions{}, x...)
				require.NoError(t, err)
				return slices.Concat(slices.Concat(p.Mean...), slices.Concat(p.Variance...))
			}
			p, err := m.(LabelModel).PredictLabels(context.Background(), PredictOptions{}, x...)
			require.NoError(t, err)
			return slices.Concat(slices.Concat(p.Probability...), slices.Concat(p.Decision...))
		}
		if _, err := os.Stat(path + ".safetensors"); *updateGolden && err != nil {
			m, err := fit()
			require.NoError(t, err)
			var file bytes.Buffer
			require.NoError(t, m.Save(&file))
			text, err := json.Marshal(predict(m))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path+".safetensors", file.Bytes(), 0o644))
			require.NoError(t, os.WriteFile(path+".json", text, 0o644))
		}
		file, err := os.ReadFile(path + ".safetensors")
		require.NoError(t, err)
		text, err := os.ReadFile(path + ".json")
		require.NoError(t, err)
		var want []float64
		require.NoError(t, json.Unmarshal(text, &want))
		m, err := Load(bytes.NewReader(file))
		require.NoError(t, err)
		assert.InDeltaSlice(t, want, predict(m), 1e-10)
	}
}

// A reader that shares no code with the package predicts from the golden file
// as docs/theory/model-file.md says.
func TestFileByItsDescription(t *testing.T) {
	file, err := os.ReadFile(goldenModel)
	require.NoError(t, err)
	n := binary.LittleEndian.Uint64(file)
	var header map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(file[8:8+n], &header))
	var meta struct{ Model, Kind string }
	require.NoError(t, json.Unmarshal(header["__metadata__"], &meta))
	require.Equal(t, "regression", meta.Kind)
	data := file[8+n:]
	read := func(name string) []float64 {
		var h struct {
			Offsets []int `json:"data_offsets"`
		}
		require.NoError(t, json.Unmarshal(header[name], &h))
		x := make([]float64, (h.Offsets[1]-h.Offsets[0])/8)
		for i := range x {
			x[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[h.Offsets[0]+8*i:]))
		}
		return x
	}
	var model struct {
		Basis int
		Views []struct {
			Input  int
			Kernel struct {
				Kind         string
				Width, Scale float64
				Widths       []float64
				Manhattan    bool
				Degree       int
				Offset       float64
			}
			Standardize, Center, Normalize bool
			TotalMean                      float64 `json:"total_mean"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(meta.Model), &model))
	D, L := model.Basis, len(read("target.mean"))
	points := goldenPoints()

	kernel := func(view int, x []float64, d int) float64 { // d < 0: of x with itself
		v := model.Views[view]
		k := v.Kernel
		if k.Kind == "precomputed" {
			if d < 0 {
				return x[D]
			}
			return x[d]
		}
		if k.Kind == "distance" {
			return math.Exp(-x[max(d, 0)] / k.Scale)
		}
		name := "input." + string(rune('0'+v.Input))
		basis := read(name + ".basis")
		x = slices.Clone(x)
		y := slices.Clone(x)
		if d >= 0 {
			y = slices.Clone(basis[d*len(x) : (d+1)*len(x)])
		}
		for j := range x {
			if v.Standardize {
				mean, sd := read(name + ".mean")[j], read(name + ".sd")[j]
				x[j] = (x[j] - mean) / sd
				if d >= 0 {
					y[j] = (y[j] - mean) / sd
				} else {
					y[j] = x[j]
				}
			}
			if k.Widths != nil {
				x[j], y[j] = x[j]/k.Widths[j], y[j]/k.Widths[j]
			}
		}
		switch k.Kind {
		case "rbf":
			w := k.Width
			if k.Scale != 0 {
				w = k.Scale / math.Sqrt2
			}
			if k.Widths != nil {
				w = 1
			}
			return math.Exp(-math.Pow(euclid(x, y)/w, 2) / 2)
		case "laplacian":
			if k.Manhattan {
				return math.Exp(-manhattan(x, y) / k.Width)
			}
			return math.Exp(-euclid(x, y) / k.Width)
		case "linear":
			return inner(x, y)
		case "polynomial":
			return math.Pow(k.Scale*inner(x, y)+k.Offset, float64(k.Degree))
		}
		t.Fatal(k.Kind)
		return 0
	}
	m, err := LoadAs[*RegressionModel](bytes.NewReader(file))
	require.NoError(t, err)
	want, err := m.PredictTargets(context.Background(), PredictOptions{MeanOnly: true}, points...)
	require.NoError(t, err)
	for o := range L {
		for i := range points[0].Rows {
			f := read("be.mean")[o]
			for view, v := range model.Views {
				x := points[v.Input].Row(i)
				ks := make([]float64, D)
				for d := range ks {
					ks[d] = kernel(view, x, d)
				}
				self := 0.0
				if v.Normalize {
					self = kernel(view, x, -1)
				}
				if v.Center {
					mean := 0.0
					for _, k := range ks {
						mean += k / float64(D)
					}
					for d, r := range read("view." + string(rune('0'+view)) + ".row_mean") {
						ks[d] += v.TotalMean - r - mean
					}
					self += v.TotalMean - 2*mean
				}
				var g float64
				for d, k := range ks {
					if v.Normalize {
						k *= read("view." + string(rune('0'+view)) + ".unit")[d] / math.Sqrt(self)
					}
					g += k * read("a")[o*D+d]
				}
				f += g * read("be.mean")[L+view]
			}
			assert.InDelta(t, want.Mean[o][i], read("target.mean")[o]+read("target.sd")[o]*f, 1e-10)
		}
	}
}

// signed returns the file with its checksum made right.
func signed(file []byte) []byte {
	key := []byte(`"sha256":"`)
	at := bytes.Index(file, key) + len(key)
	if at < len(key) || at+64 > len(file) {
		return file
	}
	file = slices.Clone(file)
	copy(file[at:], strings.Repeat("0", 64))
	sum := sha256.Sum256(file)
	hex.Encode(file[at:], sum[:])
	return file
}

func TestDamagedFiles(t *testing.T) {
	file, err := os.ReadFile(goldenModel)
	require.NoError(t, err)
	require.Equal(t, file, signed(file))
	for n := 0; n < len(file); n += 1 + n/50 {
		_, err := Load(bytes.NewReader(file[:n]))
		require.ErrorContains(t, err, "mkl: load: ", "cut off after %d bytes", n)
	}
	for at := 0; at < len(file); at += 1 + at/50 {
		bad := slices.Clone(file)
		bad[at] ^= 4
		_, err := Load(bytes.NewReader(bad))
		require.ErrorContains(t, err, "mkl: load: ", "byte %d", at)
	}
	_, err = Load(bytes.NewReader(append(slices.Clone(file), 0)))
	assert.EqualError(t, err, "mkl: load: bytes follow the last tensor")
}

// Files whose checksum is right and whose contents are not.
func TestWrongFiles(t *testing.T) {
	file, err := os.ReadFile(goldenModel)
	require.NoError(t, err)
	for _, c := range []struct {
		name  string
		spoil func(metadata map[string]string, ts map[string]tensor)
		want  string
	}{
		{"format", func(m map[string]string, _ map[string]tensor) { m["format"] = "pt" }, `format is "pt", not "bmkl"`},
		{"version", func(m map[string]string, _ map[string]tensor) { m["version"] = "2" }, `version is "2" and this program reads version 1`},
		{"kind", func(m map[string]string, _ map[string]tensor) { m["kind"] = "forest" }, `kind is "forest"`},
		{"no model", func(m map[string]string, _ map[string]tensor) { delete(m, "model") }, "model: EOF"},
		{"unknown field", func(m map[string]string, _ map[string]tensor) {
			m["model"] = strings.Replace(m["model"], `{`, `{"new":1,`, 1)
		}, `unknown field "new"`},
		{"missing tensor", func(_ map[string]string, ts map[string]tensor) { delete(ts, "lambda") }, "do not fit the tensors"},
		{"missing tensor", func(_ map[string]string, ts map[string]tensor) { delete(ts, "a") }, `tensor "a" is missing`},
		{"more tensors", func(_ map[string]string, ts map[string]tensor) {
			ts["b"] = tensor{name: "b", shape: []int{1}, data: []float64{1}}
		}, `tensor "b" is not expected`},
		{"shape", func(_ map[string]string, ts map[string]tensor) {
			ts["a"] = tensor{name: "a", shape: []int{12, 2}, data: ts["a"].data}
		}, `tensor "a": shape is [12 2] where [2 12] is expected`},
		{"NaN", func(_ map[string]string, ts map[string]tensor) { ts["input.1.basis"].data[7] = math.NaN() }, `tensor "input.1.basis": element 7 is NaN`},
		{"negative scale", func(_ map[string]string, ts map[string]tensor) { ts["lambda"].data[3] = -1 }, "Lambda: entry (0, 3) is -1"},
		{"no units", func(_ map[string]string, ts map[string]tensor) { ts["target.sd"].data[1] = 0 }, `tensor "target.sd": element 1 is 0`},
		{"indefinite weights", func(_ map[string]string, ts map[string]tensor) {
			x := ts["be.cov"]
			x.data[1], x.data[x.shape[1]] = 1e9, 1e9
		}, `tensor "be.cov": la: matrix is not positive definite`},
		{"asymmetric weights", func(_ map[string]string, ts map[string]tensor) { ts["be.cov"].data[1] += 1 }, "elements (1, 0) and (0, 1) differ"},
		{"indefinite gram", func(_ map[string]string, ts map[string]tensor) { ts["gram"].data[1] = 1e12 }, "la: matrix is not positive definite"},
		{"width", func(m map[string]string, _ map[string]tensor) {
			m["model"] = strings.Replace(m["model"], `"width":0.5`, `"width":-0.5`, 1)
		}, "views[0]: Width is -0.5"},
		{"kernel", func(m map[string]string, _ map[string]tensor) {
			m["model"] = strings.Replace(m["model"], `"kind":"rbf"`, `"kind":"wave"`, 1)
		}, `views[0]: kernel kind "wave" is unknown`},
		{"input", func(m map[string]string, _ map[string]tensor) {
			m["model"] = strings.Replace(m["model"], `"input":1`, `"input":4`, 1)
		}, "views[3]: input 4 of 4"},
		{"sort of input", func(m map[string]string, _ map[string]tensor) {
			m["model"] = strings.Replace(m["model"], `"input":2`, `"input":1`, 1)
		}, "on the wrong sort of input"},
		{"basis", func(m map[string]string, _ map[string]tensor) {
			m["model"] = strings.Replace(m["model"], `"basis":12`, `"basis":11`, 1)
		}, "do not fit the tensors"},
		{"collapsed", func(m map[string]string, _ map[string]tensor) {
			m["model"] = strings.Replace(m["model"], `"converged":false`, `"collapsed":[2],"converged":false`, 1)
		}, "trace.collapsed names target 2 of 2"},
	} {
		metadata, ts, err := readTensors(bytes.NewReader(file))
		require.NoError(t, err)
		c.spoil(metadata, ts)
		var bad bytes.Buffer
		require.NoError(t, writeTensors(&bad, metadata, slices.Collect(maps.Values(ts))))
		_, err = Load(&bad)
		assert.ErrorContains(t, err, c.want, c.name)
	}
}

func fileOf(header string, payload int) []byte {
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	file = append(file, header...)
	return signed(append(file, make([]byte, payload)...))
}

// Lengths that a file claims must not make the reader take memory.
func TestHostileFiles(t *testing.T) {
	sum := `"sha256":"` + noChecksum + `"`
	many := strings.Repeat("x", 1000)
	for name, file := range map[string][]byte{
		"empty":           {},
		"endless header":  binary.LittleEndian.AppendUint64(nil, math.MaxUint64),
		"long header":     binary.LittleEndian.AppendUint64(nil, maxHeader),
		"not JSON":        fileOf("model", 8),
		"no metadata":     fileOf(`{}`, 0),
		"no checksum":     fileOf(`{"__metadata__":{}}`, 0),
		"two checksums":   fileOf(`{"__metadata__":{`+sum+`,`+sum+`}}`, 0),
		"huge tensor":     fileOf(`{"__metadata__":{`+sum+`},"a":{"dtype":"F64","shape":[1000000,1000000],"data_offsets":[0,8000000000000]}}`, 100),
		"overflow":        fileOf(`{"__metadata__":{`+sum+`},"a":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,0]}}`, 0),
		"negative":        fileOf(`{"__metadata__":{`+sum+`},"a":{"dtype":"F64","shape":[-1,-1],"data_offsets":[0,8]}}`, 8),
		"overlap":         fileOf(`{"__metadata__":{`+sum+`},"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},"b":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}`, 8),
		"gap":             fileOf(`{"__metadata__":{`+sum+`},"a":{"dtype":"F64","shape":[1],"data_offsets":[8,16]}}`, 16),
		"other type":      fileOf(`{"__metadata__":{`+sum+`},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 8),
		"size":            fileOf(`{"__metadata__":{`+sum+`},"a":{"dtype":"F64","shape":[2],"data_offsets":[0,8]}}`, 8),
		"no offsets":      fileOf(`{"__metadata__":{`+sum+`},"a":{"dtype":"F64","shape":[]}}`, 8),
		"many dimensions": fileOf(`{"__metadata__":{`+sum+`},"a":{"dtype":"F64","shape":[0`+strings.Repeat(",9", 10000)+`],"data_offsets":[0,0]}}`, 0),
		"many views": fileOf(`{"__metadata__":{`+sum+`,"format":"bmkl","version":"1","kind":"regression","model":"{\"basis\":1,\"views\":[0`+
			strings.Repeat(",0", 100000)+`]}"},"omega":{"dtype":"F64","shape":[100001,0],"data_offsets":[0,0]},`+
			`"target.mean":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},"lambda":{"dtype":"F64","shape":[1,1],"data_offsets":[8,16]}}`, 16),
		"many kernels": fileOf(`{"__metadata__":{`+sum+`,"format":"bmkl","version":"1","kind":"regression","model":"{\"basis\":1000000000}"},`+
			`"omega":{"dtype":"F64","shape":[1000000000,0],"data_offsets":[0,0]},`+
			`"target.mean":{"dtype":"F64","shape":[1000000000,0],"data_offsets":[0,0]},"lambda":{"dtype":"F64","shape":[0,1000000000],"data_offsets":[0,0]}}`, 0),
		"long name": fileOf(`{"__metadata__":{`+sum+`},"`+many+`":{}}`, 0),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Load(bytes.NewReader(file))
		runtime.ReadMemStats(&after)
		assert.ErrorContains(t, err, "mkl: load: ", name)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20+64*len(file)), name)
	}
}

// Scales at the end of the range of floating-point numbers, which a file can claim, are
// refused or evaluated; none takes for ever.
func TestFilesOfHugeScales(t *testing.T) {
	views, y, _, _ := twoInputs(1, 12)
	m, err := FactorisedGP{Family: FamilyGIG, MaxSweeps: 5}.Fit(t.Context(), views, y)
	require.NoError(t, err)
	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	ends := []float64{-1e308, -1, 0, 0.5, 1e-308, 1e160, 1e308}
	read := 0
	for _, omega := range ends {
		for _, chi := range ends[2:] {
			for _, phi := range ends[2:] {
				metadata, ts, err := readTensors(bytes.NewReader(file.Bytes()))
				require.NoError(t, err)
				copy(ts["process.0.scales"].data, []float64{omega, chi, phi})
				var changed bytes.Buffer
				require.NoError(t, writeTensors(&changed, metadata, slices.Collect(maps.Values(ts))))
				loaded, err := Load(&changed)
				if err != nil {
					assert.True(t, errors.Is(err, gram.ErrBeyond) || strings.Contains(err.Error(), "Scales[0]"), "%v", err)
					continue
				}
				read++
				assert.NotEmpty(t, loaded.Summary())
				for _, w := range loaded.KernelWeights() {
					assert.False(t, math.IsNaN(w.Mean) || math.IsNaN(w.SD), "GIG(%g, %g, %g)", omega, chi, phi)
				}
			}
		}
	}
	assert.Greater(t, read, 20)
}

// tiny returns files of models of every kind, as small as they can be: a fuzzer changes a
// byte at a time, and what it learns from 40 kB it learns from 2.
func tiny(f testing.TB) (files [][]byte) {
	views := []View{{X: Column([]float64{1, 2, 4, 3}), Kernel: kernel.RBF{Width: 1}}}
	y, labels := []float64{1, -1, 2, 0.5}, []int{0, 1, 0, 1}
	ramp := make([]float64, mostDrawn+1) // few features of more samples
	for i := range ramp {
		ramp[i] = float64(i % 7)
	}
	line := []View{{X: Column(ramp), Kernel: kernel.Linear{}, Center: true}}
	s := fitting{Ascent: Ascent{MaxSweeps: 2}, allowDuplicates: true}
	ctx := context.Background()
	collapsed := func(m Model, err error) Model {
		if c, ok := errors.AsType[*CollapsedError](err); ok {
			return c.Model
		}
		require.NoError(f, err)
		return m
	}
	fourByFour := DenseTable{{1, 0, math.NaN(), 1}, {0, 1, 1, 0}, {1, 1, 0, 0}, {0, 0, 1, 1}}
	sampled := ProbitSampler[int]{Fitting: s.Fitting, Rule: WeightedSum{}, GibbsDraws: GibbsDraws{Chains: 1, Draws: 4, Thin: 1, BurnIn: 8}}
	for _, m := range []Model{
		collapsed(orNil(Regression{Fitting: s.Fitting, Ascent: s.Ascent}.Fit(ctx, views, y))),
		collapsed(orNil(SharedRegression{Fitting: s.Fitting, Ascent: s.Ascent}.Fit(ctx, views, y))),
		collapsed(orNil(TaskRegression{Fitting: s.Fitting, Ascent: s.Ascent}.Fit(ctx, views, y))),
		collapsed(orNil(Classifier[int]{Fitting: s.Fitting, Ascent: s.Ascent}.Fit(ctx, views, labels))),
		collapsed(orNil(MultiLabel{Fitting: s.Fitting, Ascent: s.Ascent}.Fit(ctx, views, LabelsOf([]bool{true, false, true, true})))),
		collapsed(orNil(TaskClassifier{Fitting: s.Fitting, Ascent: s.Ascent}.Fit(ctx, views, []Label{LabelPresent, LabelAbsent, LabelUnknown, LabelPresent}))),
		collapsed(orNil(MultiGP{Fitting: s.Fitting, Climb: s.climb(), PointScales: true}.Fit(ctx, views, y))),
		collapsed(orNil(MultiGP{Fitting: s.Fitting, Climb: s.climb()}.Fit(ctx, views, y))),
		collapsed(orNil(MultiGP{Fitting: s.Fitting, Climb: s.climb()}.Fit(ctx, line, ramp))),
		collapsed(orNil(MultiGP{Fitting: s.Fitting, Climb: s.climb(), Noise: VaryingNoise}.Fit(ctx, views, y))),
		collapsed(orNil(MultiGP{Fitting: s.Fitting, Climb: s.climb(), Noise: HeavyNoise}.Fit(ctx, views, y))),
		collapsed(orNil(MultiGPClassifier[int]{Fitting: s.Fitting, Climb: s.climb()}.Fit(ctx, views, labels))),
		collapsed(orNil(Auto{Fitting: s.Fitting, Climb: s.climb()}.Fit(ctx, views, y))),
		collapsed(orNil(AutoTargets{Fitting: s.Fitting, Climb: s.climb()}.Fit(ctx, views, y))),
		collapsed(orNil(AutoClassifier[int]{Fitting: s.Fitting, Climb: s.climb()}.Fit(ctx, views, labels))),
		collapsed(orNil(LandmarkGP{Fitting: s.Fitting, Climb: s.climb()}.Fit(ctx, views, y))),
		collapsed(orNil(LandmarkClassifier[int]{Fitting: s.Fitting, MinRise: s.Tolerance, MaxPasses: s.MaxSweeps}.Fit(ctx, views, labels))),
		collapsed(orNil(probitOf[int](s, WeightedSum{}).Fit(ctx, views, labels))),
		collapsed(orNil(sampled.Fit(ctx, views, labels))),
		collapsed(orNil(MultiTask{Fitting: s.Fitting, Ascent: s.Ascent}.Fit(ctx, views, y))),
		collapsed(orNil(SpikeSlab{Fitting: s.Fitting, Ascent: s.Ascent}.Fit(ctx, views[0].X, y))),
		collapsed(orNil(FactorAnalysis{Fitting: s.Fitting, Ascent: s.Ascent, Factors: 1}.Fit(ctx, DenseTable{{1, 2}, {2, 5}, {3, 6}}))),
		collapsed(orNil(PairRegression{Fitting: s.Fitting, Ascent: s.Ascent, Components: 2}.Fit(ctx, views[:1], views[:1], fourByFour))),
		collapsed(orNil(PairClassifier{Fitting: s.Fitting, Ascent: s.Ascent, Components: 1}.Fit(ctx, views[:1], views[:1], fourByFour))),
	} {
		switch m := m.(type) { // one draw does for a file
		case *MultiGPModel:
			keepOneDraw(m)
		case *AutoModel:
			for _, member := range m.members {
				keepOneDraw(member)
			}
		case *AutoTargetsModel:
			for _, member := range m.pools[0].members {
				keepOneDraw(member)
			}
		}
		var file bytes.Buffer
		require.NoError(f, m.Save(&file))
		require.Less(f, file.Len(), 6000, m.Kind())
		files = append(files, file.Bytes())
	}
	return files
}

func keepOneDraw(m *MultiGPModel) {
	if m.draws != nil {
		m.draws.posteriors, m.draws.designs = m.draws.posteriors[:1], m.draws.designs[:1]
	}
}

// The files that FuzzLoad begins with are kept: every process of a fuzzer would fit them
// anew.
func TestSeedsOfFuzzLoad(t *testing.T) {
	for _, file := range tiny(t) {
		m, err := Load(bytes.NewReader(file))
		require.NoError(t, err)
		name := "testdata/fuzz/FuzzLoad/" + m.Kind()
		if _, ok := m.(*ProbitClassifierModel[string]); ok && math.IsNaN(m.Bound()) {
			name += "-sampled"
		}
		if g, ok := m.(*MultiGPModel); ok && g.noise != nil {
			name += "-varying"
		} else if ok && g.Outputs()[0].NoiseFreedom != 0 {
			name += "-heavy"
		} else if ok && g.draws != nil {
			name += "-drawn"
		} else if ok && g.design.Share != nil {
			name += "-spanned"
		}
		switch p := m.(type) { // posteriors without healing, as in old files, are kept too
		case *PairRegressionModel:
			if p.healed[0] != nil {
				name += "-healed"
			}
		case *PairClassifierModel:
			if p.healed[0] != nil {
				name += "-healed"
			}
		}
		if _, err := os.Stat(name); *updateGolden && err != nil {
			require.NoError(t, os.MkdirAll(path.Dir(name), 0o755))
			require.NoError(t, os.WriteFile(name, []byte("go test fuzz v1\n[]byte("+strconv.Quote(string(file))+")\n"), 0o644))
		}
		kept, err := os.ReadFile(name)
		require.NoError(t, err)
		text, err := strconv.Unquote(strings.TrimSuffix(strings.TrimPrefix(string(kept), "go test fuzz v1\n[]byte("), ")\n"))
		require.NoError(t, err)
		old, err := Load(strings.NewReader(text))
		require.NoError(t, err)
		require.Equal(t, m.Kind(), old.Kind())
	}
}

// FuzzLoad corrects the checksum, so that changes get past it. Files are no longer
// than the files of small models: a long file uses the same code.
func FuzzLoad(f *testing.F) {
	f.Add(fileOf(`{}`, 0))
	const longest = 1 << 13
	f.Fuzz(func(t *testing.T, file []byte) {
		if len(file) > longest {
			return
		}
		m, err := Load(bytes.NewReader(signed(file)))
		if err != nil {
			return
		}
		var again bytes.Buffer
		require.NoError(t, m.Save(&again))
		back, err := Load(bytes.NewReader(again.Bytes()))
		require.NoError(t, err)
		require.Equal(t, m.Summary(), back.Summary())
		var x []Features
		for _, in := range m.Inputs() {
			if in.Cols > longest {
				return // a header can claim columns that no tensor has
			}
			x = append(x, matrix(1, in.Cols, func(_, j int) float64 { return float64(j % 3) }))
		}
		// Overflow is an error, other trouble a panic.
		switch m := m.(type) {
		case *RegressionModel:
			_, _ = m.PredictTargets(context.Background(), PredictOptions{}, x...)
		case *ClassifierModel[string]:
			_, _, _ = m.Predict(x...)
		case LabelModel:
			_, _ = m.PredictLabels(context.Background(), PredictOptions{}, x...)
		case TargetModel:
			_, _ = m.PredictTargets(context.Background(), PredictOptions{}, x...)
		case ClassModel[string]:
			_, _ = m.PredictClasses(context.Background(), PredictOptions{}, x...)
		case *FactorAnalysisModel:
			_, _, _ = m.Complete(TableCell{})
		case *PairRegressionModel:
			rows, columns := pairSides(m, x)
			_, _, _ = m.Predict(rows, columns)
			_, _, _ = m.Predict(PairSide{}, PairSide{})
		case *PairClassifierModel:
			rows, columns := pairSides(m, x)
			_, _ = m.Predict(rows, columns)
			_, _ = m.Predict(PairSide{}, PairSide{})
		default:
			t.Fatalf("%T", m)
		}
	})
}

// Errors do not repeat long texts of a file.
func TestLongTextsAreCutOff(t *testing.T) {
	long := strings.Repeat("k", 1<<16)
	x, y := normal(rand.New(rand.NewPCG(1, 1)), 12, 2), make([]float64, 12)
	labels := make([]string, len(y))
	for i := range y {
		y[i], labels[i] = x.At(i, 0), string(rune('a'+i%2))
	}
	ctx, views := context.Background(), []View{{X: x, Kernel: kernel.RBF{Width: 1}}}
	m, err := Classifier[string]{Ascent: Ascent{MaxSweeps: 3}}.Fit(ctx, views, labels)
	require.NoError(t, err)
	plan, err := LandmarkGP{}.Begin(ctx, views, y)
	require.NoError(t, err)
	classPlan, err := LandmarkClassifier[string]{}.Begin(ctx, views, labels)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		save func(io.Writer) error
		load func(io.Reader) error
	}{
		"model":      {m.Save, func(r io.Reader) error { _, err := Load(r); return err }},
		"known":      {m.Save, func(r io.Reader) error { _, err := LoadAs[*ClassifierModel[string]](r); return err }},
		"plan":       {plan.Save, func(r io.Reader) error { _, err := LoadAs[*Plan](r); return err }},
		"class plan": {classPlan.Save, func(r io.Reader) error { _, err := LoadAs[*ClassPlan[string]](r); return err }},
	} {
		for change, to := range map[string]func(metadata map[string]string){
			"kind": func(m map[string]string) { m["kind"] = long },
			"classes": func(m map[string]string) {
				m["model"] = strings.ReplaceAll(m["model"], `"a","b"`, `"`+long+`","`+long+`"`)
			},
			"field": func(m map[string]string) { m["model"] = `{"` + long + `":1,` + m["model"][1:] },
		} {
			var file, changed bytes.Buffer
			require.NoError(t, c.save(&file))
			metadata, ts, err := readTensors(&file)
			require.NoError(t, err)
			was := metadata["model"] + metadata["kind"]
			if to(metadata); metadata["model"]+metadata["kind"] == was {
				continue // a plan has no classes
			}
			require.NoError(t, writeTensors(&changed, metadata, slices.Collect(maps.Values(ts))))
			err = c.load(&changed)
			require.Error(t, err, "%s, %s", name, change)
			assert.Less(t, len(err.Error()), 1100, "%s, %s", name, change)
		}
	}
}

// Files whose views see what cannot be seen.
func TestWrongSights(t *testing.T) {
	assert.NoError(t, gram.Sight{Columns: []int{0}}.Check(math.MaxInt), "columns that a file claims take no memory")
	_, y, a, b := twoInputs(1, 12)
	m, err := Regression{Ascent: Ascent{MaxSweeps: 5}}.Fit(context.Background(), sightedViews(a, b), y)
	require.NoError(t, err)
	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	for _, c := range []struct{ from, to, want string }{
		{`"columns":[2,0]`, `"columns":[3,0]`, "views[2]: Columns[0] is 3, and X has 3 columns"},
		{`"columns":[2,0]`, `"columns":[0,0]`, "views[2]: Columns[1] is 0 a second time"},
		{`"columns":[2,0]`, `"columns":[]`, "views[2]: Columns is empty: nil stands for all"},
		{`"columns":[2,0]`, `"columns":[1]`, "views[2]: Widths: 2 widths where the samples have 1 features"},
		{`"standardize":true,"center"`, `"standardize":true,"ranks":true,"center"`, "views[3]: Ranks and Standardize exclude each other"},
	} {
		assertRefused(t, file.Bytes(), func(m map[string]string, _ map[string]tensor) {
			require.Contains(t, m["model"], c.from)
			m["model"] = strings.Replace(m["model"], c.from, c.to, 1)
		}, c.want)
	}
}

// The error for a table in place of a model file shows how the table begins.
func TestTextIsNoModelFile(t *testing.T) {
	_, err := Load(strings.NewReader("name,genus,vore\nCheetah,Acinonyx,carni\n"))
	assert.ErrorContains(t, err, `it is not a model file: it begins with "name,gen"`)
}
