package mkl

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/mkl/kernel"
)

// No prediction on landmarks is further from float64 than its bound, or than the tolerance: with much noise and with hardly
// any, narrow, wide and unbounded kernels, samples that lie twice and a feature that is constant.
func TestLandmarksStayWithinTheTolerance(t *testing.T) {
	const n = 400
	rng := rand.New(rand.NewPCG(51, 52))
	x := normal(rng, n, 3)
	f, labels := make([]float64, n), make([]string, n)
	for i := range n {
		row := x.Row(i)
		row[1] = 7
		if i%10 == 9 {
			copy(row, x.Row(i-1))
		}
		f[i] = math.Sin(3*row[0]) + row[2]
		labels[i] = []string{"a", "b", "c"}[min(2, int(math.Hypot(row[0], row[2])))]
	}
	q := anywhere(rand.New(rand.NewPCG(53, 54)), x, 300)
	landmarks := &Landmarks{Count: 70}
	for name, kernels := range map[string][]kernel.Kernel{
		"narrow and wide": {kernel.RBF{Width: 0.2}, kernel.RBF{Width: 10}, kernel.Laplacian{Width: 2}},
		"unbounded":       {kernel.RBF{}, kernel.Linear{}, kernel.Polynomial{Degree: 2, Offset: 1}},
	} {
		var views []View
		for _, k := range kernels {
			views = append(views, View{X: x, Kernel: k})
		}
		for _, noise := range []float64{1, 1e-2, 1e-4} {
			y := make([]float64, n)
			for i, v := range f {
				y[i] = v + float64(noise*rng.NormFloat64())
			}
			m, err := LandmarkGP{Landmarks: landmarks, Climb: Climb{MaxSteps: 5}}.Fit(t.Context(), views, y)
			require.NoError(t, err)
			in32 := assertBounded(t, name, m, q)
			if noise == 1 {
				assert.Greater(t, in32, q.Rows/2, "%s: predictions in float32", name)
			}
		}
		c, err := LandmarkClassifier[string]{Landmarks: landmarks, MinRise: 1e-2}.Fit(t.Context(), views, labels)
		require.NoError(t, err)
		assertBoundedClasses(t, name, c, q, 1, 1e-9)
	}
}

// assertBounded compares predictions with those in float64, for three tolerances. It returns how many of the first are in float32.
func assertBounded(t *testing.T, name string, m interface {
	Predictor(PredictorOptions) (*Predictor, error)
}, q Features) (in32 int) {
	t.Helper()
	exact, err := m.Predictor(PredictorOptions{Exact: true})
	require.NoError(t, err)
	for _, tolerance := range []float64{1e-2, 1e-4, 1e-6} {
		p, err := m.Predictor(PredictorOptions{Tolerance: tolerance})
		require.NoError(t, err)
		many, err := p.PredictMany(t.Context(), 1, q)
		require.NoError(t, err)
		few, err := p.PredictMany(t.Context(), 2, Features(q.Slice(37, 80, 0, q.Cols)))
		require.NoError(t, err)
		assert.Equal(t, many[37:80], few, "%s, %g: other samples in the list", name, tolerance)
		low, share := 0, 0.0
		for i := range q.Rows {
			want, err := exact.PredictWithBound(q.Row(i))
			require.NoError(t, err)
			assertWithinBounds(t, want, many[i], tolerance)
			got, err := p.PredictWithBound(q.Row(i))
			require.NoError(t, err)
			sd := math.Sqrt(want.Variance)
			slack := 1e-9*sd + 1e-13*math.Abs(want.Mean)
			meanError, sdError := math.Abs(got.Mean-want.Mean), math.Abs(math.Sqrt(got.Variance)-sd)
			assert.LessOrEqual(t, meanError, got.MeanError+slack, "%s, %g, %v: mean", name, tolerance, q.Row(i))
			assert.LessOrEqual(t, sdError, got.SDError+slack, "%s, %g, %v: SD", name, tolerance, q.Row(i))
			assert.LessOrEqual(t, max(meanError, sdError), tolerance*sd+slack, "%s, %g, %v", name, tolerance, q.Row(i))
			if got.Kind == BoundCalibrated {
				low, share = low+1, max(share, (sdError-slack)/got.SDError)
			}
		}
		if tolerance == 1e-2 {
			in32 = low
		}
		t.Logf("%s, tolerance %g: %d of %d in float32, largest error %.2g of its bound", name, tolerance, low, q.Rows, share)
		if !raceEnabled {
			assert.Zero(t, testing.AllocsPerRun(20, func() { _, _, _ = p.Predict(q.Row(1)) }))
		}
	}
	return in32
}

// assertBoundedClasses does the same for probabilities. most is the largest bound, in units of the tolerance, and rounding is the
// difference that float64 may make beside the bound.
func assertBoundedClasses(t *testing.T, name string, m interface {
	ClassModel[string]
	Predictor(PredictorOptions) (*ClassPredictor[string], error)
}, q Features, most, rounding float64) {
	t.Helper()
	all, err := m.PredictClasses(t.Context(), PredictOptions{}, q)
	require.NoError(t, err)
	want := all.Probability
	for _, tolerance := range []float64{1e-2, 1e-4, 1e-6} {
		p, err := m.Predictor(PredictorOptions{Tolerance: tolerance})
		require.NoError(t, err)
		got := make([]float64, len(m.Classes()))
		for i := range q.Rows {
			_, bound, err := p.PredictWithBound(got, q.Row(i))
			require.NoError(t, err)
			assert.LessOrEqual(t, bound, most*tolerance)
			for c, v := range want[i] {
				assert.InDelta(t, v, got[c], bound+rounding, "%s, %g, %v", name, tolerance, q.Row(i))
			}
		}
	}
}

// Predictions of a local model allocate nothing and are the model's own.
func TestLocalModelPredictsOneByOne(t *testing.T) {
	x, y := ripples(1, 800)
	classes := make([]int, len(y))
	for i, v := range y {
		if v > 95 {
			classes[i] = 1
		}
		if v > 104 {
			classes[i] = 2
		}
	}
	f := &localFit{fitting: &fitting{Fitting: Fitting{Seed: 1}}, held: 100, seconds: 1, limit: 1 << 30}
	views := []View{{X: x}}
	m, err := f.numbers(context.Background(), views, y)
	require.NoError(t, err)
	p := m.function(nil, false)
	want, err := m.PredictTargets(context.Background(), PredictOptions{}, x.Slice(0, 20, 0, x.Cols))
	require.NoError(t, err)
	row := make([][]float64, 1)
	for i := range want.Mean[0] {
		row[0] = x.Row(i)
		c := p.predict(row)
		assert.InDelta(t, want.Mean[0][i], m.target.mean+float64(m.target.sd*c.Mean), 1e-9)
		assert.InEpsilon(t, want.Variance[0][i], float64(m.target.sd*m.target.sd*c.Variance), 1e-9)
	}
	if !raceEnabled {
		assert.Zero(t, testing.AllocsPerRun(20, func() { p.predict(row) }))
	}

	of, err := f.classes(context.Background(), views, classes, 3)
	require.NoError(t, err)
	c := of.function(of.head, false)
	mean, variance, err := of.posterior.Predict(context.Background(), of.features.of([]Features{x}), nil, false, 1)
	require.NoError(t, err)
	all := rows(x.Rows, 3)
	of.head.Probabilities(transposed(mean), meanRows(variance), all)
	got := make([]float64, 3)
	for i := range 20 {
		row[0] = x.Row(i)
		c.probabilities(row, got)
		assert.InDeltaSlice(t, all[i], got, 1e-9)
	}
	if !raceEnabled {
		assert.Zero(t, testing.AllocsPerRun(20, func() { c.probabilities(row, got) }))
	}
}

// A list of a mixture with members on landmarks is within the tolerance, also where these need float64, and does not depend on what else is in it.
func TestListsOfMixturesOnLandmarks(t *testing.T) {
	rng := rand.New(rand.NewPCG(55, 56))
	x := normal(rng, 300, 3)
	y := make([]float64, x.Rows)
	for i := range y {
		y[i] = math.Sin(3*x.At(i, 0)) + x.At(i, 2) + 1e-3*rng.NormFloat64()
	}
	views := []View{{X: x, Kernel: kernel.RBF{Width: 0.2}}, {X: x, Kernel: kernel.RBF{Width: 10}}}
	m, err := LandmarkGP{Landmarks: &Landmarks{Count: 70}, Climb: Climb{MaxSteps: 5}}.Fit(t.Context(), views, y)
	require.NoError(t, err)
	mixture := func(opt PredictorOptions) *Predictor {
		p := &mixturePredictor{inputs: m.design.Inputs, tolerance: opt.process(1)}
		for _, weight := range []float64{0.3, 0.7} {
			f := newLandmarkFunction(&m.plan.featurePlan, m.shift, m.posterior, opt, mixedShare(2))
			p.members = append(p.members, processMember{pointFunction{landmarks: f}, weight, m.target})
		}
		out, err := p.ready(opt)
		require.NoError(t, err)
		return out
	}
	q := anywhere(rng, x, 200)
	exact := mixture(PredictorOptions{Exact: true})
	float64s := 0
	for _, tolerance := range []float64{1e-2, 1e-3, 1e-4} {
		p := mixture(PredictorOptions{Tolerance: tolerance})
		require.Len(t, p.mixture.blocks().landmarks, 2)
		many, err := p.PredictMany(t.Context(), 2, q)
		require.NoError(t, err)
		few, err := p.PredictMany(t.Context(), 1, Features(q.Slice(21, 90, 0, q.Cols)))
		require.NoError(t, err)
		assert.Equal(t, many[21:90], few)
		for i, b := range many {
			want, err := exact.PredictWithBound(q.Row(i))
			require.NoError(t, err)
			assertWithinBounds(t, want, b, tolerance)
			if b.SDError == 0 {
				float64s++
			}
		}
	}
	assert.Positive(t, float64s)
	assert.Less(t, float64s, 600)
}
