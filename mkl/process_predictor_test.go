package mkl

import (
	"context"
	"fmt"
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
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi/mgp"
)

// smooth returns samples of d features with a smooth target, and RBF views of several
// widths.
func smooth(seed uint64, n, d int, noise float64) (x Features, views []View, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 4))
	x = normal(rng, n, d)
	y = make([]float64, n)
	for i := range y {
		y[i] = 20 + 5*math.Sin(2*x.At(i, 0)) + noise*rng.NormFloat64()
	}
	for _, w := range []float64{1, 2, 5} {
		views = append(views, View{X: x, Kernel: kernel.RBF{Width: w}})
	}
	return x, views, y
}

// around returns rows of features at the rows of x, among them, around them and far away.
func around(rng *rand.Rand, x Features, n int) Features {
	q := normal(rng, n, x.Cols)
	for i := range n {
		switch row := q.Row(i); i % 5 {
		case 0:
			copy(row, x.Row(i%x.Rows))
		case 3:
			la.Scal(3, row)
		case 4:
			la.Scal(50, row)
		}
	}
	return q
}

// givenKernel returns the kernel of samples q with the samples x, and with themselves
// in a last column.
func givenKernel(q, x Features) Features {
	k := la.NewMatrix[float64](q.Rows, x.Rows+1)
	for i := range q.Rows {
		row := k.Row(i)
		row[x.Rows] = 1
		for j := range x.Rows {
			row[j] = math.Exp(-0.125 * kernel.Statistic{Kind: kernel.SquaredDistance}.Of(q.Row(i), x.Row(j)))
		}
	}
	return k
}

// processCase is a model and samples to predict.
type processCase struct {
	name   string
	m      TargetModel
	x      []Features
	pivots bool // must be found
}

func (c processCase) predictor(t *testing.T, opt PredictorOptions) *Predictor {
	t.Helper()
	p, err := c.m.(interface {
		Predictor(PredictorOptions) (*Predictor, error)
	}).Predictor(opt)
	require.NoError(t, err)
	return p
}

func processCases(t *testing.T) (cases []processCase) {
	ctx, rng := context.Background(), rand.New(rand.NewPCG(8, 8))
	f := fitting{Ascent: Ascent{MaxSweeps: 8}}
	add := func(name string, pivots bool, views []View, y []float64, x ...Features) {
		m, err := MultiGP{Fitting: f.Fitting, Climb: f.climb()}.Fit(ctx, views, y)
		require.NoError(t, err, name)
		cases = append(cases, processCase{name, m, x, pivots})
	}
	x, views, y := smooth(1, 150, 1, 1)
	add("smooth", true, views, y, around(rng, x, 60))
	x, views, y = smooth(2, 150, 1, 0)
	add("hardly any noise", false, views, y, around(rng, x, 60))
	x, views, y = smooth(3, 200, 2, 2)
	views = append(views, View{X: x, Kernel: kernel.RBF{Width: 0.05}})
	add("narrow and wide", false, views, y, around(rng, x, 60))

	views, y, a, b := twoInputs(4, 60)
	views = append(views, sightedViews(a, b)...)
	add("all kernels and sights", false, views, y, around(rng, a, 60), around(rng, b, 60))

	x, _, y = smooth(5, 120, 2, 1)
	add("centred", false, []View{{X: x, Kernel: kernel.RBF{Width: 2}, Center: true, Normalize: true}, {X: x, Kernel: kernel.Linear{}}}, y, around(rng, x, 60))
	add("ranks and columns", true, []View{
		{X: x, Kernel: kernel.RBF{Width: 2}, Ranks: true, Columns: []int{1}},
		{X: x, Kernel: kernel.RBF{Medians: 2}, Standardize: true, Columns: []int{0}, Normalize: true},
	}, y, around(rng, x, 60))
	add("learned widths", false, []View{{X: x, Kernel: kernel.RBF{ARD: true}}, {X: x, Kernel: kernel.Constant{}}}, y, around(rng, x, 60))

	k := givenKernel(x, x)
	q := around(rng, x, 60)
	add("given", false, []View{{X: k.Slice(0, 120, 0, 120).Clone(), Input: "x1", Kernel: kernel.Precomputed{}}, {X: x, Input: "x2", Kernel: kernel.Linear{}}}, y, givenKernel(q, x), q)

	x, views, y = smooth(7, 100, 2, 1)
	varying, err := MultiGP{Fitting: f.Fitting, Climb: f.climb(), Noise: VaryingNoise}.Fit(ctx, views, y)
	require.NoError(t, err)
	cases = append(cases, processCase{"noise that varies", varying, []Features{around(rng, x, 60)}, false})

	for i := 0; i < len(y); i += 10 {
		y[i] += 20
	}
	heavy, err := MultiGP{Fitting: f.Fitting, Climb: f.climb(), Noise: HeavyNoise}.Fit(ctx, views, y)
	require.NoError(t, err)
	cases = append(cases, processCase{"noise with heavy tails", heavy, []Features{around(rng, x, 60)}, false})

	x, _, y = smooth(6, 80, 2, 1)
	pool, err := Auto{Climb: Climb{MaxSteps: 4}}.Fit(ctx, []View{{X: x}}, y)
	require.NoError(t, err)
	cases = append(cases, processCase{"pool", pool, []Features{around(rng, x, 60)}, false})
	return cases
}

func point(x []Features, i int) (rows [][]float64) {
	for _, z := range x {
		rows = append(rows, z.Row(i))
	}
	return rows
}

// Exact predictions agree with the model's, and no other is further off than its
// bound, or than the tolerance.
func TestProcessPredictorWithinItsBounds(t *testing.T) {
	testkit.NotShort(t)
	for _, c := range processCases(t) {
		full, err := c.m.PredictTargets(context.Background(), PredictOptions{}, c.x...)
		require.NoError(t, err)
		noise := c.m.NoiseSD()[0]
		prior := slices.Max(full.Variance[0]) // variances are differences of numbers of this size
		for _, opt := range []PredictorOptions{{}, {Exact: true}, {MeanOnly: true}, {Exact: true, MeanOnly: true}, {Tolerance: 0.05}, {Tolerance: 5}} {
			p := c.predictor(t, opt)
			pivots, exact, worst := 0, 0, 0.0
			for _, i := range p.Info() {
				assert.Len(t, i.Samples, c.m.Samples())
				pivots += len(i.Pivots)
			}
			if c.pivots && !opt.Exact && !opt.MeanOnly {
				assert.Positive(t, pivots, "%s %+v", c.name, opt)
			}
			if opt.Exact {
				assert.Zero(t, pivots)
			}
			limit := max(opt.Tolerance, DefaultProcessTolerance)
			for i := range c.x[0].Rows {
				got, err := p.PredictWithBound(point(c.x, i)...)
				require.NoError(t, err)
				mean, sd := full.Mean[0][i], math.Sqrt(full.Variance[0][i])
				e := math.Abs(got.Mean - mean)
				assert.LessOrEqual(t, e, got.MeanError+1e-9*sd, "%s %+v %d", c.name, opt, i)
				worst = max(worst, e/sd)
				if got.MeanError == 0 {
					exact++
				}
				if opt.MeanOnly {
					assert.True(t, math.IsNaN(got.Variance))
					assert.LessOrEqual(t, got.MeanError, limit*noise*(1+1e-9))
					continue
				}
				e = math.Abs(math.Sqrt(got.Variance) - sd)
				assert.LessOrEqual(t, e, got.SDError+1e-9*sd+1e-14*prior/sd, "%s %+v %d: %+v", c.name, opt, i, got)
				assert.LessOrEqual(t, max(got.MeanError, got.SDError), limit*sd*(1+1e-9), "%s %+v %d", c.name, opt, i)
				worst = max(worst, e/sd)
			}
			t.Logf("%s %+v: %d pivots, %d of %d exact, largest error %.2g", c.name, opt, pivots, exact, c.x[0].Rows, worst)
		}
	}
}

// classProblem returns three classes that lie in rings.
func classProblem(n int) (x Features, label []int) {
	x = normal(rand.New(rand.NewPCG(3, 9)), n, 2)
	for i := range n {
		label = append(label, min(2, int(math.Hypot(x.At(i, 0), x.At(i, 1)))))
	}
	return x, label
}

func TestProcessClassPredictor(t *testing.T) {
	testkit.NotShort(t)
	ctx := context.Background()
	x, three := classProblem(150)
	two := slices.Clone(three)
	for i := range two {
		two[i] = min(1, two[i])
	}
	views := []View{{X: x, Kernel: kernel.RBF{Width: 1.5}}, {X: x, Kernel: kernel.RBF{Width: 4}}}
	f := fitting{Ascent: Ascent{MaxSweeps: 5}}
	q := around(rand.New(rand.NewPCG(2, 2)), x, 60)
	check := func(name string, m ClassModel[int], of func(opt PredictorOptions) (*ClassPredictor[int], error)) {
		full, err := m.PredictClasses(ctx, PredictOptions{}, q)
		require.NoError(t, err)
		for _, opt := range []PredictorOptions{{}, {Exact: true}, {Tolerance: 0.1}} {
			p, err := of(opt)
			require.NoError(t, err)
			probability := make([]float64, len(m.Classes()))
			bounded, worst := 0, 0.0
			for i := range q.Rows {
				class, bound, err := p.PredictWithBound(probability, q.Row(i))
				require.NoError(t, err)
				if bound > 0 {
					bounded++
				}
				for c, want := range full.Probability[i] {
					e := math.Abs(probability[c] - want)
					assert.LessOrEqual(t, e, bound+1e-9, "%s %+v %d", name, opt, i)
					worst = max(worst, e)
				}
				if bound == 0 {
					assert.Equal(t, full.Label[i], class)
				}
				again, err := p.Predict(nil, q.Row(i))
				require.NoError(t, err)
				assert.Equal(t, class, again)
			}
			if opt.Exact {
				assert.Zero(t, bounded)
			}
			t.Logf("%s %+v: %d of %d from pivots, largest error %.2g", name, opt, bounded, q.Rows, worst)
			_, err = p.Predict(make([]float64, 1), q.Row(0))
			assert.ErrorContains(t, err, "probability has length 1")
			_, err = p.Predict(nil, []float64{1})
			assert.ErrorContains(t, err, "x[0]")
			if !raceEnabled {
				assert.Zero(t, testing.AllocsPerRun(50, func() { _, _ = p.Predict(probability, q.Row(1)) }))
			}
		}
		_, err = of(PredictorOptions{MeanOnly: true})
		assert.ErrorContains(t, err, "MeanOnly")
	}
	binary, err := MultiGPClassifier[int]{Fitting: f.Fitting, Climb: f.climb()}.Fit(ctx, views, two)
	require.NoError(t, err)
	check("two", binary, binary.Predictor)
	several, err := MultiGPClassifier[int]{Fitting: f.Fitting, Climb: f.climb()}.Fit(ctx, views, three)
	require.NoError(t, err)
	check("three", several, several.Predictor)
	pool, err := AutoClassifier[int]{Climb: Climb{MaxSteps: 3}}.Fit(ctx, []View{{X: x}}, three)
	require.NoError(t, err)
	check("pool", pool, pool.Predictor)
}

func smoothPredictor(t *testing.T, opt PredictorOptions) *Predictor {
	_, views, y := smooth(1, 100, 1, 1)
	m, err := MultiGP{Climb: Climb{MaxSteps: 5}}.Fit(context.Background(), views, y)
	require.NoError(t, err)
	p, err := m.Predictor(opt)
	require.NoError(t, err)
	return p
}

func TestProcessPredictorDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, opt := range []PredictorOptions{{}, {Exact: true}, {MeanOnly: true}} {
		p := smoothPredictor(t, opt)
		near, far := []float64{0.3}, []float64{40} // which goes to all samples
		assert.Zero(t, testing.AllocsPerRun(200, func() {
			_, _, _ = p.Predict(near)
			_, _, _ = p.Predict(far)
		}), "%+v", opt)
	}
}

func TestProcessPredictorConcurrently(t *testing.T) {
	p := smoothPredictor(t, PredictorOptions{})
	at := func(i int) []float64 { return []float64{float64(i)/10 - 3} }
	var want [60]BoundedPrediction
	for i := range want {
		var err error
		want[i], err = p.PredictWithBound(at(i))
		require.NoError(t, err)
	}
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for n := range want {
				if got, err := p.PredictWithBound(at(n)); err != nil || got != want[n] {
					t.Errorf("%d: %+v, %v", n, got, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestProcessPredictorErrors(t *testing.T) {
	p := smoothPredictor(t, PredictorOptions{})
	for _, c := range []struct {
		x    [][]float64
		want string
	}{
		{nil, "0 inputs where the model needs 1"},
		{[][]float64{{1, 2}}, "2 values where 1 are needed"},
		{[][]float64{{math.NaN()}}, "x[0]"},
	} {
		mean, variance, err := p.Predict(c.x...)
		assert.ErrorContains(t, err, c.want)
		assert.True(t, math.IsNaN(mean) && math.IsNaN(variance))
	}
	_, views, y := smooth(1, 40, 1, 1)
	m, err := MultiGP{Climb: Climb{MaxSteps: 3}}.Fit(context.Background(), views, y)
	require.NoError(t, err)
	for _, tolerance := range []float64{-1, math.NaN(), math.Inf(1)} {
		_, err := m.Predictor(PredictorOptions{Tolerance: tolerance})
		assert.ErrorContains(t, err, "Tolerance")
	}
}

// assembled returns a model of n samples of one feature with seven RBF kernels at fixed
// scales, which takes one factorisation where a fit takes many.
func assembled(tb testing.TB, n int) (*MultiGPModel, Features) {
	rng := rand.New(rand.NewPCG(uint64(n), 6))
	x, y := normal(rng, n, 1), make([]float64, n)
	var views []View
	s := mgp.State{Family: mgp.FamilyFlat, Tau: 11, Factor: la.NewMatrix[float64](n, n)}
	for i := -3; i <= 3; i++ {
		views = append(views, View{X: x, Kernel: kernel.RBF{Width: math.Ldexp(1, i)}})
		s.Gamma = append(s.Gamma, 7)
	}
	for i := range y {
		y[i] = math.Sin(3*x.At(i, 0)) + 0.3*rng.NormFloat64()
	}
	bound, err := bindViews(views, n, false)
	require.NoError(tb, err)
	ds := bound.Design
	ds.Regroup()
	blank, err := mgp.NewPosterior(mgp.State{Family: mgp.FamilyFlat, Tau: 1, Gamma: s.Gamma, Alpha: []float64{0}, Factor: la.MatrixOf(1, 1, []float64{1})})
	require.NoError(tb, err)
	var all processKernels
	all.set(ds, amplitudes(blank), vec.UpTo(n), 0)
	k := newComposite(ds, &all)
	row := make([]float64, n)
	for i := range n {
		k.Column(i, row)
		copy(s.Factor.Row(i)[:i+1], row)
		s.Factor.Row(i)[i] += 1 / s.Tau
	}
	require.NoError(tb, la.Cholesky(nil, s.Factor))
	s.Alpha = slices.Clone(y)
	la.CholeskySolveVec(s.Factor, s.Alpha)
	post, err := mgp.NewPosterior(s)
	require.NoError(tb, err)
	m := &MultiGPModel{target: target{0, 1}}
	m.onViews = onViews{record{}, ds}
	m.designs, m.posteriors = []*gram.Design{ds}, []*mgp.Posterior{post}
	return m, x
}

// BenchmarkProcessPredictor times single predictions of samples of the training
// distribution, in ns.
func BenchmarkProcessPredictor(b *testing.B) {
	for _, n := range []int{133, 1000, 10000} {
		m, _ := assembled(b, n)
		q := normal(rand.New(rand.NewPCG(9, 9)), 1000, 1)
		for _, c := range []struct {
			name string
			opt  PredictorOptions
		}{{"full", PredictorOptions{}}, {"mean", PredictorOptions{MeanOnly: true}}, {"exact", PredictorOptions{Exact: true}}} {
			b.Run(fmt.Sprintf("N=%d/%s", n, c.name), func(b *testing.B) {
				p, err := m.Predictor(c.opt)
				require.NoError(b, err)
				exact := 0
				for i := range q.Rows {
					got, err := p.PredictWithBound(q.Row(i))
					require.NoError(b, err)
					if got.MeanError == 0 {
						exact++
					}
				}
				latencies := make([]float64, 0, 1<<20)
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					start := time.Now()
					if _, _, err := p.Predict(q.Row(i % q.Rows)); err != nil {
						b.Fatal(err)
					}
					if len(latencies) < cap(latencies) {
						latencies = append(latencies, float64(time.Since(start)))
					}
				}
				slices.Sort(latencies)
				at := func(share float64) float64 { return latencies[int(share*float64(len(latencies)-1))] }
				b.ReportMetric(at(0), "min-ns")
				b.ReportMetric(at(.5), "p50-ns")
				b.ReportMetric(at(.99), "p99-ns")
				b.ReportMetric(at(.999), "p99.9-ns")
				b.ReportMetric(float64(exact)/10, "%exact")
				b.ReportMetric(float64(len(p.Info()[0].Pivots)), "pivots")
				b.ReportMetric(float64(p.Info()[0].Order), "order")
			})
		}
	}
}

// Targets near the end of the range have predictions with finite bounds, or an error. Their squares are beyond the range.
func TestProcessPredictorOfHugeTargets(t *testing.T) {
	x := normal(rand.New(rand.NewPCG(5, 1)), 20, 1)
	for _, scale := range []float64{1e100, 1e150, 1e200, 1e300} {
		y := make([]float64, x.Rows)
		for i := range y {
			y[i] = scale * math.Sin(x.At(i, 0))
		}
		m, err := MultiGP{RawTargets: true, PointScales: true}.Fit(t.Context(), []View{{X: x, Kernel: kernel.RBF{Width: 1}}}, y)
		if err != nil {
			continue
		}
		p, err := m.Predictor(PredictorOptions{})
		if err != nil {
			continue
		}
		for i := range x.Rows {
			b, err := p.PredictWithBound(x.Row(i))
			if err != nil {
				continue
			}
			for _, v := range []float64{b.Mean, b.Variance, b.MeanError, b.SDError} {
				assert.False(t, math.IsNaN(v), "%g: %+v", scale, b)
			}
			assert.Positive(t, b.Variance)
		}
	}
}
