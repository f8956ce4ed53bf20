package mkl

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// films returns ratings of two sorts of films by people who like one or the other,
// with gaps, and the ratings without noise.
func films(rows, cols int, gaps float64) (y, truth DenseTable) {
	src := rand.New(rand.NewPCG(1, 2))
	for i := range rows {
		y, truth = append(y, make([]float64, cols)), append(truth, make([]float64, cols))
		a, b := src.NormFloat64(), src.NormFloat64()
		for j := range cols {
			t := 3 + 0.1*float64(j%4) + a
			if j%2 == 1 {
				t += b - a
			}
			truth[i][j], y[i][j] = t, t+0.2*src.NormFloat64()
			if src.Float64() < gaps {
				y[i][j] = math.NaN()
			}
		}
	}
	return y, truth
}

func TestFactorAnalysisCompletes(t *testing.T) {
	y, truth := films(80, 20, 0.4)
	fit, err := FactorAnalysis{Factors: 4}.Fit(t.Context(), y)
	require.NoError(t, err)
	var cells []TableCell
	for i, row := range y {
		for j, v := range row {
			if math.IsNaN(v) {
				cells = append(cells, TableCell{i, j})
			}
		}
	}
	mean, variance, err := fit.Complete(cells...)
	require.NoError(t, err)
	var square, scaled float64
	for i, c := range cells {
		d := mean[i] - truth[c.Row][c.Col]
		square += d * d / float64(len(cells))
		scaled += (d*d + 0.04) / variance[i] / float64(len(cells)) // of a noisy entry
	}
	assert.Less(t, math.Sqrt(square), 0.12) // 12 entries for a row's two factors: 0.2·√(2/12) = 0.08
	assert.InDelta(t, 1, scaled, 0.3)
	noise, _ := vec.MeanSD(fit.NoiseSD())
	assert.InDelta(t, 0.2, noise, 0.02)
	assert.Contains(t, fit.Summary(), "noise SD")

	// A row of the table as a new one, and back.
	a, v, err := fit.Transform(y[:5])
	require.NoError(t, err)
	own, _ := fit.Factors()
	for i := range a {
		assert.InDeltaSlice(t, own[i], a[i], 0.05)
		assert.Len(t, v[i], 4)
	}
	back, err := fit.InverseTransform(a)
	require.NoError(t, err)
	for i := range back {
		assert.InDeltaSlice(t, truth[i], back[i], 0.5)
	}
	weights, inclusion := fit.Weights()
	assert.Len(t, weights, 20)
	assert.Len(t, inclusion[0], 4)
}

func TestRatingsAreEntries(t *testing.T) {
	y, _ := films(30, 10, 0.5)
	var r Ratings[string, int]
	name := func(i int) string { return string(rune('a'+i%26)) + string(rune('A'+i/26)) }
	for i := range y {
		r.rows.of(name(i)) // the table's own order
	}
	for j := range y[0] {
		r.cols.of(100 + j)
	}
	e := SparseTable{Rows: 30, Cols: 10}
	for j := range y[0] {
		for i := range y {
			if v := y[i][j]; !math.IsNaN(v) {
				r.Add(name(i), 100+j, v)
				e.Entries = append(e.Entries, TableEntry{TableCell{i, j}, v})
			}
		}
	}
	f := FactorAnalysis{Ascent: Ascent{MaxSweeps: 20}, Factors: 2}
	var bounds []float64
	for _, table := range []Table{y, &r, e} {
		fit, err := f.Fit(t.Context(), table)
		require.NoError(t, err)
		bounds = append(bounds, fit.Bound())
	}
	assert.Equal(t, bounds[0], bounds[1])
	assert.Equal(t, bounds[0], bounds[2])
	assert.Equal(t, len(e.Entries), r.Len())
	assert.Equal(t, TableCell{27, 3}, r.At(name(27), 103))
	assert.Equal(t, name(27), r.Rows()[27])
	assert.Equal(t, 103, r.Cols()[3])
}

// TestFactorAnalysisGoesOn goes on from the journal of a fit: the result is the file of an uninterrupted one.
func TestFactorAnalysisGoesOn(t *testing.T) {
	y, _ := films(40, 12, 0.3)
	for _, f := range []FactorAnalysis{{}, {SharedNoise: true, NoOffsets: true, RowDistances: inARow(40)}} {
		f.Factors, f.MaxSweeps, f.Notes = 3, 25, map[string]string{"from": "a test"}
		goesOn(t, y, f)
	}
}

// inARow are the distances of n places in a row.
func inARow(n int) Features {
	d := la.NewMatrix[float64](n, n)
	for i := range n {
		for j := range n {
			d.Set(i, j, math.Abs(float64(i-j)))
		}
	}
	return d
}

func goesOn(t *testing.T, y DenseTable, whole FactorAnalysis) {
	full, err := whole.Fit(t.Context(), y)
	require.NoError(t, err)
	var want bytes.Buffer
	require.NoError(t, full.Save(&want))

	var kept [][]byte
	whole.Journal = &Journal{Every: 1, Save: func(data []byte) error {
		kept = append(kept, data)
		return nil
	}}
	_, err = whole.Fit(t.Context(), y)
	require.NoError(t, err)
	whole.Journal = &Journal{}
	require.NoError(t, whole.Journal.UnmarshalBinary(kept[8]))
	fit, err := whole.Fit(t.Context(), y)
	require.NoError(t, err)
	var got bytes.Buffer
	require.NoError(t, fit.Save(&got))
	assert.True(t, bytes.Equal(want.Bytes(), got.Bytes()), "the files differ")

	back, err := LoadAs[*FactorAnalysisModel](&got)
	require.NoError(t, err)
	a, av, err := full.Complete(TableCell{1, 2}, TableCell{39, 11})
	require.NoError(t, err)
	b, bv, err := back.Complete(TableCell{1, 2}, TableCell{39, 11})
	require.NoError(t, err)
	assert.Equal(t, a, b)
	assert.Equal(t, av, bv)
	assert.Equal(t, "a test", back.Notes()["from"])

	_, err = LoadAs[*FactorAnalysisModel](bytes.NewReader(want.Bytes()[:want.Len()-3]))
	assert.ErrorContains(t, err, "mkl: load: ")
	any, err := Load(bytes.NewReader(want.Bytes()))
	require.NoError(t, err)
	assert.Equal(t, full.Summary(), any.Summary())
	assert.Equal(t, len(full.NoiseSD()), len(any.Outputs()))
}

// TestFactorRows completes new rows, with the entries that are there and without one of them.
func TestFactorRows(t *testing.T) {
	y, truth := films(70, 12, 0.3)
	fit, err := FactorAnalysis{Factors: 3, SharedNoise: true}.Fit(t.Context(), y[:50])
	require.NoError(t, err)
	rows := y[50:]
	mean, variance, err := fit.CompleteRows(rows)
	require.NoError(t, err)
	scores, _, err := fit.Transform(rows)
	require.NoError(t, err)
	back, err := fit.InverseTransform(scores)
	require.NoError(t, err)
	left, leftVariance, err := fit.LeaveOneOut(rows)
	require.NoError(t, err)
	var scaled, count float64
	for i, row := range rows {
		assert.InDeltaSlice(t, back[i], mean[i], 1e-9)
		for j, v := range row {
			if math.IsNaN(v) {
				assert.True(t, math.IsNaN(left[i][j]) && math.IsNaN(leftVariance[i][j]))
				d := mean[i][j] - truth[50+i][j]
				scaled, count = scaled+(d*d+0.04)/variance[i][j], count+1
				continue
			}
			without := slices.Clone(row)
			without[j] = math.NaN()
			one, oneVariance, err := fit.CompleteRows(DenseTable{without})
			require.NoError(t, err)
			assert.Equal(t, one[0][j], left[i][j])
			assert.Equal(t, oneVariance[0][j], leftVariance[i][j])
			assert.Greater(t, leftVariance[i][j], variance[i][j], "an entry tells of itself")
		}
	}
	assert.InDelta(t, 1, scaled/count, 0.4)
	_, _, err = fit.CompleteRows(DenseTable{{1, 2}})
	assert.EqualError(t, err, "mkl: y: 2 columns where the model has 12")
}

// TestFactorAnalysisRestarts: the best of several starts is kept.
func TestFactorAnalysisRestarts(t *testing.T) {
	y, _ := films(40, 12, 0.3)
	f := FactorAnalysis{Fitting: Fitting{Seed: 5}, Ascent: Ascent{MaxSweeps: 8}, Factors: 3}
	var bounds []float64
	for range 4 {
		fit, err := f.Fit(t.Context(), y)
		require.NoError(t, err)
		bounds = append(bounds, fit.Bound())
		f.Seed++
	}
	f.Seed, f.Restarts = 5, 3
	last := 0
	f.Progress = func(p Progress) {
		assert.Equal(t, 4, p.Starts)
		last = p.Start
	}
	fit, err := f.Fit(t.Context(), y)
	require.NoError(t, err)
	require.Less(t, slices.Min(bounds), slices.Max(bounds))
	assert.Equal(t, slices.Max(bounds), fit.Bound())
	assert.Equal(t, 4, last)
	f.Like = fit
	_, err = f.Fit(t.Context(), y)
	assert.EqualError(t, err, "mkl: Restarts is 3: with Like there is one start")
}

func TestFactorAnalysisErrors(t *testing.T) {
	y, _ := films(10, 5, 0)
	fit, err := FactorAnalysis{Ascent: Ascent{MaxSweeps: 5}, Factors: 2}.Fit(t.Context(), y)
	require.NoError(t, err)
	inf := math.Inf(1)
	for want, do := range map[string]func() error{
		"mkl: y: nil": func() error { _, err := FactorAnalysis{}.Fit(t.Context(), nil); return err },
		"mkl: Factors is -1: it must not be negative": func() error { _, err := FactorAnalysis{Factors: -1}.Fit(t.Context(), y); return err },
		"mkl: Prior.Pi is 1: it must be less":         func() error { _, err := FactorAnalysis{Prior: SlabPrior{Pi: 1}}.Fit(t.Context(), y); return err },
		"mkl: y[1]: 1 values where y[0] has 2":        func() error { _, err := FactorAnalysis{}.Fit(t.Context(), DenseTable{{1, 2}, {3}}); return err },
		"mkl: y[0][1] is +Inf":                        func() error { _, err := FactorAnalysis{}.Fit(t.Context(), DenseTable{{1, inf}}); return err },
		"mkl: y: 0×0: it is empty":                    func() error { _, err := FactorAnalysis{}.Fit(t.Context(), DenseTable{}); return err },
		"mkl: y.List[0]: (2, 0) in a table of 2×2": func() error {
			_, err := FactorAnalysis{}.Fit(t.Context(), SparseTable{2, 2, []TableEntry{{TableCell{2, 0}, 1}}})
			return err
		},
		"mkl: cells[0]: (0, 5) in a table of 10×5":                func() error { _, _, err := fit.Complete(TableCell{0, 5}); return err },
		"mkl: y: 2 columns where the model has 5":                 func() error { _, _, err := fit.Transform(DenseTable{{1, 2}}); return err },
		"mkl: factors[0]: 1 values where the model has 2 factors": func() error { _, err := fit.InverseTransform([][]float64{{1}}); return err },
		"mkl: factors[0][1] is +Inf":                              func() error { _, err := fit.InverseTransform([][]float64{{1, inf}}); return err },
		"mkl: RowDistances: 3×3 for 10 rows": func() error {
			_, err := FactorAnalysis{RowDistances: inARow(3)}.Fit(t.Context(), y)
			return err
		},
		"mkl: y: the entry of row b and column 3 is +Inf": func() error {
			var r Ratings[string, int]
			r.Add("a", 3, 1)
			r.Add("b", 3, inf)
			_, err := FactorAnalysis{}.Fit(t.Context(), &r)
			return err
		},
	} {
		assert.EqualError(t, do(), want)
	}
}

// A table of few entries may claim any number of columns. It is refused before a list of its columns is made.
func TestFactorAnalysisOfHugeTable(t *testing.T) {
	for _, c := range []struct {
		rows int
		f    FactorAnalysis
		want string
	}{
		{1, FactorAnalysis{Fitting: Fitting{MemoryLimit: math.MaxInt64}}, "mkl: y: one row: factors are learned from how rows differ"},
		{2, FactorAnalysis{Fitting: Fitting{MemoryLimit: 1 << 34}}, "mkl: the fit needs about "},
		{2, FactorAnalysis{Fitting: Fitting{MemoryLimit: 1 << 34}, Factors: math.MaxInt}, "mkl: the fit needs about "},
	} {
		table := SparseTable{Rows: c.rows, Cols: math.MaxInt32, Entries: []TableEntry{{TableCell{0, 0}, 1}, {TableCell{c.rows - 1, 1}, 2}}}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := c.f.Fit(t.Context(), table)
		runtime.ReadMemStats(&after)
		require.ErrorContains(t, err, c.want)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
	}
	assert.Positive(t, FactorAnalysis{Factors: math.MaxInt}.EstimateMemory(2, 3, 0))
}

// A table may claim more rows than there is memory for their predictions.
func TestCompleteRowsOfHugeTable(t *testing.T) {
	table := SparseTable{Rows: 4, Cols: 2, Entries: []TableEntry{{TableCell{0, 0}, 1}, {TableCell{1, 1}, 2}, {TableCell{2, 0}, 3}, {TableCell{3, 1}, 5}}}
	m, err := FactorAnalysis{Factors: 1, Ascent: Ascent{MaxSweeps: 2}}.Fit(t.Context(), table)
	require.NoError(t, err)
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 34))
	table.Rows = math.MaxInt32
	for _, ask := range []func(Table, ...string) (mean, variance [][]float64, err error){m.Transform, m.CompleteRows, m.LeaveOneOut} {
		_, _, err = ask(table)
		var refused *MemoryError
		require.ErrorAs(t, err, &refused)
		assert.ErrorContains(t, err, "mkl: the prediction needs about 192")
	}
}

// Files of factors from before the model had groups, and from before it had views, give the predictions of the program that wrote them.
func TestFactorAnalysisOfOldFiles(t *testing.T) {
	for _, name := range []string{"factors-v1", "factors-views-v1"} {
		path := "../testdata/models/" + name
		file, err := os.ReadFile(path + ".safetensors")
		require.NoError(t, err, "CONTRIBUTING.md: model files are never written again")
		text, err := os.ReadFile(path + ".json")
		require.NoError(t, err)
		var want struct {
			Bound                              float64
			Complete, NoiseSD                  []float64
			Factors, Inclusion, Mean, Variance [][]float64
		}
		require.NoError(t, json.Unmarshal(text, &want))
		m, err := LoadAs[*FactorAnalysisModel](bytes.NewReader(file))
		require.NoError(t, err, name)
		rows, cols, _ := m.Dims()
		var got []float64
		for i := range rows {
			for j := range cols {
				mean, variance, err := m.Complete(TableCell{i, j})
				require.NoError(t, err)
				got = append(got, mean[0], variance[0])
			}
		}
		factors, _ := m.Factors()
		_, inclusion := m.Weights()
		mean, variance, err := m.CompleteRows(DenseTable{{1, math.NaN(), 0, 3}, {math.NaN(), 0.5, 1, 0}})
		require.NoError(t, err)
		assert.Equal(t, want.Bound, m.Bound())
		for _, c := range [][2][]float64{
			{want.Complete, got}, {want.NoiseSD, m.NoiseSD()}, {slices.Concat(want.Factors...), slices.Concat(factors...)},
			{slices.Concat(want.Inclusion...), slices.Concat(inclusion...)}, {slices.Concat(want.Mean...), slices.Concat(mean...)},
			{slices.Concat(want.Variance...), slices.Concat(variance...)},
		} {
			require.NotEmpty(t, c[0])
			assert.InDeltaSlice(t, c[0], c[1], 1e-10, name)
		}
		assert.Nil(t, m.Groups(), name)
		assert.Len(t, m.Views(), map[string]int{"factors-v1": 0, "factors-views-v1": 3}[name])
		var again bytes.Buffer
		require.NoError(t, m.Save(&again))
		assert.Equal(t, file, again.Bytes(), name)
	}
}
