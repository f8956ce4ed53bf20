package mkl

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A model whose noise is next to nothing says what rounding may do to it.
func TestRounding(t *testing.T) {
	src := rand.New(rand.NewPCG(3, 1))
	const n = 100
	x, y, noisy := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = 6 * src.Float64()
		y[i] = math.Sin(x[i])
		noisy[i] = y[i] + 0.1*src.NormFloat64()
	}
	for _, c := range []struct {
		y    []float64
		warn bool
	}{{y, true}, {noisy, false}} {
		m, err := FactorisedGP{Family: FamilyFlat, MaxSweeps: 200}.Fit(context.Background(), []View{{X: Column(x), Kernel: kernel.RBF{Width: 1}}}, c.y)
		require.NoError(t, err)
		assert.Equal(t, c.warn, m.Rounding() > noticeable, "%g", m.Rounding())
		if c.warn {
			assert.Contains(t, m.Summary(), "ILL-CONDITIONED: rounding may move predictions by ")
		} else {
			assert.NotContains(t, m.Summary(), "ILL-CONDITIONED")
		}
	}
}

// Models on sample weights say what rounding may do to their variances: nothing where features are
// near 0, and all where a linear kernel is of features far from it.
func TestRoundingOfWeights(t *testing.T) {
	src := rand.New(rand.NewPCG(3, 2))
	const n = 40
	x, y, labels, known := make([]float64, n), make([]float64, n), make([]int, n), make([]Label, n)
	for i := range x {
		x[i] = 1e8 + float64(src.NormFloat64())
		y[i] = x[i] - 1e8 + float64(0.1*src.NormFloat64())
		if y[i] > 0 {
			labels[i] = 1
		}
		known[i] = Label(1 + labels[i])
	}
	columns := []View{{X: normal(src, 6, 1), Kernel: kernel.RBF{Width: 1}}}
	pairs, pairLabels := make(DenseTable, n), make(DenseTable, n)
	for i := range pairs {
		for j := range 6 {
			v := float64((x[i] - 1e8) * columns[0].X.At(j, 0))
			pairs[i], pairLabels[i] = append(pairs[i], v), append(pairLabels[i], 0)
			if v > 0 {
				pairLabels[i][j] = 1
			}
		}
	}
	ctx, s := context.Background(), fitting{Ascent: Ascent{MaxSweeps: 10}}
	for name, fit := range map[string]func(v []View) (Model, error){
		"regression": func(v []View) (Model, error) { return Regression{Fitting: s.Fitting, Ascent: s.Ascent}.Fit(ctx, v, y) },
		"shared": func(v []View) (Model, error) {
			return SharedRegression{Fitting: s.Fitting, Ascent: s.Ascent}.Fit(ctx, v, y)
		},
		"tasks": func(v []View) (Model, error) {
			return TaskRegression{Fitting: s.Fitting, Ascent: s.Ascent}.Fit(ctx, v, y)
		},
		"classifier": func(v []View) (Model, error) {
			return Classifier[int]{Fitting: s.Fitting, Ascent: s.Ascent}.Fit(ctx, v, labels)
		},
		"multilabel": func(v []View) (Model, error) {
			return MultiLabel{Fitting: s.Fitting, Ascent: s.Ascent}.Fit(ctx, v, known)
		},
		"task labels": func(v []View) (Model, error) {
			return TaskClassifier{Fitting: s.Fitting, Ascent: s.Ascent}.Fit(ctx, v, known)
		},
		"pairs": func(v []View) (Model, error) {
			return PairRegression{Fitting: s.Fitting, Ascent: s.Ascent, Components: 2}.Fit(ctx, v, columns, pairs)
		},
		"pairs of labels": func(v []View) (Model, error) {
			return PairClassifier{Fitting: s.Fitting, Ascent: s.Ascent, Components: 2}.Fit(ctx, v, columns, pairLabels)
		},
		"probit": func(v []View) (Model, error) {
			return ProbitClassifier[int]{Fitting: s.Fitting, Ascent: s.Ascent}.Fit(ctx, v, labels)
		},
		"probit states": func(v []View) (Model, error) {
			return ProbitClassifier[int]{Fitting: s.Fitting, Ascent: s.Ascent, Rule: SwitchedSum{}, Update: WeightUpdateStructured}.Fit(ctx, v, labels)
		},
	} {
		for _, standardize := range []bool{true, false} {
			views := []View{{X: Column(x), Kernel: kernel.RBF{Width: 1}, Standardize: true}, {X: Column(x), Kernel: kernel.Linear{}, Standardize: standardize}}
			m, err := fit(views)
			if c, ok := errors.AsType[*CollapsedError](err); ok && !standardize {
				m, err = c.Model, nil
			}
			require.NoError(t, err, name)
			r := m.(interface{ Rounding() float64 }).Rounding()
			if standardize {
				assert.Less(t, r, 1e-6, name)
				assert.Positive(t, r, name)
				assert.NotContains(t, m.Summary(), "ILL-CONDITIONED", name)
			} else if name != "probit states" { // whose states may all leave the kernel out
				assert.Greater(t, r, 0.01, name)
				assert.Contains(t, m.Summary(), "ILL-CONDITIONED: rounding may move the variances of predictions by ", name)
			}
		}
	}
}
