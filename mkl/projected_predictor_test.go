package mkl

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// smoothRegression fits n samples of d features with seven RBF kernels.
func smoothRegression(tb testing.TB, n, d, sweeps int) (*RegressionModel, Features) {
	return smoothRegressionOf(tb, Regression{}, n, d, sweeps)
}

// smoothRegressionOf is smoothRegression by another estimator.
func smoothRegressionOf(tb testing.TB, r Regression, n, d, sweeps int) (*RegressionModel, Features) {
	rng := rand.New(rand.NewPCG(uint64(n), 6))
	x, y := normal(rng, n, d), make([]float64, n)
	var views []View
	for i := -3; i <= 3; i++ {
		views = append(views, View{X: x, Kernel: kernel.RBF{Width: math.Sqrt(float64(d)) * math.Ldexp(1, i)}})
	}
	for i := range y {
		y[i] = math.Sin(3*x.At(i, 0)) + 0.3*rng.NormFloat64()
	}
	r.MaxSweeps = sweeps
	m, err := r.Fit(context.Background(), views, y)
	if m == nil {
		require.NoError(tb, err)
	}
	return m, x
}

// BenchmarkHealedPredictor times single predictions of samples of the training
// distribution, in ns.
func BenchmarkHealedPredictor(b *testing.B) {
	for _, size := range [][2]int{{133, 1}, {1000, 1}, {1000, 2}} {
		n, d := size[0], size[1]
		m, _ := smoothRegression(b, n, d, 20)
		q := normal(rand.New(rand.NewPCG(9, 9)), 1000, d)
		for _, c := range []struct {
			name string
			opt  PredictorOptions
		}{
			{"full", PredictorOptions{}}, {"mean", PredictorOptions{MeanOnly: true}}, {"unhealed", PredictorOptions{Unhealed: true}},
			{"exact", PredictorOptions{Exact: true}},
		} {
			b.Run(fmt.Sprintf("N=%d/D=%d/%s", n, d, c.name), func(b *testing.B) {
				p, err := m.Predictor(c.opt)
				require.NoError(b, err)
				exact := 0
				for i := range q.Rows {
					if _, ok := p.weights.fromPivots([][]float64{q.Row(i)}); !ok {
						exact++
					}
				}
				l := newLatencies(b)
				for i := 0; b.Loop(); i++ {
					start := time.Now()
					if _, _, err := p.Predict(q.Row(i % q.Rows)); err != nil {
						b.Fatal(err)
					}
					l.add(start)
				}
				l.report()
				b.ReportMetric(float64(exact)/10, "%exact")
				order := 0
				for _, own := range p.weights.info.Pivots {
					order += len(own)
				}
				b.ReportMetric(float64(order), "pivots")
			})
		}
	}
}

// projectedCase is a model whose kernels have pivots.
type projectedCase struct {
	name      string
	x         Features
	predictor func(opt PredictorOptions) (*Predictor, error)
	targets   func(opt PredictOptions, x ...Features) (*Prediction, error)
	sd        float64 // of the target
}

func projectedCases(t *testing.T) (cases []projectedCase) {
	ctx := context.Background()
	add := func(name string, m *RegressionModel, x Features) {
		cases = append(cases, projectedCase{name, x, m.Predictor, func(opt PredictOptions, x ...Features) (*Prediction, error) {
			return m.PredictTargets(ctx, opt, x...)
		}, m.targets[0].sd})
	}
	for _, c := range [][3]int{{150, 1, 5}, {200, 1, 40}} { // samples, features, sweeps
		m, x := smoothRegression(t, c[0], c[1], c[2])
		add(fmt.Sprintf("%d samples, %d sweeps", c[0], c[2]), m, x)
	}
	sparse, x1 := smoothRegressionOf(t, Regression{Omega: Gamma{Shape: 1e-10, Scale: 1e10}}, 150, 1, 30)
	add("kernels of next to no weight", sparse, x1)
	rng := rand.New(rand.NewPCG(1, 9))
	x := normal(rng, 200, 2)
	y := [][]float64{make([]float64, 200), make([]float64, 200)}
	for i := range y[0] {
		y[0][i] = math.Sin(x.At(i, 0)) + 0.3*rng.NormFloat64()
		y[1][i] = x.At(i, 1) - y[0][i] + 0.3*rng.NormFloat64()
	}
	views := []View{
		{X: x, Kernel: kernel.RBF{Width: 3}, Center: true}, {X: x, Kernel: kernel.RBF{Width: 6}}, {X: x, Kernel: kernel.Linear{}, Normalize: true},
		{X: x, Kernel: kernel.Polynomial{Degree: 2, Offset: 1}, Standardize: true},
	}
	shared, err := SharedRegression{Ascent: Ascent{MaxSweeps: 20}}.Fit(ctx, views, y...)
	require.NoError(t, err)
	cases = append(cases, projectedCase{"shared sample weights", x, shared.Predictor, func(opt PredictOptions, x ...Features) (*Prediction, error) {
		return shared.PredictTargets(ctx, opt, x...)
	}, shared.targets[0].sd})
	for i := 0; i < 200; i += 7 {
		y[0][i] = math.NaN()
	}
	m, err := Regression{Ascent: Ascent{MaxSweeps: 20}, MissingTargets: true}.Fit(ctx, views, y...)
	require.NoError(t, err)
	add("missing targets", m, x)
	gaps, err := SharedRegression{Ascent: Ascent{MaxSweeps: 20}, MissingTargets: true}.Fit(ctx, views, y...)
	require.NoError(t, err)
	cases = append(cases, projectedCase{"shared sample weights, missing targets", x, gaps.Predictor, func(opt PredictOptions, x ...Features) (*Prediction, error) {
		return gaps.PredictTargets(ctx, opt, x...)
	}, gaps.targets[0].sd})
	return cases
}

// Predictions from pivots are within their bounds of the predictions from all samples: at, among,
// around and far from the samples, healed or not, for kernels with weights of either sign.
func TestProjectedPredictorWithinItsBounds(t *testing.T) {
	testkit.NotShort(t)
	for _, c := range projectedCases(t) {
		q := around(rand.New(rand.NewPCG(3, 3)), c.x, 200)
		for _, opt := range []PredictorOptions{{}, {Unhealed: true}, {MeanOnly: true}, {Tolerance: 0.1}, {Tolerance: 1e-4}} {
			p, err := c.predictor(opt)
			require.NoError(t, err)
			if p.weights.near == nil {
				assert.Equal(t, 1e-4, opt.Tolerance, "%s, %+v", c.name, opt)
				continue
			}
			want, err := c.targets(PredictOptions{Unhealed: opt.Unhealed}, q)
			require.NoError(t, err)
			pivots, worst := 0, 0.0
			for i := range q.Rows {
				// Bounds hold whether they are within the tolerance or not.
				b, ok := p.weights.fromPivots([][]float64{q.Row(i)})
				sd := math.Sqrt(want.Variance[0][i])
				off := math.Abs(p.weights.target.mean + c.sd*b.Mean - want.Mean[0][i])
				require.LessOrEqual(t, off, b.MeanError+1e-11*sd, "%s, %+v: mean of sample %d", c.name, opt, i)
				worst = max(worst, off/(b.MeanError+1e-11*sd))
				if !opt.MeanOnly {
					off = math.Abs(c.sd*math.Sqrt(b.Variance) - sd)
					require.LessOrEqual(t, off, b.SDError+1e-11*sd, "%s, %+v: deviation of sample %d", c.name, opt, i)
					worst = max(worst, off/(b.SDError+1e-11*sd))
				}
				if ok {
					pivots++
					require.LessOrEqual(t, b.MeanError, 1.001*p.weights.tolerance*sd, "%s, %+v", c.name, opt)
					require.LessOrEqual(t, b.SDError, 1.001*p.weights.tolerance*sd, "%s, %+v", c.name, opt)
				}
			}
			assert.Greater(t, pivots, 60, "%s, %+v", c.name, opt)
			t.Logf("%s, %+v: %d of 200 from pivots, largest error %.2g of its bound", c.name, opt, pivots, worst)
		}
	}
}

func TestProjectedPredictorIsImmutable(t *testing.T) {
	m, x := smoothRegression(t, 150, 1, 5)
	p, err := m.Predictor(PredictorOptions{})
	require.NoError(t, err)
	require.NotNil(t, p.weights.near)
	q := around(rand.New(rand.NewPCG(3, 3)), x, 50)
	want := make([]BoundedPrediction, q.Rows)
	rows := make([][]float64, q.Rows)
	for i := range want {
		rows[i] = q.Row(i)
		want[i], err = p.PredictWithBound(rows[i])
		require.NoError(t, err)
	}
	requireImmutable(t, func() error {
		for i, row := range rows {
			got, err := p.PredictWithBound(row)
			if err != nil || got != want[i] {
				return fmt.Errorf("sample %d: %+v where %+v is wanted: %w", i, got, want[i], err)
			}
		}
		return nil
	})
	info := p.Info()[0]
	require.Len(t, info.Pivots, 7)
	info.Pivots[0][0] = -1
	assert.NotEqual(t, -1, p.Info()[0].Pivots[0][0], "the predictor's own")
}

// Kernels that are not known to be positive definite have no pivots.
func TestNoPivotsOfUnknownKernels(t *testing.T) {
	x, y := normal(rand.New(rand.NewPCG(1, 1)), 200, 1), make([]float64, 200)
	for i := range y {
		y[i] = math.Sin(x.At(i, 0)) + 0.1*float64(i%3)
	}
	for _, v := range []View{
		{X: x, Kernel: kernel.Func{Name: "f", F: func(a, b []float64) float64 { return math.Exp(-(a[0] - b[0]) * (a[0] - b[0])) }}},
		{X: x, Kernel: kernel.RBF{Width: 1}},
	} {
		m, err := Regression{Ascent: Ascent{MaxSweeps: 5}}.Fit(context.Background(), []View{v}, y)
		require.NoError(t, err)
		p, err := m.Predictor(PredictorOptions{})
		require.NoError(t, err)
		_, known := v.Kernel.(kernel.RBF)
		assert.Equal(t, known, p.Info()[0].Pivots != nil)
		p, err = m.Predictor(PredictorOptions{Exact: true})
		require.NoError(t, err)
		assert.Nil(t, p.Info()[0].Pivots)
	}
}

// Probabilities from pivots are as close to the model's as they say, of two classes and of
// three, with a margin, and of labels that share kernels or have samples of their own.
func TestProjectedProbabilitiesWithinTheirBounds(t *testing.T) {
	testkit.NotShort(t)
	ctx := context.Background()
	x, three := classProblem(150)
	two, labels := make([]bool, len(three)), make([][]Label, 3)
	for i, c := range three {
		two[i] = c > 0
		for o := range labels {
			l := LabelAbsent
			switch {
			case (i+o)%4 == 0:
				l = LabelUnknown
			case c == o:
				l = LabelPresent
			}
			labels[o] = append(labels[o], l)
		}
	}
	views := []View{{X: x, Kernel: kernel.RBF{Width: 2}}, {X: x, Kernel: kernel.RBF{Width: 6}}, {X: x, Kernel: kernel.Linear{}, Normalize: true}}
	f := fitting{Ascent: Ascent{MaxSweeps: 20}}
	q := around(rand.New(rand.NewPCG(4, 4)), x, 200)
	check := func(name string, scores *scorePredictors, want [][]float64, predict func(probability []float64, x []float64) (float64, error)) {
		probability := make([]float64, len(want[0]))
		bounded, worst := 0, 0.0
		for i := range q.Rows {
			bound, err := predict(probability, q.Row(i))
			require.NoError(t, err)
			near := true
			for o := range scores.scores {
				_, ok := scores.scores[o].fromPivots([][]float64{q.Row(i)})
				near = near && ok
			}
			if near {
				bounded++
				require.Less(t, bound, 0.01, "%s: sample %d", name, i)
			}
			for c, p := range want[i] {
				e := math.Abs(probability[c] - p)
				require.LessOrEqual(t, e, bound+1e-12, "%s: sample %d", name, i)
				worst = max(worst, e/(bound+1e-12))
			}
		}
		assert.Greater(t, bounded, 60, name)
		t.Logf("%s: %d of 200 from pivots, largest error %.2g of its bound", name, bounded, worst)
	}
	checkClasses := func(name string, p *ClassPredictor[bool], err error, want *ClassPrediction[bool]) {
		require.NoError(t, err)
		check(name, &p.scores.scorePredictors, want.Probability, func(probability, x []float64) (float64, error) {
			_, bound, err := p.PredictWithBound(probability, x)
			return bound, err
		})
	}
	checkLabels := func(name string, p *LabelPredictor, err error, want *LabelPrediction) {
		require.NoError(t, err)
		rows := make([][]float64, q.Rows)
		for i := range rows {
			for o := range want.Probability {
				rows[i] = append(rows[i], want.Probability[o][i])
			}
		}
		check(name, &p.scorePredictors, rows, func(probability, x []float64) (float64, error) {
			return p.PredictWithBound(probability, x)
		})
	}

	for _, c := range []Classifier[bool]{{Fitting: f.Fitting, Ascent: f.Ascent}, {Fitting: f.Fitting, Ascent: f.Ascent, Margin: 1}} {
		binary, err := c.Fit(ctx, views, two)
		require.NoError(t, err)
		want, err := binary.PredictClasses(ctx, PredictOptions{}, q)
		require.NoError(t, err)
		for _, opt := range []PredictorOptions{{}, {Tolerance: 0.1}} {
			p, err := binary.Predictor(opt)
			checkClasses(fmt.Sprintf("two classes, margin %g, %+v", c.Margin, opt), p, err, want)
		}
	}
	several, err := Classifier[int]{Fitting: f.Fitting, Ascent: f.Ascent}.Fit(ctx, views, three)
	require.NoError(t, err)
	wantSeveral, err := several.PredictClasses(ctx, PredictOptions{}, q)
	require.NoError(t, err)
	p, err := several.Predictor(PredictorOptions{})
	require.NoError(t, err)
	check("three classes", &p.scores.scorePredictors, wantSeveral.Probability, func(probability, x []float64) (float64, error) {
		_, bound, err := p.PredictWithBound(probability, x)
		return bound, err
	})
	shared, err := MultiLabel{Fitting: f.Fitting, Ascent: f.Ascent}.Fit(ctx, views, labels...)
	require.NoError(t, err)
	want, err := shared.PredictLabels(ctx, PredictOptions{}, q)
	require.NoError(t, err)
	l, err := shared.Predictor(PredictorOptions{})
	checkLabels("labels", l, err, want)
	tasks, err := TaskClassifier{Fitting: f.Fitting, Ascent: f.Ascent}.Fit(ctx, views, labels...)
	require.NoError(t, err)
	want, err = tasks.PredictLabels(ctx, PredictOptions{}, q)
	require.NoError(t, err)
	l, err = tasks.Predictor(PredictorOptions{})
	checkLabels("labels with samples of their own", l, err, want)
}
