package mkl

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit/golden"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// anchor is a problem of the golden files gpr, whose README says what the fields are.
type anchor struct {
	Seed, Samples, Features int
	Noise                   float64
	Kernels                 []struct {
		Kind                             string
		Weight, Width, Smoothness, Alpha float64
	}
	LogMarginal    float64 `json:"log_marginal"`
	Mean, Variance []float64
	Rows           []float64 // of rows.json
}

// numbers returns what fills matrices row after row with the numbers of the README's generator.
func (a anchor) numbers() func(rows, cols int) la.Matrix[float64] {
	const modulus = 1<<31 - 1
	s := 48271 * int64(a.Seed) % modulus
	return func(rows, cols int) la.Matrix[float64] {
		m := la.NewMatrix[float64](rows, cols)
		for i := range rows {
			for j := range cols {
				s = 48271 * s % modulus
				m.Set(i, j, float64(s)/(1<<30)-1)
			}
		}
		return m
	}
}

// views returns a view of each kernel, and the kernels' weights.
func (a anchor) views(t *testing.T, x la.Matrix[float64]) (views []View, weights []float64) {
	for _, k := range a.Kernels {
		all := map[string]kernel.Kernel{
			"constant": kernel.Constant{},
			"linear":   kernel.Linear{},
			"rbf":      kernel.RBF{Width: k.Width},
			"matern":   kernel.Matern{Width: k.Width, Smoothness: k.Smoothness},
			"rational": kernel.RationalQuadratic{Width: k.Width, Alpha: k.Alpha},
		}
		require.Contains(t, all, k.Kind)
		views, weights = append(views, View{X: x, Kernel: all[k.Kind]}), append(weights, k.Weight)
	}
	return views, weights
}

// TestGoldenAnchors compares the evidence and the predictions at given weights and noise with the figures
// of scikit-learn and of kernlab.
func TestGoldenAnchors(t *testing.T) {
	const tolerance = 1e-8 // of the README
	var all []anchor
	golden.Read(t, "gpr", "exact.json", &all)
	require.Len(t, all, 200)
	var kernlab []struct {
		Seed           int
		Mean, Variance golden.Vec
	}
	golden.Read(t, "gpr", "kernlab.json", &kernlab)
	require.Len(t, kernlab, len(all))
	worst := map[string]float64{}
	near := func(what string, want, got float64) {
		off := math.Abs(got-want) / math.Abs(want)
		worst[what] = max(worst[what], off)
		assert.LessOrEqual(t, off, tolerance, "%s: %g, want %g", what, got, want)
	}
	for i, a := range all {
		require.EqualValues(t, a.Seed, kernlab[i].Seed)
		other := kernlab[i]
		numbers := a.numbers()
		x := numbers(a.Samples+len(a.Mean), a.Features)
		y := numbers(1, a.Samples).Row(0)
		la.Scal(2, y)
		views, weights := a.views(t, x.Slice(0, a.Samples, 0, a.Features))
		m, err := MultiGP{KnownWeights: weights, KnownNoise: a.Noise, RawTargets: true}.Fit(t.Context(), views, y)
		require.NoError(t, err, "seed %d", a.Seed)
		mean, variance, err := m.Predict(x.Slice(a.Samples, x.Rows, 0, a.Features))
		require.NoError(t, err, "seed %d", a.Seed)

		near("log marginal likelihood", a.LogMarginal, m.bounds[0])
		for i := range mean {
			near("mean", a.Mean[i], mean[i])
			near("variance", a.Variance[i], variance[i]-a.Noise*a.Noise)
			near("mean of kernlab", other.Mean[i], mean[i])
			near("variance of kernlab", other.Variance[i], variance[i]-a.Noise*a.Noise)
		}
		require.False(t, t.Failed(), "seed %d", a.Seed)
	}
	t.Log("largest relative deviations:", worst)
}

// TestGoldenNoiseOfRows compares the evidence and the predictions where each sample has a known noise of its own with the figures of
// scikit-learn.
func TestGoldenNoiseOfRows(t *testing.T) {
	const tolerance = 1e-8 // of the README
	var all []anchor
	golden.Read(t, "gpr", "rows.json", &all)
	require.Len(t, all, 20)
	for _, a := range all {
		numbers := a.numbers()
		x := numbers(a.Samples+len(a.Mean), a.Features)
		y := numbers(1, a.Samples).Row(0)
		la.Scal(2, y)
		views, known := a.views(t, x.Slice(0, a.Samples, 0, a.Features))
		var weights []float64
		for _, s := range a.Rows {
			weights = append(weights, 1/(s*s))
		}
		m, err := MultiGP{KnownWeights: known, KnownNoise: 1, Weights: weights, RawTargets: true}.Fit(t.Context(), views, y)
		require.NoError(t, err, "seed %d", a.Seed)
		mean, variance, err := m.Predict(x.Slice(a.Samples, x.Rows, 0, a.Features))
		require.NoError(t, err, "seed %d", a.Seed)
		assert.InEpsilon(t, a.LogMarginal, m.bounds[0], tolerance)
		for i := range mean {
			assert.InEpsilon(t, a.Mean[i], mean[i], tolerance)
			assert.InEpsilon(t, a.Variance[i], variance[i]-1, tolerance)
		}
	}
}
