package mkl

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// Predictions from sums of kernels are the predictions from the kernel matrices, whatever the number of workers.
func TestBatchesAgreeWithKernelMatrices(t *testing.T) {
	ctx, rng := context.Background(), rand.New(rand.NewPCG(71, 72))
	const n, rows = 60, 2*batchRows + 3
	x, y := normal(rng, n, 3), make([]float64, n)
	for i := range y {
		y[i] = math.Sin(2*x.At(i, 0)) + 0.2*rng.NormFloat64()
	}
	q := anywhere(rng, x, rows)
	broad, _, err := defaultViews(KernelsBroad, View{X: x})
	require.NoError(t, err)
	ard := []View{{X: x, Kernel: kernel.RBF{ARD: true}}, {X: x, Kernel: kernel.Constant{}}}
	centred := []View{{X: x, Kernel: kernel.RBF{Width: 2}, Center: true}, {X: x, Kernel: kernel.Linear{}}}
	f := fitting{Ascent: Ascent{MaxSweeps: 4}}
	for name, c := range map[string]struct {
		views []View
		noise NoiseModel
	}{
		"broad": {broad, ConstantNoise}, "learned widths, drawn": {ard, ConstantNoise}, "centred": {centred, ConstantNoise},
		"noise that varies": {broad, VaryingNoise}, "noise with heavy tails": {broad, HeavyNoise},
	} {
		m, err := MultiGP{Fitting: f.Fitting, Climb: f.climb(), Noise: c.noise}.Fit(ctx, c.views, y)
		require.NoError(t, err, name)
		all := m.averaged()
		require.NotNil(t, all.newBatch(PredictOptions{}), name)
		for o, post := range all.posteriors {
			var mean, variance []float64
			err := all.designs[o].EachBlock(ctx, 1, gram.PredictWords, true, []Features{q}, rows, func(k *vi.Dense, self la.Matrix[float64], _, _ int) error {
				p, err := post.Predict(k, self, vi.PredictOptions{})
				require.NoError(t, err)
				if all.noise != nil {
					require.NoError(t, all.noise.Widen(p, k, self, vi.PredictOptions{}))
				}
				mean, variance = append(mean, p.Mean...), append(variance, p.Variance...)
				return nil
			})
			require.NoError(t, err)
			var first [2][]float64
			for _, workers := range []int{1, 3} {
				var got [2][]float64
				b := all.newBatch(PredictOptions{})
				whole, err := b.predict(ctx, PredictOptions{Workers: workers}, []Features{q}, rows, func(of, at int, p *mgp.Prediction) {
					if of == o {
						require.Equal(t, len(got[0]), at)
						got[0], got[1] = append(got[0], p.Mean...), append(got[1], p.Variance...)
					}
				})
				require.NoError(t, err)
				require.True(t, whole)
				for i := range mean {
					sd := math.Sqrt(variance[i])
					assert.InDelta(t, mean[i], got[0][i], 1e-9*sd, name)
					assert.InEpsilon(t, variance[i], got[1][i], 1e-9, name)
				}
				if workers > 1 {
					assert.Equal(t, first, got, "%s: workers", name)
				}
				first = got
			}
		}
	}
}

// A kernel that overflows is the error that it is with kernel matrices, and many features are left to them.
func TestBatchesLeaveOddSamples(t *testing.T) {
	ctx, rng := context.Background(), rand.New(rand.NewPCG(73, 74))
	x, y := normal(rng, 30, 2), make([]float64, 30)
	for i := range y {
		y[i] = x.At(i, 0) + 0.1*rng.NormFloat64()
	}
	f := fitting{Ascent: Ascent{MaxSweeps: 4}}
	m, err := MultiGP{Fitting: f.Fitting, Climb: f.climb()}.Fit(ctx, []View{{X: x, Kernel: kernel.Polynomial{Degree: 3, Offset: 1}}}, y)
	require.NoError(t, err)
	q := normal(rng, 3, 2)
	q.Set(1, 0, 1e200)
	_, _, err = m.Predict(q)
	assert.ErrorContains(t, err, "views[0] (polynomial(degree=3,offset=1,scale=1)): sample 1: its kernel with training sample 0 is ")

	wide := normal(rng, 30, 5000)
	m, err = MultiGP{Fitting: f.Fitting, Climb: f.climb()}.Fit(ctx, []View{{X: wide, Kernel: kernel.RBF{Width: 100}}}, y)
	require.NoError(t, err)
	assert.Nil(t, m.newBatch(PredictOptions{}))
	_, _, err = m.Predict(wide)
	assert.NoError(t, err)
}
