package mkl

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// Of readings that a fit to the other two thirds has not seen, about 95 in 100
// should lie within two standard deviations, and the mean should explain most.
func TestMotorcycleHeldOut(t *testing.T) {
	testkit.NotShort(t)
	times, accel := motorcycle(t)
	var seen, inside, n int
	var residual, spread float64
	_, sd := vec.MeanSD(accel)
	for fold := range 3 {
		var x, y, heldX, heldY []float64
		for i := range times {
			if i%3 == fold {
				heldX, heldY = append(heldX, times[i]), append(heldY, accel[i])
			} else {
				x, y = append(x, times[i]), append(y, accel[i])
			}
		}
		features := Column(x)
		var views []View
		for p := -5; p <= 2; p++ {
			views = append(views, View{X: features, Kernel: kernel.RBF{Width: math.Ldexp(1, p)}, Standardize: true})
		}
		m, err := Regression{Ascent: Ascent{MaxSweeps: 100}}.Fit(context.Background(), views, y)
		require.NoError(t, err)
		mean, variance, err := m.Predict(Column(heldX))
		require.NoError(t, err)
		for i, v := range heldY {
			n++
			if math.Abs(v-mean[i]) <= 1.96*math.Sqrt(variance[i]) {
				inside++
			}
			residual += math.Pow(v-mean[i], 2)
			spread += variance[i]
		}
		seen += len(y)
	}
	t.Logf("%d of %d inside, RMSE %.2f of SD %.2f, mean predictive SD %.2f", inside, n, math.Sqrt(residual/float64(n)), sd, math.Sqrt(spread/float64(n)))
	assert.Equal(t, 133, n)
	assert.GreaterOrEqual(t, float64(inside)/float64(n), 0.90)
	assert.LessOrEqual(t, float64(inside)/float64(n), 0.99)
	assert.Less(t, math.Sqrt(residual/float64(n)), 0.6*sd)
}

// The estimator must give exactly what vi gives on the matrices it stands for.
func TestFitAgainstInference(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	const n, m = 30, 6
	x, z := normal(rng, n, 2), normal(rng, m, 2)
	y := make([]float64, n)
	for i := range y {
		y[i] = 3 + 40*x.At(i, 0)*x.At(i, 1) + rng.NormFloat64()
	}
	similarities := func(w float64, a, b Features) la.Matrix[float64] {
		k := matrix(a.Rows, b.Rows, func(i, j int) float64 { return 0 })
		la.SqDist(nil, a, b, k)
		la.Scal(-1/(2*w*w), k.Data)
		la.Exp(k.Data, k.Data)
		return k
	}
	mean, sd := vec.MeanSD(y)
	std := la.NewMatrix[float64](1, n)
	for i, v := range y {
		std.Row(0)[i] = (v - mean) / sd
	}
	k, err := vi.NewDense(similarities(0.5, x, x), similarities(2, x, x))
	require.NoError(t, err)
	fit, err := bemkl.Regression{Seed: 2, Ascent: vi.Ascent{MaxSweeps: 30}}.Fit(context.Background(), k, std)
	require.NoError(t, err)
	kt, err := vi.NewDense(similarities(0.5, x, z), similarities(2, x, z))
	require.NoError(t, err)
	for _, published := range []bool{false, true} {
		want, err := fit.Posterior.Predict(kt, vi.PredictOptions{Published: published})
		require.NoError(t, err)

		model, err := Regression{Fitting: Fitting{Seed: 2}, Ascent: Ascent{MaxSweeps: 30}}.Fit(context.Background(), []View{{X: x, Kernel: kernel.RBF{Width: 0.5}}, {X: x, Kernel: kernel.RBF{Width: 2}}}, y)
		require.NoError(t, err)
		assert.Equal(t, fit.Record.Trace, model.Trace().Bounds)
		got, err := model.PredictTargets(context.Background(), PredictOptions{Published: published, Unhealed: true}, z)
		require.NoError(t, err)
		// Precomputed kernels must come to the same bits.
		pre, err := Regression{Fitting: Fitting{Seed: 2}, Ascent: Ascent{MaxSweeps: 30}}.Fit(context.Background(), PrecomputedViews(similarities(0.5, x, x), similarities(2, x, x)), y)
		require.NoError(t, err)
		given, err := pre.PredictTargets(context.Background(), PredictOptions{Published: published, Unhealed: true}, similarities(0.5, z, x), similarities(2, z, x))
		require.NoError(t, err)
		for i := range m {
			require.Equal(t, mean+float64(sd*want.Mean.At(0, i)), got.Mean[0][i])
			require.Equal(t, sd*sd*want.Variance.At(0, i), got.Variance[0][i])
		}
		assert.Equal(t, got, given)
		assert.Equal(t, model.NoiseSD(), pre.NoiseSD())
	}
}

// The same data in other units must give the same model in other units. The targets lie
// on a grid, and their number is a power of two, so that no step of standardising rounds
// differently: the fits are of the same numbers, to the last bit.
func TestTargetUnits(t *testing.T) {
	views, y, _, _ := twoInputs(2, 32)
	scaled := make([]float64, len(y))
	for i, v := range y {
		y[i] = math.Round(1024*v) / 1024
		scaled[i] = 1024*y[i] - 4096
	}
	fit := func(r Regression, y []float64) *RegressionModel {
		r.MaxSweeps = 20
		m, err := r.Fit(context.Background(), views, y)
		require.NoError(t, err)
		return m
	}
	a, b := fit(Regression{}, y), fit(Regression{}, scaled)
	x := newPoints(a, 6)
	meanA, varA, err := a.Predict(x...)
	require.NoError(t, err)
	meanB, varB, err := b.Predict(x...)
	require.NoError(t, err)
	for i := range meanA {
		assert.InEpsilon(t, 1024*meanA[i]-4096, meanB[i], 1e-14)
		assert.Equal(t, 1024*1024*varA[i], varB[i])
	}
	assert.Equal(t, a.Bound(), b.Bound())
	assert.Equal(t, 1024*a.NoiseSD()[0], b.NoiseSD()[0])

	// Already standardised, targets are the same raw.
	mean, sd := vec.MeanSD(y)
	std := make([]float64, len(y))
	for i, v := range y {
		std[i] = (v - mean) / sd
	}
	raw := fit(Regression{RawTargets: true}, std)
	meanR, varR, err := raw.Predict(x...)
	require.NoError(t, err)
	for i := range meanA {
		assert.Equal(t, meanA[i], mean+float64(sd*meanR[i]))
		assert.Equal(t, varA[i], sd*sd*varR[i])
	}
}

func TestMissingTargets(t *testing.T) {
	views, y, _, _ := twoInputs(2, 30)
	second := make([]float64, len(y))
	for i := range second {
		second[i] = -y[i]
		if i%4 == 1 {
			second[i] = math.NaN()
		}
	}
	_, err := Regression{Ascent: Ascent{MaxSweeps: 5}}.Fit(context.Background(), views, y, second)
	assert.EqualError(t, err, "mkl: y[1][1] is NaN")
	m, err := Regression{Ascent: Ascent{MaxSweeps: 60}, MissingTargets: true}.Fit(context.Background(), views, y, second)
	require.NoError(t, err)
	p, err := m.PredictTargets(context.Background(), PredictOptions{}, views[0].X, views[3].X)
	require.NoError(t, err)
	var r, s float64
	for i := range y {
		if i%4 == 1 {
			r += math.Pow(p.Mean[1][i]+y[i], 2)
			s += y[i] * y[i]
		}
	}
	assert.Less(t, r, 0.5*s, "values that were missing are predicted")
	_, _, err = m.Predict(views[0].X, views[3].X)
	assert.EqualError(t, err, "mkl: Predict is for one target and the model has 2: use PredictTargets")
}

func TestTargetsRefused(t *testing.T) {
	views, y, _, _ := twoInputs(2, 20)
	inf := append([]float64(nil), y...)
	inf[3] = math.Inf(1)
	lone := make([]float64, 20)
	for i := range lone {
		lone[i] = math.NaN()
	}
	lone[4] = 1
	for _, c := range []struct {
		y    [][]float64
		want string
	}{
		{nil, "mkl: y: no target given"},
		{[][]float64{y, y[:19]}, "mkl: y[1]: 19 samples where y[0] has 20"},
		{[][]float64{inf}, "mkl: y[3] is +Inf"},
		{[][]float64{make([]float64, 20)}, "mkl: y: every target is 0: there is nothing to learn"},
		{[][]float64{y, lone}, "mkl: y[1]: 1 samples with a target where at least 2 are needed"},
	} {
		_, err := Regression{MissingTargets: true}.Fit(context.Background(), views, c.y...)
		assert.EqualError(t, err, c.want)
	}
	_, err := Regression{Lambda: Gamma{Shape: -1, Scale: 1}}.Fit(context.Background(), views, y)
	assert.ErrorContains(t, err, "prior Lambda: Gamma(-1, 1)")
}

func TestRestartsKeepTheBest(t *testing.T) {
	views, y, _, _ := twoInputs(2, 20)
	starts := map[int]bool{}
	best := math.Inf(-1)
	for seed := range uint64(4) {
		m, err := Regression{Fitting: Fitting{Seed: 7 + seed}, Ascent: Ascent{MaxSweeps: 8}}.Fit(context.Background(), views, y)
		require.NoError(t, err)
		best = max(best, m.Bound())
	}
	m, err := Regression{
		Fitting: Fitting{Seed: 7, Progress: func(p Progress) {
			starts[p.Start] = true
			assert.Equal(t, 4, p.Starts)
			assert.Equal(t, 8, p.MaxSweeps)
		}}, Ascent: Ascent{Restarts: 3, MaxSweeps: 8},
	}.Fit(context.Background(), views, y)
	require.NoError(t, err)
	assert.Equal(t, best, m.Bound())
	assert.Len(t, starts, 4)
}

// Targets that have nothing to do with the views, under sparse priors, end in
// the solution without weights; the error says so and carries the model.
func TestCollapse(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	x := normal(rng, 40, 1)
	y := make([]float64, 40)
	for i := range y {
		y[i] = 100 + rng.NormFloat64()
	}
	_, err := Regression{Lambda: sparse, Omega: sparse}.Fit(context.Background(), []View{{X: x, Kernel: kernel.RBF{Width: 3}}}, y)
	var c *CollapsedError
	require.ErrorAs(t, err, &c)
	assert.Contains(t, err.Error(), "mkl: the fit collapsed: all weights vanish")
	model := c.Model.(*RegressionModel)
	assert.Equal(t, []int{0}, model.Collapsed())
	assert.Contains(t, model.Summary(), "COLLAPSED")
	mean, _, err := model.Predict(Column([]float64{0, 1}))
	require.NoError(t, err)
	assert.InDelta(t, 100, mean[0], 1)
	assert.InDelta(t, mean[0], mean[1], 1e-3)
}

func TestRectangularKernels(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 8))
	x := normal(rng, 60, 2)
	y := make([]float64, 60)
	for i := range y {
		y[i] = math.Sin(2*x.At(i, 0)) + 0.1*rng.NormFloat64()
	}
	basis := x.Slice(0, 12, 0, 2)
	rbf := func(w float64, a Features) Features {
		return matrix(a.Rows, basis.Rows, func(i, j int) float64 { return math.Exp(-math.Pow(euclid(a.Row(i), basis.Row(j))/w, 2)) })
	}
	views := []View{{X: rbf(1, x), Input: "x1", Kernel: kernel.Precomputed{}}, {X: rbf(2, x), Input: "x2", Kernel: kernel.Precomputed{}}}
	m, err := Regression{Ascent: Ascent{MaxSweeps: 200}}.Fit(context.Background(), views, y)
	require.NoError(t, err)
	mean, _, err := m.Predict(views[0].X, views[1].X)
	require.NoError(t, err)
	var r float64
	for i := range y {
		r += math.Pow(y[i]-mean[i], 2) / 60
	}
	assert.Less(t, r, 0.1)
	for _, s := range m.ActiveSamples(0) {
		assert.Less(t, s.Sample, 12)
	}
	assert.Equal(t, []ModelInput{{Name: "x1", Views: []int{0}, Cols: 12}, {Name: "x2", Views: []int{1}, Cols: 12}}, m.Inputs())

	_, _, err = m.Predict(views[0].X.Slice(0, 3, 0, 11), views[1].X)
	assert.EqualError(t, err, "mkl: x[0]: 3×11 where 12 columns are needed (basis points)")
}

func TestEstimateMemory(t *testing.T) {
	r := Regression{Fitting: Fitting{Workers: 2}}
	n := r.EstimateMemory(FitSize{Samples: 1000, Kernels: 7, Outputs: 1})
	assert.Greater(t, n, int64(8*7*1000*1000))
	assert.Less(t, n, int64(3*8*7*1000*1000))
	assert.Greater(t, r.EstimateMemory(FitSize{Samples: 1000, Kernels: 7, Outputs: 3}), n)
	assert.Less(t, r.EstimateMemory(FitSize{Samples: 1000, Basis: 100, Kernels: 7, Outputs: 1}), n)
	assert.Positive(t, r.EstimateMemory(FitSize{Samples: math.MaxInt32, Basis: math.MaxInt32, Kernels: math.MaxInt32, Outputs: 9}))
	assert.Equal(t, "mkl: the fit needs about 1.5 GiB of memory and may take 12 MiB", (&MemoryError{Need: 3 << 29, Limit: 12 << 20}).Error())
}

func TestSummary(t *testing.T) {
	testkit.NotShort(t)
	m := sparseMotorcycle(t)
	s := m.Summary()
	assert.Contains(t, s, m.String())
	assert.Contains(t, s, "NOT converged: max sweeps after 50 sweeps")
	assert.Equal(t, len(m.ActiveSamples(0)) > 0, strings.Contains(s, "of 133 samples active"))
	var active int
	for _, w := range m.KernelWeights() {
		if w.Active {
			active++
			assert.Contains(t, s, w.View)
		}
	}
	assert.Positive(t, active)
	assert.Less(t, active, 9)
}
