package mkl

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// predictionErrors are errors and variances of three predictions; the third fails on few samples.
func predictionErrors(n int) (d, v [][]float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3 {
		d, v = append(d, make([]float64, n)), append(v, make([]float64, n))
	}
	for i := range n {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		d[0][i], v[0][i] = 0.3*a, 0.09
		d[1][i], v[1][i] = 0.3*b, 0.09
		d[2][i], v[2][i] = 0.2*(a+b)/math.Sqrt2, 0.04
		if i%100 == 0 {
			d[2][i] = 50
		}
	}
	return d, v
}

func TestStackMomentsAvoidsWhatFails(t *testing.T) {
	d, v := predictionErrors(3000)
	w := stackMoments(d, v)
	assert.InDelta(t, 1, vec.Total(w), 1e-12)
	assert.InDelta(t, 0.5, w[0], 0.05)
	assert.Less(t, w[2], 0.02)

	// No weights of a grid are better.
	none := make([]float64, 3)
	best := momentDensity(d, v, w, pseudoShare/3, none)
	for a := 0.01; a < 1; a += 0.03 {
		for b := 0.01; a+b < 0.995; b += 0.03 {
			require.LessOrEqual(t, momentDensity(d, v, []float64{a, b, 1 - a - b}, pseudoShare/3, none), best+1e-6)
		}
	}
	// A member without failures is kept.
	for i := 0; i < 3000; i += 100 {
		d[2][i] = 0.1
	}
	assert.Greater(t, stackMoments(d, v)[2], 0.8)
}

func TestMomentDensityHasItsGradient(t *testing.T) {
	d, v := predictionErrors(50)
	w, g, none := []float64{0.5, 0.2, 0.3}, make([]float64, 3), make([]float64, 3)
	momentDensity(d, v, w, 0.02, g)
	for m := range w {
		const h = 1e-6
		up, down := append([]float64(nil), w...), append([]float64(nil), w...)
		up[m] += h
		down[m] -= h
		difference := (momentDensity(d, v, up, 0.02, none) - momentDensity(d, v, down, 0.02, none)) / (2 * h)
		assert.InEpsilon(t, difference, g[m], 1e-5)
	}
}

// Samples that all predictions hit exactly, without variance, have no log density of a mixture and count for the errors of the means only.
func TestMomentDensityOfExactPredictions(t *testing.T) {
	d, v := [][]float64{{0.5, 0, 1}, {-0.5, 0, 0}}, [][]float64{{1, 0, 2}, {1, 0, 3}}
	w, gradient := []float64{0.25, 0.75}, make([]float64, 2)
	want := 0.0
	for n := range 3 {
		mean := w[0]*d[0][n] + w[1]*d[1][n]
		if n != 1 {
			V := -mean * mean
			for m, u := range w {
				V += u * (v[m][n] + d[m][n]*d[m][n])
			}
			want -= 0.5 * (math.Log(V) + mean*mean/V) / 3
		}
	}
	squares := math.Pow(-0.25, 2) + math.Pow(0.25, 2)
	want -= 0.5 * math.Log(squares/3)
	want += 0.1 * (math.Log(0.25) + math.Log(0.75))
	assert.InDelta(t, want, momentDensity(d, v, w, 0.1, gradient), 1e-12)
	assert.False(t, math.IsNaN(gradient[0]+gradient[1]) || math.IsInf(gradient[0]+gradient[1], 0))
}
