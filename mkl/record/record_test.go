package record_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/mkl/record"
	"github.com/bmkl/bmkl/mkl/sequence"
)

// notes are as mkl fit writes them: a number that is filled in by 2, a text of two categories, a date, and a boolean.
const notes = `{"task":"regression","targets":["price"],"views":[{"name":"v","columns":["size","city","built","garden"],"plan":[
	{"name":"size","type":"number","fill":2,"indicator":true},
	{"name":"city","type":"text","categories":["Bonn","Ulm"],"fill":0},
	{"name":"built","type":"date"},
	{"name":"garden","type":"boolean"}],"left":[{"column":"id","why":"counts the rows"}]}]}`

// features are of the notes' columns.
func features() (la.Matrix[float64], []float64) {
	x, y := la.NewMatrix[float64](12, 6), make([]float64, 12)
	for i := range y {
		x.Set(i, 0, float64(i%5))
		x.Set(i, 2+i%2, 1)
		x.Set(i, 4, float64(i))
		x.Set(i, 5, float64(i/3%2))
		y[i] = float64(i%5) + float64(2*(i%2)) + math.Sin(float64(i))
	}
	return x, y
}

// fitted fits a model with notes.
func fitted(t *testing.T, notes map[string]string) *mkl.MultiGPModel {
	t.Helper()
	x, y := features()
	m, err := mkl.MultiGP{Fitting: mkl.Fitting{Notes: notes}}.Fit(context.Background(), []mkl.View{{X: x, Kernel: kernel.RBF{Width: 3}}}, y)
	require.NoError(t, err)
	return m
}

// opened is the predictor of a model with the notes above.
func opened(t *testing.T) (*mkl.MultiGPModel, *record.Predictor) {
	t.Helper()
	m := fitted(t, map[string]string{"mkl-command": notes})
	p, err := record.New(m)
	require.NoError(t, err)
	return m, p
}

func TestPredict(t *testing.T) {
	m, p := opened(t)
	assert.Equal(t, "regression", p.Task())
	assert.Equal(t, []string{"price"}, p.Targets())
	assert.Equal(t, []record.Column{
		{Name: "size", Type: "number", Views: []string{"v"}},
		{Name: "city", Type: "text", Views: []string{"v"}, Categories: []string{"Bonn", "Ulm"}},
		{Name: "built", Type: "date", Views: []string{"v"}, Required: true},
		{Name: "garden", Type: "boolean", Views: []string{"v"}, Required: true},
	}, p.Columns())
	day := time.Date(1970, 1, 4, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		record           map[string]any
		features         []float64
		missing, unknown []string
	}{
		{record: map[string]any{"size": 3, "city": "Ulm", "built": "1970-01-04", "garden": true}, features: []float64{3, 0, 0, 1, 3, 1}},
		{record: map[string]any{"size": "3.5", "city": " Bonn ", "built": day, "garden": "no", "id": 7, "price": 1}, features: []float64{3.5, 0, 1, 0, 3, 0}},
		{record: map[string]any{"size": json.Number("1e0"), "city": nil, "built": day, "garden": 1}, features: []float64{1, 0, 0, 0, 3, 1}, missing: []string{"city"}},
		{record: map[string]any{"size": math.NaN(), "city": "Rome", "built": day, "garden": 0, "extra": 1}, features: []float64{2, 1, 0, 0, 3, 0}, missing: []string{"size"}, unknown: []string{"city"}},
		{record: map[string]any{"city": "Ulm", "built": day, "garden": uint8(0)}, features: []float64{2, 1, 0, 1, 3, 0}, missing: []string{"size"}},
	} {
		got, err := p.Predict(t.Context(), c.record)
		require.NoError(t, err, c.record)
		x := la.NewMatrix[float64](1, 6)
		for j, v := range c.features {
			x.Set(0, j, v)
		}
		want, err := m.PredictTargets(t.Context(), mkl.PredictOptions{}, x)
		require.NoError(t, err)
		require.Len(t, got.Numbers, 1)
		of := got.Numbers[0]
		assert.Equal(t, record.Number{Target: "price", Mean: want.Mean[0][0], SD: math.Sqrt(want.Variance[0][0])}, record.Number{Target: of.Target, Mean: of.Mean, SD: of.SD})
		lower, upper := of.Interval(0.9)
		low, high := want.Interval(0, 0, 0.9)
		assert.Equal(t, [2]float64{low, high}, [2]float64{lower, upper})
		assert.Equal(t, c.missing, got.Missing)
		assert.Equal(t, c.unknown, got.Unknown)
	}
	none, err := p.PredictRows(t.Context(), nil)
	assert.NoError(t, err)
	assert.Empty(t, none)
}

func TestValueErrors(t *testing.T) {
	_, p := opened(t)
	whole := func(name string, value any) map[string]any {
		r := map[string]any{"size": 3, "city": "Ulm", "built": "1970-01-04", "garden": true}
		r[name] = value
		return r
	}
	for _, c := range []struct {
		record map[string]any
		want   string
	}{
		{map[string]any{"Size": 1, "city": "Ulm"}, `record 2: "Size" is no column of the model, and the record has no "size"`},
		{map[string]any{"size": 1}, `record 2: "built" has no value, and the fit filled in none`},
		{whole("garden", nil), `record 2: "garden" has no value, and the fit filled in none`},
		{whole("size", "big"), `record 2: "size" is a number, and "big" is none`},
		{whole("size", true), `record 2: "size" is a number, and the value is a boolean`},
		{whole("size", []int{1}), `record 2: "size" is a number, and the value is a []int`},
		{whole("size", math.Inf(1)), `record 2: "size" is infinite`},
		{whole("size", math.Inf(-1)), `record 2: "size" is infinite`},
		{whole("size", time.Time{}), `record 2: "size" is a number, and the value is a date`},
		{whole("built", 3), `record 2: "built" is a date, and the value is the number 3`},
		{whole("garden", 2), `record 2: "garden" is a boolean, and the value is the number 2`},
		{whole("size", []any{1.5}), `record 2: "size" is a number, and the value is a list`},
		{whole("city", []any{"Ulm"}), `record 2: "city" is text, and the value is a list`},
		{whole("city", map[string]any{"name": "Ulm"}), `record 2: "city" is text, and the value is an object`},
		{whole("city", []string{"Ulm"}), `record 2: "city" is text, and the value is a []string`},
	} {
		_, err := p.PredictRows(t.Context(), []map[string]any{whole("size", 1), c.record})
		assert.EqualError(t, err, c.want)
		var at *record.ValueError
		require.ErrorAs(t, err, &at)
		assert.Equal(t, 1, at.Record)
	}
}

// TestOutside names numbers and dates that are farther from the fit's than these are from each other.
func TestOutside(t *testing.T) {
	text := strings.NewReplacer(`"indicator":true`, `"indicator":true,"range":[0,4]`, `"type":"date"`, `"type":"date","range":[0,11]`).Replace(notes)
	p, err := record.New(fitted(t, map[string]string{"mkl-command": text}))
	require.NoError(t, err)
	assert.Equal(t, &[2]float64{0, 4}, p.Columns()[0].Range)
	assert.Nil(t, p.Columns()[3].Range)
	for _, c := range []struct {
		size, built any
		want        []string
	}{
		{-4, "1970-01-23", nil}, {8, "1969-12-21", nil}, {8.1, "1970-01-01", []string{"size"}}, {-4.1, "1970-01-24", []string{"size", "built"}},
		{nil, "1969-12-20", []string{"built"}},
	} {
		got, err := p.Predict(t.Context(), map[string]any{"size": c.size, "city": "Ulm", "built": c.built, "garden": true})
		require.NoError(t, err)
		assert.Equal(t, c.want, got.Outside)
	}
}

// TestPredictAtOnce predicts in several goroutines.
func TestPredictAtOnce(t *testing.T) {
	_, p := opened(t)
	one := map[string]any{"size": 3, "city": "Ulm", "built": "1970-01-04", "garden": true}
	want, err := p.Predict(t.Context(), one)
	require.NoError(t, err)
	var all sync.WaitGroup
	for range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			got, err := p.Predict(t.Context(), one)
			assert.NoError(t, err)
			assert.Equal(t, want, got)
		}()
	}
	all.Wait()
}

func TestOpen(t *testing.T) {
	m, _ := opened(t)
	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	p, err := record.Open(&file)
	require.NoError(t, err)
	assert.Len(t, p.Columns(), 4)

	_, err = record.Open(bytes.NewReader([]byte("no model")))
	assert.ErrorContains(t, err, "record: mkl: load: ")
	for text, want := range map[string]string{
		`{`:            "record: the plan of the columns: ",
		`{"views":[]}`: "record: the plan has 0 inputs where the model has 1",
		`{"views":[{"name":"v","columns":["a"]}]}`:                  `record: view "v": its columns become 1 features where the model needs 6`,
		`{"views":[{"name":"v","columns":["a"],"strings":{}}]}`:     `record: view "v": the plan has no such strings`,
		`{"strings":[null],"views":[{"name":"v","columns":["a"]}]}`: `record: the set 1 of strings is null`,
		`{"strings":[{"alphabet":"dna","kernels":["spectrum(k=2)"],"strings":["ACG"]}],"views":[{"name":"v","columns":["a"],"strings":{}}]}`:           `record: view "v": its strings have 2 kernels where the model needs 6`,
		`{"strings":[{"alphabet":"dna","kernels":["spectrum(k=2)"],"strings":["ACG"]}],"views":[{"name":"v","columns":["a"],"strings":{"kernel":1}}]}`: `record: view "v": the plan has no such strings`,
		`{"strings":[{"alphabet":"dna","kernels":["spectrum(k=2)"],"strings":["ACG"]}],"views":[{"name":"v","columns":["a","b"],"strings":{}}]}`:       `record: view "v": the plan has no such strings`,
	} {
		_, err = record.New(fitted(t, map[string]string{"mkl-command": text}))
		assert.ErrorContains(t, err, want)
	}
	_, err = record.New(fitted(t, nil))
	assert.EqualError(t, err, "record: the model names no columns: mkl fit did not write it")
}

// A value that the fit took for an empty cell is missing, as text and as a number.
func TestBlanks(t *testing.T) {
	p, err := record.New(fitted(t, map[string]string{"mkl-command": strings.Replace(notes, `{"task"`, `{"na":["-999","none"],"task"`, 1)}))
	require.NoError(t, err)
	row := func(size, city any) map[string]any {
		return map[string]any{"size": size, "city": city, "built": "2026-01-02", "garden": true}
	}
	want, err := p.Predict(t.Context(), row(nil, nil))
	require.NoError(t, err)
	assert.Equal(t, []string{"size", "city"}, want.Missing)
	for _, size := range []any{-999, -999.0, float32(-999), "-999", " -9.99e2 ", json.Number("-999")} {
		got, err := p.Predict(t.Context(), row(size, "none"))
		require.NoError(t, err)
		assert.Equal(t, want.Missing, got.Missing, "%T", size)
		assert.Equal(t, want.Numbers[0].Mean, got.Numbers[0].Mean, "%T", size)
	}
	got, err := p.Predict(t.Context(), row(999, "Ulm"))
	require.NoError(t, err)
	assert.Empty(t, got.Missing)
}

// TestBeyondNumbers names the record whose prediction is beyond all numbers, by the model and within a tolerance.
func TestBeyondNumbers(t *testing.T) {
	x, y := la.NewMatrix[float64](12, 1), make([]float64, 12)
	for i := range y {
		x.Set(i, 0, float64(i%5)-2)
		y[i] = x.At(i, 0) + math.Sin(float64(i))
	}
	own := map[string]string{"mkl-command": `{"targets":["y"],"views":[{"name":"v","columns":["x"]}]}`}
	m, err := mkl.MultiGP{Fitting: mkl.Fitting{Notes: own}}.Fit(t.Context(), []mkl.View{{X: x, Kernel: kernel.Linear{}}}, y)
	require.NoError(t, err)
	p, err := record.New(m)
	require.NoError(t, err)
	near, err := p.Within(0.01)
	require.NoError(t, err)
	all := []map[string]any{{"x": 1}, {"x": 2}, {"x": 1e300}}
	_, exact := p.PredictRows(t.Context(), all)
	_, fast := near.PredictRows(t.Context(), all)
	for _, err := range []error{exact, fast} {
		var at *record.ValueError
		require.ErrorAs(t, err, &at)
		assert.Equal(t, 2, at.Record)
		assert.Empty(t, at.Column)
		assert.Contains(t, err.Error(), "record 3 cannot be predicted: ")
	}
}

// TestTimesAndCounts compares times, counts and grades with the model's predictions.
func TestTimesAndCounts(t *testing.T) {
	const n = 40
	x, times, counts, grades, exposure := la.NewMatrix[float64](n, 1), make([]mkl.Lifetime, n), make([]float64, n), make([]string, n), make([]float64, n)
	for i := range n {
		x.Set(i, 0, float64(i%7)-3)
		mean := math.Exp(x.At(i, 0) / 3)
		times[i] = mkl.EventAt(mean * (1 + float64(i%5)/9))
		counts[i], exposure[i] = math.Floor(mean*float64(1+i%4)), float64(1+i%4)
		grades[i] = []string{"low", "middle", "high"}[min(2, int(mean))]
	}
	views := []mkl.View{{X: x, Kernel: kernel.RBF{Width: 2}}}
	fitting := func(beside string) mkl.Fitting {
		return mkl.Fitting{Notes: map[string]string{"mkl-command": `{"targets":["y"],"views":[{"name":"v","columns":["x"]}],"beside":{` + beside + `}}`}}
	}
	of := func(m mkl.Model, err error) *record.Predictor {
		require.NoError(t, err)
		p, err := record.New(m)
		require.NoError(t, err)
		fast, err := p.Within(0.01)
		require.NoError(t, err)
		assert.Equal(t, p, fast, "the model predicts all records")
		return p
	}
	at := la.MatrixOf(1, 1, []float64{0.7})

	survival, err := mkl.Survival{Fitting: fitting(`"event":"died"`)}.Fit(t.Context(), views, times)
	got, err := of(survival, err).Predict(t.Context(), map[string]any{"x": 0.7, "died": 1})
	require.NoError(t, err)
	later, err := survival.Predict(at)
	require.NoError(t, err)
	require.Len(t, got.Times, 1)
	lower, upper := got.Times[0].Interval(0.6)
	assert.Equal(t, []float64{later.Median()[0], later.Risk()[0], later.Quantile(0.2)[0], later.Quantile(0.8)[0], later.Survival(0, []float64{1.5})[0]},
		[]float64{got.Times[0].Median, got.Times[0].Risk, lower, upper, got.Times[0].After(1.5)})
	assert.Equal(t, math.Nextafter(1, 0), got.Times[0].After(1e-300))

	counted, err := mkl.Counts{Fitting: fitting(`"exposure":"days"`), Exposure: exposure}.Fit(t.Context(), views, counts)
	p := of(counted, err)
	assert.Equal(t, []record.Column{{Name: "x", Type: "number", Views: []string{"v"}, Required: true},
		{Name: "days", Type: "number", Views: []string{}, Role: record.ExposureRole, Required: true}}, p.Columns())
	got, err = p.Predict(t.Context(), map[string]any{"x": 0.7, "days": 3})
	require.NoError(t, err)
	events, err := counted.PredictCounts(t.Context(), mkl.PredictOptions{}, []float64{3}, at)
	require.NoError(t, err)
	mean, variance := events.Moments()
	low, high := events.Interval(0, 0.8)
	lower, upper = got.Numbers[0].Interval(0.8)
	assert.Equal(t, []float64{mean[0], math.Sqrt(variance[0]), low, high}, []float64{got.Numbers[0].Mean, got.Numbers[0].SD, lower, upper})
	for _, bad := range []any{0, -1, 1e-101, 1e101, nil} {
		_, err = p.Predict(t.Context(), map[string]any{"x": 0.7, "days": bad})
		var at *record.ValueError
		require.ErrorAs(t, err, &at)
		assert.Equal(t, "days", at.Column)
	}
	_, err = record.New(must(mkl.Counts{Fitting: fitting(`"exposure":"x"`)}.Fit(t.Context(), views, counts)))
	assert.ErrorContains(t, err, `the column "x" is both part of a view and the exposure`)

	graded, err := mkl.Ordinal[string]{Fitting: fitting(""), Grades: []string{"low", "middle", "high"}}.Fit(t.Context(), views, grades)
	got, err = of(graded, err).Predict(t.Context(), map[string]any{"x": 0.7})
	require.NoError(t, err)
	_, probability, err := graded.Predict(at)
	require.NoError(t, err)
	q := probability[0]
	assert.Equal(t, []record.Class{{Class: "low", Probability: q[0], UpTo: q[0]}, {Class: "middle", Probability: q[1], UpTo: q[0] + q[1]},
		{Class: "high", Probability: q[2], UpTo: 1}}, got.Classes)
	assert.Equal(t, graded.Classes()[mkl.MedianGrade(q)], got.Median)
	assert.Equal(t, []float64{math.SmallestNonzeroFloat64, 0.3, math.Nextafter(1, 0)}, []float64{record.Inside(0), record.Inside(0.3), record.Inside(1)})
}

// must returns a model that was fitted.
func must(m *mkl.CountModel, err error) *mkl.CountModel {
	if err != nil {
		panic(err)
	}
	return m
}

// Strings are compared as the kernels of their set compare them. A record without its string is an error, and a string without anything to
// compare is not.
func TestStrings(t *testing.T) {
	set := &sequence.Set{Alphabet: sequence.DNA, Kernels: []sequence.Kernel{sequence.Spectrum{K: 2}, sequence.Pairwise{}}}
	var y []float64
	for i := range 12 {
		set.Strings = append(set.Strings, strings.Repeat("AC", 1+i%3)+strings.Repeat("GTT", 1+i%4))
		y = append(y, float64(i%3)-float64(i%4))
	}
	views, err := set.Views(t.Context())
	require.NoError(t, err)
	views[0].Input, views[1].Input = "spectrum", "pairwise"
	kept, err := json.Marshal(set)
	require.NoError(t, err)
	of := func(notes string) *mkl.MultiGPModel {
		m, err := mkl.MultiGP{Fitting: mkl.Fitting{Notes: map[string]string{"mkl-command": notes}}}.Fit(t.Context(), views, y)
		require.NoError(t, err)
		return m
	}
	m := of(`{"task":"regression","targets":["y"],"strings":[` + string(kept) + `],"views":[
		{"name":"dna","columns":["site"],"strings":{"set":0,"kernel":0}},{"name":"dna","columns":["site"],"strings":{"set":0,"kernel":1}}]}`)
	p, err := record.New(m)
	require.NoError(t, err)
	require.Len(t, p.Columns(), 1)
	column, err := json.Marshal(p.Columns()[0])
	require.NoError(t, err)
	assert.JSONEq(t, `{"name":"site","type":"text","views":["dna"],"required":true}`, string(column))
	sites := []string{"ACACGTT", "GGG", "T"}
	x, err := set.Inputs(t.Context(), sites)
	require.NoError(t, err)
	want, err := m.PredictTargets(t.Context(), mkl.PredictOptions{}, x...)
	require.NoError(t, err)
	got, err := p.PredictRows(t.Context(), []map[string]any{{"site": sites[0]}, {"site": sites[1]}, {"site": sites[2]}})
	require.NoError(t, err)
	for i := range got {
		assert.Equal(t, want.Mean[0][i], got[i].Numbers[0].Mean)
		assert.Nil(t, got[i].Unknown)
	}
	parts, err := p.PredictRowViews(t.Context(), []map[string]any{{"site": sites[0]}})
	require.NoError(t, err)
	assert.Len(t, parts[0][0].Views, 2)
	near, err := p.Within(1e-3)
	require.NoError(t, err)
	one, err := near.Predict(t.Context(), map[string]any{"site": sites[0]})
	require.NoError(t, err)
	assert.InDelta(t, want.Mean[0][0], one.Numbers[0].Mean, 1e-3*one.Numbers[0].SD)
	for _, site := range []any{nil, "", "NA"} {
		_, err = p.Predict(t.Context(), map[string]any{"site": site})
		assert.EqualError(t, err, `record 1: "site" has no value, and the fit filled in none`)
	}
	_, err = p.Predict(t.Context(), map[string]any{"site": []any{}})
	assert.EqualError(t, err, `record 1: "site" is text, and the value is a list`)
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = p.Predict(stopped, map[string]any{"site": "ACG"})
	assert.ErrorIs(t, err, context.Canceled)

	const all = `{"name":"all","columns":["1","2","3","4","5","6","7","8","9","10","11","12"%s]}`
	whole, part := fmt.Sprintf(all, `,"site"`), `{"name":"dna","columns":["site"],"strings":{"set":0,"kernel":%d}}`
	for views, want := range map[string]string{
		whole + "," + fmt.Sprintf(part, 1): `record: the column "site" is a number in one view and a text in another`,
		fmt.Sprintf(part, 0) + "," + strings.Replace(fmt.Sprintf(all, ""), `"12"`, `"site"`, 1): `record: the column "site" is a text in one view and a number in another`,
	} {
		_, err = record.New(of(`{"targets":["y"],"strings":[` + string(kept) + `],"views":[` + views + `]}`))
		assert.EqualError(t, err, want)
	}
}
