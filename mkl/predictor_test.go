package mkl

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var sparse = Gamma{Shape: 1e-10, Scale: 1e10}

// sparseMotorcycle is a fit with few active samples and kernels.
func sparseMotorcycle(t testing.TB) *RegressionModel {
	times, accel := motorcycle(t)
	x := Column(times)
	var views []View
	for p := -4; p <= 4; p++ {
		views = append(views, View{X: x, Kernel: RBF{Width: math.Ldexp(1, p)}, Standardize: true})
	}
	m, err := Regression{Lambda: sparse, Omega: sparse, MaxSweeps: 300}.Fit(context.Background(), views, accel)
	require.NoError(t, err)
	return m
}

// requireWithin checks a predictor against its model at a point: both bounds
// hold up to round-off.
func requireWithin(t *testing.T, p *Predictor, wantMean, wantVariance float64, x ...[]float64) {
	t.Helper()
	info := p.Info()
	mean, variance, err := p.Predict(x...)
	require.NoError(t, err)
	sd := math.Sqrt(wantVariance)
	assert.LessOrEqual(t, math.Abs(mean-wantMean), info.MeanError+1e-10*sd)
	if !math.IsNaN(variance) {
		assert.LessOrEqual(t, math.Abs(math.Sqrt(variance)-sd), info.SDError+1e-10*sd)
	}
}

func TestPredictorWithinItsBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	two, _, _ := fitTwo(t, 40)
	views, y, _, _ := twoInputs(5, 60)
	sparseTwo, err := Regression{Lambda: sparse, Omega: sparse, MaxSweeps: 200}.Fit(context.Background(), views, y)
	require.NoError(t, err)
	for _, c := range []struct {
		name string
		m    *RegressionModel
	}{{"dense", two}, {"sparse", sparseTwo}, {"motorcycle", sparseMotorcycle(t)}} {
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
		for _, opt := range []PredictorOptions{
			{}, {Tolerance: -1}, {Tolerance: 0.3}, {Tolerance: 30}, {MeanOnly: true, Tolerance: 0.1}, {Published: true, Tolerance: 0.1},
		} {
			p, err := c.m.Predictor(opt)
			require.NoError(t, err)
			t.Logf("%s %+v: %d of %d kernels, %d of %d samples, rank %d × %d, bounds %.3g %.3g certain %v; noise %.3g", c.name, opt,
				len(p.e), len(c.m.design.views), len(p.a), c.m.design.d, p.u.Cols, p.c.Cols, p.info.MeanError, p.info.SDError, p.info.Certain, c.m.NoiseSD())
			full, err := c.m.PredictTargets(context.Background(), PredictOptions{Published: opt.Published}, x...)
			require.NoError(t, err)
			for i := range 50 {
				var point [][]float64
				for _, z := range x {
					point = append(point, z.Row(i))
				}
				requireWithin(t, p, full.Mean[0][i], full.Variance[0][i], point...)
			}
		}
	}
}

func TestPredictorDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	m, _, _ := fitTwo(t, 40)
	for _, opt := range []PredictorOptions{{}, {MeanOnly: true}, {Published: true}} {
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
		views = append(views, View{X: x, Kernel: RBF{Width: math.Ldexp(1, p)}, Standardize: true})
	}
	dense, err := Regression{MaxSweeps: 100}.Fit(context.Background(), views, accel)
	require.NoError(b, err)
	for _, c := range []struct {
		name string
		m    *RegressionModel
		opt  PredictorOptions
	}{
		{"sparse/mean", sparseMotorcycle(b), PredictorOptions{MeanOnly: true}},
		{"sparse/published", sparseMotorcycle(b), PredictorOptions{Published: true}},
		{"sparse/full", sparseMotorcycle(b), PredictorOptions{}},
		{"dense/mean", dense, PredictorOptions{MeanOnly: true}},
		{"dense/full", dense, PredictorOptions{}},
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
			b.ReportMetric(float64(len(p.a)), "samples")
			b.ReportMetric(float64(len(p.e)), "kernels")
		})
	}
}
