package mkl

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mcmc"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// slabProblem returns features, each in units of its own, and a target that depends on two of
// them.
func slabProblem(n int, seed uint64) (x Features, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 9))
	x = normal(rng, n, 6)
	y = make([]float64, n)
	for i := range y {
		row := x.Row(i)
		for j := range row {
			row[j] = 5 + float64(j+1)*row[j]
		}
		y[i] = 100 + 3*row[1] - 2*row[4] + 0.5*rng.NormFloat64()
	}
	return x, y
}

func TestSpikeSlabFindsTheFeatures(t *testing.T) {
	x, y := slabProblem(150, 1)
	for _, standard := range []bool{false, true} {
		m, err := SpikeSlab{Fitting: Fitting{Notes: map[string]string{"a": "b"}}, Ascent: Ascent{Restarts: 3}, StandardField: standard}.Fit(context.Background(), x, y)
		require.NoError(t, err)
		w := m.Weights()
		assert.InDelta(t, 3, w[1].Mean, 5*w[1].SD)
		assert.InDelta(t, -2, w[4].Mean, 5*w[4].SD)
		for _, j := range []int{1, 4} {
			assert.Greater(t, w[j].Inclusion, 0.999)
			assert.Less(t, w[j].SD, 0.2)
		}
		for _, j := range []int{0, 2, 3, 5} {
			assert.Less(t, w[j].Inclusion, 0.5)
			assert.InDelta(t, 0, w[j].Mean, 0.1)
		}
		assert.InDelta(t, 0.5, m.NoiseSD()[0], 0.1)
		assert.InDelta(t, 100, m.Bias(), 1)
		assert.Equal(t, []ModelInput{{Views: []int{0, 1, 2, 3, 4, 5}, Cols: 6}}, m.Inputs())
		assert.Contains(t, m.Summary(), "spike-and-slab regression on 6 features (2 active)")
		assert.Contains(t, m.Summary(), "converged after")
		assert.Equal(t, map[string]string{"a": "b"}, m.Notes())

		mean, variance, err := m.Predict(x)
		require.NoError(t, err)
		var square float64
		for i := range y {
			square += (mean[i] - y[i]) * (mean[i] - y[i]) / variance[i]
		}
		assert.InDelta(t, 1, square/float64(len(y)), 0.4)

		loaded := requireFile(t, m, LoadAs[*SpikeSlabModel], 97)
		again, _, err := loaded.Predict(x)
		require.NoError(t, err)
		assert.Equal(t, mean, again)
		assert.Equal(t, m.Weights(), loaded.Weights())
	}
}

func TestSpikeSlabPredictor(t *testing.T) {
	x, y := slabProblem(80, 2)
	m, err := SpikeSlab{}.Fit(context.Background(), x, y)
	require.NoError(t, err)
	mean, variance, err := m.Predict(x)
	require.NoError(t, err)
	all, err := m.Predictor(PredictorOptions{})
	require.NoError(t, err)
	few, err := m.Predictor(PredictorOptions{Inclusion: 0.5})
	require.NoError(t, err)
	assert.Equal(t, []int{1, 4}, few.Info()[0].Kernels)
	for i := range x.Rows {
		got, v, err := all.Predict(x.Row(i))
		require.NoError(t, err)
		assert.InDelta(t, mean[i], got, 1e-9)
		assert.InDelta(t, variance[i], v, 1e-9)
		got, _, err = few.Predict(x.Row(i))
		require.NoError(t, err)
		assert.InDelta(t, mean[i], got, 0.5)
	}
	assert.Zero(t, testing.AllocsPerRun(100, func() { _, _, _ = few.Predict(x.Row(0)) }))
	_, _, err = all.Predict([]float64{1, 2})
	assert.EqualError(t, err, "mkl: x[0]: 2 values where 6 are needed")
	_, _, err = all.Predict([]float64{1, 2, math.NaN(), 4, 5, 6})
	assert.EqualError(t, err, "mkl: x[0][2] is NaN")
	_, _, err = few.Predict([]float64{math.NaN(), 2, math.Inf(1), 4, 5, math.NaN()})
	assert.NoError(t, err, "it looks at x[1] and x[4] alone")
	_, _, err = few.Predict([]float64{math.NaN(), 2, 3, 4, math.Inf(-1), 6})
	assert.EqualError(t, err, "mkl: x[0][4] is -Inf")
	_, err = m.Predictor(PredictorOptions{Inclusion: 2})
	assert.EqualError(t, err, "mkl: Predictor: Inclusion is 2, which is not a probability")
	standard, err := SpikeSlab{StandardField: true}.Fit(context.Background(), x, y)
	require.NoError(t, err)
	mean, variance, err = standard.Predict(x)
	require.NoError(t, err)
	all, err = standard.Predictor(PredictorOptions{})
	require.NoError(t, err)
	requireImmutable(t, func() error {
		for i := range x.Rows {
			got, v, err := all.Predict(x.Row(i))
			if err != nil || math.Abs(mean[i]-got) > 1e-9 || math.Abs(variance[i]-v) > 1e-9 {
				return fmt.Errorf("%g ± %g at row %d: %w", got, v, i, err)
			}
		}
		return nil
	})
	few, err = standard.Predictor(PredictorOptions{Inclusion: 0.5})
	require.NoError(t, err)
	assert.Equal(t, []int{1, 4}, few.Info()[0].Kernels)
}

// Weights of features in units so small that no float64 holds them are an error.
func TestSpikeSlabWeightsBeyondRange(t *testing.T) {
	x, y := slabProblem(20, 3)
	for i := range x.Data {
		x.Data[i] *= 1e-309
	}
	_, err := SpikeSlab{Ascent: Ascent{MaxSweeps: 3}}.Fit(context.Background(), x, y)
	assert.ErrorIs(t, err, gram.ErrBeyond)
	assert.Error(t, checkWeights([]KernelWeight{{Mean: math.Inf(1), SD: 1}}))
	assert.NoError(t, checkWeights([]KernelWeight{{Mean: 1, SD: math.Inf(1)}}))
}

func TestSpikeSlabRefusals(t *testing.T) {
	x, y := slabProblem(10, 3)
	bad := x.Clone()
	bad.Set(3, 2, math.Inf(1))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		s    SpikeSlab
		x    Features
		y    []float64
		want string
	}{
		{SpikeSlab{}, x, nil, "mkl: y: 0 samples with a target where at least 2 are needed"},
		{SpikeSlab{}, x, y[:9], "mkl: x: 10×6 where y has 9 samples (samples are rows)"},
		{SpikeSlab{}, bad, y, "mkl: x[3][2] is +Inf"},
		{SpikeSlab{Names: []string{"a"}}, x, y, "mkl: Names: 1 names for 6 features"},
		{SpikeSlab{Prior: SlabPrior{Pi: -1}}, x, y, "mkl: vi: Prior.Pi is -1: it must be positive and at most 1"},
	} {
		m, err := c.s.Fit(context.Background(), c.x, c.y)
		assert.Nil(t, m)
		assert.EqualError(t, err, c.want)
	}
	_, err := SpikeSlab{}.Fit(ctx, x, y)
	assert.ErrorIs(t, err, context.Canceled)
	m, err := SpikeSlab{}.Fit(context.Background(), x, y)
	require.NoError(t, err)
	_, _, err = m.Predict(x.Slice(0, 2, 0, 3))
	assert.EqualError(t, err, "mkl: x[0]: 2×3 where 6 columns are needed (features)")
	_, _, err = m.Predict()
	assert.EqualError(t, err, "mkl: 0 input matrices where the model needs 1")
}

// TestSampleWeights compares the paired sampler with sums over all sets of features whose weights are not zero.
func TestSampleWeights(t *testing.T) {
	x, y := slabProblem(25, 3)
	m, err := SpikeSlab{}.Fit(t.Context(), x, y)
	require.NoError(t, err)
	got, draws, err := m.SampleWeights(t.Context(), x, y, mcmc.Sampling{Chains: 2, Draws: 6000, Seed: 5})
	require.NoError(t, err)
	assert.Equal(t, 6000, draws.Len())
	M, state, seen := x.Cols, m.posterior.State(), m.see(x)
	z := make([]float64, len(y))
	for i, v := range y {
		z[i] = (v - m.target.mean) / m.target.sd
	}
	// Of each set p(y) is a normal density: with B = XᵀX + σ²/σ_w²·I of the set, log p = ½(bᵀB⁻¹b − zᵀz)/σ² − ½log|B| − ½k·log(σ_w²/σ²) + constant.
	var total, power float64
	for _, v := range z {
		power += v * v
	}
	on, mean := make([]float64, M), make([]float64, M)
	for set := range 1 << M {
		var members []int
		for j := range M {
			if set>>j&1 == 1 {
				members = append(members, j)
			}
		}
		k := len(members)
		b, w := la.NewMatrix[float64](k, k), make([]float64, k)
		for a, j := range members {
			for c, l := range members {
				var sum float64
				for i := range z {
					sum += seen.At(i, j) * seen.At(i, l)
				}
				b.Set(a, c, sum)
			}
			b.Set(a, a, b.At(a, a)+state.Noise/state.Prior.Variance)
			for i, v := range z {
				w[a] += seen.At(i, j) * v
			}
		}
		// Gaussian elimination, without pivots as B is positive definite.
		rhs, logDet, fit := append([]float64(nil), w...), 0.0, 0.0
		for a := range k {
			logDet += math.Log(b.At(a, a))
			for r := a + 1; r < k; r++ {
				f := b.At(r, a) / b.At(a, a)
				for c := a; c < k; c++ {
					b.Set(r, c, b.At(r, c)-f*b.At(a, c))
				}
				rhs[r] -= f * rhs[a]
			}
		}
		for a := k - 1; a >= 0; a-- {
			for c := a + 1; c < k; c++ {
				rhs[a] -= b.At(a, c) * rhs[c]
			}
			rhs[a] /= b.At(a, a)
			fit += rhs[a] * w[a]
		}
		p := math.Exp(0.5*(fit-power)/state.Noise - 0.5*logDet - 0.5*float64(k)*math.Log(state.Prior.Variance/state.Noise) +
			float64(k)*math.Log(state.Prior.Pi) + float64(M-k)*math.Log1p(-state.Prior.Pi))
		total += p
		for a, j := range members {
			on[j] += p
			mean[j] += p * rhs[a]
		}
	}
	for j, w := range got {
		assert.InDelta(t, on[j]/total, w.Inclusion, 0.02, w.Name)
		assert.InDelta(t, mean[j]/total*m.target.sd/m.scale[j], w.Mean, 0.02*m.target.sd/m.scale[j], w.Name)
		assert.Positive(t, w.SD)
	}
	_, _, err = m.SampleWeights(t.Context(), x, y[:3], mcmc.Sampling{})
	assert.ErrorContains(t, err, "where 3×")
	_, _, err = m.SampleWeights(t.Context(), x, y, mcmc.Sampling{Thin: -1})
	assert.ErrorContains(t, err, "Thin")
}
