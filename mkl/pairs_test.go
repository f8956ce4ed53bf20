package mkl

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi/kbmf"
)

// somePairs returns views of rows and columns, and of every pair a value that depends on them,
// and whether it is high; some pairs are missing.
func somePairs(seed uint64, n, m int) (rows, columns []View, values, has DenseTable) {
	src := rand.New(rand.NewPCG(seed, 29))
	x, noise, z := testkit.Normal(src, n, 2), testkit.Normal(src, n, 2), testkit.Normal(src, m, 2)
	for i := range n {
		values, has = append(values, make([]float64, m)), append(has, make([]float64, m))
		for j := range m {
			v := 20 + 5*(math.Sin(2*x.At(i, 0))*z.At(j, 1)+x.At(i, 1)*math.Cos(z.At(j, 0))+0.3*src.NormFloat64())
			values[i][j] = v
			if v > 21 {
				has[i][j] = 1
			}
			if src.IntN(5) == 0 {
				values[i][j], has[i][j] = math.NaN(), math.NaN()
			}
		}
	}
	rows = []View{{Name: "x", X: x, Input: "x1", Kernel: kernel.RBF{Width: 1}}, {Name: "noise", X: noise, Input: "x2", Kernel: kernel.RBF{Width: 1}}}
	return rows, []View{{Name: "z", X: z, Kernel: kernel.RBF{Width: 1}}}, values, has
}

// pairSides divides the inputs of a prediction into inputs of rows and inputs of columns.
func pairSides(m interface {
	SideInputs() (rows, columns []ModelInput)
}, x []Features) (rows, columns PairSide) {
	in, _ := m.SideInputs()
	return PairSide{X: x[:len(in)]}, PairSide{X: x[len(in):]}
}

// firstPairs returns views and a table of the first n rows and m columns, and the features of the rest.
func firstPairs(rows, columns []View, y DenseTable, n, m int) (r, c []View, known DenseTable, newRows, newColumns PairSide) {
	cut := func(views []View, n int) (first []View, rest PairSide) {
		for _, v := range views {
			rest.X = append(rest.X, v.X.Slice(n, v.X.Rows, 0, v.X.Cols).Clone())
			v.X = v.X.Slice(0, n, 0, v.X.Cols).Clone()
			first = append(first, v)
		}
		return first, rest
	}
	r, newRows = cut(rows, n)
	c, newColumns = cut(columns, m)
	for i := range n {
		known = append(known, y[i][:m])
	}
	return r, c, known, newRows, newColumns
}

// A model of pairs predicts new rows and columns much better than the mean does, knows which view
// of the rows matters, and is more certain of pairs that it knows more of.
func TestPairRegression(t *testing.T) {
	const n, m = 45, 40
	rows, columns, y, _ := somePairs(1, n+15, m+10)
	r, c, known, newRows, newColumns := firstPairs(rows, columns, y, n, m)
	model, err := PairRegression{Components: 3}.Fit(context.Background(), r, c, known)
	require.NoError(t, err)
	assert.True(t, model.Trace().Converged)
	of := func(rows, columns PairSide, row0, col0 int) (share, variance float64) {
		mean, v, err := model.Predict(rows, columns)
		require.NoError(t, err)
		var away, all, count float64
		for i := range mean {
			for j := range mean[i] {
				variance += v[i][j]
				if want := y[row0+i][col0+j]; want == want {
					away += (mean[i][j] - want) * (mean[i][j] - want)
					all += (20 - want) * (20 - want)
					count++
				}
			}
		}
		return away / all, variance / float64(len(mean)*len(mean[0]))
	}
	fitted, seen := of(PairSide{}, PairSide{}, 0, 0)
	row, fresh := of(newRows, PairSide{}, n, 0)
	column, _ := of(PairSide{}, newColumns, 0, m)
	both, newest := of(newRows, newColumns, n, m)
	assert.Less(t, fitted, 0.1) // the noise's own share is 0.08
	assert.Less(t, row, 0.3)
	assert.Less(t, column, 0.3)
	assert.Less(t, both, 0.5)
	assert.Less(t, seen, fresh)
	assert.Less(t, fresh, newest)
	weights, _ := model.SideWeights()
	assert.Greater(t, math.Abs(weights[0].Mean), 3*math.Abs(weights[1].Mean))
	assert.InDelta(t, 1.5, model.NoiseSD(), 0.4)
	assert.Contains(t, model.Summary(), "columns: active kernels")
}

// Files, predictors of single pairs, options and the number of workers change nothing.
func TestPairsAgree(t *testing.T) {
	rows, columns, y, has := somePairs(2, 26, 22)
	r, c, known, newRows, newColumns := firstPairs(rows, columns, y, 20, 18)
	_, _, labels, _, _ := firstPairs(rows, columns, has, 20, 18)
	ctx := context.Background()
	f := fitting{Fitting: Fitting{Workers: 1}, Ascent: Ascent{MaxSweeps: 30, Tolerance: -1}}
	model, err := PairRegression{Fitting: f.Fitting, Ascent: f.Ascent, Components: 2}.Fit(ctx, r, c, known)
	require.NoError(t, err)
	classifier, err := PairClassifier{Fitting: f.Fitting, Ascent: f.Ascent, Components: 2}.Fit(ctx, r, c, labels)
	require.NoError(t, err)
	f.Workers = 3
	again, err := PairRegression{Fitting: f.Fitting, Ascent: f.Ascent, Components: 2}.Fit(ctx, r, c, known)
	require.NoError(t, err)
	require.Equal(t, model.Posterior().State(), again.Posterior().State())

	var file bytes.Buffer
	require.NoError(t, model.Save(&file))
	loaded, err := LoadAs[*PairRegressionModel](&file)
	require.NoError(t, err)
	want, err := model.PredictPairs(ctx, PredictOptions{}, newRows, newColumns)
	require.NoError(t, err)
	got, err := loaded.PredictPairs(ctx, PredictOptions{Workers: 2}, newRows, newColumns)
	require.NoError(t, err)
	require.Equal(t, want, got)
	file.Reset()
	require.NoError(t, classifier.Save(&file))
	loadedClassifier, err := LoadAs[*PairClassifierModel](&file)
	require.NoError(t, err)
	chance, err := classifier.PredictPairs(ctx, PredictOptions{}, newRows, PairSide{Known: []int{4, 2}})
	require.NoError(t, err)
	chanceLoaded, err := loadedClassifier.PredictPairs(ctx, PredictOptions{}, newRows, PairSide{Known: []int{4, 2}})
	require.NoError(t, err)
	require.Equal(t, chance, chanceLoaded)
	means, err := model.PredictPairs(ctx, PredictOptions{MeanOnly: true}, newRows, newColumns)
	require.NoError(t, err)
	require.Equal(t, want.Mean, means.Mean)
	require.Nil(t, means.Variance)

	p, err := model.Predictor(PredictorOptions{})
	require.NoError(t, err)
	only, err := model.Predictor(PredictorOptions{MeanOnly: true})
	require.NoError(t, err)
	of, err := classifier.Predictor(PredictorOptions{})
	require.NoError(t, err)
	row, column := p.Row(), p.Column()
	for i := range newRows.X[0].Rows {
		require.NoError(t, p.New(row, newRows.X[0].Row(i), newRows.X[1].Row(i)))
		oneRow := only.Row()
		require.NoError(t, only.New(oneRow, newRows.X[0].Row(i), newRows.X[1].Row(i)))
		for j := range newColumns.X[0].Rows {
			require.NoError(t, p.New(column, newColumns.X[0].Row(j)))
			mean, variance, err := p.Predict(row, column)
			require.NoError(t, err)
			require.InDelta(t, want.Mean[i][j], mean, 1e-9)
			require.InEpsilon(t, want.Variance[i][j], variance, 1e-9)
			oneColumn := only.Column()
			require.NoError(t, only.New(oneColumn, newColumns.X[0].Row(j)))
			mean, variance, err = only.Predict(oneRow, oneColumn)
			require.NoError(t, err)
			require.InDelta(t, want.Mean[i][j], mean, 1e-9)
			require.True(t, math.IsNaN(variance))
		}
		labelRow, labelColumn := of.Row(), of.Column()
		require.NoError(t, of.New(labelRow, newRows.X[0].Row(i), newRows.X[1].Row(i)))
		require.NoError(t, of.Known(labelColumn, 2))
		probability, err := of.Probability(labelRow, labelColumn)
		require.NoError(t, err)
		require.InDelta(t, chance.Probability[i][1], probability, 1e-9)
	}
	x0, x1, z := newRows.X[0].Row(0), newRows.X[1].Row(0), newColumns.X[0].Row(0)
	assert.Zero(t, testing.AllocsPerRun(20, func() {
		if p.New(row, x0, x1) != nil || p.New(column, z) != nil || p.Known(column, 3) != nil {
			t.Error("refused")
		}
		if _, _, err := p.Predict(row, column); err != nil {
			t.Error(err)
		}
	}))
	for want, err := range map[string]error{
		"mkl: the factors are of another predictor":                                       of.Known(row, 0),
		"mkl: place 18 where the fit has 18":                                              p.Known(column, 18),
		"mkl: 1 inputs where the model needs 2":                                           p.New(row, x0),
		"mkl: the factors are not a row and a column that New or Known has filled in":     second(p.Predict(column, row)),
		"mkl: the factors are not a row and a column that New or Known has filled in\x00": second(p.Predict(row, p.Column())),
	} {
		assert.EqualError(t, err, string(bytes.TrimRight([]byte(want), "\x00")))
	}
}

func second(_, _ float64, err error) error { return err }

// New rows and columns are healed, also by predictors and from files. Healing widens their variances and does not
// change the rows and columns of the fit. Unhealed, Published and old files do without it.
func TestPairsAreHealed(t *testing.T) {
	rows, columns, y, has := somePairs(5, 26, 22)
	r, c, known, newRows, newColumns := firstPairs(rows, columns, y, 20, 18)
	_, _, labels, _, _ := firstPairs(rows, columns, has, 20, 18)
	ctx := context.Background()
	f := fitting{Ascent: Ascent{MaxSweeps: 40, Tolerance: -1}}
	model, err := PairRegression{Fitting: f.Fitting, Ascent: f.Ascent, Components: 2}.Fit(ctx, r, c, known)
	require.NoError(t, err)
	classifier, err := PairClassifier{Fitting: f.Fitting, Ascent: f.Ascent, Components: 2}.Fit(ctx, r, c, labels)
	require.NoError(t, err)
	predict := func(m *PairRegressionModel, opt PredictOptions, rows, columns PairSide) *PairPrediction {
		t.Helper()
		p, err := m.PredictPairs(ctx, opt, rows, columns)
		require.NoError(t, err)
		return p
	}
	bare := PredictOptions{Unhealed: true}
	require.Equal(t, predict(model, PredictOptions{}, PairSide{}, PairSide{}), predict(model, bare, PairSide{}, PairSide{}))
	healed, plain := predict(model, PredictOptions{}, newRows, newColumns), predict(model, bare, newRows, newColumns)
	require.Equal(t, plain, predict(model, PredictOptions{Published: true}, newRows, newColumns))
	var wider float64
	for i := range healed.Mean {
		for j, v := range healed.Variance[i] {
			wider += math.Log(v / plain.Variance[i][j])
		}
	}
	assert.Greater(t, wider, 0.0)
	require.NotEqual(t, plain.Mean, healed.Mean)
	scores, err := classifier.PredictPairs(ctx, PredictOptions{}, newRows, PairSide{})
	require.NoError(t, err)
	bareScores, err := classifier.PredictPairs(ctx, bare, newRows, PairSide{})
	require.NoError(t, err)
	require.NotEqual(t, bareScores.Probability, scores.Probability)

	s := model.Posterior().State()
	s.X.Healing, s.Z.Healing = nil, nil
	before := &PairRegressionModel{pairModel{record: model.record, rows: model.rows, columns: model.columns}, model.scale}
	p, err := kbmf.NewPosterior(s)
	require.NoError(t, err)
	require.NoError(t, before.set(p))
	var file bytes.Buffer
	require.NoError(t, before.Save(&file))
	require.NotContains(t, file.String(), "healing")
	loaded, err := LoadAs[*PairRegressionModel](&file)
	require.NoError(t, err)
	require.Equal(t, plain, predict(loaded, PredictOptions{}, newRows, newColumns))
	assert.Contains(t, loaded.Summary(), "new columns: predictions are not healed")
	assert.NotContains(t, model.Summary(), "healed")

	of := func(m *PairRegressionModel, opt PredictorOptions) (mean, variance float64) {
		t.Helper()
		p, err := m.Predictor(opt)
		require.NoError(t, err)
		row, column := p.Row(), p.Column()
		require.NoError(t, p.New(row, newRows.X[0].Row(3), newRows.X[1].Row(3)))
		require.NoError(t, p.New(column, newColumns.X[0].Row(1)))
		mean, variance, err = p.Predict(row, column)
		require.NoError(t, err)
		return mean, variance
	}
	for _, c := range []struct {
		model *PairRegressionModel
		opt   PredictorOptions
		want  *PairPrediction
	}{{model, PredictorOptions{}, healed}, {model, PredictorOptions{Unhealed: true}, plain}, {loaded, PredictorOptions{}, plain}} {
		mean, variance := of(c.model, c.opt)
		assert.InDelta(t, c.want.Mean[3][1], mean, 1e-9)
		assert.InEpsilon(t, c.want.Variance[3][1], variance, 1e-9)
	}
}

// Given kernels heal new rows by one more column, the kernel of each with itself.
func TestPairsOfGivenKernelsAreHealed(t *testing.T) {
	const n, more = 14, 5
	rows, columns, y, _ := somePairs(6, n+more, 9)
	gram := matrix(n+more, n+more, func(i, j int) float64 {
		d := 0.0
		for c := range 2 {
			x := rows[0].X.At(i, c) - rows[0].X.At(j, c)
			d += x * x
		}
		return math.Exp(-d / 2)
	})
	ctx := context.Background()
	fitting := fitting{Ascent: Ascent{MaxSweeps: 20, Tolerance: -1}}
	given := []View{{Name: "x", X: gram.Slice(0, n, 0, n).Clone(), Kernel: kernel.Precomputed{}}}
	model, err := PairRegression{Fitting: fitting.Fitting, Ascent: fitting.Ascent, Components: 2}.Fit(ctx, given, columns, y[:n])
	require.NoError(t, err)
	direct := []View{{Name: "x", X: rows[0].X.Slice(0, n, 0, 2).Clone(), Kernel: kernel.RBF{Width: 1}}}
	same, err := PairRegression{Fitting: fitting.Fitting, Ascent: fitting.Ascent, Components: 2}.Fit(ctx, direct, columns, y[:n])
	require.NoError(t, err)
	assert.Contains(t, model.Summary(), "new rows: predictions are healed only with the kernel of each sample with itself")

	later := gram.Slice(n, n+more, 0, n).Clone()
	whole := matrix(more, n+1, func(i, j int) float64 {
		if j == n {
			return 1
		}
		return later.At(i, j)
	})
	x := PairSide{X: []Features{rows[0].X.Slice(n, n+more, 0, 2).Clone()}}
	for _, c := range []struct {
		given Features
		opt   PredictOptions
	}{{whole, PredictOptions{}}, {later, PredictOptions{Unhealed: true}}} {
		want, err := same.PredictPairs(ctx, c.opt, x, PairSide{})
		require.NoError(t, err)
		got, err := model.PredictPairs(ctx, PredictOptions{}, PairSide{X: []Features{c.given}}, PairSide{})
		require.NoError(t, err)
		p, err := model.Predictor(PredictorOptions{})
		require.NoError(t, err)
		row, column := p.Row(), p.Column()
		require.NoError(t, p.Known(column, 0))
		for i := range more {
			require.NoError(t, p.New(row, c.given.Row(i)))
			mean, variance, err := p.Predict(row, column)
			require.NoError(t, err)
			require.InDelta(t, got.Mean[i][0], mean, 1e-9)
			require.InEpsilon(t, got.Variance[i][0], variance, 1e-9)
			for j := range want.Mean[i] {
				require.InDelta(t, want.Mean[i][j], got.Mean[i][j], 1e-6)
				require.InEpsilon(t, want.Variance[i][j], got.Variance[i][j], 1e-6)
			}
		}
	}
}

// What does not fit is refused, by its place.
func TestPairsAreRefused(t *testing.T) {
	rows, columns, y, has := somePairs(3, 8, 6)
	ctx := context.Background()
	short := fitting{Ascent: Ascent{MaxSweeps: 3}}
	model, err := PairRegression{Fitting: short.Fitting, Ascent: short.Ascent}.Fit(ctx, rows, columns, y)
	require.NoError(t, err)
	same := DenseTable{}
	for range 8 {
		same = append(same, []float64{1, 1, 1, 1, 1, 1})
	}
	fit := func(p PairRegression, rows, columns []View, y Table) error {
		_, err := p.Fit(ctx, rows, columns, y)
		return err
	}
	classify := func(y Table) error {
		_, err := PairClassifier{}.Fit(ctx, rows, columns, y)
		return err
	}
	predict := func(rows, columns PairSide) error {
		_, _, err := model.Predict(rows, columns)
		return err
	}
	bad := Features(rows[0].X.Clone())
	bad.Set(2, 1, math.NaN())
	for want, err := range map[string]error{
		"mkl: y: nil": fit(PairRegression{}, rows, columns, nil),
		"mkl: Components is -1: it must not be negative": fit(PairRegression{Components: -1}, rows, columns, y),
		"rows: mkl: views: none given":                   fit(PairRegression{}, nil, columns, y),
		"columns: mkl: views[0] (\"x\", rbf(width=1)): X is 8×2 where y has 6 samples (samples are rows)":   fit(PairRegression{}, rows, rows, y),
		"mkl: y: every target is 1: there is nothing to learn":                                              fit(PairRegression{}, rows, columns, same),
		"mkl: vi: SigmaG is -1: it and 1/SigmaG² must be positive and finite":                               fit(PairRegression{SigmaG: -1}, rows, columns, y),
		"mkl: y: all observed pairs have the same label, or no pair is observed: there is nothing to learn": classify(same),
		"columns: mkl: Known[1] is 6 where the fit has 6":                                                   predict(PairSide{}, PairSide{Known: []int{0, 6}}),
		"rows: mkl: X and Known exclude each other":                                                         predict(PairSide{X: []Features{rows[0].X, rows[1].X}, Known: []int{0}}, PairSide{}),
		"rows: mkl: 1 input matrices where the model needs 2, one for each Input of its views":              predict(PairSide{X: []Features{rows[0].X}}, PairSide{}),
	} {
		assert.EqualError(t, err, want)
	}
	var value *ValueError
	require.ErrorAs(t, predict(PairSide{X: []Features{bad, rows[1].X}}, PairSide{}), &value)
	assert.Equal(t, 2, value.Row)
	has[1][2] = 0.5
	assert.EqualError(t, classify(has), "mkl: y: row 1, column 2: 0.5 is no label: a pair has 1 or 0")
	_, err = PairRegression{Fitting: Fitting{MemoryLimit: 100}}.Fit(ctx, rows, columns, y)
	var much *MemoryError
	require.ErrorAs(t, err, &much)
	assert.Equal(t, much.Need, PairRegression{}.EstimateMemory(FitSize{Samples: 8, Kernels: 2}, FitSize{Samples: 6, Kernels: 1}))
	assert.Positive(t, PairClassifier{Components: math.MaxInt32}.EstimateMemory(FitSize{Samples: math.MaxInt32, Kernels: 40}, FitSize{Samples: math.MaxInt32, Kernels: 40}))
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = PairRegression{}.Fit(ended, rows, columns, y)
	require.ErrorIs(t, err, context.Canceled)
	_, err = model.PredictPairs(ended, PredictOptions{}, PairSide{X: []Features{rows[0].X, rows[1].X}}, PairSide{})
	require.ErrorIs(t, err, context.Canceled)
}

// Kernels that are given and a journal serve as in other fits.
func TestPairsOfGivenKernels(t *testing.T) {
	rows, columns, y, _ := somePairs(4, 12, 9)
	gram := func(v View) View {
		k := matrix(v.X.Rows, v.X.Rows, func(i, j int) float64 {
			var d float64
			for c := range v.X.Cols {
				d += (v.X.At(i, c) - v.X.At(j, c)) * (v.X.At(i, c) - v.X.At(j, c))
			}
			return math.Exp(-d / 2)
		})
		return View{Name: v.Name, X: k, Input: v.Name, Kernel: kernel.Precomputed{}}
	}
	ctx := context.Background()
	var bounds []float64
	for _, given := range []bool{false, true} {
		r, c := rows, columns
		if given {
			r, c = []View{gram(rows[0]), gram(rows[1])}, []View{gram(columns[0])}
		}
		j := &Journal{}
		model, err := PairRegression{Fitting: Fitting{Journal: j}, Ascent: Ascent{MaxSweeps: 25, Tolerance: -1}, Components: 2}.Fit(ctx, r, c, y)
		require.NoError(t, err)
		bounds = append(bounds, model.Bound())
		kept, err := j.MarshalBinary()
		require.NoError(t, err)
		require.NoError(t, j.UnmarshalBinary(kept))
		again, err := PairRegression{Fitting: Fitting{Journal: j}, Ascent: Ascent{MaxSweeps: 25, Tolerance: -1}, Components: 2}.Fit(ctx, r, c, y)
		require.NoError(t, err)
		assert.Equal(t, model.Posterior().State(), again.Posterior().State())
	}
	assert.InEpsilon(t, bounds[0], bounds[1], 1e-6)
}
