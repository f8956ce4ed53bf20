package mkl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// An estimator under test: every one must pass all of the checks below.
type estimator struct {
	name string

	// process says that it is a Gaussian process: without a random start, and
	// only for positive semidefinite kernels.
	process bool

	sampled bool // it has no sweeps of an ascent

	// counted says that its observations are made of e^y, which has no other unit.
	counted bool

	// staged says that it begins where another fit of as many sweeps has ended.
	staged bool

	// open says that views without a kernel stand for default ones.
	open bool

	// states says that a sweep goes through all subsets of the kernels.
	states bool

	// fit fits to views with targets made from y, which may hold NaN.
	fit func(ctx context.Context, s fitting, views []View, y []float64) (Model, error)

	// predict returns everything that is predicted, in one row.
	predict func(m Model, workers int, x ...Features) ([]float64, error)
}

// sweeps returns n, or fewer where every one takes long.
func (e estimator) sweeps(n int) int {
	if e.states {
		return min(n, 2)
	}
	return n
}

// withOpenView adds a view of the first X without a kernel.
func withOpenView(views []View) []View {
	if len(views) == 0 {
		return nil
	}
	open := View{X: views[0].X, Input: views[0].Input}
	if isGiven(views[0]) {
		open.Input = "features"
	}
	return append(slices.Clone(views), open)
}

func predictMultiGPClasses(m Model, workers int, x ...Features) ([]float64, error) {
	type classes interface {
		row(workers int, x []Features) ([]float64, error)
	}
	return m.(classes).row(workers, x)
}

// row returns everything that is predicted, whatever the type of the classes.
func (m *MultiGPClassifierModel[T]) row(workers int, x []Features) ([]float64, error) {
	p, err := m.PredictClasses(context.Background(), PredictOptions{Workers: workers}, x...)
	if err != nil {
		return nil, err
	}
	return slices.Concat(slices.Concat(p.Decision...), slices.Concat(p.Probability...)), nil
}

// row is a row of a prediction of grades.
func (m *OrdinalModel[T]) row(workers int, x []Features) ([]float64, error) {
	p, err := m.PredictClasses(context.Background(), PredictOptions{Workers: workers}, x...)
	if err != nil {
		return nil, err
	}
	return slices.Concat(slices.Concat(p.Decision...), slices.Concat(p.Probability...)), nil
}

// row is a row of a pool's prediction.
func (m *AutoClassifierModel[T]) row(workers int, x []Features) ([]float64, error) {
	p, err := m.PredictClasses(context.Background(), PredictOptions{Workers: workers}, x...)
	if err != nil {
		return nil, err
	}
	return slices.Concat(slices.Concat(p.Decision...), slices.Concat(p.Probability...)), nil
}

// someLifetimes are times of events and times that are censored on the right. The value decides which, so that a target keeps its
// kind in every order of rows.
func someLifetimes(y []float64) []Lifetime {
	var out []Lifetime
	for _, v := range y {
		t := EventAt(math.Exp(v))
		if math.Float64bits(v)%4 == 3 {
			t = EventAfter(t.From)
		}
		out = append(out, t)
	}
	return out
}

// secondTarget is another target of the same samples: y times −2, −1.9 or −1.8. The digits of y decide which, so that a sample has the same target in
// each row, and the same but for the unit if the unit of y changes by a power of two.
func secondTarget(y []float64) []float64 {
	return each(y, func(v float64) float64 { return v * (-2 + float64(0.1*float64(math.Float64bits(v)%(1<<52)%3))) })
}

// someMissing is y without about a quarter of its values. The value decides which.
func someMissing(y []float64) []float64 {
	return each(y, func(v float64) float64 {
		if math.Float64bits(v)%4 == 3 {
			return math.NaN()
		}
		return v
	})
}

// someCounts are counts whose logarithm rises with y.
func someCounts(y []float64) []float64 {
	var out []float64
	for _, v := range y {
		out = append(out, math.Floor(math.Exp(1+v)))
	}
	return out
}

// someGrades are grades that rise with y.
func someGrades(y []float64) []string {
	var out []string
	for _, k := range parts(y, 3) {
		out = append(out, []string{"low", "middle", "high"}[k])
	}
	return out
}

func predictSurvival(m Model, workers int, x ...Features) ([]float64, error) {
	p, err := m.(*SurvivalModel).PredictTimes(context.Background(), PredictOptions{Workers: workers}, x...)
	if err != nil {
		return nil, err
	}
	out := p.Risk()
	for i := range p.Samples() {
		low, high := p.Band(i, []float64{0.7}, 0.9)
		out = append(out, slices.Concat(low, high, p.Survival(i, []float64{0.7}))...)
	}
	return out, nil
}

func predictCounts(m Model, workers int, x ...Features) ([]float64, error) {
	p, err := m.(*CountModel).PredictCounts(context.Background(), PredictOptions{Workers: workers}, nil, x...)
	if err != nil {
		return nil, err
	}
	var out []float64
	for _, d := range p.counts {
		out = append(out, d.Mean, d.Variance)
	}
	return out, nil
}

// parts are the thirds (or other shares) of y, from the lowest.
func parts(y []float64, n int) []int {
	sorted := slices.Sorted(slices.Values(y))
	part := make([]int, len(y))
	for i, v := range y {
		at, _ := slices.BinarySearch(sorted, v)
		part[i] = at * n / len(y)
	}
	return part
}

func predictRegression(m Model, workers int, x ...Features) ([]float64, error) {
	p, err := m.(TargetModel).PredictTargets(context.Background(), PredictOptions{Workers: workers}, x...)
	if err != nil {
		return nil, err
	}
	return slices.Concat(slices.Concat(p.Mean...), slices.Concat(p.Variance...)), nil
}

func predictLabels(m Model, workers int, x ...Features) ([]float64, error) {
	p, err := m.(LabelModel).PredictLabels(context.Background(), PredictOptions{Workers: workers}, x...)
	if err != nil {
		return nil, err
	}
	return slices.Concat(slices.Concat(p.Decision...), slices.Concat(p.Probability...)), nil
}

// orNil makes a nil *M a nil Model.
func orNil[M interface {
	comparable
	Model
}](m M, err error) (Model, error) {
	var none M
	if m == none {
		return nil, err
	}
	return m, err
}

var estimators = []estimator{
	{
		name: "regression",
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			return orNil(Regression{Fitting: s.Fitting, Ascent: s.Ascent, AllowDuplicates: s.allowDuplicates, MissingViews: s.missingViews, Storage: s.storage, Slopes: s.slopes}.Fit(ctx, views, y))
		},
		predict: predictRegression,
	},
	{
		name: "sparse regression",
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			m, err := orNil(Regression{Fitting: s.Fitting, Ascent: s.Ascent, AllowDuplicates: s.allowDuplicates, MissingViews: s.missingViews, Storage: s.storage, Slopes: s.slopes, Lambda: sparse, Omega: sparse}.Fit(ctx, views, y))
			// With so few samples all weights may vanish; the model is valid all the same.
			if c, ok := errors.AsType[*CollapsedError](err); ok {
				return c.Model, nil
			}
			return m, err
		},
		predict: predictRegression,
	},
	{
		name: "two targets",
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			return orNil(Regression{Fitting: s.Fitting, Ascent: s.Ascent, AllowDuplicates: s.allowDuplicates, MissingViews: s.missingViews, Storage: s.storage, Slopes: s.slopes}.Fit(ctx, views, y, secondTarget(y)))
		},
		predict: predictRegression,
	},
	{
		name: "two targets with shared samples",
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			return orNil(SharedRegression{Fitting: s.Fitting, Ascent: s.Ascent, AllowDuplicates: s.allowDuplicates, Storage: s.storage, Slopes: s.slopes}.Fit(ctx, views, y, secondTarget(y)))
		},
		predict: predictRegression,
	},
	{
		name: "two targets with shared samples and gaps",
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			second := someMissing(secondTarget(y))
			return orNil(SharedRegression{Fitting: s.Fitting, Ascent: s.Ascent, AllowDuplicates: s.allowDuplicates, Storage: s.storage, Slopes: s.slopes, MissingTargets: !slices.ContainsFunc(y, math.IsNaN)}.Fit(ctx, views, y, second))
		},
		predict: predictRegression,
	},
	{
		name: "two tasks",
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			second := someMissing(secondTarget(y))
			if slices.ContainsFunc(y, math.IsNaN) {
				return orNil(TaskRegression{Fitting: s.Fitting, Ascent: s.Ascent, AllowDuplicates: s.allowDuplicates, Storage: s.storage}.Fit(ctx, views, y, second))
			}
			return orNil(TaskRegression{Fitting: s.Fitting, Ascent: s.Ascent, AllowDuplicates: s.allowDuplicates, Storage: s.storage, MissingTargets: true}.Fit(ctx, views, y, second))
		},
		predict: predictRegression,
	},
	{
		name: "two classes",
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			var labels []string
			for _, k := range parts(y, 2) {
				labels = append(labels, []string{"low", "high"}[k])
			}
			return orNil(Classifier[string]{Fitting: s.Fitting, Ascent: s.Ascent, AllowDuplicates: s.allowDuplicates, MissingViews: s.missingViews, Storage: s.storage, Slopes: s.slopes}.Fit(ctx, views, labels))
		},
		predict: predictClasses[string],
	},
	{
		name: "three classes",
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			return orNil(Classifier[int]{Fitting: s.Fitting, Ascent: s.Ascent, AllowDuplicates: s.allowDuplicates, MissingViews: s.missingViews, Storage: s.storage, Slopes: s.slopes}.Fit(ctx, views, parts(y, 3)))
		},
		predict: predictClasses[int],
	},
	{
		name:    "multiple Gaussian process",
		process: true,
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			return orNil(MultiGP{Fitting: s.Fitting, Climb: s.climb(), MissingViews: s.missingViews, Storage: s.storage}.Fit(ctx, views, y))
		},
		predict: predictRegression,
	},
	{
		name:    "multiple Gaussian process, noise that varies",
		staged:  true,
		process: true,
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			return orNil(MultiGP{Fitting: s.Fitting, Climb: s.climb(), MissingViews: s.missingViews, Storage: s.storage, Noise: VaryingNoise}.Fit(ctx, views, y))
		},
		predict: predictRegression,
	},
	{
		name:    "multiple Gaussian process, noise with heavy tails",
		process: true,
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			return orNil(MultiGP{Fitting: s.Fitting, Climb: s.climb(), MissingViews: s.missingViews, Storage: s.storage, Noise: HeavyNoise}.Fit(ctx, views, y))
		},
		predict: predictRegression,
	},
	{
		name:    "survival",
		counted: true,
		process: true,
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			return orNil(Survival{Fitting: s.Fitting, Climb: s.climb(), MissingViews: s.missingViews, Storage: s.storage, Law: LogNormal}.Fit(ctx, views, someLifetimes(y)))
		},
		predict: predictSurvival,
	},
	{
		name:    "survival, Weibull",
		counted: true,
		process: true,
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			return orNil(Survival{Fitting: s.Fitting, Climb: s.climb(), MissingViews: s.missingViews, Storage: s.storage, Law: Weibull}.Fit(ctx, views, someLifetimes(y)))
		},
		predict: predictSurvival,
	},
	{
		name:    "counts",
		counted: true,
		process: true,
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			return orNil(Counts{Fitting: s.Fitting, Climb: s.climb(), MissingViews: s.missingViews, Storage: s.storage}.Fit(ctx, views, someCounts(y)))
		},
		predict: predictCounts,
	},
	{
		name:    "counts, double Poisson",
		counted: true,
		process: true,
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			small := slices.Clone(y) // its counts are at most 1e8
			for i := range small {
				small[i] /= 2
			}
			return orNil(Counts{Fitting: s.Fitting, Climb: s.climb(), MissingViews: s.missingViews, Storage: s.storage, Law: DoublePoisson}.Fit(ctx, views, someCounts(small)))
		},
		predict: predictCounts,
	},
	{
		name:    "counts, Poisson",
		counted: true,
		process: true,
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			return orNil(Counts{Fitting: s.Fitting, Climb: s.climb(), MissingViews: s.missingViews, Storage: s.storage, Law: Poisson}.Fit(ctx, views, someCounts(y)))
		},
		predict: predictCounts,
	},
	{
		name:    "grades",
		process: true,
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			return orNil(Ordinal[string]{Fitting: s.Fitting, Climb: s.climb(), MissingViews: s.missingViews, Storage: s.storage, Grades: []string{"low", "middle", "high"}}.Fit(ctx, views, someGrades(y)))
		},
		predict: predictMultiGPClasses,
	},
	{
		name:    "grades that are numbers",
		process: true,
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			return orNil(Ordinal[int]{Fitting: s.Fitting, Climb: s.climb(), MissingViews: s.missingViews, Storage: s.storage}.Fit(ctx, views, parts(y, 4)))
		},
		predict: predictMultiGPClasses,
	},
	{
		name:    "multiple Gaussian process, two classes",
		process: true,
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			var labels []string
			for _, k := range parts(y, 2) {
				labels = append(labels, []string{"low", "high"}[k])
			}
			return orNil(MultiGPClassifier[string]{Fitting: s.Fitting, Climb: s.climb(), MissingViews: s.missingViews, Storage: s.storage}.Fit(ctx, views, labels))
		},
		predict: predictMultiGPClasses,
	},
	{
		name:    "multiple Gaussian process, three classes",
		process: true,
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			return orNil(MultiGPClassifier[int]{Fitting: s.Fitting, Climb: s.climb(), MissingViews: s.missingViews, Storage: s.storage, Family: FamilyFlat}.Fit(ctx, views, parts(y, 3)))
		},
		predict: predictMultiGPClasses,
	},
	{
		name:    "pool of given kernels",
		process: true,
		open:    true,
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			return orNil(Auto{Fitting: s.Fitting, Climb: s.climb(), MissingViews: s.missingViews}.Fit(ctx, views, y))
		},
		predict: predictRegression,
	},
	{
		name:    "pool",
		process: true,
		open:    true,
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			return orNil(Auto{Fitting: s.Fitting, Climb: s.climb(), MissingViews: s.missingViews}.Fit(ctx, withOpenView(views), y))
		},
		predict: predictRegression,
	},
	{
		name:    "pools of two targets",
		process: true,
		open:    true,
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			return orNil(AutoTargets{Fitting: s.Fitting, Climb: s.climb()}.Fit(ctx, withOpenView(views), y, secondTarget(y)))
		},
		predict: predictRegression,
	},
	{
		name:    "pool of two classes",
		process: true,
		open:    true,
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			var labels []string
			for _, k := range parts(y, 2) {
				labels = append(labels, []string{"low", "high"}[k])
			}
			return orNil(AutoClassifier[string]{Fitting: s.Fitting, Climb: s.climb(), MissingViews: s.missingViews}.Fit(ctx, withOpenView(views), labels))
		},
		predict: predictMultiGPClasses,
	},
	{
		name:    "pool of three classes",
		process: true,
		open:    true,
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			return orNil(AutoClassifier[int]{Fitting: s.Fitting, Climb: s.climb(), MissingViews: s.missingViews}.Fit(ctx, withOpenView(views), parts(y, 3)))
		},
		predict: predictMultiGPClasses,
	},
	{
		name: "multinomial probit, three classes",
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			return orNil(probitOf[int](s, FixedSum{}).Fit(ctx, views, parts(y, 3)))
		},
		predict: predictProbit[int],
	},
	{
		name: "multinomial probit, learned sum, two classes",
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			var labels []string
			for _, k := range parts(y, 2) {
				labels = append(labels, []string{"low", "high"}[k])
			}
			return orNil(probitOf[string](s, WeightedSum{}).Fit(ctx, views, labels))
		},
		predict: predictProbit[string],
	},
	{
		name:   "multinomial probit, switches with regressors for each state",
		states: true,
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			c := probitOf[int](s, SwitchedSum{})
			c.Update, c.Alpha = WeightUpdateStructured, Gamma{Shape: 5, Scale: 1}
			return orNil(c.Fit(ctx, views, parts(y, 3)))
		},
		predict: predictProbit[int],
	},
	{
		name: "multinomial probit by relevance vectors",
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			c := RelevanceClassifier[int]{Fitting: s.Fitting, Ascent: s.Ascent, AllowDuplicates: s.allowDuplicates, MissingViews: s.missingViews, Storage: s.storage, Rule: WeightedSum{}}
			return orNil(c.Fit(ctx, views, parts(y, 3)))
		},
		predict: predictProbit[int],
	},
	{
		name: "multinomial probit by pruned vectors",
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			c := PrunedClassifier[int]{Fitting: s.Fitting, Ascent: s.Ascent, AllowDuplicates: s.allowDuplicates, MissingViews: s.missingViews, Storage: s.storage, Rule: WeightedSum{}}
			return orNil(c.Fit(ctx, views, parts(y, 3)))
		},
		predict: predictProbit[int],
	},
	{
		name: "multinomial probit at the mode",
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			c := ProbitMAP[int]{Fitting: s.Fitting, Ascent: s.Ascent, AllowDuplicates: s.allowDuplicates, MissingViews: s.missingViews, Storage: s.storage, Rule: WeightedSum{}}
			return orNil(c.Fit(ctx, views, parts(y, 3)))
		},
		predict: predictProbit[int],
	},
	{
		name:    "multinomial probit by Gibbs sampling",
		sampled: true,
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			c := ProbitSampler[int]{
				Fitting: s.Fitting, AllowDuplicates: s.allowDuplicates, MissingViews: s.missingViews, Storage: s.storage,
				Rule: WeightedSum{}, GibbsDraws: GibbsDraws{Chains: 1, Draws: 8, Thin: 1, BurnIn: 8},
			}
			return orNil(c.Fit(ctx, views, parts(y, 3)))
		},
		predict: predictProbit[int],
	},
	{
		name: "three labels",
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			labels := make([][]bool, 3)
			for _, k := range parts(y, 8) {
				for o := range labels {
					labels[o] = append(labels[o], k>>o&1 == 1)
				}
			}
			return orNil(MultiLabel{Fitting: s.Fitting, Ascent: s.Ascent, AllowDuplicates: s.allowDuplicates, MissingViews: s.missingViews, Storage: s.storage, Slopes: s.slopes}.Fit(ctx, views, allLabels(labels)...))
		},
		predict: predictLabels,
	},
	{
		name: "two labels with samples of their own",
		fit: func(ctx context.Context, s fitting, views []View, y []float64) (Model, error) {
			labels := make([][]bool, 2)
			for _, k := range parts(y, 4) {
				for o := range labels {
					labels[o] = append(labels[o], k>>o&1 == 1)
				}
			}
			return orNil(TaskClassifier{Fitting: s.Fitting, Ascent: s.Ascent, AllowDuplicates: s.allowDuplicates, Storage: s.storage}.Fit(ctx, views, known(labels, 3)...))
		},
		predict: predictLabels,
	},
}

func probitOf[T comparable](s fitting, rule Rule) ProbitClassifier[T] {
	return ProbitClassifier[T]{
		Fitting: s.Fitting, Ascent: s.Ascent, AllowDuplicates: s.allowDuplicates, MissingViews: s.missingViews, Storage: s.storage, Slopes: s.slopes,
		Rule: rule,
	}
}

// predictProbit also takes the model of strings that Load makes of any.
func predictProbit[T comparable](m Model, workers int, x ...Features) ([]float64, error) {
	opt := PredictOptions{Workers: workers}
	if m, ok := m.(*ProbitClassifierModel[T]); ok {
		p, err := m.PredictClasses(context.Background(), opt, x...)
		if err != nil {
			return nil, err
		}
		return slices.Concat(slices.Concat(p.Decision...), slices.Concat(p.Probability...)), nil
	}
	p, err := m.(*ProbitClassifierModel[string]).PredictClasses(context.Background(), opt, x...)
	if err != nil {
		return nil, err
	}
	return slices.Concat(slices.Concat(p.Decision...), slices.Concat(p.Probability...)), nil
}

// predictClasses also takes the model of strings that Load makes of any.
func predictClasses[T comparable](m Model, workers int, x ...Features) ([]float64, error) {
	row := func(decision, probability [][]float64) []float64 {
		return slices.Concat(slices.Concat(decision...), slices.Concat(probability...))
	}
	opt := PredictOptions{Workers: workers}
	if m, ok := m.(*ClassifierModel[T]); ok {
		p, err := m.PredictClasses(context.Background(), opt, x...)
		if err != nil {
			return nil, err
		}
		return row(p.Decision, p.Probability), nil
	}
	p, err := m.(*ClassifierModel[string]).PredictClasses(context.Background(), opt, x...)
	if err != nil {
		return nil, err
	}
	return row(p.Decision, p.Probability), nil
}

func eachEstimator(t *testing.T, check func(t *testing.T, e estimator)) {
	for _, e := range estimators {
		t.Run(e.name, func(t *testing.T) { check(t, e) })
	}
}

func mustFit(t *testing.T, e estimator, s fitting, views []View, y []float64) Model {
	t.Helper()
	m, err := e.fit(context.Background(), s, views, y)
	require.NoError(t, err)
	return m
}

func newPoints(m Model, n int) []Features {
	rng := rand.New(rand.NewPCG(77, 1))
	var x []Features
	for _, in := range m.Inputs() {
		x = append(x, normal(rng, n, in.Cols))
	}
	return x
}

func TestEstimatorsRefuseBadData(t *testing.T) {
	eachEstimator(t, func(t *testing.T, e estimator) {
		nan := math.NaN()
		rect := normal(rand.New(rand.NewPCG(1, 9)), 20, 7)
		for _, c := range []struct {
			name  string
			spoil func(views []View, y []float64) ([]View, []float64)
			want  string // part of the message
		}{
			{"no views", func(_ []View, y []float64) ([]View, []float64) { return nil, y }, "views: none given"},
			{"no samples", func(views []View, _ []float64) ([]View, []float64) {
				return []View{{X: Features{}, Kernel: kernel.Linear{}}}, nil
			}, "0 samples"},
			{"one sample", func(views []View, y []float64) ([]View, []float64) {
				return []View{{X: views[0].X.Slice(0, 1, 0, 2), Kernel: kernel.Linear{}}}, y[:1]
			}, "1 samples"},
			{"NaN feature", func(views []View, y []float64) ([]View, []float64) {
				views[4].X.Set(2, 1, nan)
				return views, y
			}, "views[3].X[2][1] is NaN"},
			{"infinite feature", func(views []View, y []float64) ([]View, []float64) {
				views[0].X.Set(0, 0, math.Inf(-1))
				return views, y
			}, "views[0].X[0][0] is -Inf"},
			{"too few rows", func(views []View, y []float64) ([]View, []float64) {
				views[3].X = views[3].X.Slice(0, 19, 0, 3)
				return views, y
			}, `views[3] ("b", linear): X is 19×3 where y has 20 samples`},
			{"no columns", func(views []View, y []float64) ([]View, []float64) {
				views[1].X = views[1].X.Slice(0, 20, 0, 0)
				return views, y
			}, "X has no columns"},
			{"no kernel", func(views []View, y []float64) ([]View, []float64) {
				views[1].Kernel = nil
				return views, y
			}, "views[1]: Kernel is nil"},
			{"short matrix", func(views []View, y []float64) ([]View, []float64) {
				views[1].X.Data = views[1].X.Data[:30]
				return views, y
			}, "views[1].X: a 20×2 matrix of stride 2 needs more than its 30 elements"},
			{"same kernel twice", func(views []View, y []float64) ([]View, []float64) {
				return append(views, View{X: views[0].X.Clone(), Input: views[0].Input, Kernel: kernel.RBF{Width: 0.5}}), y
			}, `views[0] ("a", rbf(width=0.5)) and views[7] (rbf(width=0.5)) have the same kernel matrix`},
			{"overflowing kernel", func(views []View, y []float64) ([]View, []float64) {
				x := views[0].X.Clone()
				x.Set(3, 0, 1e300)
				return append(views, View{X: x, Input: "other", Kernel: kernel.Linear{}}), y
			}, "views[7] (linear): the kernel of samples 3 and 3 is +Inf"},
			{"kernel of zeros", func(views []View, y []float64) ([]View, []float64) {
				x := views[0].X.Clone()
				x.Fill(0)
				return append(views, View{X: x, Input: "other", Kernel: kernel.Linear{}}), y
			}, "views[7] (linear): the kernel is 0 for all samples"},
			{"equal samples", func(views []View, y []float64) ([]View, []float64) {
				x := views[0].X.Clone()
				x.Fill(3)
				return append(views, View{X: x, Input: "other", Kernel: kernel.RBF{}}), y
			}, "views[7] (rbf(width=mean)): the mean distance between the training samples is 0"},
			{"normalising zero", func(views []View, y []float64) ([]View, []float64) {
				x := views[0].X.Clone()
				x.Set(4, 0, 0)
				x.Set(4, 1, 0)
				return append(views, View{X: x, Input: "other", Kernel: kernel.Linear{}, Normalize: true}), y
			}, "views[7] (linear): Normalize: the kernel of sample 4 with itself is 0"},
			{"normalising the mean", func(views []View, y []float64) ([]View, []float64) {
				x := views[0].X.Clone()
				mean, _ := gram.ColumnStats(x.Slice(0, 19, 0, 2))
				copy(x.Row(19), mean)
				return append(views, View{X: x, Input: "other", Kernel: kernel.Linear{}, Center: true, Normalize: true}), y
			}, "views[7] (linear): Normalize: the kernel of sample 19 with itself is "},
			{"asymmetric kernel", func(views []View, y []float64) ([]View, []float64) {
				return append(views, View{X: rect.Slice(0, 20, 0, 7), Input: "other", Kernel: kernel.Precomputed{}}), y
			}, "7 basis points where"},
			{"centred rectangle", func(_ []View, y []float64) ([]View, []float64) {
				return []View{{X: rect, Kernel: kernel.Precomputed{}, Center: true}}, y
			}, "Center and Normalize need the 20 samples as basis points, and X has 7 columns"},
			{"standardised kernel", func(_ []View, y []float64) ([]View, []float64) {
				return []View{{X: rect, Kernel: kernel.Precomputed{}, Standardize: true}}, y
			}, "Standardize is for features"},
			{"negative distance", func(_ []View, y []float64) ([]View, []float64) {
				return []View{{X: rect, Kernel: kernel.FromDistance{}}}, y
			}, "a negative distance"},
			{"asymmetric", func(_ []View, y []float64) ([]View, []float64) {
				k := matrix(20, 20, func(i, j int) float64 { return math.Exp(-math.Abs(float64(i - j))) })
				k.Set(3, 5, 0.2)
				return []View{{Name: "sw", X: k, Kernel: kernel.Precomputed{}}}, y
			}, `views[0] ("sw", precomputed): X is not symmetric: X[3][5] is 0.2 and X[5][3] is 0.135`},
			{"indefinite", func(_ []View, y []float64) ([]View, []float64) {
				k := matrix(20, 20, func(i, j int) float64 { return math.Abs(float64(i - j)) })
				return []View{{X: k, Kernel: kernel.Precomputed{}}}, y
			}, "views[0] (precomputed): X is not positive semidefinite"},
		} {
			if e.process && c.name == "same kernel twice" {
				continue // the scales of the two add up
			}
			if e.open && c.name == "no kernel" {
				continue // it stands for the default ones
			}
			views, y, _, _ := twoInputs(1, 20)
			views, y = c.spoil(views, y)
			m, err := e.fit(context.Background(), fitting{Ascent: Ascent{MaxSweeps: 25}}, views, y)
			require.Error(t, err, c.name)
			assert.Nil(t, m, c.name)
			assert.Contains(t, err.Error(), c.want, c.name)
			assert.Regexp(t, "^mkl: ", err.Error(), c.name)
		}
	})
}

func TestEstimatorsAcceptOnRequest(t *testing.T) {
	eachEstimator(t, func(t *testing.T, e estimator) {
		views, y, _, _ := twoInputs(1, 20)
		views = append(views, View{X: views[0].X, Input: views[0].Input, Kernel: kernel.RBF{Width: 0.5}})
		mustFit(t, e, fitting{Ascent: Ascent{MaxSweeps: 25}, allowDuplicates: true}, views, y)

		k := matrix(20, 20, func(i, j int) float64 { return math.Sin(float64(i + 2*j)) })
		indefinite := []View{{X: k, Kernel: kernel.Precomputed{AllowIndefinite: true}}}
		if e.process {
			_, err := e.fit(context.Background(), fitting{}, indefinite, y)
			require.ErrorContains(t, err, "views[0] (precomputed)")
			return
		}
		// The kernel says nothing about the targets; a fit without weights is right too.
		_, err := e.fit(context.Background(), fitting{Ascent: Ascent{MaxSweeps: 25}}, indefinite, y)
		var collapsed *CollapsedError
		require.True(t, err == nil || errors.As(err, &collapsed), err)
	})
}

func TestEstimatorsObeyTheContext(t *testing.T) {
	eachEstimator(t, func(t *testing.T, e estimator) {
		views, y, _, _ := twoInputs(1, 20)
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(cause)
		m, err := e.fit(ctx, fitting{Ascent: Ascent{MaxSweeps: 25}}, views, y)
		assert.Nil(t, m)
		assert.ErrorIs(t, err, cause)

		ctx, cancel = context.WithCancelCause(context.Background())
		sweeps := 0
		m, err = e.fit(ctx, fitting{Fitting: Fitting{Progress: func(p Progress) {
			if sweeps = p.Sweep; sweeps == 5 {
				cancel(cause)
			}
		}}, Ascent: Ascent{MaxSweeps: 1000}}, views, y)
		assert.ErrorIs(t, err, cause)
		assert.Equal(t, 5, sweeps)
		if m != nil { // what had been reached; draws, the functions of some classes and some members make no model
			assert.Equal(t, 5, m.Trace().Sweeps)
			assert.False(t, m.Trace().Converged)
		} else {
			assert.Regexp(t, "process, three classes|Gibbs|pool", e.name)
		}
	})
}

// A nil context is an error and not a panic, which in a goroutine of the library the
// caller could not recover from.
func TestEstimatorsRefuseANilContext(t *testing.T) {
	eachEstimator(t, func(t *testing.T, e estimator) {
		views, y, _, _ := twoInputs(1, 20)
		var none context.Context
		for _, workers := range []int{1, 2} {
			m, err := e.fit(none, fitting{Fitting: Fitting{Workers: workers}, Ascent: Ascent{MaxSweeps: 25}}, views, y)
			assert.Nil(t, m)
			assert.ErrorContains(t, err, "ctx is nil")
		}
		m := mustFit(t, e, fitting{Ascent: Ascent{MaxSweeps: 25}}, views, y)
		x := newPoints(m, 5)
		var err error
		switch m := m.(type) {
		case TargetModel:
			_, err = m.PredictTargets(none, PredictOptions{Workers: 2}, x...)
		case ClassModel[string]:
			_, err = m.PredictClasses(none, PredictOptions{Workers: 2}, x...)
		case ClassModel[int]:
			_, err = m.PredictClasses(none, PredictOptions{Workers: 2}, x...)
		case *MultiLabelModel:
			_, err = m.PredictLabels(none, PredictOptions{Workers: 2}, x...)
		default:
			t.Skipf("no predictions of %v", m)
		}
		assert.ErrorContains(t, err, "ctx is nil")
	})
}

// A matrix that claims more elements than it has is an error, also where the number
// claimed overflows.
func TestEstimatorsRefuseBadLayouts(t *testing.T) {
	eachEstimator(t, func(t *testing.T, e estimator) {
		views, y, _, _ := twoInputs(1, 20)
		m := mustFit(t, e, fitting{Ascent: Ascent{MaxSweeps: 25}}, views, y)
		for _, stride := range []int{math.MaxInt, math.MaxInt / 19, math.MaxInt/19 + 1, math.MaxInt / 2, -1, 1} {
			bad := slices.Clone(views)
			for i := range bad {
				bad[i].X.Stride = stride
			}
			_, err := e.fit(t.Context(), fitting{Ascent: Ascent{MaxSweeps: 25}}, bad, y)
			assert.ErrorContains(t, err, "views[0].X: a 20×2 matrix of stride")
			x := newPoints(m, 20)
			x[0].Stride = stride
			_, err = e.predict(m, 1, x...)
			assert.ErrorContains(t, err, "x[0]: a 20×2 matrix of stride")
		}
	})
}

// At the ends of the range of floating-point numbers there are finite predictions or an
// error, whether the samples of the fit, its targets or the new samples are there, and
// what was saved can be loaded.
func TestEstimatorsAtTheEndsOfTheRange(t *testing.T) {
	eachEstimator(t, func(t *testing.T, e estimator) {
		whole := func(m Model, what string, scale float64, x []Features) {
			for _, w := range m.KernelWeights() {
				assert.False(t, math.IsNaN(w.Mean) || math.IsNaN(w.SD), "%s by %g: %+v", what, scale, w)
			}
			out, err := e.predict(m, 1, x...)
			if err == nil {
				assert.Equal(t, -1, vec.FirstNonFinite(out), "%s by %g: %v", what, scale, out)
			}
			var file bytes.Buffer
			if m.Save(&file) == nil {
				_, err := Load(&file)
				assert.NoError(t, err, "%s by %g", what, scale)
			}
		}
		views, y, _, _ := twoInputs(1, 20)
		for i := range views {
			if i%2 == 0 {
				views[i].Kernel = kernel.Linear{}
			}
		}
		m, err := e.fit(t.Context(), fitting{Ascent: Ascent{MaxSweeps: e.sweeps(10)}}, views, y)
		if c, ok := errors.AsType[*CollapsedError](err); ok {
			m, err = c.Model, nil
		}
		require.NoError(t, err)
		for _, scale := range []float64{3e16, 1e80, 1e155, 1e160, 1e300, 1e-160, 5e-324} {
			x := newPoints(m, 5)
			for _, v := range x {
				la.Scal(scale, v.Data)
			}
			whole(m, "new samples", scale, x)

			scaled := slices.Clone(views)
			for i := range scaled {
				scaled[i].X = scaled[i].X.Clone()
				la.Scal(scale, scaled[i].X.Data)
			}
			if m, _ := e.fit(t.Context(), fitting{Ascent: Ascent{MaxSweeps: e.sweeps(10)}, allowDuplicates: true}, scaled, y); m != nil {
				whole(m, "samples", scale, newPoints(m, 5))
			}
			targets := slices.Clone(y)
			la.Scal(scale, targets)
			if m, _ := e.fit(t.Context(), fitting{Ascent: Ascent{MaxSweeps: e.sweeps(10)}}, views, targets); m != nil {
				whole(m, "targets", scale, newPoints(m, 5))
			}
		}
	})
}

func TestTargetsOfExtremeSpread(t *testing.T) {
	for _, y := range [][]float64{{1e160, 0, 2}, {1e-160, 0, 0}, {math.MaxFloat64, -math.MaxFloat64, 0}, {5e-324, 0, 0}} {
		_, err := checkTargets([][]float64{y}, false)
		assert.ErrorContains(t, err, "mkl: y: the standard deviation is ")
		assert.ErrorContains(t, err, "choose another unit")
	}
	for _, y := range [][]float64{{1e140, 0, 2}, {1e-140, 0, 0}, {1e300, 1e300 * (1 + 1e-15), 1}} {
		_, err := checkTargets([][]float64{y}, false)
		if y[1] != 0 {
			assert.Error(t, err)
			continue
		}
		assert.NoError(t, err)
	}
}

// The predictor of single samples refuses what the model refuses.
func TestPredictorsAtTheEndsOfTheRange(t *testing.T) {
	views, y, _, _ := twoInputs(1, 20)
	for i := range views {
		views[i].Kernel = kernel.Linear{}
	}
	views = views[:2]
	m, err := Regression{Ascent: Ascent{MaxSweeps: 25}, AllowDuplicates: true}.Fit(t.Context(), views, y)
	require.NoError(t, err)
	p, err := m.Predictor(PredictorOptions{})
	require.NoError(t, err)
	for _, scale := range []float64{1, 1e100, 1e155, 1e160, 1e300} {
		x := newPoints(m, 1)
		var rows [][]float64
		for _, v := range x {
			la.Scal(scale, v.Data)
			rows = append(rows, v.Row(0))
		}
		_, _, batch := m.Predict(x...)
		mean, variance, err := p.Predict(rows...)
		assert.Equal(t, batch == nil, err == nil, "%g: %v, %v", scale, batch, err)
		if err == nil {
			assert.Equal(t, -1, vec.FirstNonFinite([]float64{mean, variance}))
		}
	}
}

func TestSaveRefusesWhatLoadRefuses(t *testing.T) {
	m, _, _ := fitTwo(t, 12)
	broken := *m
	broken.targets = []target{{0, math.NaN()}}
	assert.EqualError(t, broken.Save(new(bytes.Buffer)), `mkl: save: tensor "target.sd": element 0 is NaN`)
}

func TestEstimatorsRefuseNegativeSettings(t *testing.T) {
	eachEstimator(t, func(t *testing.T, e estimator) {
		views, y, _, _ := twoInputs(1, 20)
		all := map[string]fitting{"MemoryLimit is -3": {Fitting: Fitting{MemoryLimit: -3}}}
		switch {
		case e.process:
			all["MaxSteps is -1"] = fitting{Ascent: Ascent{MaxSweeps: -1}}
		case !e.sampled:
			all["MaxSweeps is -1"], all["Restarts is -2"] = fitting{Ascent: Ascent{MaxSweeps: -1}}, fitting{Ascent: Ascent{Restarts: -2}}
		}
		for want, f := range all {
			m, err := e.fit(t.Context(), f, views, y)
			assert.Nil(t, m)
			assert.ErrorContains(t, err, want+": it must not be negative")
		}
	})
}

// A file must keep the notes as they are: texts that are not UTF-8 are refused before anything is fitted.
func TestEstimatorsRefuseNotesThatAreNotText(t *testing.T) {
	eachEstimator(t, func(t *testing.T, e estimator) {
		views, y, _, _ := twoInputs(1, 20)
		for _, notes := range []map[string]string{{"a": "\xff"}, {"\xff": "a"}} {
			m, err := e.fit(t.Context(), fitting{Fitting: Fitting{Notes: notes}, Ascent: Ascent{MaxSweeps: e.sweeps(2)}}, views, y)
			assert.Nil(t, m)
			assert.ErrorContains(t, err, `mkl: Notes: "\xff" is not UTF-8`)
		}
	})
}

func TestEstimatorsRefuseTolerancesThatAreNotFinite(t *testing.T) {
	eachEstimator(t, func(t *testing.T, e estimator) {
		if e.sampled {
			t.Skip("it has no Tolerance")
		}
		views, y, _, _ := twoInputs(1, 20)
		name := "Tolerance"
		if e.process {
			name = "MinRise"
		}
		for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			m, err := e.fit(t.Context(), fitting{Ascent: Ascent{Tolerance: v, MaxSweeps: e.sweeps(2)}}, views, y)
			assert.Nil(t, m)
			assert.ErrorContains(t, err, fmt.Sprintf("mkl: %s is %g: it must be finite", name, v))
		}
	})
}

func TestFactorsOfATable(t *testing.T) {
	y := DenseTable{{1, 2, 0, 1}, {2, 1, 3, 4}, {0, 1, 1, 2}, {5, 1, 2, 2}, {1, 0, 3, 1}}
	_, err := FactorAnalysis{Factors: 100_000}.Fit(t.Context(), y)
	assert.EqualError(t, err, "mkl: Factors is 100000: a table of 20 entries determines at most 20")
}

func TestEstimatorsObeyTheMemoryLimit(t *testing.T) {
	eachEstimator(t, func(t *testing.T, e estimator) {
		views, y, _, _ := twoInputs(1, 20)
		_, err := e.fit(context.Background(), fitting{Fitting: Fitting{MemoryLimit: 1000}, Ascent: Ascent{MaxSweeps: 25}}, views, y)
		var refused *MemoryError
		require.ErrorAs(t, err, &refused)
		assert.Greater(t, refused.Need, int64(7*20*20*8))
		_, err = e.fit(context.Background(), fitting{Fitting: Fitting{MemoryLimit: refused.Need}, Ascent: Ascent{MaxSweeps: 25}}, views, y)
		assert.NoError(t, err)
	})
}

func TestEstimatorsRepeatTheirBits(t *testing.T) {
	eachEstimator(t, func(t *testing.T, e estimator) {
		views, y, xa, xb := twoInputs(1, 50)
		views = append(views[4:], sightedViews(xa, xb)...)
		first := mustFit(t, e, fitting{Fitting: Fitting{Seed: 4, Workers: 1}, Ascent: Ascent{MaxSweeps: e.sweeps(12)}}, views, y)
		x := newPoints(first, 30)
		want, err := e.predict(first, 1, x...)
		require.NoError(t, err)
		others := []fitting{{Fitting: Fitting{Seed: 4, Workers: 3}, Ascent: Ascent{MaxSweeps: e.sweeps(12)}}, {Fitting: Fitting{Seed: 4}, Ascent: Ascent{MaxSweeps: e.sweeps(12)}}}
		if testing.Short() {
			others = others[:1]
		}
		for _, s := range others {
			again := mustFit(t, e, s, views, y)
			got, err := e.predict(again, s.Workers, x...)
			require.NoError(t, err)
			assert.Equal(t, want, got)
			assert.Equal(t, first.KernelWeights(), again.KernelWeights())
			assert.Equal(t, first.Trace(), again.Trace())
		}
		if e.process || testing.Short() {
			return
		}
		other := mustFit(t, e, fitting{Fitting: Fitting{Seed: 5}, Ascent: Ascent{MaxSweeps: e.sweeps(12)}}, views, y)
		got, err := e.predict(other, 1, x...)
		require.NoError(t, err)
		assert.NotEqual(t, want, got)
	})
}

// A model must not change when its training data do afterwards.
func TestModelsKeepTheirData(t *testing.T) {
	eachEstimator(t, func(t *testing.T, e estimator) {
		views, y, _, _ := twoInputs(1, 20)
		widths, columns := []float64{1, 2}, []int{1, 0}
		views[1].Kernel = kernel.RBF{Widths: widths}
		views[5] = View{X: views[5].X, Input: views[5].Input, Kernel: kernel.Laplacian{Widths: widths}, Columns: columns, Ranks: true}
		notes := map[string]string{"columns": "a b"}
		m := mustFit(t, e, fitting{Fitting: Fitting{Notes: notes}, Ascent: Ascent{MaxSweeps: 25}}, views, y)
		x := newPoints(m, 5)
		want, err := e.predict(m, 1, x...)
		require.NoError(t, err)
		for _, v := range views {
			v.X.Fill(7)
		}
		clear(y)
		widths[0], columns[0], notes["columns"] = 9, 2, "c"
		if b := m.Trace().Bounds; len(b) > 0 { // draws have none
			b[0] = 1
		}
		m.KernelWeights()[0].Mean = 1
		m.Inputs()[0].Views[0] = 1
		m.Notes()["more"] = ""
		got, err := e.predict(m, 1, x...)
		require.NoError(t, err)
		assert.Equal(t, want, got)
		assert.Equal(t, map[string]string{"columns": "a b"}, m.Notes())
		assert.Equal(t, 0, m.Inputs()[0].Views[0])
		assert.NotContains(t, m.Trace().Bounds, 1.0)
	})
}

func TestModelsPredictConcurrently(t *testing.T) {
	eachEstimator(t, func(t *testing.T, e estimator) {
		views, y, _, _ := twoInputs(1, 20)
		m := mustFit(t, e, fitting{Ascent: Ascent{MaxSweeps: 25}}, views, y)
		x := newPoints(m, 5)
		want, err := e.predict(m, 1, x...)
		require.NoError(t, err)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				got, err := e.predict(m, 2, x...)
				assert.NoError(t, err)
				assert.Equal(t, want, got)
				assert.NotEmpty(t, m.Summary())
				assert.NoError(t, m.Save(new(bytes.Buffer)))
			})
		}
		wg.Wait()
	})
}

func TestModelsComeBackFromFiles(t *testing.T) {
	eachEstimator(t, func(t *testing.T, e estimator) {
		views, y, xa, xb := twoInputs(1, 40)
		views = append(views[4:], sightedViews(xa, xb)...)
		m := mustFit(t, e, fitting{Fitting: Fitting{Notes: map[string]string{"who": `"us" <&> ü`}}, Ascent: Ascent{MaxSweeps: e.sweeps(20)}}, views, y)
		var file bytes.Buffer
		require.NoError(t, m.Save(&file))
		back, err := Load(bytes.NewReader(file.Bytes()))
		require.NoError(t, err)

		x := newPoints(m, 17)
		want, err := e.predict(m, 1, x...)
		require.NoError(t, err)
		got, err := e.predict(back, 1, x...)
		require.NoError(t, err)
		assert.Equal(t, want, got)
		assert.Equal(t, m.Summary(), back.Summary())
		assert.Equal(t, m.Trace(), back.Trace())
		assert.Equal(t, m.KernelWeights(), back.KernelWeights())
		assert.Equal(t, m.Inputs(), back.Inputs())
		assert.Equal(t, m.Notes(), back.Notes())
		assert.InDelta(t, m.Bound(), back.Bound(), 0) // NaN of samples

		var again bytes.Buffer
		require.NoError(t, back.Save(&again))
		assert.True(t, bytes.Equal(file.Bytes(), again.Bytes()))
	})
}

func TestPredictionsRefuseBadInputs(t *testing.T) {
	eachEstimator(t, func(t *testing.T, e estimator) {
		views, y, _, _ := twoInputs(1, 20)
		m := mustFit(t, e, fitting{Ascent: Ascent{MaxSweeps: 25}}, views, y)
		x := newPoints(m, 5)
		bad := x[1].Clone()
		bad.Set(4, 2, math.NaN())
		for _, c := range []struct {
			x    []Features
			want string
		}{
			{nil, "mkl: 0 input matrices where the model needs 2, one for each Input of its views"},
			{x[:1], "mkl: 1 input matrices where the model needs 2, one for each Input of its views"},
			{[]Features{x[1], x[0]}, "mkl: x[0]: 5×3 where 2 columns are needed (features)"},
			{[]Features{x[0], x[1].Slice(0, 4, 0, 3)}, "mkl: x[1]: 4 samples where x[0] has 5"},
			{[]Features{x[0], bad}, "mkl: x[1][4][2] is NaN"},
		} {
			_, err := e.predict(m, 1, c.x...)
			assert.EqualError(t, err, c.want)
		}
		none, err := e.predict(m, 1, x[0].Slice(0, 0, 0, 2), x[1].Slice(0, 0, 0, 3))
		assert.NoError(t, err)
		assert.Empty(t, none)
	})
}

// countdown is a context that ends when it has been asked a number of times.
type countdown struct {
	context.Context
	left *atomic.Int64
}

func (c countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// Wherever in a sweep a context ends, the model has the state of the sweeps before.
func TestEstimatorsEndWithinASweep(t *testing.T) {
	eachEstimator(t, func(t *testing.T, e estimator) {
		if e.process {
			testkit.NotShort(t)
		}
		views, y, _, _ := twoInputs(1, 30)
		asked := func(sweeps int, n int64) (m Model, left int64, err error) {
			c := countdown{context.Background(), new(atomic.Int64)}
			c.left.Store(n)
			m, err = e.fit(c, fitting{Fitting: Fitting{Workers: 1}, Ascent: Ascent{MaxSweeps: sweeps, Tolerance: -1}}, views, y)
			return m, c.left.Load(), err
		}
		const plenty = 1 << 40
		sweeps := e.sweeps(12)
		before, leftBefore, err := asked(sweeps, plenty)
		require.NoError(t, err)
		_, leftAfter, err := asked(sweeps+1, plenty)
		require.NoError(t, err)
		x := newPoints(before, 4)
		want, err := e.predict(before, 1, x...)
		require.NoError(t, err)
		first, last := plenty-leftBefore, plenty-leftAfter
		if !e.process && last > first { // steps of processes are an evaluation each, and samplers have draws
			assert.Greater(t, last-first, int64(2), "a sweep asks within")
		}
		for n := first; n < last-2; n += max(1, (last-first)/int64(testkit.Fewer(7, 3))) { // after a sweep nobody need look
			m, _, err := asked(sweeps+1, n)
			require.ErrorIs(t, err, context.Canceled)
			if m == nil || len(m.Trace().Bounds) != sweeps || e.staged {
				continue // of several fits one after another
			}
			assert.Equal(t, before.Trace().Bounds, m.Trace().Bounds)
			got, err := e.predict(m, 1, x...)
			require.NoError(t, err)
			// Restoring computes some sums anew.
			assert.InDeltaSlice(t, want, got, 1e-9*math.Sqrt(la.SumSq(want)), "ended when asked %d times", n)
		}
	})
}

// A context may end between any two questions: functions that are fitted one after another give
// all of them, or an error.
func TestEndBetweenFunctions(t *testing.T) {
	views, y, _, _ := twoInputs(1, 9)
	labels := parts(y, 3)
	fit := func(n int64) (m *MultiGPClassifierModel[int], left int64, err error) {
		c := countdown{context.Background(), new(atomic.Int64)}
		c.left.Store(n)
		m, err = MultiGPClassifier[int]{Fitting: Fitting{Workers: 1}, Climb: Climb{MaxSteps: 2}}.Fit(c, views, labels)
		return m, c.left.Load(), err
	}
	const plenty = 1 << 40
	_, left, err := fit(plenty)
	require.NoError(t, err)
	for n := range plenty - left {
		m, _, err := fit(n)
		if m == nil {
			assert.ErrorIs(t, err, context.Canceled, "ended when asked %d times", n)
		}
	}
}

// What no machine can do is refused before anything is tried.
func TestAbsurdSettingsAreRefused(t *testing.T) {
	views, y, _, _ := twoInputs(1, 20)
	labels := parts(y, 2)
	many := ProbitSampler[int]{Rule: WeightedSum{}, GibbsDraws: GibbsDraws{Chains: 1 << 12, Draws: 1 << 28}}
	for name, fit := range map[string]func() error{
		"draws": func() error { _, err := many.Fit(t.Context(), views, labels); return err },
		"factors": func() error {
			table := SparseTable{Rows: 1 << 28, Cols: 1 << 28, Entries: make([]TableEntry, 1<<17)}
			for i := range table.Entries {
				table.Entries[i] = TableEntry{TableCell: TableCell{Row: i, Col: i}, Value: float64(i % 3)}
			}
			_, err := FactorAnalysis{Factors: 1 << 17}.Fit(t.Context(), table)
			return err
		},
	} {
		err := fit()
		var refused *MemoryError
		require.ErrorAs(t, err, &refused, name)
		assert.Equal(t, min(debug.SetMemoryLimit(-1), machineMemory()), refused.Limit)
	}
	_, err := MultiTask{Latents: math.MaxInt32}.Fit(t.Context(), views, y)
	assert.EqualError(t, err, "mkl: Latents is 2147483647: 20 samples of 1 targets determine at most 20")
}

// A fit without a limit uses the limit of the program.
func TestMemoryLimitOfTheProgram(t *testing.T) {
	before := debug.SetMemoryLimit(1000)
	defer debug.SetMemoryLimit(before)
	views, y, _, _ := twoInputs(1, 20)
	_, err := Regression{}.Fit(t.Context(), views, y)
	var refused *MemoryError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, int64(1000), refused.Limit)
}
