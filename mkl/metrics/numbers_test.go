package metrics

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMeasuresOfNumbers(t *testing.T) {
	must := must(t)
	assert.Equal(t, 3.5, must(MAE([]float64{1, 2}, []float64{4, 6})))
	assert.InDelta(t, 1-25/0.5, must(R2([]float64{1, 2}, []float64{4, 6})), 1e-12)
	assert.Equal(t, 1.0, must(R2([]float64{1, 2}, []float64{1, 2})))
	assert.Equal(t, 0.0, must(R2([]float64{1, 2, 3}, []float64{2, 2, 2})))
	assert.InDelta(t, (0.9*2+0.1*3)/2, must(Pinball([]float64{5, 5}, []float64{3, 8}, 0.9)), 1e-15)
	assert.InDelta(t, 0.5*(2.0/3+0.8), must(F1([]int{0, 0, 1, 1}, []int{0, 1, 1, 1})), 1e-15)
	assert.InDelta(t, 0.5/3, must(F1([]int{0, 4, 0}, []int{0, 0, 7})), 1e-15, "of the classes 0, 4 and 7")
	nan := math.NaN()
	for _, bad := range []func() (float64, error){
		func() (float64, error) { return MAE([]float64{1}, nil) },
		func() (float64, error) { return MAE([]float64{1}, []float64{nan}) },
		func() (float64, error) { return R2([]float64{1, 1}, []float64{1, 2}) },
		func() (float64, error) { return CRPS([]float64{1}, []float64{1}, []float64{0}) },
		func() (float64, error) { return Pinball([]float64{1}, []float64{1}, 1) },
		func() (float64, error) { return Pinball([]float64{1}, []float64{nan}, .5) },
		func() (float64, error) { return F1([]int{-1}, []int{0}) },
		func() (float64, error) { return F1(nil, nil) },
		func() (float64, error) { return AveragePrecision([]bool{true}, []float64{1}) },
	} {
		v, err := bad()
		assert.Error(t, err)
		assert.True(t, math.IsNaN(v))
	}
}

// The score of a normal distribution is E|X − y| − E|X − X′|/2, and the mean of the pinball loss over all levels
// twice over.
func TestCRPSAgainstItsDefinitions(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const n, mean, variance, truth = 400000, 1.5, 4.0, 0.25
	var first, second float64
	for range n {
		x, other := mean+2*r.NormFloat64(), mean+2*r.NormFloat64()
		first += math.Abs(x-truth) / n
		second += math.Abs(x-other) / n
	}
	got, err := CRPS([]float64{truth}, []float64{mean}, []float64{variance})
	require.NoError(t, err)
	assert.InDelta(t, first-second/2, got, 0.01)
	const levels = 2000
	sum := 0.0
	for k := range levels {
		level := (float64(k) + 0.5) / levels
		loss, err := Pinball([]float64{truth}, []float64{mean + 2*math.Sqrt2*math.Erfinv(2*level-1)}, level)
		require.NoError(t, err)
		sum += 2 * loss / levels
	}
	assert.InDelta(t, sum, got, 1e-3)
}

// The average precision is the mean over the positive samples of the precision at their score, with ties counted
// together.
func TestAveragePrecisionAgainstCounting(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		n := 5 + r.IntN(40)
		positive, score := make([]bool, n), make([]float64, n)
		for i := range n {
			positive[i], score[i] = i == 0 || i > 1 && r.IntN(3) == 0, float64(r.IntN(8))
		}
		var sum, pos float64
		for i := range n {
			if !positive[i] {
				continue
			}
			pos++
			var hits, all float64
			for k := range n {
				if score[k] >= score[i] {
					all++
					if positive[k] {
						hits++
					}
				}
			}
			sum += hits / all
		}
		got, err := AveragePrecision(positive, score)
		require.NoError(t, err)
		assert.InDelta(t, sum/pos, got, 1e-12)
	}
}

// The value comes from mean_poisson_deviance of scikit-learn 1.2.
func TestPoissonDeviance(t *testing.T) {
	d, err := PoissonDeviance([]float64{0, 1, 3, 7, 2, 0}, []float64{0.5, 1.2, 2.5, 9, 2, 0.01})
	require.NoError(t, err)
	assert.InDelta(t, 0.2718140385405223, d, 1e-15)
	_, err = PoissonDeviance([]float64{1, -1}, []float64{1, 1})
	assert.ErrorContains(t, err, "sample 1: count -1")
	_, err = PoissonDeviance([]float64{1}, []float64{0})
	assert.ErrorContains(t, err, "mean 0")
}
