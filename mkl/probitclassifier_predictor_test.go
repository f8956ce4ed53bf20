package mkl

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// requireSameClasses compares a predictor with the predictions of many samples.
func requireSameClasses[T comparable](t *testing.T, m *ProbitClassifierModel[T], p *ClassPredictor[T], x ...Features) {
	t.Helper()
	want, err := m.PredictClasses(context.Background(), PredictOptions{}, x...)
	require.NoError(t, err)
	rows := make([][][]float64, x[0].Rows)
	for i := range rows {
		rows[i] = point(x, i)
	}
	buffers := make(chan []float64, 64)
	for range cap(buffers) {
		buffers <- make([]float64, len(m.Classes()))
	}
	requireImmutable(t, func() error {
		probability := <-buffers
		defer func() { buffers <- probability }()
		for i, row := range rows {
			class, err := p.Predict(probability, row...)
			if err != nil {
				return err
			}
			if class != want.Label[i] {
				return fmt.Errorf("sample %d: class %v where %v is wanted", i, class, want.Label[i])
			}
			for c, v := range probability {
				if !(math.Abs(v-want.Probability[i][c]) <= 1e-10) {
					return fmt.Errorf("sample %d: %g where %g is wanted", i, v, want.Probability[i][c])
				}
			}
		}
		return nil
	})
}

func TestProbitPredictor(t *testing.T) {
	x, views, y := gpProblem(50, 3)
	labels := parts(y, 3)
	q := columns(views(normal(rand.New(rand.NewPCG(6, 6)), 12, x.Cols)))
	thirty, draws := Ascent{MaxSweeps: 30}, GibbsDraws{Chains: 2, Draws: 12, Thin: 1, BurnIn: 12}
	for _, c := range []probitEstimator[int]{
		ProbitClassifier[int]{Ascent: thirty, Rule: WeightedSum{}},
		ProbitClassifier[int]{Ascent: thirty, Rule: WeightedProduct{}, Alpha: Gamma{Shape: 1e-3, Scale: 1e3}},
		ProbitClassifier[int]{Ascent: thirty, Ridge: 0.1},
		ProbitClassifier[int]{Ascent: thirty, Rule: SwitchedSum{}, Update: WeightUpdateStructured},
		ProbitSampler[int]{GibbsDraws: draws},
		ProbitSampler[int]{Rule: WeightedSum{}, GibbsDraws: draws},
		ProbitSampler[int]{Rule: WeightedProduct{}, GibbsDraws: GibbsDraws{Chains: 1, Draws: 12, Thin: 1, BurnIn: 12}},
	} {
		m, err := c.Fit(context.Background(), views(x), labels)
		require.NoError(t, err, "%+v", c)
		p, err := m.Predictor(PredictorOptions{Exact: true})
		require.NoError(t, err)
		requireSameClasses(t, m, p, q...)
		class, err := p.Predict(nil, point(q, 0)...)
		require.NoError(t, err)
		assert.Contains(t, m.Classes(), class)
	}
}

func TestProbitPredictorOfFewDraws(t *testing.T) {
	x, views, y := gpProblem(40, 3)
	m, err := ProbitSampler[int]{GibbsDraws: GibbsDraws{Chains: 2, Draws: 12, Thin: 1, BurnIn: 12}}.Fit(context.Background(), views(x), parts(y, 2))
	require.NoError(t, err)
	few, err := m.Predictor(PredictorOptions{Draws: 8})
	require.NoError(t, err)
	thin := *m
	thin.draws = m.draws.Thin(3)
	requireSameClasses(t, &thin, few, columns(views(x))...)
}

func TestProbitPredictorErrors(t *testing.T) {
	x, views, y := gpProblem(30, 3)
	m, err := ProbitClassifier[int]{Ascent: Ascent{MaxSweeps: 5}}.Fit(context.Background(), views(x), parts(y, 2))
	require.NoError(t, err)
	_, err = m.Predictor(PredictorOptions{Draws: -1})
	assert.EqualError(t, err, "mkl: Predictor: Draws is -1: it must not be negative")
	p, err := m.Predictor(PredictorOptions{})
	require.NoError(t, err)
	row := point(columns(views(x)), 0)
	_, err = p.Predict(make([]float64, 3), row...)
	assert.EqualError(t, err, "mkl: probability has length 3 and there are 2 classes")
	_, err = p.Predict(nil, row[1:]...)
	assert.Error(t, err)
	row[0] = []float64{math.NaN()}
	_, err = p.Predict(nil, row...)
	assert.ErrorContains(t, err, "NaN")

	// A product of kernels has no power of a negative value.
	product, err := ProbitClassifier[int]{Ascent: Ascent{MaxSweeps: 3}, Rule: FixedProduct{Powers: []float64{1}}}.Fit(
		context.Background(), []View{{X: matrix(30, 1, func(i, _ int) float64 { return 1 + float64(i) }), Kernel: kernel.Linear{}}}, parts(y, 2))
	require.NoError(t, err)
	p, err = product.Predictor(PredictorOptions{})
	require.NoError(t, err)
	_, err = p.Predict(nil, []float64{-1})
	assert.ErrorContains(t, err, "products need values that are not negative")
}

// BenchmarkProbitPredictor times single predictions of three classes.
func BenchmarkProbitPredictor(b *testing.B) {
	for _, n := range []int{133, 1000} {
		x := normal(rand.New(rand.NewPCG(1, 2)), n, 3)
		labels := make([]int, n)
		for i := range labels {
			if x.At(i, 0)*x.At(i, 1) > 0 {
				labels[i] = 1
			} else if x.At(i, 2) > 0 {
				labels[i] = 2
			}
		}
		views := []View{{X: x, Kernel: kernel.RBF{Width: 1}}, {X: x, Kernel: kernel.RBF{Width: 3}}}
		for name, c := range map[string]probitEstimator[int]{
			"variational": ProbitClassifier[int]{Ascent: Ascent{MaxSweeps: 10}},
			"Gibbs":       ProbitSampler[int]{GibbsDraws: GibbsDraws{Chains: 1, Draws: 100, Thin: 1, BurnIn: 20}},
		} {
			m, err := c.Fit(context.Background(), views, labels)
			require.NoError(b, err)
			p, err := m.Predictor(PredictorOptions{})
			require.NoError(b, err)
			b.Run(fmt.Sprintf("N=%d/%s", n, name), func(b *testing.B) {
				l := newLatencies(b)
				for i := 0; b.Loop(); i++ {
					start := time.Now()
					if _, err := p.Predict(nil, x.Row(i%n)); err != nil {
						b.Fatal(err)
					}
					l.add(start)
				}
				l.report()
			})
		}
	}
}

// A linear kernel of numbers near 10⁸ loses all its digits when it is centred: a predictor does not call its bound proved. Of the same
// numbers without the offset it does.
func TestProbitPredictorIsNotCertainOfRounding(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 9))
	x, labels := normal(rng, 30, 1), make([]string, 30)
	for i := range labels {
		labels[i] = "low"
		if x.At(i, 0)+0.3*rng.NormFloat64() > 0 {
			labels[i] = "high"
		}
	}
	far := x.Clone()
	for i := range far.Data {
		far.Data[i] += 1e8
	}
	for _, c := range []struct {
		x    Features
		kind BoundKind
	}{{x, BoundProved}, {far, BoundAssumed}} {
		views := []View{{X: c.x, Kernel: kernel.Linear{}, Center: true}}
		m, err := ProbitClassifier[string]{}.Fit(t.Context(), views, labels)
		require.NoError(t, err)
		draws := GibbsDraws{Chains: 2, Draws: 3, Thin: 1, BurnIn: 1}
		sampled, err := ProbitSampler[string]{GibbsDraws: draws}.Fit(t.Context(), views, labels)
		require.NotNil(t, sampled, err)
		for _, m := range []*ProbitClassifierModel[string]{m, sampled} {
			p, err := m.Predictor(PredictorOptions{})
			require.NoError(t, err)
			assert.Equal(t, c.kind, p.Info()[0].Kind)
			assert.Equal(t, c.kind == BoundProved && m.Draws() == nil, p.Info()[0].Pivots != nil)
		}
	}
}
