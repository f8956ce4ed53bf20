package mkl

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/mkl/kernel"
)

// assertWithinBounds compares a prediction with the exact one, want: both errors are within its bounds, and these within the tolerance.
func assertWithinBounds(t *testing.T, want, got BoundedPrediction, tolerance float64) {
	t.Helper()
	sd := math.Sqrt(want.Variance)
	// Far from all samples a variance of 10⁻¹² of k(x,x) is beyond float64 as well: both sides round.
	slack := 1e-9*sd + 1e-13*math.Abs(want.Mean)
	meanError, sdError := math.Abs(got.Mean-want.Mean), math.Abs(math.Sqrt(got.Variance)-sd)
	assert.LessOrEqual(t, meanError, got.MeanError+slack)
	assert.LessOrEqual(t, sdError, got.SDError+slack)
	assert.LessOrEqual(t, max(meanError, sdError), tolerance*sd+slack)
}

// Predictions do not depend on workers, on blocks, nor on other samples, whatever the noise and the members.
func TestPredictMany(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(61, 62))
	x := normal(rng, 330, 3)
	y := make([]float64, x.Rows)
	for i := range y {
		y[i] = math.Sin(2*x.At(i, 0)) + 0.3*rng.NormFloat64()*math.Exp(x.At(i, 1))
	}
	views := []View{{X: x, Kernel: kernel.RBF{Width: 0.3}}, {X: x, Kernel: kernel.Laplacian{Width: 2}}}
	constant, err := MultiGP{}.Fit(ctx, views, y)
	require.NoError(t, err)
	varying, err := MultiGP{Noise: VaryingNoise}.Fit(ctx, views, y)
	require.NoError(t, err)
	pool, err := Auto{}.Fit(ctx, []View{{X: x}}, y)
	require.NoError(t, err)
	regression, err := Regression{}.Fit(ctx, views, y)
	require.NoError(t, err)
	q := anywhere(rng, x, 100)
	for name, m := range map[string]interface {
		Predictor(PredictorOptions) (*Predictor, error)
	}{"constant": constant, "varying": varying, "pool": pool, "regression": regression} {
		exact, err := m.Predictor(PredictorOptions{Exact: true})
		require.NoError(t, err)
		for _, opt := range []PredictorOptions{{}, {Tolerance: 1e-5}, {Exact: true}, {MeanOnly: true}} {
			p, err := m.Predictor(opt)
			require.NoError(t, err)
			if name != "regression" && opt == (PredictorOptions{}) {
				assert.NotNil(t, p.mixture.blocks(), name)
			}
			many, err := p.PredictMany(ctx, 1, q)
			require.NoError(t, err)
			require.Len(t, many, q.Rows)
			few, err := p.PredictMany(ctx, 2, Features(q.Slice(37, 80, 0, q.Cols)))
			require.NoError(t, err)
			for i, b := range many {
				if opt.MeanOnly {
					assert.True(t, math.IsNaN(b.Variance))
					one, err := p.PredictWithBound(q.Row(i))
					require.NoError(t, err)
					assert.Equal(t, one.Mean, b.Mean)
					continue
				}
				want, err := exact.PredictWithBound(q.Row(i))
				require.NoError(t, err)
				assertWithinBounds(t, want, b, max(opt.Tolerance, 1e-2))
				if i >= 37 && i < 80 {
					assert.Equal(t, b, few[i-37], "%s, %+v, row %d", name, opt, i)
				}
			}
		}
	}
}

// An error names the first row that has one.
func TestPredictManyRefuses(t *testing.T) {
	ctx := context.Background()
	x := normal(rand.New(rand.NewPCG(63, 64)), 90, 2)
	y := make([]float64, x.Rows)
	for i := range y {
		y[i] = x.At(i, 0)
	}
	m, err := MultiGP{}.Fit(ctx, []View{{X: x, Kernel: kernel.Laplacian{Width: 0.1}}}, y)
	require.NoError(t, err)
	p, err := m.Predictor(PredictorOptions{})
	require.NoError(t, err)
	none, err := p.PredictMany(ctx, 0, Features(x.Slice(0, 0, 0, 2)))
	require.NoError(t, err)
	assert.Empty(t, none)

	_, err = p.PredictMany(ctx, 0)
	assert.EqualError(t, err, "mkl: no input matrices")
	_, err = p.PredictMany(ctx, 0, x, Features(x.Slice(0, 3, 0, 2)))
	assert.EqualError(t, err, "mkl: x[1]: 3 samples where x[0] has 90")
	_, err = p.PredictMany(ctx, 0, x, x)
	assert.EqualError(t, err, "mkl: 2 inputs where the model needs 1 (row 0)")
	bad := x.Clone()
	bad.Set(70, 1, math.Inf(1))
	bad.Set(40, 1, math.NaN())
	_, err = p.PredictMany(ctx, 2, bad)
	var value *ValueError
	require.ErrorAs(t, err, &value)
	assert.Equal(t, 40, value.Row)
	assert.Equal(t, 1, value.Col)
	var without context.Context
	_, err = p.PredictMany(without, 0, x)
	assert.Error(t, err)
	cause := errors.New("enough")
	ended, stop := context.WithCancelCause(ctx)
	stop(cause)
	_, err = p.PredictMany(ended, 0, x)
	assert.ErrorIs(t, err, cause)
}

// Float32 is not tried where it is not enough for most new samples: a block then has the predictions of the model.
func TestFloat32IsTriedWhereItIsEnough(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(65, 66))
	x := normal(rng, 120, 2)
	y := make([]float64, x.Rows)
	for i := range y {
		y[i] = math.Sin(3*x.At(i, 0)) + 0.1*rng.NormFloat64()*math.Exp(x.At(i, 1))
	}
	for _, noise := range []NoiseModel{ConstantNoise, VaryingNoise} {
		m, err := MultiGP{Noise: noise}.Fit(ctx, []View{{X: x, Kernel: kernel.Laplacian{Width: 0.5}}}, y)
		require.NoError(t, err)
		q := anywhere(rng, x, 70)
		want, err := m.PredictTargets(ctx, PredictOptions{}, q)
		require.NoError(t, err)
		for tolerance, tried := range map[float64]bool{1e-2: true, 1e-9: false} {
			p, err := m.Predictor(PredictorOptions{Tolerance: tolerance})
			require.NoError(t, err)
			f := p.mixture.members[0].process
			assert.Equal(t, tried, f.triangle != nil)
			assert.Equal(t, tried, p.Info()[0].Float32)
			b := p.mixture.blocks()
			assert.Equal(t, tried, b.sets[0].squares != nil)
			if tried {
				continue
			}
			many, err := p.PredictMany(ctx, 1, q)
			require.NoError(t, err)
			for i, b := range many {
				assert.InDelta(t, want.Mean[0][i], b.Mean, 1e-12)
				assert.InEpsilon(t, want.Variance[0][i], b.Variance, 1e-8)
			}
		}
	}
}

// Samples of a list that need float64 are predicted by the model, and the others as single samples are. It makes no difference what else is in the
// list.
func TestPredictManyByTheModel(t *testing.T) {
	ctx := t.Context()
	rng := rand.New(rand.NewPCG(67, 68))
	x := normal(rng, 300, 3)
	y := make([]float64, x.Rows)
	for i := range y {
		y[i] = math.Sin(2*x.At(i, 0)) + 0.1*rng.NormFloat64()
	}
	views := []View{{X: x, Kernel: kernel.RBF{Width: 0.3}}, {X: x, Kernel: kernel.Laplacian{Width: 2}}, {X: x, Kernel: kernel.Polynomial{Degree: 2, Offset: 1}}}
	regression, err := Regression{}.Fit(ctx, views, y)
	require.NoError(t, err)
	landmarks, err := LandmarkGP{Landmarks: &Landmarks{Count: 100}, Climb: Climb{MaxSteps: 3}}.Fit(ctx, views, y)
	require.NoError(t, err)
	q := anywhere(rng, x, 200)
	for name, m := range map[string]interface {
		TargetModel
		Predictor(PredictorOptions) (*Predictor, error)
	}{"regression": regression, "landmarks": landmarks} {
		model, err := m.PredictTargets(ctx, PredictOptions{}, q)
		require.NoError(t, err)
		for _, opt := range []PredictorOptions{{}, {Tolerance: 1e-3}, {Tolerance: 1e-4}, {Tolerance: 1e-9}, {Exact: true}} {
			p, err := m.Predictor(opt)
			require.NoError(t, err)
			require.NotNil(t, p.list)
			many, err := p.PredictMany(ctx, 2, q)
			require.NoError(t, err)
			few, err := p.PredictMany(ctx, 1, Features(q.Slice(10, 75, 0, q.Cols)))
			require.NoError(t, err)
			assert.Equal(t, many[10:75], few, "%s, %+v", name, opt)
			byModel, alike := 0, 0
			for i, b := range many {
				one, err := p.PredictWithBound(q.Row(i))
				require.NoError(t, err)
				if b.Mean == model.Mean[0][i] && b.Variance == model.Variance[0][i] {
					byModel++
					assert.Zero(t, b.MeanError)
					assert.Zero(t, b.SDError)
					assert.Equal(t, BoundProved, b.Kind)
					continue
				}
				assert.Equal(t, BoundCalibrated, b.Kind, "%s, %+v, row %d", name, opt, i)
				assert.Positive(t, b.SDError)
				if b == one {
					alike++
				}
			}
			t.Logf("%s, tolerance %g: %d samples by the model, %d as single samples", name, opt.Tolerance, byModel, alike)
			switch {
			case opt.Exact || opt.Tolerance == 1e-9:
				assert.Equal(t, q.Rows, byModel)
			case opt.Tolerance == 0:
				assert.Greater(t, alike, q.Rows/2, "%s: samples in integers", name)
			}
		}
	}
	two, err := Regression{}.Fit(ctx, views, y, y)
	require.NoError(t, err)
	p, err := two.Predictor(PredictorOptions{Target: 1})
	require.NoError(t, err)
	assert.Nil(t, p.list, "the model would predict the other target too")
}

// An error names the row in the list whose prediction is beyond float64, though the model has seen some rows only.
func TestPredictManyNamesTheRowThatTheModelRefuses(t *testing.T) {
	ctx := t.Context()
	rng := rand.New(rand.NewPCG(69, 70))
	x := normal(rng, 60, 2)
	y := make([]float64, x.Rows)
	for i := range y {
		y[i] = x.At(i, 0)
	}
	m, err := Regression{}.Fit(ctx, []View{{X: x, Kernel: kernel.Polynomial{Degree: 3, Offset: 1}}}, y)
	require.NoError(t, err)
	p, err := m.Predictor(PredictorOptions{Exact: true})
	require.NoError(t, err)
	q := normal(rng, 40, 2)
	q.Set(33, 1, 1e200)
	_, err = p.PredictMany(ctx, 1, q)
	require.Error(t, err)
	assert.Contains(t, err.Error(), "(row 33)")
}
