package mkl

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
)

var sparse = Gamma{Shape: 1e-10, Scale: 1e10}

// sparseMotorcycle is a fit with few active samples and kernels, made once.
func sparseMotorcycle(t testing.TB) *RegressionModel {
	m, err := fitSparseMotorcycle()
	require.NoError(t, err)
	return m
}

var fitSparseMotorcycle = sync.OnceValues(func() (*RegressionModel, error) {
	times, accel, err := readMotorcycle()
	if err != nil {
		return nil, err
	}
	x := Column(times)
	var views []View
	for p := -4; p <= 4; p++ {
		views = append(views, View{X: x, Kernel: kernel.RBF{Width: math.Ldexp(1, p)}, Standardize: true})
	}
	return Regression{Ascent: Ascent{MaxSweeps: 50, Tolerance: -1}, Lambda: sparse, Omega: sparse}.Fit(context.Background(), views, accel)
})

// requireWithin checks a predictor against its model at a point: both bounds
// hold up to round-off.
func requireWithin(t *testing.T, p *Predictor, wantMean, wantVariance float64, x ...[]float64) {
	t.Helper()
	b, err := p.PredictWithBound(x...)
	require.NoError(t, err)
	sd := math.Sqrt(wantVariance)
	assert.LessOrEqual(t, math.Abs(b.Mean-wantMean), b.MeanError+1e-10*sd)
	if !math.IsNaN(b.Variance) {
		assert.LessOrEqual(t, math.Abs(math.Sqrt(b.Variance)-sd), b.SDError+1e-10*sd)
	}
}

func TestPredictorWithinItsBounds(t *testing.T) {
	testkit.NotShort(t)
	rng := rand.New(rand.NewPCG(1, 2))
	two, _, _ := fitTwo(t, 40)
	views, y, _, _ := twoInputs(5, 60)
	sparseTwo, err := Regression{Ascent: Ascent{MaxSweeps: 200}, Lambda: sparse, Omega: sparse}.Fit(context.Background(), views, y)
	require.NoError(t, err)
	for _, c := range []struct {
		name string
		m    *RegressionModel
	}{{"dense", two}, {"sparse", sparseTwo}, {"motorcycle", sparseMotorcycle(t)}, {"given", goldenFit(t)}} {
		var x []Features
		for _, in := range c.m.Inputs() {
			z := normal(rng, 50, in.Cols)
			if c.name == "motorcycle" {
				for i := range z.Data {
					z.Data[i] = 60 * rng.Float64()
				}
			}
			x = append(x, z)
		}
		if c.name == "given" {
			x = goldenPoints()
		}
		for _, opt := range []PredictorOptions{
			{}, {Exact: true}, {Tolerance: 0.3}, {Tolerance: 30}, {MeanOnly: true, Tolerance: 0.1}, {Published: true, Tolerance: 0.1},
			{Unhealed: true}, {Unhealed: true, Tolerance: 0.3}, {Unhealed: true, MeanOnly: true, Tolerance: 0.1},
		} {
			p, err := c.m.Predictor(opt)
			require.NoError(t, err)
			rank, _ := p.weights.ct.Dims()
			t.Logf("%s %+v: %d of %d kernels, %d of %d samples, rank %d × %d, bounds %.3g %.3g certain %v; noise %.3g", c.name, opt,
				len(p.weights.e), len(c.m.design.Views), len(p.weights.a), c.m.design.D, p.weights.u.Cols, rank, p.weights.info.MeanError, p.weights.info.SDError, p.weights.info.Kind, c.m.NoiseSD())
			full, err := c.m.PredictTargets(context.Background(), PredictOptions{Published: opt.Published, Unhealed: opt.Unhealed}, x...)
			require.NoError(t, err)
			for i := range x[0].Rows {
				var point [][]float64
				for _, z := range x {
					point = append(point, z.Row(i))
				}
				requireWithin(t, p, full.Mean[0][i], full.Variance[0][i], point...)
			}
		}
	}
}

// The bounds must mean something: a fit with few active samples is pruned to
// few, and a looser tolerance never keeps more.
func TestPredictorPrunes(t *testing.T) {
	testkit.NotShort(t)
	m := sparseMotorcycle(t)
	last := 9 * 133
	for _, tolerance := range []float64{0, 0.001, 0.1, 1} {
		p, err := m.Predictor(PredictorOptions{Exact: tolerance == 0, Tolerance: tolerance, MeanOnly: true, Unhealed: true})
		require.NoError(t, err)
		info := p.Info()[0]
		kept := len(info.Kernels) * len(info.Samples)
		assert.LessOrEqual(t, kept, last)
		assert.LessOrEqual(t, info.MeanError, tolerance*m.NoiseSD()[0])
		assert.Equal(t, BoundProved, info.Kind)
		last = kept
	}
	assert.Less(t, last, 100)

	// Unbounded kernels are pruned by the values of the training.
	x := normal(rand.New(rand.NewPCG(1, 1)), 40, 3)
	y := make([]float64, 40)
	for i := range y {
		y[i] = x.At(i, 0) + 0.1*x.At(i, 1)*x.At(i, 2)
	}
	lin, err := Regression{Ascent: Ascent{MaxSweeps: 200}, Lambda: sparse, Omega: sparse}.Fit(context.Background(), []View{{X: x, Kernel: kernel.Linear{}}}, y)
	require.NoError(t, err)
	p, err := lin.Predictor(PredictorOptions{Tolerance: 0.1, MeanOnly: true, Unhealed: true})
	require.NoError(t, err)
	assert.Less(t, len(p.Info()[0].Samples), 40)
	assert.Equal(t, BoundAssumed, p.Info()[0].Kind)
}

func TestPredictorRefusals(t *testing.T) {
	m, _, _ := fitTwo(t, 20)
	_, err := m.Predictor(PredictorOptions{Target: 1})
	assert.EqualError(t, err, "mkl: Predictor: target 1 of 1")
	p, err := m.Predictor(PredictorOptions{})
	require.NoError(t, err)
	for _, c := range []struct {
		x    [][]float64
		want string
	}{
		{nil, "mkl: 0 inputs where the model needs 2"},
		{[][]float64{{1, 2}, {1, 2}}, "mkl: x[1]: 2 values where 3 are needed"},
		{[][]float64{{1, 2}, {1, 2, math.Inf(1)}}, "mkl: x[1][2] is +Inf"},
	} {
		_, _, err := p.Predict(c.x...)
		assert.EqualError(t, err, c.want)
	}
}

func TestPredictorConcurrently(t *testing.T) {
	m, _, _ := fitTwo(t, 30)
	p, err := m.Predictor(PredictorOptions{})
	require.NoError(t, err)
	at := func(i int) (a, b []float64) { return []float64{float64(i) / 30, 0.2}, []float64{1, 2, float64(i) / 30} }
	var want [60]float64
	for i := range want {
		want[i], _, err = p.Predict(at(i))
		require.NoError(t, err)
	}
	var wg sync.WaitGroup
	for range 16 { // more than the pool has room for
		wg.Go(func() {
			for n := range 60 {
				got, _, err := p.Predict(at(n))
				if err != nil || got != want[n] {
					t.Errorf("%d: %g, %v", n, got, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestPredictorOfLoadedModel(t *testing.T) {
	m, _, _ := fitTwo(t, 30)
	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	back, err := LoadAs[*RegressionModel](&file)
	require.NoError(t, err)
	opt := PredictorOptions{Tolerance: 2}
	p, err := m.Predictor(opt)
	require.NoError(t, err)
	q, err := back.Predictor(opt)
	require.NoError(t, err)
	assert.Equal(t, p.Info(), q.Info())
	for i := range 10 {
		x := []float64{float64(i), 1}
		mean, variance, err := p.Predict(x, []float64{0, 1, 2})
		require.NoError(t, err)
		mean2, variance2, err := q.Predict(x, []float64{0, 1, 2})
		require.NoError(t, err)
		assert.Equal(t, mean, mean2)
		assert.Equal(t, variance, variance2)
	}
}

// A predictor sees ranks and columns as the model does.
func TestPredictorOfRanksAndColumns(t *testing.T) {
	_, y, a, b := twoInputs(2, 40)
	m, err := Regression{Ascent: Ascent{MaxSweeps: 40}}.Fit(context.Background(), sightedViews(a, b), y)
	require.NoError(t, err)
	p, err := m.Predictor(PredictorOptions{Exact: true})
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(9, 9))
	xa, xb := normal(rng, 20, 2), normal(rng, 20, 3)
	want, err := m.PredictTargets(context.Background(), PredictOptions{}, xa, xb)
	require.NoError(t, err)
	for i := range 20 {
		mean, variance, err := p.Predict(xa.Row(i), xb.Row(i))
		require.NoError(t, err)
		assert.InEpsilon(t, want.Mean[0][i], mean, 1e-9)
		assert.InEpsilon(t, want.Variance[0][i], variance, 1e-9)
	}
	allocs := testing.AllocsPerRun(100, func() { _, _, _ = p.Predict(xa.Row(0), xb.Row(0)) })
	if !raceEnabled {
		assert.Zero(t, allocs)
	}
}

func TestPredictorDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	m, _, _ := fitTwo(t, 40)
	for _, opt := range []PredictorOptions{{}, {MeanOnly: true}, {Unhealed: true}, {Published: true}} {
		p, err := m.Predictor(opt)
		require.NoError(t, err)
		a, b := []float64{0.1, 0.2}, []float64{1, 2, 3}
		var sink float64
		allocs := testing.AllocsPerRun(200, func() {
			mean, _, err := p.Predict(a, b)
			if err != nil {
				panic(err)
			}
			sink += mean
		})
		assert.Zero(t, allocs, "%+v %g", opt, sink)
	}
}

func BenchmarkPredictor(b *testing.B) {
	times, accel := motorcycle(b)
	x := Column(times)
	var views []View
	for p := -10; p <= 10; p++ {
		views = append(views, View{X: x, Kernel: kernel.RBF{Width: math.Ldexp(1, p)}, Standardize: true})
	}
	dense, err := Regression{Ascent: Ascent{MaxSweeps: 100}}.Fit(context.Background(), views, accel)
	require.NoError(b, err)
	for _, c := range []struct {
		name string
		m    *RegressionModel
		opt  PredictorOptions
	}{
		{"sparse/mean", sparseMotorcycle(b), PredictorOptions{MeanOnly: true, Unhealed: true}},
		{"sparse/published", sparseMotorcycle(b), PredictorOptions{Published: true}},
		{"sparse/full", sparseMotorcycle(b), PredictorOptions{Unhealed: true}},
		{"sparse/healed", sparseMotorcycle(b), PredictorOptions{}},
		{"dense/mean", dense, PredictorOptions{MeanOnly: true, Unhealed: true}},
		{"dense/full", dense, PredictorOptions{Unhealed: true}},
		{"dense/healed", dense, PredictorOptions{}},
	} {
		p, err := c.m.Predictor(c.opt)
		require.NoError(b, err)
		b.Run(c.name, func(b *testing.B) {
			latencies := make([]float64, 0, 1<<20)
			point := []float64{0}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				point[0] = float64(i % 60)
				start := time.Now()
				if _, _, err := p.Predict(point); err != nil {
					b.Fatal(err)
				}
				if len(latencies) < cap(latencies) {
					latencies = append(latencies, float64(time.Since(start)))
				}
			}
			slices.Sort(latencies)
			b.ReportMetric(latencies[len(latencies)/2], "p50-ns")
			b.ReportMetric(latencies[len(latencies)*99/100], "p99-ns")
			b.ReportMetric(float64(len(p.weights.a)), "samples")
			b.ReportMetric(float64(len(p.weights.e)), "kernels")
		})
	}
}

// Under a prior that lets weights be of any size nothing but rounding keeps their
// covariance finite. What pruning bounds there is certain only where rounding is less.
func TestPredictorIsNotCertainOfRounding(t *testing.T) {
	uncertain := 0
	for seed := range uint64(12) {
		for _, lambda := range []Gamma{{Shape: 0.001, Scale: 1e-300}, {Shape: 1e-10, Scale: 1e10}, {Shape: 1, Scale: 1}} {
			views, y, _, _ := twoInputs(seed, 20)
			m, err := Regression{Lambda: lambda, Ascent: Ascent{MaxSweeps: 10}}.Fit(t.Context(), views[4:5], y)
			if m == nil {
				require.Error(t, err)
				continue
			}
			p, err := m.Predictor(PredictorOptions{Unhealed: true})
			require.NoError(t, err)
			if lambda.Shape == 1 {
				assert.Equal(t, BoundProved, p.weights.pruned)
			}
			if p.weights.pruned != BoundProved {
				uncertain++
				continue
			}
			x := newPoints(m, 8)
			want, err := m.PredictTargets(t.Context(), PredictOptions{Unhealed: true}, x...)
			require.NoError(t, err)
			for i := range 8 {
				b, err := p.PredictWithBound(x[0].Row(i))
				require.NoError(t, err)
				sd := math.Sqrt(want.Variance[0][i])
				assert.InDelta(t, sd, math.Sqrt(b.Variance), b.SDError+float64(1e-4*sd))
			}
		}
	}
	assert.Positive(t, uncertain)
}

// The factor that a predictor keeps is lower trapezoidal in its order, has no more rows than it
// needs, and says what it leaves out: of a definite matrix, one of rank 3, and one of none.
func TestTrapezoid(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for _, c := range []struct {
		n, rank int
		limit   float64
		want    int
	}{{40, 40, 0, 40}, {40, 3, 0, 3}, {40, 40, 150, 0}, {40, 0, 0, 0}, {0, 0, 0, 0}} {
		f := normal(rng, c.n, c.rank)
		x := la.NewMatrix[float64](c.n, c.n)
		if c.rank > 0 {
			la.Syrk(nil, la.NoTrans, 1, f, 0, x)
			x.MirrorLower()
		}
		if c.limit > 0 { // leaves some out: less than all, which is 40·√x_ii or so
			c.want = -1
		}
		ct, order, lack, err := trapezoid(x.Clone(), 1, c.limit)
		require.NoError(t, err)
		assert.LessOrEqual(t, lack, max(c.limit, 1e-5))
		if c.want >= 0 {
			assert.Equal(t, c.want, ct.Rows)
		} else {
			assert.Less(t, ct.Rows, c.n)
			assert.Positive(t, lack)
		}
		var left float64
		for j := range c.n {
			own := x.At(order[j], order[j])
			for i := range ct.Rows {
				own -= ct.At(i, j) * ct.At(i, j)
				if j > c.n-ct.Rows+i {
					assert.Zero(t, ct.At(i, j))
				}
			}
			left += math.Sqrt(max(0, own))
			for l := range c.n {
				sum := 0.0
				for i := range ct.Rows {
					sum += ct.At(i, j) * ct.At(i, l)
				}
				if c.limit == 0 {
					assert.InDelta(t, x.At(order[j], order[l]), sum, 1e-10)
				}
			}
		}
		assert.InDelta(t, lack, left, 1e-6*float64(c.n))
	}
}
