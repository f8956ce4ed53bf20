package mkl

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

// TestExactRowsOfFeatures leaves tables of few features alone and uses fewer samples of wide ones, within the seconds.
func TestExactRowsOfFeatures(t *testing.T) {
	free := func(int) int64 { return 0 }
	const members, seconds = 5, 5.0 / 3
	rows := func(features int) int { return exactRows(10_000, members, 1, features, seconds, free, 1) }
	assert.Equal(t, rows(1), rows(fewFeatures))
	last := rows(1)
	for _, features := range []int{400, 1400, 10_000} {
		n := rows(features)
		assert.Less(t, n, last)
		assert.True(t, n == leastExactRows || members*exactSeconds(n, 1, features) <= seconds)
		last = n
	}
	x := Features{Rows: 2, Cols: 3, Stride: 3, Data: make([]float64, 6)}
	assert.Equal(t, 6, featuresOf([]View{{X: x, Input: "a"}, {X: x, Input: "a"}, {X: x, Input: "b"}}), "a view for each kernel of an input counts once")
}

// The effects of levels take time in proportion to samples and laws, and none without a column of many levels.
func TestForecastOfEffectsOfLevels(t *testing.T) {
	of := func(n, laws int, counts bool) float64 {
		x, _ := codedFunction(1, n, 100, 1)
		return ObservationLevelSeconds(functionCodes(x), laws, counts)
	}
	assert.InDelta(t, 1, of(6000, 1, true), 0.9)
	assert.Less(t, of(6000, 1, false), of(6000, 1, true)/2)
	assert.InEpsilon(t, 2, of(12000, 1, true)/of(6000, 1, true), 0.1)
	assert.InEpsilon(t, 2, of(6000, 2, false)/of(6000, 1, false), 0.2)
	x, _ := codedFunction(1, 4000, 100, 1)
	assert.Zero(t, ObservationLevelSeconds(functionCodes(x)[:1], 1, true))
	x, _ = codedFunction(1, 4000, 30, 1)
	assert.Zero(t, ObservationLevelSeconds(functionCodes(x), 1, true))
}

// forecastViews returns views without kernels. Every other view says something of the targets.
func forecastViews(n, count int) (views []View, y []float64) {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(count)))
	y = make([]float64, n)
	for v := range count {
		x := la.NewMatrix[float64](n, 5)
		for i := range x.Data {
			x.Data[i] = rng.NormFloat64()
		}
		for i := range y {
			if v%2 == 0 {
				y[i] += math.Sin(x.At(i, 0)) + 0.5*x.At(i, 1)*x.At(i, 2)
			}
		}
		views = append(views, View{Input: fmt.Sprint("v", v), X: x})
	}
	for i := range y {
		y[i] += 0.5 * rng.NormFloat64()
	}
	return views, y
}

// The forecast of the members of several views, of their probabilities and of their table is within a factor of 2 of the operations that are counted,
// also where the table is of some of the samples. Shares of few samples may take further sweeps, which take two seconds at most.
func TestForecastOfSeveralViews(t *testing.T) {
	for _, c := range []struct{ n, views, judged int }{{300, 2, 300}, {300, 4, 300}, {300, 8, 300}, {600, 4, 200}, {800, 3, 300}} {
		if testing.Short() && c.n > 300 {
			continue
		}
		views, y := forecastViews(c.n, c.views)
		f := new(Auto).fitting()
		k, err := newAmplitudeKernels(t.Context(), f, KernelsOfView, views, [][]float64{y}, false)
		require.NoError(t, err)
		kernels, _ := k.packed.Dims()
		k.work = 1.25 * leastSweeps * sweepWork(c.judged, kernels, c.views, 1)
		k.counted = new(atomic.Int64)
		_, z := standardizeTargets([][]float64{y}, false)
		_, _, err = k.fitAmplitudes(t.Context(), f, amplitudeTargets{y: z})
		require.NoError(t, err)
		forecast, count, further := viewsWork(k.work, c.n, kernels, c.views, 1), float64(k.counted.Load()), 0.0
		if c.judged < 300 {
			further = mostWork // the shares may take further sweeps to settle
		}
		assert.Less(t, forecast, 2*count, "%+v", c)
		assert.Less(t, count, 2*forecast+further, "%+v", c)
		assert.InEpsilon(t, viewsSeconds(views, c.n, 1), secondsOfViews*viewsWork(judgeWork, c.n, kernels, c.views, 1), 1e-12, "as many kernels as the fit has")
	}
}

// Exact members of several views are fitted to fewer samples where their table would take more than the time that is left. One view has no table.
func TestSeveralViewsTakeTime(t *testing.T) {
	rows := func(views []View, seconds float64) (all int) {
		m := &manyRows{views: views, held: 1000, seconds: seconds}
		return m.exactBeside(2000)
	}
	several, _ := forecastViews(2000, 4)
	one := several[:1]
	assert.Zero(t, viewsSeconds(one, 2000, 1))
	assert.Equal(t, 2000, rows(one, 60))
	assert.Equal(t, 2000, rows(several, 200))
	less := rows(several, 60)
	assert.Less(t, less, 2000)
	m := &manyRows{views: several, held: 1000}
	assert.LessOrEqual(t, m.exactForecast(less)+m.viewsForecast(less), 60.0)
	assert.Less(t, m.exactForecast(2000), 60.0, "the members alone have time")

	y := make([]float64, 2000)
	for i := range y {
		y[i] = several[0].X.At(i, 0)
	}
	r, err := newManyRows(t.Context(), new(Auto).fitting(), several, y, false, time.Minute)
	require.NoError(t, err)
	before := r.spent
	_, err = Auto{Climb: Climb{MaxSteps: 1}}.fitExact(r, y, leastExactRows)
	require.NoError(t, err)
	assert.InDelta(t, exactPoolSeconds(leastExactRows, r.held, 20)+viewsSeconds(several, leastExactRows, 1), r.spent-before, 1e-9)
}
