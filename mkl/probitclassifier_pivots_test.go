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

// Probabilities from the pivots of a composite kernel are as close to the model's as they say, at,
// among, around and far from the samples, of sums and of products, of two classes and of three.
func TestProbitPivotsWithinTheirBounds(t *testing.T) {
	testkit.NotShort(t)
	ctx := context.Background()
	x, three := classProblem(150)
	two := make([]int, len(three))
	for i, c := range three {
		two[i] = min(1, c)
	}
	smooth := []View{{X: x, Kernel: kernel.RBF{Width: 2}}, {X: x, Kernel: kernel.RBF{Width: 6}}}
	sums := append([]View{{X: x, Kernel: kernel.Linear{}, Normalize: true}, {X: x, Kernel: kernel.RBF{Width: 4}, Center: true}}, smooth...)
	f := fitting{Ascent: Ascent{MaxSweeps: 20}}
	q := around(rand.New(rand.NewPCG(5, 5)), x, 200)
	for _, c := range []struct {
		name   string
		views  []View
		labels []int
		probitEstimator[int]
	}{
		{"two classes", sums, two, ProbitClassifier[int]{Fitting: f.Fitting, Ascent: f.Ascent}},
		{"learned weights", sums, three, ProbitClassifier[int]{Fitting: f.Fitting, Ascent: f.Ascent, Rule: WeightedSum{}}},
		{"a product", smooth, three, ProbitClassifier[int]{Fitting: f.Fitting, Ascent: f.Ascent, Rule: FixedProduct{}}},
		{"sparse", smooth, three, ProbitClassifier[int]{Fitting: f.Fitting, Ascent: f.Ascent, Alpha: Gamma{Shape: 1e-3, Scale: 1e3}}},
		{"the mode", smooth[1:], two, ProbitMAP[int]{Fitting: f.Fitting, Ascent: f.Ascent}},
	} {
		m, err := c.Fit(ctx, c.views, c.labels)
		require.NoError(t, err, c.name)
		full, err := m.PredictClasses(ctx, PredictOptions{}, q)
		require.NoError(t, err)
		for _, opt := range []PredictorOptions{{}, {Tolerance: 0.1}, {Exact: true}} {
			p, err := m.Predictor(opt)
			require.NoError(t, err)
			name := fmt.Sprintf("%s, %+v", c.name, opt)
			require.Equal(t, opt.Exact, p.Info()[0].Pivots == nil, name)
			probability := make([]float64, len(m.Classes()))
			bounded, worst := 0, 0.0
			for i := range q.Rows {
				class, bound, err := p.PredictWithBound(probability, q.Row(i))
				require.NoError(t, err)
				if bound > 0 {
					bounded++
					require.LessOrEqual(t, bound, p.probit.tolerance, name)
				} else {
					require.Equal(t, full.Label[i], class, name)
				}
				for c, want := range full.Probability[i] {
					e := math.Abs(probability[c] - want)
					require.LessOrEqual(t, e, bound+1e-10, "%s: sample %d", name, i)
					worst = max(worst, e/(bound+1e-10))
				}
			}
			if !opt.Exact {
				assert.Greater(t, bounded, 60, name)
				t.Logf("%s: %d of 200 from %d pivots, largest error %.2g of its bound", name, bounded, len(p.Info()[0].Pivots[0]), worst)
			}
			if !raceEnabled {
				assert.Zero(t, testing.AllocsPerRun(50, func() { _, _ = p.Predict(probability, q.Row(1)) }), name)
			}
		}
	}
	m, err := ProbitClassifier[int]{Fitting: f.Fitting, Ascent: f.Ascent}.Fit(ctx, smooth, two)
	require.NoError(t, err)
	p, err := m.Predictor(PredictorOptions{})
	require.NoError(t, err)
	want := make([]float64, q.Rows)
	both := make([]float64, 2)
	for i := range want {
		_, err := p.Predict(both, q.Row(i))
		require.NoError(t, err)
		want[i] = both[1]
	}
	requireImmutable(t, func() error {
		both := make([]float64, 2)
		for i, w := range want {
			if _, err := p.Predict(both, q.Row(i)); err != nil || both[1] != w {
				return fmt.Errorf("sample %d: %g where %g is wanted: %w", i, both[1], w, err)
			}
		}
		return nil
	})
	_, err = m.Predictor(PredictorOptions{Tolerance: -1})
	assert.EqualError(t, err, "mkl: Predictor: Tolerance is -1: it must be positive, or 0 for the default")
}
