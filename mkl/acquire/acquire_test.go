package acquire

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
)

// part returns a part with independent samples.
func part(weight float64, mean, sd []float64) mkl.JointPart {
	c := la.NewMatrix[float64](len(mean), len(mean))
	for i, s := range sd {
		c.Set(i, i, s*s)
	}
	return mkl.JointPart{Weight: weight, Mean: mean, Covariance: c, Noise: make([]float64, len(mean))}
}

// The expected improvement is the integral of max(f − best, 0) over the mixture's density.
func TestExpectedImprovement(t *testing.T) {
	a := part(0.3, []float64{0, 1, -4, 2}, []float64{1, 0.1, 0.5, 0})
	b := part(0.7, []float64{0.5, -1, -9, 0.5}, []float64{2, 0.3, 1, 0})
	got, err := ExpectedImprovement(&mkl.JointPrediction{Parts: []mkl.JointPart{a, b}}, 0.8)
	require.NoError(t, err)
	for i := range 3 {
		var want float64
		for _, p := range []mkl.JointPart{a, b} {
			m, s := p.Mean[i], math.Sqrt(p.Covariance.At(i, i))
			const steps, reach = 400_000, 12
			width := reach * s / steps
			from := max(0.8, m-reach*s/2)
			for k := range 2 * steps { // the midpoint rule
				f := from + (float64(k)+0.5)*width
				want += p.Weight * width * (f - 0.8) * math.Exp(-0.5*(f-m)*(f-m)/(s*s)) / (s * math.Sqrt(2*math.Pi))
			}
		}
		assert.InEpsilon(t, want, got[i], 1e-6, "sample %d", i)
	}
	assert.InDelta(t, 0.3*1.2, got[3], 1e-15, "what is certain")
	far, err := ExpectedImprovement(&mkl.JointPrediction{Parts: []mkl.JointPart{part(1, []float64{-30, -60}, []float64{1, 1})}}, 0)
	require.NoError(t, err)
	// φ(30)/30²·(1 − 3/30² + 15/30⁴), the first terms of the asymptotic series.
	assert.InEpsilon(t, math.Exp(-450)/math.Sqrt(2*math.Pi)/900*(1-3.0/900+15.0/810_000), far[0], 1e-6)
	assert.Zero(t, far[1], "beyond the numbers")
	_, err = ExpectedImprovement(&mkl.JointPrediction{}, math.NaN())
	assert.EqualError(t, err, "acquire: best is NaN: it must be finite")
}

// Each sample is chosen first with the probability that it is the largest, and no sample twice.
func TestThompson(t *testing.T) {
	p := &mkl.JointPrediction{Parts: []mkl.JointPart{part(1, []float64{0, 1}, []float64{1, 1})}}
	const tries = 4000
	var second float64
	for seed := range uint64(tries) {
		chosen, err := Thompson(p, 1, seed)
		require.NoError(t, err)
		second += float64(chosen[0]) / tries
	}
	want := 0.5 * math.Erfc(-1/math.Sqrt2/math.Sqrt2) // P(f₁ > f₀), f₁ − f₀ of mean 1 and variance 2
	assert.InDelta(t, want, second, 4*math.Sqrt(want*(1-want)/tries))

	r := rand.New(rand.NewPCG(1, 1))
	mean, sd := make([]float64, 20), make([]float64, 20)
	for i := range mean {
		mean[i], sd[i] = r.NormFloat64(), r.Float64()
	}
	all, err := Thompson(&mkl.JointPrediction{Parts: []mkl.JointPart{part(1, mean, sd)}}, 20, 3)
	require.NoError(t, err)
	assert.ElementsMatch(t, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}, all)
	for _, count := range []int{-1, 3} {
		_, err = Thompson(p, count, 0)
		assert.ErrorContains(t, err, "where there are 2 samples")
	}
}
