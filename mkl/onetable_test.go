package mkl

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// actTogether returns n samples of two views whose target is a product of features of both.
func actTogether(seed uint64, n int) (views []View, y []float64, a, b Features) {
	rng := rand.New(rand.NewPCG(seed, 21))
	a, b = normal(rng, n, 2), normal(rng, n, 1)
	for i := range n {
		y = append(y, 7+float64(3*a.At(i, 0)*b.At(i, 0))+0.1*rng.NormFloat64())
	}
	return []View{{Name: "a", Input: "a", X: a}, {Name: "b", Input: "b", X: b}}, y, a, b
}

// tableByHand writes the matrices side by side, value by value.
func tableByHand(a, b Features) Features {
	out := la.NewMatrix[float64](a.Rows, a.Cols+b.Cols)
	for i := range a.Rows {
		for j := range a.Cols {
			out.Set(i, j, a.At(i, j))
		}
		for j := range b.Cols {
			out.Set(i, a.Cols+j, b.At(i, j))
		}
	}
	return out
}

// The table is the pool that a fit to the columns without views returns, its weight is the weight of two densities, and the pool's moments are the
// ones of the mixture of both.
func TestTableOfColumns(t *testing.T) {
	views, y, a, b := actTogether(1, 60)
	_, _, atA, atB := actTogether(2, 25)
	ctx := context.Background()
	m := fitPool(t, Auto{}, views, y)
	require.NotNil(t, m.table)
	names, weights := m.Members()
	last := len(names) - 1
	assert.Equal(t, AllColumns, names[last])
	assert.Contains(t, m.Story(), "the table of the views is of sums of functions of single views; all columns as one table have")

	alone := fitPool(t, Auto{}, []View{{X: tableByHand(a, b)}}, y)
	want := predicted(t, alone, tableByHand(atA, atB))
	assert.Equal(t, want, predicted(t, m.table, atA, atB))
	without := fitPool(t, Auto{part: true}, views, y)
	sums := slices.Clone(without.names)
	beside := func(i int) bool { return slices.Contains(names, sums[i]) } // the others are dropped beside the table
	var rest []float64
	for i, w := range without.weights {
		if beside(i) {
			rest = append(rest, w)
		}
	}
	la.Scal(1/vec.Total(rest), rest)
	without.members, without.weights = keepMembers(&without.pool, without.members, beside), rest
	share := weights[last]
	assert.InDeltaSlice(t, slices.Collect(func(yield func(float64) bool) {
		for _, w := range without.weights {
			yield((1 - share) * w)
		}
	}), weights[:last], 1e-12)
	assert.InDelta(t, 1, share+vec.Total(weights[:last]), 1e-12)

	p, err := m.PredictTargets(ctx, PredictOptions{}, atA, atB)
	require.NoError(t, err)
	q, err := without.PredictTargets(ctx, PredictOptions{}, atA, atB)
	require.NoError(t, err)
	r, err := alone.PredictTargets(ctx, PredictOptions{}, tableByHand(atA, atB))
	require.NoError(t, err)
	for i := range atA.Rows {
		mean := float64((1-share)*q.Mean[0][i]) + float64(share*r.Mean[0][i])
		square := float64((1-share)*(q.Variance[0][i]+q.Mean[0][i]*q.Mean[0][i])) + float64(share*(r.Variance[0][i]+r.Mean[0][i]*r.Mean[0][i]))
		assert.InDelta(t, mean, p.Mean[0][i], 1e-9)
		assert.InDelta(t, square-mean*mean, p.Variance[0][i], 1e-8)
	}

	joint, err := m.PredictJoint(ctx, PredictOptions{}, atA, atB)
	require.NoError(t, err)
	mean, cov, noise := joint.Moments()
	parts, err := m.PredictViews(ctx, PredictOptions{}, atA, atB)
	require.NoError(t, err)
	slices.Sort(parts.Views)
	assert.Equal(t, []string{"a", AllColumns, "b"}, parts.Views)
	for i := range atA.Rows {
		assert.InDelta(t, p.Mean[0][i], mean[i], 1e-9)
		assert.InDelta(t, p.Variance[0][i], cov.At(i, i)+noise[i], 1e-6)
		sum := parts.Constant
		for v := range parts.Mean {
			sum += parts.Mean[v][i]
		}
		assert.InDelta(t, p.Mean[0][i], sum, 1e-9)
	}

	left := m.LeaveOneOut()
	ofViews, ofTable := without.LeaveOneOut(), alone.LeaveOneOut()
	for i := range y {
		assert.InDelta(t, float64((1-share)*ofViews.Mean[0][i])+float64(share*ofTable.Mean[0][i]), left.Mean[0][i], 1e-9)
	}
	_, err = m.PredictTargets(ctx, PredictOptions{}, atA)
	assert.ErrorContains(t, err, "1 input matrices where the model needs 2")
	spreads, err := m.KernelSpreads(ctx, PredictOptions{}, atA, atB)
	require.NoError(t, err)
	kernels := m.KernelWeights()
	assert.Len(t, spreads, len(kernels))
	first := kernels[len(kernels)-len(alone.KernelWeights())]
	assert.Equal(t, AllColumns+": broad kernels: constant", first.View)
	assert.Equal(t, "broad kernels: "+AllColumns, kernels[len(kernels)-len(alone.KernelWeights())+1].View)
}

// The pool predicts a product of features of two views better than sums of functions of the views can.
func TestTableLearnsWhatViewsDoTogether(t *testing.T) {
	views, y, _, _ := actTogether(1, 80)
	_, truth, atA, atB := actTogether(2, 200)
	var squares [2]float64
	for k, a := range []Auto{{}, {part: true}} {
		mean, _, err := fitPool(t, a, views, y).Predict(atA, atB)
		require.NoError(t, err)
		for i, v := range mean {
			squares[k] += (v - truth[i]) * (v - truth[i])
		}
	}
	assert.Less(t, squares[0], 0.25*squares[1])
}

// Views of one matrix have the table of the columns that they see.
func TestTableOfOneMatrix(t *testing.T) {
	views, y, a, b := actTogether(3, 50)
	x := tableByHand(b, tableByHand(a, b)) // the views see columns 1 to 3
	one := fitPool(t, Auto{}, []View{{Name: "a", X: x, Columns: []int{1, 2}}, {Name: "b", X: x, Columns: []int{3}}}, y)
	two := fitPool(t, Auto{}, views, y)
	require.NotNil(t, one.table)
	assert.Equal(t, predicted(t, two.table, a, b), predicted(t, one.table, x))

	plan := poolPlan{rows: make([]int, 40), views: []View{{X: a, Input: "a"}, {X: b, Input: "b", Columns: []int{0}}, {X: a, Input: "a", Columns: []int{1}}}}
	tables := plan.tables(nil)
	require.Len(t, tables, 1)
	assert.Nil(t, tables[0].Columns)
	assert.Equal(t, tableByHand(a, b), tables[0].X)
	tables = plan.tables([]string{"a"})
	require.Len(t, tables, 2)
	assert.Equal(t, []int{2}, tables[1].Columns, "the column of b")
	plan.rows = make([]int, samplesOfColumn*3)
	assert.Len(t, plan.tables(nil), 1, "as many samples as needed")
	plan.rows = plan.rows[1:]
	assert.Empty(t, plan.tables(nil), "one fewer")
	tables = plan.tables([]string{"b"})
	require.Len(t, tables, 1, "three columns are too many for five samples")
	assert.Equal(t, []int{0, 1}, tables[0].Columns)
}

// The table leaves out a view of noise, and keeps views that matter only together.
func TestTableOfDoubtfulViews(t *testing.T) {
	const n = 80
	rng := rand.New(rand.NewPCG(5, 6))
	a, b, noise := normal(rng, n, 1), normal(rng, n, 1), normal(rng, n, 8)
	views := []View{{Name: "a", Input: "a", X: a}, {Name: "b", Input: "b", X: b}, {Name: "noise", Input: "noise", X: noise}}
	y, product := make([]float64, n), make([]float64, n)
	for i := range n {
		if i%2 == 1 { // by pairs, so that neither a nor b says anything of a·b by itself
			a.Set(i, 0, -a.At(i-1, 0))
			b.Set(i, 0, b.At(i-1, 0))
		}
		e := 0.1 * rng.NormFloat64()
		y[i] = 7 + a.At(i, 0) + b.At(i, 0) + float64(2*a.At(i, 0)*b.At(i, 0)) + e
		product[i] = 7 + float64(2*noise.At(i, 0)) + float64(3*a.At(i, 0)*b.At(i, 0)) + e
	}
	m := fitPool(t, Auto{}, views, y)
	require.NotNil(t, m.table)
	assert.Equal(t, []string{"noise"}, doubtful(m.views))
	assert.Contains(t, m.Story(), "leaves out the columns of noise")
	assert.Equal(t, predicted(t, m.table, a, b, noise), predicted(t, m.table, a, b, normal(rng, n, 8)))

	m = fitPool(t, Auto{}, views, product)
	require.NotNil(t, m.table)
	assert.Contains(t, doubtful(m.views), "b", "by itself it says nothing")
	assert.NotContains(t, m.Story(), "leaves out")
	assert.NotEqual(t, predicted(t, m.table, a, b, noise), predicted(t, m.table, b, a, noise))
}

// Tables are fitted if the members before them leave as much time as one of them takes, and share that time.
func TestTimeOfTable(t *testing.T) {
	p := &pool{models: make([]Model, 3), dropped: []string{"one"}}
	for limit, want := range map[time.Duration]time.Duration{0: 0, 11 * time.Second: 3 * time.Second, 10 * time.Second: 2 * time.Second} {
		for tables := 1; tables <= 2; tables++ {
			_, rest, ok := p.tableFit(Fitting{}, limit, 2, 0, tables)
			assert.True(t, ok, limit)
			assert.Equal(t, want/time.Duration(tables), rest, limit)
		}
	}
	assert.Empty(t, p.left)
	var seen Progress
	f, _, _ := p.tableFit(Fitting{Progress: func(q Progress) { seen = q }}, 0, 2, 1, 2)
	f.Progress(Progress{Member: 2, Members: 5})
	assert.Equal(t, [2]int{4 + 5 + 2, 4 + 2*5}, [2]int{seen.Member, seen.Members}, "four members, and two tables of five")
	_, rest, ok := p.tableFit(Fitting{}, 9*time.Second, 2, 0, 1)
	assert.False(t, ok)
	assert.Zero(t, rest)
	assert.Equal(t, []string{AllColumns}, p.left)
}

// Files and predictors of single samples give the predictions of the model.
func TestTableOfPredictors(t *testing.T) {
	views, y, _, _ := actTogether(1, 90)
	_, _, atA, atB := actTogether(2, 30)
	m := fitPool(t, Auto{}, views, y)
	require.NotNil(t, m.table)
	loaded, err := LoadAs[*AutoModel](bytes.NewReader(saved(t, m)))
	require.NoError(t, err)
	assert.Equal(t, predicted(t, m, atA, atB), predicted(t, loaded, atA, atB))
	assert.Equal(t, m.Story(), loaded.Story())
	var file bytes.Buffer
	require.NoError(t, Compile(&file, m))
	compiled, err := LoadAs[*AutoModel](&file)
	require.NoError(t, err)
	mean, variance, err := m.Predict(atA, atB)
	require.NoError(t, err)
	for _, tolerance := range []float64{1e-2, 1e-5} {
		p, err := m.Predictor(PredictorOptions{Tolerance: tolerance})
		require.NoError(t, err)
		q, err := compiled.Predictor(PredictorOptions{Tolerance: tolerance})
		require.NoError(t, err)
		for i := range atA.Rows {
			b, err := p.PredictWithBound(atA.Row(i), atB.Row(i))
			require.NoError(t, err)
			sd := math.Sqrt(variance[i])
			assert.InDelta(t, mean[i], b.Mean, float64(tolerance*sd))
			assert.InDelta(t, sd, math.Sqrt(b.Variance), float64(tolerance*sd))
			assert.LessOrEqual(t, max(b.MeanError, b.SDError), float64(tolerance*sd*1.0001))
			c, err := q.PredictWithBound(atA.Row(i), atB.Row(i))
			require.NoError(t, err)
			assert.Equal(t, b, c)
		}
		rowA, rowB := atA.Row(0), atB.Row(0)
		if !raceEnabled {
			assert.Zero(t, testing.AllocsPerRun(50, func() { _, _ = p.PredictWithBound(rowA, rowB) }))
		}
		_, err = p.PredictWithBound(rowA, []float64{math.NaN()})
		assert.Error(t, err)
	}
	p, err := m.Predictor(PredictorOptions{MeanOnly: true})
	require.NoError(t, err)
	b, err := p.PredictWithBound(atA.Row(1), atB.Row(1))
	require.NoError(t, err)
	assert.InDelta(t, mean[1], b.Mean, float64(1e-2*math.Sqrt(variance[1])))
}

// actTogetherClasses has the classes of the signs of the products, or a third class where they are small.
func actTogetherClasses(seed uint64, n, classes int) (views []View, class []int, a, b Features) {
	views, y, a, b := actTogether(seed, n)
	for _, v := range y {
		c := 0
		switch {
		case classes == 3 && math.Abs(v-7) < 0.7:
			c = 2
		case v > 7:
			c = 1
		}
		class = append(class, c)
	}
	return views, class, a, b
}

func TestTableOfClasses(t *testing.T) {
	ctx := context.Background()
	for _, C := range []int{2, 3} {
		views, class, a, b := actTogetherClasses(1, 90, C)
		_, _, atA, atB := actTogetherClasses(2, 40, C)
		m := fitClasses(t, AutoClassifier[int]{}, views, class)
		require.NotNil(t, m.table, C)
		alone := fitClasses(t, AutoClassifier[int]{}, []View{{X: tableByHand(a, b)}}, class)
		without := fitClasses(t, AutoClassifier[int]{part: true}, views, class)
		want, err := alone.PredictClasses(ctx, PredictOptions{}, tableByHand(atA, atB))
		require.NoError(t, err)
		of, err := m.table.PredictClasses(ctx, PredictOptions{}, atA, atB)
		require.NoError(t, err)
		assert.Equal(t, want, of)
		share := m.weights[len(m.weights)-1]
		_, got, err := m.Predict(atA, atB)
		require.NoError(t, err)
		_, ofViews, err := without.Predict(atA, atB)
		require.NoError(t, err)
		_, ofTable, err := alone.Predict(tableByHand(atA, atB))
		require.NoError(t, err)
		for i := range got {
			for c := range got[i] {
				assert.InDelta(t, float64((1-share)*ofViews[i][c])+float64(share*ofTable[i][c]), got[i][c], 1e-9)
			}
		}
		left, err := m.LeaveOneOut(class)
		require.NoError(t, err)
		leftViews, err := without.LeaveOneOut(class)
		require.NoError(t, err)
		leftTable, err := alone.LeaveOneOut(class)
		require.NoError(t, err)
		for i := range left {
			assert.InDelta(t, float64((1-share)*leftViews[i][0])+float64(share*leftTable[i][0]), left[i][0], 1e-9)
		}

		loaded, err := LoadAs[*AutoClassifierModel[int]](bytes.NewReader(saved(t, m)))
		require.NoError(t, err)
		assert.Equal(t, predicted(t, m, atA, atB), predicted(t, loaded, atA, atB))
		for _, tolerance := range []float64{1e-2, 1e-5} {
			p, err := loaded.Predictor(PredictorOptions{Tolerance: tolerance})
			require.NoError(t, err)
			probability := make([]float64, C)
			for i := range got {
				_, bound, err := p.PredictWithBound(probability, atA.Row(i), atB.Row(i))
				require.NoError(t, err)
				assert.LessOrEqual(t, bound, tolerance)
				assert.InDeltaSlice(t, got[i], probability, tolerance)
			}
			if !raceEnabled {
				assert.Zero(t, testing.AllocsPerRun(50, func() { _, _, _ = p.PredictWithBound(probability, atA.Row(0), atB.Row(0)) }))
			}
		}
		parts, err := m.PredictViews(ctx, PredictOptions{}, atA, atB)
		require.NoError(t, err)
		assert.ElementsMatch(t, []string{"a", "b", AllColumns}, parts.Views)
		spreads, err := m.KernelSpreads(ctx, PredictOptions{}, atA, atB)
		require.NoError(t, err)
		assert.Len(t, spreads, len(m.KernelWeights()))
	}
}

// A table of many classes whose processes would take long has the least-squares member alone.
func TestTableOfManyClasses(t *testing.T) {
	const n = 700
	x := normal(rand.New(rand.NewPCG(4, 4)), n, 2)
	class := make([]int, n)
	for i := range class {
		class[i] = i % 30
		x.Set(i, 0, x.At(i, 0)+float64(3*class[i]))
	}
	m := fitClasses(t, AutoClassifier[int]{ofTable: true}, []View{{X: x}}, class)
	assert.Empty(t, m.members)
	assert.Len(t, m.indicators, 1)
}

// The share of the table is the weight of two densities, and it is dropped where it is small.
func TestShareOfTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	good, bad := make([]float64, 200), make([]float64, 200)
	for i := range good {
		e := rng.NormFloat64()
		good[i], bad[i] = special.Log(1)-float64(0.5*e*e), special.Log(0.1)-float64(0.005*e*e)
	}
	most, few := make([]float64, 200), make([]float64, 200) // one sample in five calls for the table
	for i := range most {
		if most[i] = -6; i%5 > 0 {
			most[i], few[i] = 0, -6
		}
	}
	assert.InDelta(t, 0.22, weightBeside(most, few, 3), 0.02)
	for _, c := range []struct {
		views, table []float64
		kept         bool
	}{{bad, good, true}, {good, bad, false}, {most, few, false}} {
		p := pool{names: []string{"one", "two"}, weights: []float64{0.25, 0.75}}
		table := &tableModel{AutoModel: &AutoModel{}}
		assert.Equal(t, c.kept, p.joinTable(c.views, c.table, nil, 3, table))
		share := weightBeside(c.views, c.table, 3)
		if !c.kept {
			assert.Equal(t, []float64{0.25, 0.75}, p.weights)
			assert.Equal(t, []string{AllColumns}, p.dropped)
			continue
		}
		assert.Greater(t, share, 0.75)
		assert.InDeltaSlice(t, []float64{(1 - share) * 0.25, (1 - share) * 0.75, share}, p.weights, 1e-15)
	}
}

func TestPoolsWithoutTable(t *testing.T) {
	views, y, a, b := actTogether(1, 40)
	ctx := context.Background()
	for what, c := range map[string]struct {
		auto  Auto
		views []View
	}{
		"a kernel":       {Auto{}, []View{views[0], {Name: "b", Input: "b", X: b, Kernel: kernel.RBF{}}}},
		"one view":       {Auto{}, views[:1]},
		"missing views":  {Auto{MissingViews: true}, views},
		"many columns":   {Auto{}, []View{views[0], {Name: "b", Input: "b", X: normal(rand.New(rand.NewPCG(1, 1)), 40, 19)}}},
		"part of a pool": {Auto{part: true}, views},
	} {
		m := fitPool(t, c.auto, c.views, y)
		assert.Nil(t, m.table, what)
		assert.NotContains(t, m.Story(), AllColumns, what)
	}
	of, class, _, _ := actTogetherClasses(1, 60, 2)
	assert.Nil(t, fitClasses(t, AutoClassifier[int]{MissingViews: true}, of, class).table)
	last := Progress{}
	fitPool(t, Auto{Fitting: Fitting{Progress: func(q Progress) {
		assert.GreaterOrEqual(t, q.Member, last.Member)
		assert.LessOrEqual(t, q.Member, q.Members)
		last = q
	}}}, views, y)
	assert.Greater(t, last.Members, len(autoMembers))
	m := fitPool(t, Auto{Time: time.Nanosecond}, views, y)
	assert.Nil(t, m.table)
	assert.Contains(t, m.left, AllColumns)

	var p pool
	assert.NoError(t, p.without(ctx, AllColumns, errors.New("no reason")))
	assert.Equal(t, []string{AllColumns + ": left out (no reason)"}, p.remarks)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	assert.ErrorContains(t, p.without(ended, AllColumns, errors.New("stopped")), "stopped")

	in := tableInputs{fitPool(t, Auto{part: true}, views, y).members[0].design}
	assert.NoError(t, in.check([]ModelInput{{Cols: 3}}))
	assert.ErrorContains(t, in.check([]ModelInput{{Cols: 4}}), "the views have 3 columns")
	_, err := in.joined([]Features{a})
	assert.ErrorContains(t, err, "needs 2")
}

// Sums of small weight are dropped beside the table, unless the targets then are clearly less probable.
func TestDropBesideTable(t *testing.T) {
	const n = 50
	level := func(v float64) (d []float64) { return slices.Repeat([]float64{v}, n) }
	some := func(k int) []float64 { return append(slices.Repeat([]float64{0}, k), level(-9)[k:]...) }
	for name, c := range map[string]struct {
		weights []float64   // of the sums and of the table
		density [][]float64 // of the sums and of the table
		want    []float64
	}{
		"two are small":         {[]float64{.1, .02, .04, .84}, [][]float64{level(-1), level(-1), level(-1), level(-1)}, []float64{.16, .84}},
		"none is small":         {[]float64{.2, .2, .6}, [][]float64{level(-1), level(-1), level(-1)}, []float64{.2, .2, .6}},
		"all are small":         {[]float64{.06, .04, .9}, [][]float64{level(-1), level(-1), level(-1)}, []float64{.1, .9}},
		"the largest are alike": {[]float64{.05, .05, .9}, [][]float64{level(-1), level(-1), level(-1)}, []float64{.05, .05, .9}},
		"near the limit":        {[]float64{.24, .14, .12, .5}, [][]float64{level(-1), level(-1), level(-1), level(-1)}, []float64{.24 * .5 / .38, .14 * .5 / .38, .5}},
		"six call for one":      {[]float64{.2, .05, .75}, [][]float64{level(-9), some(6), level(-9)}, []float64{.2, .05, .75}},
		"three may be chance":   {[]float64{.2, .05, .75}, [][]float64{level(-9), some(3), level(-9)}, []float64{.25, .75}},
		"one is needed":         {[]float64{.2, .05, .75}, [][]float64{level(-9), level(-1), level(-9)}, []float64{.2, .05, .75}},
	} {
		last := len(c.weights) - 1
		m := &AutoModel{}
		m.weights = slices.Clone(c.weights)
		for i := range last {
			m.members, m.names, m.models = append(m.members, &MultiGPModel{}), append(m.names, string(rune('a'+i))), append(m.models, &MultiGPModel{})
		}
		table := &tableModel{}
		m.names, m.models = append(m.names, AllColumns), append(m.models, table)
		m.dropBeside(c.density[:last], c.density[last])
		assert.InDeltaSlice(t, c.want, m.weights, 1e-15, name)
		assert.Len(t, m.members, len(c.want)-1, name)
		assert.Equal(t, AllColumns, m.names[len(m.names)-1], name)
		assert.Same(t, table, m.models[len(m.models)-1], name)
		assert.Len(t, m.dropped, len(c.weights)-len(c.want), name)
	}
}

// A table whose densities are not known, or whose fit fails, is no table.
func TestTableWithoutDensities(t *testing.T) {
	views, y, _, _ := actTogether(1, 40)
	plan, err := newPoolPlan(views, y, nil, 0, 1, false)
	require.NoError(t, err)
	boom := errors.New("boom")
	for _, c := range []struct {
		err  error
		want string
	}{{nil, "its leave-one-out densities are not known"}, {boom, "boom"}} {
		_, density, _, err := bestTable(&pool{}, &plan, Fitting{}, 0, 1, func(Fitting, time.Duration, View) (*AutoModel, []float64, error) {
			return &AutoModel{}, nil, c.err
		})
		assert.EqualError(t, err, c.want)
		assert.Nil(t, density)
	}
}
