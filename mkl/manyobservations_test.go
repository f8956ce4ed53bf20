package mkl

import (
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
	"github.com/bmkl/bmkl/vi/mgp"
)

// countsOnLandmarks fits counts as above DefaultExactSamples.
func countsOnLandmarks(t *testing.T, c Counts, views []View, landmarks int, y []float64) *CountModel {
	m, err := c.problem().fitMany(t.Context(), views, landmarks, [][]float64{y}, mgp.Counts{Y: y, Exposure: c.Exposure, Dispersed: true})
	require.NoError(t, err)
	return &CountModel{*m}
}

// A fit on landmarks predicts as the exact fit of all samples does, and better than the fit of the landmarks alone.
func TestCountsOnLandmarks(t *testing.T) {
	const n, landmarks = 700, 60
	views, y, exposure, _ := someVisits(5, n, 2)
	c := Counts{Exposure: exposure}
	exact, err := c.Fit(t.Context(), views, y)
	require.NoError(t, err)
	m := countsOnLandmarks(t, c, views, landmarks, y)
	assert.Equal(t, n, m.Samples())
	assert.True(t, m.Trace().Converged)
	test, later, o, _ := someVisits(6, 2000, 2)
	score := func(m *CountModel) (sum float64) {
		p, err := m.PredictCounts(t.Context(), PredictOptions{}, o, test[0].X)
		require.NoError(t, err)
		for i, v := range later {
			sum += p.LogProbability(i, v) / float64(len(later))
		}
		return sum
	}
	rows := landmarkRows(rowOrder(rowColumns(views), [][]float64{y}, false, 0), landmarks, alikeIn(views, y)...)
	few, err := Counts{Exposure: vec.Picked(exposure, rows)}.Fit(t.Context(), takeRows(views, rows), vec.Picked(y, rows))
	require.NoError(t, err)
	assert.InDelta(t, score(exact), score(m), 0.01)
	assert.Greater(t, score(m), score(few)+0.03)
	assert.InDelta(t, exact.Dispersion(), m.Dispersion(), 0.05)

	back := requireFile(t, m, LoadAs[*CountModel], 20_011)
	p, err := m.Predict(test[0].X)
	require.NoError(t, err)
	q, err := back.Predict(test[0].X)
	require.NoError(t, err)
	assert.Equal(t, p, q)

	c.Workers = 3
	other := countsOnLandmarks(t, c, views, landmarks, y)
	assert.Equal(t, m.Posterior().State(), other.Posterior().State())
}

// Fits end where a few samples decide the level and the parameters: an event 20 decades too early, and grades that are rare.
func TestLandmarksConverge(t *testing.T) {
	const n, landmarks = 150, 40
	views, _, _, _ := someVisits(9, n, 2)
	rng := rand.New(rand.NewPCG(9, 9))
	index, times := make([]int, n), make([]Lifetime, n)
	for i := range times {
		f := views[0].X.At(i, 0) + 0.5*rng.NormFloat64()
		times[i] = EventAt(math.Exp(f))
		if f < -1.5 {
			index[i] = 1
		} else if f > -1.8 {
			index[i] = 4
		}
	}
	for early := range n { // the first that is no landmark once its time is early
		was := times[early]
		times[early] = EventAt(1e-20)
		_, lower, upper, err := logTimes(times)
		require.NoError(t, err)
		if rows := landmarkRows(rowOrder(rowColumns(views), [][]float64{lower, upper}, false, 0), landmarks, alikeIn(views, lower)...); !slices.Contains(rows, early) {
			break
		}
		times[early] = was
	}
	m, err := (&Ordinal[int]{}).problem().fitMany(t.Context(), views, landmarks, [][]float64{vec.Floats(index)}, mgp.Ordinal{Y: index, Grades: 6})
	require.NoError(t, err)
	assert.True(t, m.Trace().Converged)
	_, lower, upper, err := logTimes(times)
	require.NoError(t, err)
	for _, law := range []SurvivalLaw{LogNormal, Weibull} {
		like := mgp.Censored{Lower: lower, Upper: upper, Law: law.law()}
		m, err = (&Survival{}).problem().fitMany(t.Context(), views, landmarks, [][]float64{lower, upper}, like)
		require.NoError(t, err)
		exact, err := (&Survival{}).problem().fitExact(t.Context(), views, [][]float64{lower, upper}, 0, like)
		require.NoError(t, err)
		assert.True(t, m.Trace().Converged, law)
		assert.InDelta(t, exact.posteriors[0].State().Shape[1], m.posteriors[0].State().Shape[1], 0.3, "the logarithm of the noise, %v", law)
	}
}

// A constant kernel takes the level's place, and the fit still ends, with the level and the cut points of the exact fit.
func TestLandmarksWithAConstantKernel(t *testing.T) {
	const n, landmarks = 700, 200
	r := rand.New(rand.NewPCG(3, 12))
	x, grades := normal(r, n, 6), make([]int, n)
	for i := range n {
		v := x.Row(i)
		e := 0.8*math.Sin(2*v[0]) + 0.5*v[1]*v[2] - 0.4*v[3] + 0.6*r.NormFloat64()
		for _, c := range []float64{-1, -0.3, 0.4, 1.2} {
			if e > c {
				grades[i]++
			}
		}
	}
	views := []View{{X: x, Kernel: kernel.RBF{Width: 2}}, {X: x, Kernel: kernel.Constant{}}}
	like := mgp.Ordinal{Y: grades, Grades: 5}
	m, err := (&Ordinal[int]{}).problem().fitMany(t.Context(), views, landmarks, [][]float64{vec.Floats(grades)}, like)
	require.NoError(t, err)
	assert.True(t, m.Trace().Converged)
	exact, err := (&Ordinal[int]{}).problem().fitExact(t.Context(), views, [][]float64{vec.Floats(grades)}, 0, like)
	require.NoError(t, err)
	for i, v := range exact.posteriors[0].State().Shape[1:] {
		assert.InDelta(t, v, m.posteriors[0].State().Shape[1+i], 0.15)
	}
}

// A fit that is stopped where all samples begin is the one of the landmarks.
func TestStoppedOnLandmarks(t *testing.T) {
	views, y, _, _ := someVisits(5, 200, 0)
	ctx, cancel := context.WithCancel(t.Context())
	c := Counts{Climb: Climb{MaxSteps: 2}, Fitting: Fitting{Progress: func(p Progress) {
		if p.Sweep == 2 {
			cancel()
		}
	}}}
	m, err := c.problem().fitMany(ctx, views, 50, [][]float64{y}, mgp.Counts{Y: y})
	require.ErrorIs(t, err, context.Canceled)
	require.NotNil(t, m)
	assert.Equal(t, 50, m.Samples())
}

// Samples may lack a view.
func TestCountsOnLandmarksWithGaps(t *testing.T) {
	views, y, _, mean := someVisits(7, 300, 0)
	for i := range 300 {
		if i%7 == 0 {
			views[0].X.Set(i, 0, math.NaN())
			views[0].X.Set(i, 1, math.NaN())
		}
	}
	m := countsOnLandmarks(t, Counts{MissingViews: true}, views, 50, y)
	back := requireFile(t, m, LoadAs[*CountModel], 20_011)
	p, err := back.Predict(views[0].X)
	require.NoError(t, err)
	got, _ := p.Moments()
	miss, known := 0.0, 0.0
	for i, v := range got {
		if i%7 != 0 {
			miss += math.Abs(math.Log(v / mean[i]))
			known++
		}
	}
	assert.Less(t, miss/known, 0.55) // the exposures, which the fit does not know, make .4
}

// orderWithoutFirst returns an order of samples that does not have the given ones among the first, and its seed.
func orderWithoutFirst(views []View, y []float64, first int, without ...int) (order []int, seed uint64) {
	for ; ; seed++ {
		order = rowOrder(rowColumns(views), [][]float64{y}, false, seed)
		if !slices.ContainsFunc(without, func(i int) bool { return slices.Contains(order[:first], i) }) {
			return order, seed
		}
	}
}

// Landmarks have more than one value where the samples do.
func TestLandmarksOfRareEvents(t *testing.T) {
	y := make([]float64, 4000)
	y[17], y[3001] = 1, 2
	x, _, _, _ := someVisits(8, len(y), 0)
	order, _ := orderWithoutFirst(x, y, 100, 17, 3001)
	rows := landmarkRows(order, 100, alikeIn(x, y)...)
	assert.Len(t, rows, 100)
	assert.True(t, slices.IsSorted(rows))
	assert.Contains(t, rows, 17)
	assert.Contains(t, rows, 3001)
	assert.Equal(t, DefaultExactSamples, ObservationLandmarks(DefaultExactSamples), "all of them")
	assert.Equal(t, 2000, ObservationLandmarks(4000))
	assert.Equal(t, 1414, ObservationLandmarks(50_000))
	assert.Equal(t, 316, ObservationLandmarks(1_000_000))
}

// A view in which nearly all samples are equal gets its widths from the few others.
func TestCountsOfRareFeatures(t *testing.T) {
	const n = 1500
	_, y, _, _ := someVisits(5, n, 0)
	rare := la.NewMatrix[float64](n, 2)
	rare.Set(17, 0, 1)
	rare.Set(n-2, 1, 3)
	views, _, err := FillViews(KernelsBroad, []View{{X: rare}})
	require.NoError(t, err)
	order, seed := orderWithoutFirst(views, y, 100, 17, n-2)
	rows := landmarkRows(order, 100, alikeIn(views, y)...)
	assert.Contains(t, rows, 17)
	assert.Contains(t, rows, n-2)
	assert.Len(t, slices.Compact(rows), 100)
	m := countsOnLandmarks(t, Counts{Fitting: Fitting{Seed: seed}}, views, 100, y)
	p, err := m.Predict(la.NewMatrix[float64](1, 2))
	require.NoError(t, err)
	mean, _ := p.Moments()
	assert.InEpsilon(t, vec.Total(y)/n, mean[0], 0.05) // nearly all samples are where this one is
}

// A sample at the origin of linear kernels has a function of no variance: its mean is the level.
func TestObservationsOfNoVariance(t *testing.T) {
	const n, landmarks = 90, 40
	x, y, times := la.NewMatrix[float64](n, 1), make([]float64, n), make([]Lifetime, n)
	rng := rand.New(rand.NewPCG(5, 1))
	for i := range y {
		x.Set(i, 0, float64(i/2-n/4))
		f := 2 + float64(0.04*x.At(i, 0))
		y[i], times[i] = math.Round(math.Exp(f)), EventAt(math.Exp(f)*rng.ExpFloat64())
	}
	views := []View{{X: x, Kernel: kernel.Linear{}}}
	m, err := Counts{Law: NegativeBinomial}.Fit(t.Context(), views, y)
	require.NoError(t, err)
	many := countsOnLandmarks(t, Counts{}, views, landmarks, y)
	for _, m := range []*CountModel{m, many} {
		p, err := m.Predict(Column([]float64{0}))
		require.NoError(t, err)
		mean, _ := p.Moments()
		assert.InEpsilon(t, math.Exp(2), mean[0], 0.05)
	}
	m, err = Counts{}.Fit(t.Context(), views, y) // the counts are without noise
	require.NoError(t, err)
	assert.Equal(t, DoublePoisson, m.Law())
	p, err := m.Predict(Column([]float64{0}))
	require.NoError(t, err)
	mean, variance := p.Moments()
	assert.InDelta(t, 7, mean[0], 0.1)
	assert.Less(t, variance[0], 0.3)
	_, err = Survival{Law: Weibull}.Fit(t.Context(), views, times)
	assert.NoError(t, err)
}

// A sample far from the others does not keep these from their predictions.
func TestCountsBeyondNumbers(t *testing.T) {
	const n = 60
	x, y := la.NewMatrix[float64](n, 1), make([]float64, n)
	for i := range y {
		x.Set(i, 0, float64(i)/n)
		y[i] = math.Round(math.Exp(3 * x.At(i, 0)))
	}
	m, err := Counts{}.Fit(t.Context(), []View{{X: x, Kernel: kernel.Linear{}}}, y)
	require.NoError(t, err)
	p, err := m.Predict(Column([]float64{0.5, 1e4, -1e4}))
	require.NoError(t, err)
	mean, variance := p.Moments()
	one, err := m.Predict(Column([]float64{0.5}))
	require.NoError(t, err)
	first, second := one.Moments()
	assert.InEpsilon(t, math.Exp(1.5), mean[0], 0.2)
	assert.Equal(t, [2]float64{first[0], second[0]}, [2]float64{mean[0], variance[0]})
	assert.Equal(t, math.MaxFloat64, mean[1])
	for i := range mean {
		lower, upper := p.Interval(i, 0.95)
		below, upTo := p.CDF(i, 4)
		for _, v := range []float64{mean[i], variance[i], lower, upper, below, upTo, p.LogProbability(i, 4)} {
			assert.False(t, math.IsNaN(v) || math.IsInf(v, 0), "sample %d", i)
		}
		assert.LessOrEqual(t, lower, upper)
	}
}

// Poisson distributions have a limit, which is named at once.
func TestPoissonLimit(t *testing.T) {
	views := []View{{X: Column([]float64{1, 2, 3}), Kernel: kernel.RBF{Width: 1}}}
	y := []float64{1e12, 4, 2e12}
	_, err := Counts{Law: Poisson}.Fit(t.Context(), views, y)
	assert.ErrorContains(t, err, "sample 2 is 2e+12: a Poisson distribution takes counts up to 1e+12, a negative binomial one up to 2⁵³")
	_, err = Counts{}.Fit(t.Context(), views, y)
	assert.NoError(t, err)
}

// A fit that is stopped when all samples are nearly done predicts as they do.
func TestStoppedNearTheEndOfAll(t *testing.T) {
	views, y, _, _ := someVisits(5, 300, 0)
	ctx, cancel := context.WithCancel(t.Context())
	var seen []Progress
	c := Counts{Fitting: Fitting{Progress: func(p Progress) {
		assert.Equal(t, 2, p.Starts)
		if p.Start == 2 {
			seen = append(seen, p)
			if p.Sweep == 3 {
				cancel()
			}
		}
	}}}
	m, err := c.problem().fitMany(ctx, views, 50, [][]float64{y}, mgp.Counts{Y: y})
	require.ErrorIs(t, err, context.Canceled)
	require.NotNil(t, m)
	assert.Len(t, seen, 3)
	assert.Equal(t, vi.Cancelled.String(), m.Trace().Reason)
	require.Equal(t, 300, m.Samples())
	c.Progress = nil
	whole, err := c.problem().fitMany(t.Context(), views, 50, [][]float64{y}, mgp.Counts{Y: y})
	require.NoError(t, err)
	assert.InDelta(t, whole.Bound(), m.Bound(), 1)
}

// Landmarks says how many samples are landmarks.
func TestLandmarksSetting(t *testing.T) {
	const n = 120
	views, y, _, _ := someVisits(5, n, 2)
	m, err := Counts{Landmarks: 40}.Fit(t.Context(), views, y)
	require.NoError(t, err)
	want := countsOnLandmarks(t, Counts{}, views, 40, y)
	assert.Equal(t, want.Posterior().State(), m.Posterior().State())
	all, err := Counts{Landmarks: n}.Fit(t.Context(), views, y)
	require.NoError(t, err)
	exact, err := Counts{}.Fit(t.Context(), views, y)
	require.NoError(t, err)
	assert.Equal(t, exact.Posterior().State(), all.Posterior().State())
	_, err = Counts{Landmarks: -1}.Fit(t.Context(), views, y)
	assert.EqualError(t, err, "mkl: Landmarks is -1: it must not be negative")
	given := PrecomputedViews(la.NewMatrix[float64](n, n))
	_, err = Counts{Landmarks: 40}.Fit(t.Context(), given, y)
	assert.EqualError(t, err, "mkl: Landmarks is 40: views of given kernels take none")
	size := FitSize{Samples: 10_000, Kernels: 3}
	assert.Less(t, Counts{Landmarks: 300}.EstimateMemory(size), Counts{}.EstimateMemory(size))
	assert.Greater(t, Counts{Landmarks: 10_000}.EstimateMemory(size), Counts{}.EstimateMemory(size))
}
