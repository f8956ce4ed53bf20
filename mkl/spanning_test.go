package mkl

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// linearProblem returns samples of two inputs and a target that linear views can explain.
func linearProblem(n int) (x, z Features, y []float64) {
	src := rand.New(rand.NewPCG(5, 17))
	x, z = testkit.Normal(src, n, 4), testkit.Normal(src, n, 3)
	for i := range n {
		x.Set(i, 0, 5+2*x.At(i, 0))
		x.Set(i, 3, x.At(i, 1)+1e-4*x.At(i, 3)) // nearly the same feature
		z.Set(i, 2, math.Floor(z.At(i, 2)))     // ties
		y = append(y, 3+x.At(i, 0)-0.4*z.At(i, 1)+0.2*src.NormFloat64())
	}
	return x, z, y
}

func linearViews(x, z Features) []View {
	return []View{
		{X: x, Input: "x1", Kernel: kernel.Linear{Scale: 0.5}, Center: true},
		{X: z, Input: "x2", Kernel: kernel.Linear{}, Standardize: true, Columns: []int{2, 0}},
		{X: z, Input: "x2", Kernel: kernel.Linear{}, Ranks: true, Center: true},
		{X: x, Input: "x1", Kernel: kernel.Linear{}, Columns: []int{0}},
		{X: z, Input: "x2", Kernel: kernel.Constant{}},
	}
}

// linearFunc replaces [kernel.Linear] by an equal [kernel.Func], with which the same fit uses all samples.
func linearFunc(views []View) []View {
	out := append([]View(nil), views...)
	for i, v := range out {
		if k, ok := v.Kernel.(kernel.Linear); ok {
			scale := k.Scale
			if scale == 0 {
				scale = 1
			}
			out[i].Kernel = kernel.Func{Name: "linear", F: func(x, y []float64) float64 { return scale * la.Dot(x, y) }}
		}
	}
	return out
}

// A fit to the samples that span the features gives the same model as a fit to all samples.
func TestSpannedFitIsThatToAllSamples(t *testing.T) {
	const n, later = 90, 30
	x, z, y := linearProblem(n + later)
	tx, tz := x.Slice(n, n+later, 0, 4), z.Slice(n, n+later, 0, 3)
	x, z, y = x.Slice(0, n, 0, 4), z.Slice(0, n, 0, 3), y[:n]
	views := linearViews(x, z)
	for name, g := range map[string]MultiGP{
		"default":       {},
		"prior learned": {Family: FamilyStudentT},
		"known weights": {KnownWeights: []float64{0, 0, 0, 1, 0}, RawTargets: true},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			got, err := g.Fit(ctx, views, y)
			require.NoError(t, err)
			want, err := g.Fit(ctx, linearFunc(views), y)
			require.NoError(t, err)
			require.Equal(t, n, want.design.D)
			require.LessOrEqual(t, got.design.D, 4+5+1)

			assert.Equal(t, want.Samples(), got.Samples())
			const tol = 1e-9
			assert.InEpsilon(t, want.Bound(), got.Bound(), tol)
			assert.Equal(t, want.Trace().Sweeps, got.Trace().Sweeps)
			assert.Equal(t, want.Trace().Reason, got.Trace().Reason)
			assert.InEpsilonSlice(t, want.NoiseSD(), got.NoiseSD(), 1e-7)
			assert.InDelta(t, want.Rounding(), got.Rounding(), 1e-9)
			for i, w := range want.KernelWeights() {
				assert.InEpsilon(t, w.Mean, got.KernelWeights()[i].Mean, 1e-6)
				assert.InEpsilon(t, w.SD+1, got.KernelWeights()[i].SD+1, 1e-6)
			}
			left, all := got.LeaveOneOut(), want.LeaveOneOut()
			assert.InDeltaSlice(t, all.Mean[0], left.Mean[0], 1e-7)
			assert.InEpsilonSlice(t, all.Variance[0], left.Variance[0], 1e-7)

			mean, variance, err := got.Predict(tx, tz)
			require.NoError(t, err)
			expected, expectedVariance, err := want.Predict(tx, tz)
			require.NoError(t, err)
			assert.InDeltaSlice(t, expected, mean, 1e-7)
			assert.InEpsilonSlice(t, expectedVariance, variance, 1e-7)

			first := la.NewMatrix[float64](1, n)
			for i := range n {
				first.Set(0, i, x.At(i, 0))
			}
			beta, sd, err := got.Coefficients(3)
			require.NoError(t, err)
			wantBeta, wantVariance, err := want.Posterior().Coefficients(3, first)
			require.NoError(t, err)
			assert.InEpsilon(t, want.target.sd*wantBeta[0], beta[0], 1e-6)
			assert.InEpsilon(t, want.target.sd*math.Sqrt(wantVariance[0]), sd[0], 1e-6)

			spread, err := got.KernelSpreads(ctx, PredictOptions{}, tx, tz)
			require.NoError(t, err)
			wantSpread, err := want.KernelSpreads(ctx, PredictOptions{}, tx, tz)
			require.NoError(t, err)
			assert.InDeltaSlice(t, wantSpread, spread, 1e-9)

			p, err := got.Predictor(PredictorOptions{Exact: true})
			require.NoError(t, err)
			assert.Len(t, p.Info()[0].Samples, n)
			for i := range later {
				m, v, err := p.Predict(tx.Row(i), tz.Row(i))
				require.NoError(t, err)
				assert.InDelta(t, mean[i], m, 1e-9)
				assert.InEpsilon(t, variance[i], v, 1e-9)
			}
			var file bytes.Buffer
			require.NoError(t, got.Save(&file))
			loaded, err := Load(&file)
			require.NoError(t, err)
			again, err := loaded.(*MultiGPModel).PredictTargets(ctx, PredictOptions{}, tx, tz)
			require.NoError(t, err)
			assert.Equal(t, mean, again.Mean[0])
			assert.Equal(t, variance, again.Variance[0])
			assert.Equal(t, got.String(), loaded.String())

			// Either goes on from the other.
			next := g
			next.From = want
			want, err = next.Fit(ctx, linearFunc(views), y)
			require.NoError(t, err)
			for _, from := range []*MultiGPModel{next.From, got, loaded.(*MultiGPModel)} {
				next.From = from
				m, err := next.Fit(ctx, views, y)
				require.NoError(t, err)
				assert.InEpsilon(t, want.Bound(), m.Bound(), 1e-8)
			}
		})
	}
}

func TestSpannedFitTakesTheSamplesThatItNeeds(t *testing.T) {
	const n = 90
	x, z, y := linearProblem(n)
	for i, tt := range []struct {
		views []View
		basis int
	}{
		{linearViews(x, z), 4 + 3 + 2 + 1}, // of z the third is seen, not its second but as a rank
		{[]View{{X: x, Kernel: kernel.Linear{}}, {X: x, Kernel: kernel.Linear{Scale: 2}, Columns: []int{1}}}, 5},
		{[]View{{X: x, Kernel: kernel.Linear{}, Normalize: true}}, n},
		{[]View{{X: x, Kernel: kernel.Linear{}}, {X: x, Kernel: kernel.RBF{}}}, n},
		{[]View{{X: x, Kernel: kernel.Polynomial{Degree: 1}}}, n},
	} {
		m, err := MultiGP{}.Fit(t.Context(), tt.views, y)
		require.NoError(t, err)
		assert.Equal(t, tt.basis, m.design.D, i)
	}
	linear := []View{{X: x, Kernel: kernel.Linear{}}}
	heavy, err := MultiGP{Noise: HeavyNoise}.Fit(t.Context(), linear, y)
	require.NoError(t, err)
	assert.Equal(t, n, heavy.design.D)
	factorised, err := FactorisedGP{MaxSweeps: 3}.Fit(t.Context(), linear, y)
	require.NoError(t, err)
	assert.Equal(t, n, factorised.design.D)
	few := MultiGP{}
	size := FitSize{Samples: 50000, Kernels: 2, Outputs: 1}
	all := few.EstimateMemory(size)
	size.LinearColumns = 20
	assert.Less(t, few.EstimateMemory(size), all/1000)
}

func TestSpannedFitRefusesWhatTheOtherRefuses(t *testing.T) {
	x, z, y := linearProblem(90)
	var none context.Context
	_, err := MultiGP{}.Fit(none, linearViews(x, z), y)
	assert.ErrorIs(t, err, gram.ErrNoContext)
	x.Set(7, 2, 1e300)
	x.Set(8, 2, -1e300)
	_, err = MultiGP{}.Fit(t.Context(), linearViews(x, z), y)
	assert.ErrorContains(t, err, "views[0] (linear(scale=0.5)): the kernel of samples")
	for i := range 90 {
		x.Set(i, 2, -math.MaxFloat64)
	}
	x.Set(7, 2, math.MaxFloat64)
	_, err = MultiGP{}.Fit(t.Context(), linearViews(x, z), y)
	assert.ErrorIs(t, err, gram.ErrBeyond)
	assert.ErrorContains(t, err, "views[0] (linear(scale=0.5)): column 2")
	for i := range 90 {
		z.Set(i, 1, 0)
	}
	_, err = MultiGP{}.Fit(t.Context(), []View{{X: z, Kernel: kernel.Linear{}, Columns: []int{1}}}, y)
	assert.ErrorContains(t, err, "the kernel is 0 for all samples")
	var limit *MemoryError
	_, err = MultiGP{Fitting: Fitting{MemoryLimit: 1000}}.Fit(t.Context(), []View{{X: z, Kernel: kernel.Linear{}}}, y)
	assert.ErrorAs(t, err, &limit)
}

// The fit has the same bits for every number of workers.
func TestSpannedFitIsDeterministic(t *testing.T) {
	x, z, y := linearProblem(400)
	var first string
	for _, workers := range []int{1, 3} {
		m, err := MultiGP{Fitting: Fitting{Workers: workers}}.Fit(t.Context(), linearViews(x, z), y)
		require.NoError(t, err)
		var file bytes.Buffer
		require.NoError(t, m.Save(&file))
		if first == "" {
			first = file.String()
		}
		assert.Equal(t, first, file.String(), fmt.Sprint(workers, " workers"))
	}
}
