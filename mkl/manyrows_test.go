package mkl

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// ripples are samples of a function with local detail, with one column of heavy tails.
func ripples(seed uint64, n int) (x Features, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 5))
	x, y = normal(rng, n, 3), make([]float64, n)
	for i := range y {
		y[i] = 100 + 7*(math.Sin(4*x.At(i, 0))+x.At(i, 1)+0.1*rng.NormFloat64())
		x.Set(i, 2, math.Exp(2.5*x.At(i, 2)))
	}
	return x, y
}

// quickly is a limit that leaves little time for each member.
const quickly = 3 * time.Second

func TestManyRowsPredictsAndDoesNotDependOnTheirOrder(t *testing.T) {
	const n = DefaultExactSamples + 200
	x, y := ripples(1, n)
	at, want := ripples(2, 400)
	m := fitPool(t, Auto{Time: quickly}, []View{{X: x}}, y)
	names, weights := m.Members()
	require.NotNil(t, m.local, "%v", names)
	assert.InDelta(t, 1, vec.Total(weights), 1e-12)
	assert.Contains(t, m.Story(), "predictions of 640 samples held out")
	assert.Nil(t, m.LeaveOneOut())
	mean, variance, err := m.Predict(at)
	require.NoError(t, err)
	rmse, within := accuracy(want, mean, variance)
	assert.Less(t, rmse, 1.2) // the noise has .7
	assert.InDelta(t, 380, within, 20)

	order := rand.New(rand.NewPCG(3, 4)).Perm(n)
	shuffled := fitPool(t, Auto{Time: quickly, Fitting: Fitting{Workers: 7}}, []View{{X: x.TakeRows(order)}}, vec.Picked(y, order))
	assert.Equal(t, predicted(t, m, at), predicted(t, shuffled, at))

	back := requireFile(t, m, LoadAs[*AutoModel], 4001)
	assert.Equal(t, predicted(t, m, at), predicted(t, back, at))
	assert.Equal(t, m.Summary(), back.Summary())
	assertLocalFileIsChecked(t, m)

	requirePartsAddUp(t, m, at)
	requirePredictors(t, m, at, mean, variance)
	p, err := m.Predictor(PredictorOptions{})
	require.NoError(t, err)
	require.Len(t, p.Info(), len(names))
	spreads, err := m.KernelSpreads(context.Background(), PredictOptions{}, at)
	require.NoError(t, err)
	assert.Len(t, spreads, len(m.KernelWeights()))
	_, _, err = m.Predict(at.Slice(0, 9, 0, 2))
	assert.ErrorContains(t, err, "3 columns are needed")
}

// Other orders of columns, other units and other signs of features change the rounding of sums only. The steps on the way to the
// local member's widths enlarge it: measured are differences of up to 5e-5 standard deviations.
func TestManyRowsDoesNotSeeColumnsUnitsAndSigns(t *testing.T) {
	x, y := ripples(1, DefaultExactSamples+200)
	at, _ := ripples(2, 100)
	views := []View{{X: x}}
	m := fitPool(t, Auto{Time: quickly}, views, y)
	require.NotNil(t, m.local)
	mean, variance, err := m.Predict(at)
	require.NoError(t, err)
	for _, o := range retold(views, []Features{at})[1:] { // without the order of rows
		got, v, err := fitPool(t, Auto{Time: quickly}, o.views, y).Predict(o.at...)
		require.NoError(t, err)
		for i := range mean {
			assert.InDelta(t, mean[i], got[i], float64(2e-4*math.Sqrt(variance[i])), "%s, mean of %d", o.way, i)
			assert.InEpsilon(t, variance[i], v[i], 2e-4, "%s, variance of %d", o.way, i)
		}
	}
}

// accuracy returns the root mean square error of means, and how many targets their 95 % intervals hold.
func accuracy(targets, mean, variance []float64) (rmse float64, within int) {
	for i, v := range targets {
		rmse += (v - mean[i]) * (v - mean[i])
		if math.Abs(v-mean[i]) < 1.96*math.Sqrt(variance[i]) {
			within++
		}
	}
	return math.Sqrt(rmse / float64(len(targets))), within
}

// requirePredictors requires that predictors of a pool predict the first 20 samples as the pool does, and that they allocate nothing.
func requirePredictors(t *testing.T, m *AutoModel, at Features, mean, variance []float64) {
	t.Helper()
	for _, meanOnly := range []bool{false, true} {
		p, err := m.Predictor(PredictorOptions{MeanOnly: meanOnly, Tolerance: 1e-6})
		require.NoError(t, err)
		for i := range 20 {
			one, v, err := p.Predict(at.Row(i))
			require.NoError(t, err)
			assert.InEpsilon(t, mean[i], one, 1e-6)
			if !meanOnly {
				assert.InEpsilon(t, variance[i], v, 1e-4)
			}
		}
		if row := at.Row(0); !raceEnabled {
			assert.Zero(t, testing.AllocsPerRun(10, func() { _, _, _ = p.Predict(row) }))
		}
	}
}

// assertLocalFileIsChecked loads files of the pool whose local member is damaged.
func assertLocalFileIsChecked(t *testing.T, m *AutoModel) {
	t.Helper()
	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	prefix := fmt.Sprintf("member.%d.", len(m.models)-1)
	for _, d := range []struct {
		want   string
		change func(metadata map[string]string, ts map[string]tensor)
	}{
		{"is missing", func(_ map[string]string, ts map[string]tensor) { delete(ts, prefix+"y") }},
		{"row 1 is", func(_ map[string]string, ts map[string]tensor) { ts[prefix+"features"].data[9] = 0 }},
		{"element 1 is NaN", func(_ map[string]string, ts map[string]tensor) { ts[prefix+"x"].data[1] = math.NaN() }},
	} {
		assertRefused(t, file.Bytes(), d.change, d.want)
	}
}

// Views with kernels are part of an exact member and of landmarks, and there is no local member.
func TestManyRowsOfGivenKernels(t *testing.T) {
	x, y := ripples(1, DefaultExactSamples+1)
	x = x.Slice(0, x.Rows, 0, 2).Clone()
	m := fitPool(t, Auto{Time: quickly, Climb: Climb{MaxSteps: 3}}, []View{{X: x, Kernel: kernel.RBF{Width: 0.5}}}, y)
	assert.Nil(t, m.local)
	assert.NotContains(t, m.Story(), "left out")
	all := slices.Concat(m.names, m.dropped)
	assert.Len(t, all, 2)
	assert.Contains(t, all[0]+all[1], "landmarks")
}

// What one member cannot take is left out; what none can take is an error.
func TestManyRowsRejects(t *testing.T) {
	x, y := ripples(1, DefaultExactSamples+1)
	for _, c := range []struct {
		a    Auto
		v    View
		want string
	}{
		{Auto{Time: -1}, View{X: x}, "Time is -1ns"},
		{Auto{}, View{X: x.Slice(0, 9, 0, 3)}, "X is 9×3 where y has 3001 samples"},
		{Auto{Fitting: Fitting{MemoryLimit: 1}}, View{X: x}, "memory"},
	} {
		_, err := c.a.Fit(context.Background(), []View{c.v}, y)
		assert.ErrorContains(t, err, c.want)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Auto{}.Fit(ended, []View{{X: x}}, y)
	assert.ErrorIs(t, err, context.Canceled)
}

func TestLocalFeatures(t *testing.T) {
	x, _ := ripples(1, 4000)
	wide := matrix(4000, 2, func(i, j int) float64 { return float64(j * i % 7) })
	f := newLocalFeatures([]Features{x, wide}, [][]int{nil, {0, 1}})
	require.Len(t, f.columns, 4) // a constant column is left out
	assert.Zero(t, f.columns[0].spread)
	assert.Positive(t, f.columns[2].spread)
	z := f.of([]Features{x, wide})
	for j := range z.Cols {
		var column []float64
		for i := range z.Rows {
			column = append(column, z.At(i, j))
		}
		mean, sd := vec.MeanSD(column)
		assert.InDelta(t, 0, mean, 1e-9)
		assert.InDelta(t, 1, sd, 1e-9)
		assert.Less(t, slices.Max(column), 7.0)
	}
	far := []float64{1e9, 0, 1e12}
	one := make([]float64, len(f.columns))
	f.at([][]float64{far, {3, 3}}, one)
	assert.Equal(t, f.columns[0].high+1, one[0])
	assert.Equal(t, f.columns[2].high+1, one[2])
}

// crowds returns samples of the given number of classes, each with several centres.
func crowds(seed uint64, n, classes int) (x Features, labels []int) {
	rng := rand.New(rand.NewPCG(seed, 6))
	x, labels = normal(rng, n, 2), make([]int, n)
	for i := range labels {
		cell := int(math.Floor(1.5*x.At(i, 0))) + 2*int(math.Floor(1.5*x.At(i, 1))) + 100
		labels[i] = cell % classes
	}
	return x, labels
}

// As for numbers. Measured are differences of up to 2e-7 in a probability.
func TestManyRowsOfClassesDoesNotSeeColumnsUnitsAndSigns(t *testing.T) {
	x, labels := crowds(1, DefaultExactSamples+200, 3)
	at, _ := crowds(2, 100, 3)
	views := []View{{X: x}}
	a := AutoClassifier[int]{Time: quickly, Classes: []int{0, 1, 2}}
	m := fitClasses(t, a, views, labels)
	require.NotNil(t, m.local)
	_, want, err := m.Predict(at)
	require.NoError(t, err)
	for _, o := range retold(views, []Features{at})[1:] { // without the order of rows
		_, got, err := fitClasses(t, a, o.views, labels).Predict(o.at...)
		require.NoError(t, err)
		for i := range want {
			assert.InDeltaSlice(t, want[i], got[i], 1e-5, "%s, sample %d", o.way, i)
		}
	}
}

func TestManyRowsOfClasses(t *testing.T) {
	const n = DefaultExactSamples + 200
	for _, classes := range []int{2, 5} {
		x, labels := crowds(1, n, classes)
		at, want := crowds(2, 400, classes)
		a := AutoClassifier[int]{Time: quickly}
		m := fitClasses(t, a, []View{{X: x}}, labels)
		require.NotNil(t, m.local, "%v", m.names)
		got, probability, err := m.Predict(at)
		require.NoError(t, err)
		wrong, loss := 0, 0.0
		for i, c := range want {
			if got[i] != c {
				wrong++
			}
			loss -= math.Log(probability[i][slices.Index(m.Classes(), c)]) / float64(len(want))
		}
		assert.Less(t, wrong, 40, "%d classes", classes)
		assert.Less(t, loss, 0.35, "%d classes", classes)

		order := rand.New(rand.NewPCG(3, 4)).Perm(n)
		a.Workers, a.Classes = 7, m.Classes()
		shuffled := fitClasses(t, a, []View{{X: x.TakeRows(order)}}, vec.Picked(labels, order))
		assert.Equal(t, predicted(t, m, at), predicted(t, shuffled, at))

		back := requireFile(t, m, LoadAs[*AutoClassifierModel[int]], 4001)
		assert.Equal(t, predicted(t, m, at), predicted(t, back, at))
		assert.Equal(t, m.Summary(), back.Summary())
		p, err := m.Predictor(PredictorOptions{Tolerance: 1e-6})
		require.NoError(t, err)
		one := make([]float64, classes)
		for i := range 20 {
			label, err := p.Predict(one, at.Row(i))
			require.NoError(t, err)
			assert.Equal(t, got[i], label)
			assert.InDeltaSlice(t, probability[i], one, 1e-5)
		}
		assert.NotEmpty(t, p.Info())
	}
}
