package tune

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// problem is y = sin 3x₁ + cos x₂ + noise of the first view; the columns of the
// others are only noise.
func problem(n int, kernel func(view int) kernel.Kernel) (views []mkl.View, y []float64) {
	rng := rand.New(rand.NewPCG(2, 7))
	for v := range 3 {
		x := la.NewMatrix[float64](n, 2)
		for i := range x.Data {
			x.Data[i] = 4 * rng.Float64()
		}
		views = append(views, mkl.View{X: x, Input: fmt.Sprint("x", v), Kernel: kernel(v), Standardize: v == 1})
	}
	for i := range n {
		y = append(y, math.Sin(3*views[0].X.At(i, 0))+math.Cos(views[0].X.At(i, 1))+0.1*rng.NormFloat64())
	}
	return views, y
}

// regress fits an [mkl.Regression] to y.
func regress(y []float64) func(context.Context, Setting) (*mkl.RegressionModel, error) {
	return func(ctx context.Context, s Setting) (*mkl.RegressionModel, error) {
		r := mkl.Regression{}
		s.Apply(&r.Ascent, &r.Slopes)
		return r.Fit(ctx, s.Views, y)
	}
}

// multitask fits an [mkl.MultiTask] to y, whose own way to learn widths is another.
func multitask(fixed bool, y []float64) func(context.Context, Setting) (*mkl.MultiTaskModel, error) {
	return func(ctx context.Context, s Setting) (*mkl.MultiTaskModel, error) {
		e := mkl.MultiTask{FixedKernels: fixed}
		s.Apply(&e.Ascent, &e.Slopes)
		return e.Fit(ctx, s.Views, y)
	}
}

func TestFitLearnsTheWidth(t *testing.T) {
	testkit.NotShort(t)
	views, y := problem(40, func(int) kernel.Kernel { return kernel.RBF{Width: 1.5} })
	views = []mkl.View{views[0], {X: views[2].X, Input: "x2", Kernel: kernel.Linear{}}}
	r, err := Fit(context.Background(), Search{Rise: 1e-4}, views, multitask(true, y))
	require.NoError(t, err)
	assert.Greater(t, r.Model.Bound(), r.First+3)
	assert.Greater(t, r.Fits, 3)
	assert.NotEmpty(t, r.Why)
	assert.Equal(t, kernel.Linear{}, r.Views[1].Kernel)
	assert.Equal(t, kernel.RBF{Width: 1.5}, views[0].Kernel) // as it was

	own, err := Fit(context.Background(), Search{}, views, multitask(false, y))
	require.NoError(t, err)
	assert.Equal(t, "no width to learn", own.Why)
	assert.InDelta(t, own.Model.Bound(), r.Model.Bound(), 0.01)
}

// One width for each feature separates the features that matter from the others, in
// models of every kind.
func TestFitLearnsWhichFeaturesMatter(t *testing.T) {
	testkit.NotShort(t)
	const N = 40
	rng := rand.New(rand.NewPCG(5, 7))
	x, y, class := la.NewMatrix[float64](N, 3), make([]float64, N), make([]int, N)
	for i := range y {
		for j := range 3 {
			x.Set(i, j, rng.NormFloat64())
		}
		y[i] = math.Sin(2*x.At(i, 0)) + 0.1*rng.NormFloat64()
		if y[i] > 0 {
			class[i] = 1
		}
	}
	requireRelevance := func(t *testing.T, first, bound float64, views []mkl.View) {
		t.Helper()
		assert.Greater(t, bound, first+1)
		var w []float64
		switch k := views[0].Kernel.(type) {
		case kernel.RBF:
			w = k.Widths
		case kernel.Laplacian:
			w = k.Widths
		}
		require.Len(t, w, 3)
		assert.Greater(t, min(w[1], w[2]), 2*w[0], "%v", w)
	}
	ctx, search := context.Background(), Search{MaxSteps: 10}
	views := []mkl.View{{X: x, Kernel: kernel.RBF{ARD: true, Width: 1}, Standardize: true}}
	t.Run("Regression", func(t *testing.T) {
		r, err := Fit(ctx, search, views, regress(y))
		require.NoError(t, err)
		requireRelevance(t, r.First, r.Model.Bound(), r.Views)
	})
	t.Run("SharedRegression", func(t *testing.T) {
		r, err := Fit(ctx, search, views, func(ctx context.Context, s Setting) (*mkl.SharedRegressionModel, error) {
			e := mkl.SharedRegression{}
			s.Apply(&e.Ascent, &e.Slopes)
			return e.Fit(ctx, s.Views, y)
		})
		require.NoError(t, err)
		requireRelevance(t, r.First, r.Model.Bound(), r.Views)
	})
	t.Run("ProbitClassifier", func(t *testing.T) {
		r, err := Fit(ctx, search, []mkl.View{{X: x, Kernel: kernel.Laplacian{ARD: true}}}, func(ctx context.Context, s Setting) (*mkl.ProbitClassifierModel[int], error) {
			e := mkl.ProbitClassifier[int]{}
			s.Apply(&e.Ascent, &e.Slopes)
			return e.Fit(ctx, s.Views, class)
		})
		require.NoError(t, err)
		requireRelevance(t, r.First, r.Model.Bound(), r.Views)
	})
	t.Run("MultiTask", func(t *testing.T) {
		r, err := Fit(ctx, search, []mkl.View{{X: x, Kernel: kernel.RBF{Widths: []float64{1, 1, 1}}}}, multitask(false, y))
		require.NoError(t, err)
		requireRelevance(t, r.First, r.Model.Bound(), r.Views)
	})
	t.Run("Classifier", func(t *testing.T) {
		search := search
		search.SigmaG = 0.1
		r, err := Fit(ctx, search, views, func(ctx context.Context, s Setting) (*mkl.ClassifierModel[int], error) {
			e := mkl.Classifier[int]{SigmaG: s.SigmaG}
			s.Apply(&e.Ascent, &e.Slopes)
			return e.Fit(ctx, s.Views, class)
		})
		require.NoError(t, err)
		requireRelevance(t, r.First, r.Model.Bound(), r.Views)
		assert.NotEqual(t, 0.1, r.SigmaG)
		assert.Greater(t, r.SigmaG, 0.0)
	})
}

func TestFitWithoutWidths(t *testing.T) {
	views, y := problem(20, func(int) kernel.Kernel { return kernel.Linear{} })
	r, err := Fit(context.Background(), Search{}, views, regress(y))
	require.NoError(t, err)
	assert.Equal(t, 1, r.Fits)
	assert.Equal(t, r.First, r.Model.Bound())

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Fit(ctx, Search{}, views, regress(y))
	assert.ErrorIs(t, err, context.Canceled)
	_, err = Fit(context.Background(), Search{}, views, func(ctx context.Context, s Setting) (*mkl.RegressionModel, error) {
		return mkl.Regression{}.Fit(ctx, s.Views, y)
	})
	assert.ErrorContains(t, err, "Apply")
	views[0].Kernel = kernel.RBF{Width: -1}
	_, err = Fit(context.Background(), Search{}, views, regress(y))
	assert.Error(t, err)
}
