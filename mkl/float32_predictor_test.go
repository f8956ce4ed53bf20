package mkl

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// hardCase is a model whose variances are hard to compute in float32.
type hardCase struct {
	name string
	m    *MultiGPModel
	x    Features
}

// hardCases returns models of samples among which are duplicates, of features with a constant one, with much noise
// and with hardly any, with kernels that are narrow, wide and unbounded, and with noise that varies or has heavy tails.
func hardCases(t *testing.T) (cases []hardCase) {
	const n, d = 280, 3 // integers are tried from 256 samples on
	rng := rand.New(rand.NewPCG(41, 42))
	x, y := normal(rng, n, d), make([]float64, n)
	for i := range n {
		row := x.Row(i)
		row[1] = 7
		if i%10 == 9 {
			copy(row, x.Row(i-1))
		}
		y[i] = math.Sin(3*row[0]) + row[2]
	}
	noisy := func(sd float64) []float64 {
		out := make([]float64, n)
		for i, v := range y {
			out[i] = v + sd*rng.NormFloat64()
		}
		return out
	}
	views := func(kernels ...kernel.Kernel) (all []View) {
		for _, k := range kernels {
			all = append(all, View{X: x, Kernel: k})
		}
		return all
	}
	broad, _, err := defaultViews(KernelsBroad, View{X: x})
	require.NoError(t, err)
	f := fitting{Ascent: Ascent{MaxSweeps: 8}}
	add := func(name string, views []View, y []float64, noise NoiseModel) {
		m, err := MultiGP{Fitting: f.Fitting, Climb: f.climb(), Noise: noise}.Fit(context.Background(), views, y)
		require.NoError(t, err, name)
		cases = append(cases, hardCase{name, m, x})
	}
	for _, sd := range []float64{1, 1e-2, 1e-4} {
		add(fmt.Sprintf("broad kernels, noise of %g", sd), broad, noisy(sd), ConstantNoise)
		add(fmt.Sprintf("narrow and unbounded kernels, noise of %g", sd),
			views(kernel.RBF{Width: 0.2}, kernel.Linear{}, kernel.Polynomial{Degree: 2, Offset: 1}, kernel.Constant{}), noisy(sd), ConstantNoise)
	}
	add("learned widths", views(kernel.Laplacian{ARD: true}, kernel.RBF{ARD: true}, kernel.Constant{}), noisy(0.1), ConstantNoise)
	add("noise that varies", broad, noisy(0.1), VaryingNoise)
	add("noise with heavy tails", broad, noisy(0.1), HeavyNoise)
	return cases
}

// anywhere returns rows at the training samples, between them, very close to them, at their rim, and up to 10⁶ times as
// far away, along all features or one.
func anywhere(rng *rand.Rand, x Features, n int) Features {
	q := normal(rng, n, x.Cols)
	for i := range n {
		row, at := q.Row(i), x.Row(rng.IntN(x.Rows))
		other := x.Row(rng.IntN(x.Rows))
		switch i % 8 {
		case 0:
			copy(row, at)
		case 1:
			for j := range row {
				row[j] = 0.5 * (at[j] + other[j])
			}
		case 2:
			for j := range row {
				row[j] = at[j] + 1e-6*row[j]
			}
		case 3:
			for j := range row {
				row[j] = 1.5*at[j] - 0.5*other[j]
			}
		case 4, 5:
			scale := math.Pow(10, 6*rng.Float64())
			for j := range row {
				row[j] *= scale
			}
		case 6:
			v := row[0] * math.Pow(10, 6*rng.Float64())
			copy(row, at)
			row[rng.IntN(len(row))] = v
		}
	}
	return q
}

// No prediction in float32 is further from the exact one than its bound, or than the tolerance.
func TestFloat32StaysWithinTheTolerance(t *testing.T) {
	for _, c := range hardCases(t) {
		q := anywhere(rand.New(rand.NewPCG(43, 44)), c.x, 400)
		exact, err := c.m.Predictor(PredictorOptions{Exact: true})
		require.NoError(t, err)
		for _, tolerance := range []float64{1e-2, 1e-4, 1e-6} {
			p, err := c.m.Predictor(PredictorOptions{Tolerance: tolerance})
			require.NoError(t, err)
			many, err := p.PredictMany(context.Background(), 1, q)
			require.NoError(t, err)
			calibrated, worst, share := 0, 0.0, 0.0
			for i := range q.Rows {
				want, err := exact.PredictWithBound(q.Row(i))
				require.NoError(t, err)
				got, err := p.PredictWithBound(q.Row(i))
				require.NoError(t, err)
				assertWithinBounds(t, want, many[i], tolerance)
				sd := math.Sqrt(want.Variance)
				meanError, sdError := math.Abs(got.Mean-want.Mean), math.Abs(math.Sqrt(got.Variance)-sd)
				// Far from all samples a variance of 10⁻¹² of k(x,x) is beyond float64 as well: both sides round.
				slack := 1e-9*sd + 1e-13*math.Abs(want.Mean)
				assert.LessOrEqual(t, meanError, got.MeanError+slack, "%s, %g, %v: mean", c.name, tolerance, q.Row(i))
				assert.LessOrEqual(t, sdError, got.SDError+slack, "%s, %g, %v: SD", c.name, tolerance, q.Row(i))
				assert.LessOrEqual(t, max(meanError, sdError), tolerance*sd+slack, "%s, %g, %v", c.name, tolerance, q.Row(i))
				if got.Kind == BoundCalibrated {
					calibrated++
					worst, share = max(worst, sdError/sd), max(share, sdError/got.SDError)
				}
			}
			t.Logf("%s, tolerance %g: %d of %d in float32, largest error %.2g SD and %.2g of its bound", c.name, tolerance, calibrated, q.Rows, worst, share)
		}
	}
}

// Probabilities are within the tolerance too, where the functions of classes stop before all samples and where they do not.
func TestProbabilitiesStayWithinTheTolerance(t *testing.T) {
	ctx := context.Background()
	f := fitting{Ascent: Ascent{MaxSweeps: 3}}
	x, three := classProblem(400)
	two := make([]int, len(three))
	for i, c := range three {
		two[i] = min(1, c)
	}
	views := []View{{X: x, Kernel: kernel.RBF{Width: 0.5}}, {X: x, Kernel: kernel.Laplacian{Width: 2}}, {X: x, Kernel: kernel.Linear{}}}
	for name, labels := range map[string][]int{"two": two, "three": three} {
		m, err := MultiGPClassifier[int]{Fitting: f.Fitting, Climb: f.climb()}.Fit(ctx, views, labels)
		require.NoError(t, err)
		q := anywhere(rand.New(rand.NewPCG(45, 46)), x, 300)
		_, want, err := m.Predict(q)
		require.NoError(t, err)
		for _, tolerance := range []float64{0.1, 1e-2, 1e-4, 1e-6} {
			p, err := m.Predictor(PredictorOptions{Tolerance: tolerance})
			require.NoError(t, err)
			got := make([]float64, len(m.Classes()))
			early, worst := 0, 0.0
			for i := range q.Rows {
				_, bound, err := p.PredictWithBound(got, q.Row(i))
				require.NoError(t, err)
				assert.LessOrEqual(t, bound, tolerance)
				if bound > 1e-5 {
					early++ // float32 takes less
				}
				for c, v := range want[i] {
					assert.InDelta(t, v, got[c], bound+1e-9, "%s, %g, %v", name, tolerance, q.Row(i))
					worst = max(worst, math.Abs(v-got[c]))
				}
			}
			if tolerance >= 1e-2 {
				assert.Positive(t, early, "%s, %g: functions that stop early", name, tolerance)
			}
			t.Logf("%s, tolerance %g: %d of %d stop early, largest error %.2g", name, tolerance, early, q.Rows, worst)
		}
	}
}

// hardPools returns pools of classes, whose members are processes and least-squares processes: of default kernels, of kernels
// that are unbounded, and of several views, where samples lie twice and a feature is constant.
func hardPools(t *testing.T) (pools map[string]*AutoClassifierModel[int], x Features) {
	const n = 330
	rng := rand.New(rand.NewPCG(47, 48))
	x = normal(rng, n, 4)
	two, three := make([]int, n), make([]int, n)
	for i := range n {
		row := x.Row(i)
		row[2] = 7
		if i%10 == 9 {
			copy(row, x.Row(i-1))
		}
		three[i] = min(2, int(math.Hypot(row[0], row[1]+0.3*rng.NormFloat64())))
		two[i] = min(1, three[i])
	}
	pools = map[string]*AutoClassifierModel[int]{}
	for name, views := range map[string][]View{
		"default": {{X: x}},
		"given":   {{X: x, Kernel: kernel.RBF{Width: 0.5}}, {X: x, Kernel: kernel.Laplacian{Width: 2}}, {X: x, Kernel: kernel.Polynomial{Degree: 2, Offset: 1}}},
		"views":   {{Name: "a", X: x, Columns: []int{0, 2}, Input: "x", Kernel: kernel.RBF{}}, {Name: "b", X: x, Columns: []int{1, 3}, Input: "x", Kernel: kernel.Laplacian{}}},
	} {
		for classes, label := range [][]int{2: two, 3: three} {
			if label == nil {
				continue
			}
			m, err := AutoClassifier[int]{Climb: Climb{MaxSteps: 3}}.Fit(context.Background(), views, label)
			require.NoError(t, err)
			pools[fmt.Sprintf("%s, %d classes", name, classes)] = m
		}
	}
	return pools, x
}

// Probabilities of pools are within their bounds and the tolerance.
func TestPoolsOfClassesStayWithinTheTolerance(t *testing.T) {
	testkit.NotShort(t)
	pools, x := hardPools(t)
	q := anywhere(rand.New(rand.NewPCG(49, 50)), x, 300)
	for name, m := range pools {
		_, want, err := m.Predict(q)
		require.NoError(t, err)
		for _, tolerance := range []float64{0.1, 1e-2, 1e-4, 1e-6} {
			p, err := m.Predictor(PredictorOptions{Tolerance: tolerance})
			require.NoError(t, err)
			in32 := 0
			for _, i := range p.Info() {
				if i.Float32 {
					in32++
				}
			}
			assert.Positive(t, in32, "%s: functions in float32", name)
			got, worst, bounded := make([]float64, len(m.Classes())), 0.0, 0
			for i := range q.Rows {
				_, bound, err := p.PredictWithBound(got, q.Row(i))
				require.NoError(t, err)
				assert.LessOrEqual(t, bound, tolerance)
				if bound > 0 {
					bounded++
				}
				for c, v := range want[i] {
					assert.InDelta(t, v, got[c], bound+1e-8, "%s, %g, %v", name, tolerance, q.Row(i))
					worst = max(worst, math.Abs(v-got[c]))
				}
			}
			t.Logf("%s, tolerance %g: %d of %d with a bound, largest error %.2g", name, tolerance, bounded, q.Rows, worst)
		}
	}
}
