package amplitude

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWeightsAreOptimal compares weights of three members with the best point of a fine grid of the simplex.
func TestWeightsAreOptimal(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 1))
	const N, M = 40, 3
	density, leftOut, y := make([][]float64, M), make([][]float64, M), make([]float64, N)
	for n := range N {
		y[n] = src.NormFloat64()
	}
	for m := range M {
		for n := range N {
			density[m] = append(density[m], math.Exp(src.NormFloat64()*float64(m+1)-float64(m)))
			leftOut[m] = append(leftOut[m], 0.6*y[n]+0.5*float64(m+1)*src.NormFloat64())
		}
	}
	mixture := func(w []float64) (v float64) {
		for n := range N {
			var p float64
			for m := range M {
				p += w[m] * density[m][n]
			}
			v += math.Log(p)
		}
		for m := range M {
			v += math.Log(w[m])
		}
		return v
	}
	var mean, total float64
	for _, v := range y {
		mean += v / N
	}
	for _, v := range y {
		total += (v - mean) * (v - mean)
	}
	square := func(w []float64) float64 { // at the softmax variables with the mean 0, which the prior prefers
		var v, centre float64
		for n := range N {
			r := y[n]
			for m := range M {
				r -= w[m] * leftOut[m][n]
			}
			v -= 0.5 * N * r * r / total
		}
		for m := range M {
			centre += math.Log(w[m]) / M
		}
		for m := range M {
			u := math.Log(w[m]) - centre
			v -= 0.5 * u * u / 4
		}
		return v
	}
	a, err := MixtureWeights(density, 1)
	require.NoError(t, err)
	b, err := MeanWeights(leftOut, y)
	require.NoError(t, err)
	for i := 1; i < 200; i++ {
		for k := 1; k < 200-i; k++ {
			w := []float64{float64(i) / 200, float64(k) / 200, 1 - float64(i+k)/200}
			require.GreaterOrEqual(t, mixture(a)+1e-6, mixture(w))
			require.GreaterOrEqual(t, square(b)+1e-6, square(w))
		}
	}
}

func TestWeightsRefuse(t *testing.T) {
	_, err := MixtureWeights(nil, 1)
	assert.Error(t, err)
	_, err = MixtureWeights([][]float64{{1, 2}, {1}}, 1)
	assert.ErrorContains(t, err, "density[1]: 1 samples where density[0] has 2")
	_, err = MeanWeights([][]float64{{1, 2}}, []float64{3, 3})
	assert.ErrorContains(t, err, "all 2 values are alike")
	w, err := MixtureWeights([][]float64{{0, 1}, {0, 1}}, 0)
	require.NoError(t, err)
	assert.Equal(t, []float64{0.5, 0.5}, w)
}
