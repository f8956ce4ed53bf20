package mkl

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/stat"
)

// waves returns samples of two features and a third that does not matter.
func waves(seed uint64, n int, noise float64) (x Features, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 11))
	x = normal(rng, n, 3)
	for i := range n {
		r := x.Row(i)
		y = append(y, 5+2*math.Sin(2*r[0])+r[1]*r[1]+noise*rng.NormFloat64())
	}
	return x, y
}

func waveViews(x Features) []View {
	return []View{
		{Name: "wide", X: x, Kernel: kernel.RBF{Width: 2}, Standardize: true},
		{Name: "narrow", X: x, Kernel: kernel.RBF{Width: 0.7}},
		{Name: "ranks", X: x, Kernel: kernel.Laplacian{Width: 2}, Ranks: true},
		{Name: "linear", X: x, Kernel: kernel.Linear{}, Normalize: true},
	}
}

func mustSum(t testing.TB, p *Plan, workers, piece int, x Features, y []float64) *stat.Statistic {
	t.Helper()
	b, err := p.Builder(workers)
	require.NoError(t, err)
	for first := 0; first < len(y); first += piece {
		last := min(len(y), first+piece)
		require.NoError(t, b.Add(y[first:last], x.Slice(first, last, 0, x.Cols)))
	}
	s, err := b.Finish()
	require.NoError(t, err)
	return s
}

// With every sample a landmark the landmarks represent the kernels between samples exactly, and the
// fit equals MultiGP's with centred kernels.
func TestAllLandmarksAreTheExactModel(t *testing.T) {
	x, y := waves(1, 80, 0.3)
	views := []View{
		{X: x, Kernel: kernel.RBF{Width: 1}, Standardize: true},
		{X: x, Kernel: kernel.Linear{Scale: 7}},
	}
	f := fitting{Ascent: Ascent{Tolerance: 1e-10}}
	m, err := LandmarkGP{Fitting: f.Fitting, Climb: f.climb()}.Fit(t.Context(), views, y)
	require.NoError(t, err)
	for i := range views {
		views[i].Center = true
	}
	exact, err := MultiGP{Fitting: f.Fitting, Climb: f.climb()}.Fit(t.Context(), views, y)
	require.NoError(t, err)
	assert.InDelta(t, exact.Bound(), m.Bound(), 1e-3)
	assert.InEpsilon(t, exact.NoiseSD()[0], m.NoiseSD()[0], 1e-3)
	mean, variance, err := m.Predict(x)
	require.NoError(t, err)
	wantMean, wantVariance, err := exact.Predict(x)
	require.NoError(t, err)
	for i := range mean {
		sd := math.Sqrt(wantVariance[i])
		assert.InDelta(t, wantMean[i], mean[i], 1e-3*sd)
		assert.InEpsilon(t, sd, math.Sqrt(variance[i]), 1e-3)
	}
	for i, w := range exact.KernelWeights() { // E[1/γ] of N/2 degrees of freedom, and not 1/E[γ]
		assert.InEpsilon(t, w.Mean*(1-2.0/80), m.KernelWeights()[i].Mean, 1e-3)
	}
	assert.Less(t, slices.Max(m.beyond), 1e-6)
}

// A linear kernel of a column that is constant but for the rounding of its centre learns nothing. A new value of the
// column is as uncertain as the kernel's prior says.
func TestLandmarkGPOfConstantColumn(t *testing.T) {
	x, y := waves(1, 70, 0.2)
	constant := la.NewMatrix[float64](70, 1)
	constant.Fill(3.7)
	views := []View{{X: x, Kernel: kernel.RBF{Width: 2}}, {X: constant, Kernel: kernel.Linear{}, Input: "constant"}}
	m, err := LandmarkGP{}.Fit(t.Context(), views, y)
	require.NoError(t, err)
	at := la.NewMatrix[float64](1, 1)
	at.Fill(3.7)
	mean, variance, err := m.Predict(x.Slice(0, 1, 0, x.Cols), at)
	require.NoError(t, err)
	at.Fill(4.7)
	far, more, err := m.Predict(x.Slice(0, 1, 0, x.Cols), at)
	require.NoError(t, err)
	assert.Equal(t, mean, far)
	var power, level float64
	for _, v := range y {
		level += v / 70
	}
	for _, v := range y {
		power += (v - level) * (v - level) / 69
	}
	assert.Greater(t, more[0], variance[0])
	assert.Less(t, more[0], variance[0]+power)
}

// The sums, and so the model, do not depend on who summed the samples, how many at a time
// and in which order.
func TestPlanSumsAreTheSameInParts(t *testing.T) {
	const n = stat.BlockSamples + 700
	x, y := waves(2, n, 0.3)
	g := LandmarkGP{Landmarks: &Landmarks{Count: 12, Sample: 500}}
	p, err := g.Begin(t.Context(), waveViews(x), y)
	require.NoError(t, err)
	whole := mustSum(t, p, 1, n, x, y)
	assert.Equal(t, p.Hash(), whole.Layout().Plan)

	first := mustSum(t, p, 2, 1000, x.Slice(0, stat.BlockSamples, 0, 3), y[:stat.BlockSamples])
	second := mustSum(t, p, 3, 333, x.Slice(stat.BlockSamples, n, 0, 3), y[stat.BlockSamples:])
	want, err := p.Fit(t.Context(), PlanFitting{Fitting: Fitting{Workers: 1}}, whole)
	require.NoError(t, err)
	var file, other bytes.Buffer
	require.NoError(t, want.Save(&file))
	for _, parts := range [][]*stat.Statistic{{first, second}, {second, first}} {
		all := &stat.Statistic{}
		for _, s := range parts {
			require.NoError(t, all.Merge(s))
		}
		assert.Equal(t, whole.Hash(), all.Hash())
		m, err := p.Fit(t.Context(), PlanFitting{Fitting: Fitting{Workers: 3}}, parts...)
		require.NoError(t, err)
		other.Reset()
		require.NoError(t, m.Save(&other))
		assert.True(t, bytes.Equal(file.Bytes(), other.Bytes()))
	}
	inMemory, err := g.Fit(t.Context(), waveViews(x), y)
	require.NoError(t, err)
	assert.Equal(t, want.Bound(), inMemory.Bound())

	// Taking samples away is as if they had never been there; the fit goes on from before.
	left := whole.Clone()
	require.NoError(t, left.Subtract(second))
	assert.Equal(t, first.Hash(), left.Hash())
	again, err := want.Refit(t.Context(), PlanFitting{}, left)
	require.NoError(t, err)
	anew, err := p.Fit(t.Context(), PlanFitting{}, first)
	require.NoError(t, err)
	assert.EqualValues(t, stat.BlockSamples, again.Observations())
	assert.InEpsilon(t, anew.Bound(), again.Bound(), 1e-4)
	assert.LessOrEqual(t, again.Trace().Sweeps, anew.Trace().Sweeps)

	fromRows, err := p.Sum(t.Context(), 2, rowsOf(x, y, 100, nil))
	require.NoError(t, err)
	assert.Equal(t, whole.Hash(), fromRows.Hash())
	broken := errors.New("broken")
	_, err = p.Sum(t.Context(), 2, rowsOf(x, y, 100, broken))
	assert.ErrorIs(t, err, broken)
}

// rowsOf yields samples in pieces, and then the error unless it is nil.
func rowsOf(x Features, y []float64, piece int, err error) iter.Seq2[TargetRows, error] {
	return func(yield func(TargetRows, error) bool) {
		for first := 0; first < len(y); first += piece {
			last := min(len(y), first+piece)
			if !yield(TargetRows{Y: y[first:last], X: []Features{x.Slice(first, last, 0, x.Cols)}}, nil) {
				return
			}
		}
		if err != nil {
			yield(TargetRows{}, err)
		}
	}
}

func TestLandmarkGPModelSaveAndLoad(t *testing.T) {
	x, y := waves(3, 300, 0.2)
	p, err := LandmarkGP{Landmarks: &Landmarks{Count: 40}, Fitting: Fitting{Notes: map[string]string{"of": "waves"}}}.Begin(t.Context(), waveViews(x), y)
	require.NoError(t, err)
	var file bytes.Buffer
	require.NoError(t, p.Save(&file))
	bad := slices.Clone(file.Bytes())
	bad[len(bad)/2] ^= 1
	q, err := LoadAs[*Plan](&file)
	require.NoError(t, err)
	assert.Equal(t, p.Hash(), q.Hash())
	assert.Equal(t, "waves", q.Notes()["of"])
	assert.Equal(t, p.Kernels(), q.Kernels())
	_, err = LoadAs[*Plan](bytes.NewReader(bad))
	assert.Error(t, err)

	sums := mustSum(t, q, 0, 300, x, y)
	m, err := p.Fit(t.Context(), PlanFitting{}, sums)
	require.NoError(t, err)
	file.Reset()
	require.NoError(t, m.Save(&file))
	saved := slices.Clone(file.Bytes())
	l, err := LoadAs[*LandmarkGPModel](&file)
	require.NoError(t, err)
	assert.Equal(t, p.Hash(), l.Plan().Hash())
	assert.Equal(t, m.Summary(), l.Summary())
	assert.Equal(t, m.Notes(), l.Notes())
	file.Reset()
	require.NoError(t, l.Save(&file))
	assert.True(t, bytes.Equal(saved, file.Bytes()))
	points, _ := waves(4, 50, 0)
	mean, variance, err := m.Predict(points)
	require.NoError(t, err)
	mean2, variance2, err := l.Predict(points)
	require.NoError(t, err)
	assert.Equal(t, mean, mean2)
	assert.Equal(t, variance, variance2)
	_, err = l.Refit(t.Context(), PlanFitting{}, sums)
	require.NoError(t, err)

	for _, meanOnly := range []bool{false, true} {
		one, err := l.Predictor(PredictorOptions{MeanOnly: meanOnly, Exact: true})
		require.NoError(t, err)
		for i := range mean {
			a, v, err := one.Predict(points.Row(i))
			require.NoError(t, err)
			assert.InDelta(t, mean[i], a, 1e-9*math.Sqrt(variance[i]))
			if !meanOnly {
				assert.InEpsilon(t, variance[i], v, 1e-9)
			}
		}
		if !raceEnabled {
			row := points.Row(0)
			assert.Zero(t, testing.AllocsPerRun(20, func() { _, _, _ = one.Predict(row) }))
		}
	}
}

// Few landmarks predict nearly as well as the truth is known, with intervals that hold.
func TestLandmarkChoices(t *testing.T) {
	testkit.NotShort(t)
	x, y := waves(5, 2000, 0.2)
	points, truth := waves(6, 500, 0)
	for _, choose := range []LandmarkChoice{RandomLandmarks, KMeansLandmarks, PivotedLandmarks} {
		m, err := LandmarkGP{Landmarks: &Landmarks{Count: 60, Choose: choose}}.Fit(t.Context(), []View{{X: x}}, y)
		require.NoError(t, err)
		mean, variance, err := m.Predict(points)
		require.NoError(t, err)
		var square, within float64
		for i, v := range mean {
			square += (v - truth[i]) * (v - truth[i])
			if math.Abs(v-truth[i]) < 2*math.Sqrt(variance[i]) {
				within++
			}
		}
		assert.Less(t, math.Sqrt(square/float64(len(mean))), 0.2, choose)
		assert.Greater(t, within/float64(len(mean)), 0.95, choose)
		assert.Equal(t, 60, m.Samples())
		assert.EqualValues(t, 2000, m.Observations())
	}
}

// The pivots equal the pivots of a pivoted Cholesky factorisation of the sum of the kernels.
func TestPivotedLandmarks(t *testing.T) {
	x, _ := waves(7, 120, 0)
	views := waveViews(x)
	ds, err := bindViews(views, 120, false)
	require.NoError(t, err)
	ks, err := ds.Train(t.Context(), 1)
	require.NoError(t, err)
	all := la.NewMatrix[float64](120, 120)
	for _, k := range ks {
		for i := range k.Rows {
			la.Axpy(1, k.Row(i), all.Row(i)) // every kernel of a sample with itself is 1
		}
	}
	perm := make([]int, 120)
	_, err = la.CholeskyPivoted(nil, all, 1e-10, perm)
	require.NoError(t, err)
	rows, err := ds.ChoosePivots(t.Context(), 20, 1)
	require.NoError(t, err)
	// Which of the samples comes first is a tie.
	rest := slices.DeleteFunc(slices.Clone(rows), func(r int) bool { return slices.Contains(perm[:20], r) })
	assert.Empty(t, rest)
}

func TestLandmarksRefuse(t *testing.T) {
	x, y := waves(8, 40, 0.1)
	similarity := la.NewMatrix[float64](40, 40)
	for i := range 40 {
		similarity.Set(i, i, 1)
	}
	for _, c := range []struct {
		name  string
		g     LandmarkGP
		views []View
		want  string
	}{
		{"given kernels", LandmarkGP{}, []View{{X: similarity, Kernel: kernel.Precomputed{}}}, "views[0] (precomputed): landmarks need features"},
		{"centred and normalised", LandmarkGP{}, []View{{X: x, Kernel: kernel.RBF{}, Center: true, Normalize: true}}, "landmarks exclude Center with Normalize"},
		{"negative", LandmarkGP{Landmarks: &Landmarks{Count: -1}}, waveViews(x), "Count is -1"},
		{"unknown choice", LandmarkGP{Landmarks: &Landmarks{Choose: 9}}, waveViews(x), "LandmarkChoice(9) is not known"},
		{"none given", LandmarkGP{Landmarks: &Landmarks{Choose: GivenLandmarks}}, waveViews(x), "0 matrices where the views have 1"},
		{"of other features", LandmarkGP{Landmarks: &Landmarks{Choose: GivenLandmarks, Given: []Features{similarity}}}, waveViews(x), "40 landmarks of 3 features"},
		{"no views", LandmarkGP{}, nil, "views: none given"},
		{"memory", LandmarkGP{Fitting: Fitting{MemoryLimit: 1000}}, waveViews(x), "and may take"},
	} {
		_, err := c.g.Fit(t.Context(), c.views, y)
		assert.ErrorContains(t, err, c.want, c.name)
	}
	p, err := LandmarkGP{Landmarks: &Landmarks{Choose: GivenLandmarks, Given: []Features{x.Slice(0, 9, 0, 3)}}}.Begin(t.Context(), waveViews(x), y)
	require.NoError(t, err)
	assert.Equal(t, 9, p.Landmarks())
	q, err := LandmarkGP{Landmarks: &Landmarks{Count: 9}}.Begin(t.Context(), waveViews(x), y)
	require.NoError(t, err)
	_, err = p.Fit(t.Context(), PlanFitting{}, mustSum(t, q, 1, 40, x, y))
	assert.ErrorContains(t, err, "the sums are of the plan")
	_, err = p.Fit(t.Context(), PlanFitting{})
	assert.ErrorContains(t, err, "fewer than 2 samples")
	b, err := p.Builder(1)
	require.NoError(t, err)
	var value *ValueError
	assert.ErrorAs(t, b.Add([]float64{math.NaN()}, x.Slice(0, 1, 0, 3)), &value)
	require.NoError(t, b.Add([]float64{1e9}, x.Slice(0, 1, 0, 3)))
	_, err = b.Finish()
	assert.ErrorContains(t, err, "mkl: y[0] is ")

	// Where the exact fit takes too much the error says what landmarks take.
	many, targets := waves(9, 4000, 0.1)
	f := fitting{Fitting: Fitting{MemoryLimit: 1 << 20}}
	_, err = MultiGP{Fitting: f.Fitting, Climb: f.climb()}.Fit(t.Context(), waveViews(many), targets)
	assert.ErrorContains(t, err, ": LandmarkGP would take about")
	_, err = Regression{Fitting: f.Fitting, Ascent: f.Ascent}.Fit(t.Context(), waveViews(many), targets)
	assert.ErrorContains(t, err, ": LandmarkGP would take about")
	_, err = Regression{Fitting: f.Fitting, Ascent: f.Ascent}.Fit(t.Context(), waveViews(many), targets, targets)
	assert.NotContains(t, err.Error(), "LandmarkGP")

	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	_, err = LandmarkGP{}.Fit(ctx, waveViews(x), y)
	assert.ErrorIs(t, err, cause)
}

// Above DefaultExactSamples Auto fits all samples by landmarks and says so. Its model can be saved and
// predicts like any other.
func TestAutoAtScale(t *testing.T) {
	x, y := waves(9, DefaultExactSamples+200, 0.2)
	views := []View{{X: x, Kernel: kernel.RBF{Width: 2}, Standardize: true}}
	m, err := Auto{}.Fit(t.Context(), views, y)
	require.NoError(t, err)
	require.NotNil(t, m.Landmarks())
	assert.EqualValues(t, len(y), m.Landmarks().Observations())
	assert.Contains(t, m.Summary(), "predictions of 640 samples held out")
	assert.NotContains(t, m.Summary(), "chosen by chance")
	assert.InDelta(t, 0.2, m.NoiseSD()[0], 0.02)

	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	l, err := LoadAs[*AutoModel](&file)
	require.NoError(t, err)
	assert.Equal(t, m.Summary(), l.Summary())
	points, _ := waves(10, 20, 0)
	mean, variance, err := l.Predict(points)
	require.NoError(t, err)
	want, wantVariance, err := m.Predict(points)
	require.NoError(t, err)
	assert.Equal(t, want, mean)
	assert.Equal(t, wantVariance, variance)
	one, err := l.Predictor(PredictorOptions{})
	require.NoError(t, err)
	a, v, err := one.Predict(points.Row(3))
	require.NoError(t, err)
	assert.InDelta(t, mean[3], a, 1e-3) // the tolerance of the exact member
	assert.InEpsilon(t, variance[3], v, 1e-3)
	size := FitSize{Samples: 1_000_000, Kernels: 1, Outputs: 1}
	assert.Less(t, Auto{}.EstimateMemory(size), int64(4<<30))
}
