package metrics

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Φ(1), Φ(2) and Φ(3), from tables.
const phi1, phi2, phi3 = 0.8413447460685429, 0.9772498680518208, 0.9986501019683699

func TestConcordanceByHand(t *testing.T) {
	truth := []float64{4, 5, 7} // pairs differ by 1, 3 and 2
	for _, c := range []struct {
		name      string
		predicted []float64
		sd, want  float64
	}{
		{"all right", []float64{1, 2, 3}, 1, (phi1 + phi2 + phi3) / 3},
		{"all wrong", []float64{3, 2, 1}, 1, 1 - (phi1+phi2+phi3)/3},
		{"the first two wrong", []float64{-1, -2, 9}, 1, ((1 - phi1) + phi2 + phi3) / 3},
		{"the first two equal", []float64{0, 0, 9}, 1, (0.5 + phi2 + phi3) / 3},
		{"a larger error", []float64{-1, -2, 9}, 0.5, (1 - phi2 + 0.9999683287581669 + 0.9999999990134124) / 3},
		{"without error", []float64{-1, -2, 9}, 0, 2. / 3},
	} {
		got, err := Concordance(truth, c.predicted, c.sd)
		require.NoError(t, err)
		assert.InDelta(t, c.want, got, 1e-14, c.name)
	}

	// Weights by hand: of 4, 5, 7 with sd 1 as below; of equal values 0.
	c := []float64{phi1 - 0.5, phi2 - 0.5, phi3 - 0.5}
	squares := c[0]*c[0] + c[1]*c[1] + c[2]*c[2]
	rows := []float64{c[0] + c[2], c[1] - c[0], c[1] + c[2]} // |Σ_j C_ij|
	variance := squares + (rows[0]*rows[0]+rows[1]*rows[1]+rows[2]*rows[2]-2*squares)/3
	w, err := ConcordanceWeight(truth, 1)
	require.NoError(t, err)
	assert.InDelta(t, (c[0]+c[1]+c[2])/math.Sqrt(variance), w, 1e-13)
	same, err := ConcordanceWeight([]float64{2, 2}, 1)
	require.NoError(t, err)
	assert.Zero(t, same)

	two := []float64{0, 2} // a weight of 1: the best order is one deviation above ½
	got, err := WeightedConcordance([][]float64{truth, two, {3, 3}}, [][]float64{{1, 2, 3}, {5, 4}, {1, 2}}, []float64{1, 1, 1})
	require.NoError(t, err)
	assert.InDelta(t, (w*(phi1+phi2+phi3)/3+1-phi2)/(w+1), got, 1e-13)
}

// The weight follows from the mean and deviation of the indices over all orders.
func TestConcordanceWeightIsThatOfAllOrders(t *testing.T) {
	for _, truth := range [][]float64{{1, 2}, {3, 1, 2}, {0, 0, 1, 5}, {2.5, -1, 0.3, 4, 0.2}, {1, 1, 1, 2, 3, 3}} {
		for _, sd := range []float64{0, 0.4, 3} {
			var all []float64
			permutations(len(truth), func(p []float64) {
				c, err := Concordance(truth, p, sd)
				require.NoError(t, err)
				all = append(all, c)
			})
			var mean, variance float64
			for _, c := range all {
				mean += c / float64(len(all))
			}
			for _, c := range all {
				variance += (c - mean) * (c - mean) / float64(len(all))
			}
			best, err := Concordance(truth, truth, sd)
			require.NoError(t, err)
			w, err := ConcordanceWeight(truth, sd)
			require.NoError(t, err)
			assert.InDelta(t, 0.5, mean, 1e-12)
			assert.InEpsilon(t, (best-0.5)/math.Sqrt(variance), w, 1e-10, "%v, %g", truth, sd)
		}
	}
}

// permutations calls f with every order of 0 … n−1.
func permutations(n int, f func([]float64)) {
	p := make([]float64, n)
	for i := range p {
		p[i] = float64(i)
	}
	var from func(k int)
	from = func(k int) {
		if k == n {
			f(p)
		}
		for i := k; i < n; i++ {
			p[k], p[i] = p[i], p[k]
			from(k + 1)
			p[k], p[i] = p[i], p[k]
		}
	}
	from(0)
}

// Values so far apart that their difference is infinite are in order.
func TestConcordanceFarApart(t *testing.T) {
	got, err := Concordance([]float64{-math.MaxFloat64, math.MaxFloat64, 0}, []float64{1, 3, 2}, 1)
	require.NoError(t, err)
	assert.Equal(t, 1.0, got)
}

func TestConcordanceRefusals(t *testing.T) {
	nan := math.NaN()
	for want, f := range map[string]func() (float64, error){
		"metrics: no samples":                        func() (float64, error) { return Concordance(nil, nil, 1) },
		"metrics: 1 predictions for 2 samples":       func() (float64, error) { return Concordance([]float64{1, 2}, []float64{1}, 1) },
		"metrics: one sample where a pair is needed": func() (float64, error) { return ConcordanceWeight([]float64{1}, 1) },
		"metrics: the standard deviation is -1":      func() (float64, error) { return Concordance([]float64{1, 2}, []float64{1, 2}, -1) },
		"metrics: sample 1: truth NaN, predicted 2":  func() (float64, error) { return Concordance([]float64{1, nan}, []float64{1, 2}, 1) },
		"metrics: sample 0: truth 1, predicted NaN":  func() (float64, error) { return Concordance([]float64{1, 2}, []float64{nan, 2}, 1) },
		"metrics: 2 standard deviations for 1 targets": func() (float64, error) {
			return WeightedConcordance([][]float64{{1, 2}}, [][]float64{{1, 2}}, []float64{1, 1})
		},
		"metrics: no target has values that differ": func() (float64, error) {
			return WeightedConcordance([][]float64{{1, 1}}, [][]float64{{1, 2}}, []float64{1})
		},
		"target 0: metrics: the standard deviation is NaN": func() (float64, error) {
			return WeightedConcordance([][]float64{{1, 1}}, [][]float64{{1, 2}}, []float64{nan})
		},
	} {
		got, err := f()
		assert.EqualError(t, err, want)
		assert.True(t, math.IsNaN(got))
	}
}
