package mkl

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

// dixonPrice returns n samples of the function of Dixon and Price in six dimensions, which has squares of single features and
// products of neighbours.
func dixonPrice(n int) (x Features, y []float64) {
	rng := rand.New(rand.NewPCG(8, 15))
	x = la.NewMatrix[float64](n, 6)
	for i := range n {
		row := x.Row(i)
		for j := range row {
			row[j] = 20*rng.Float64() - 10
		}
		f := (row[0] - 1) * (row[0] - 1)
		for j := 1; j < 6; j++ {
			d := 2*row[j]*row[j] - row[j-1]
			f += float64(j+1) * d * d
		}
		y = append(y, f)
	}
	return x, y
}

// crossing returns n samples of four features, and the sign of the product of three of them.
func crossing(n int) (x Features, sign []int) {
	x = normal(rand.New(rand.NewPCG(8, 15)), n, 4)
	for i := range n {
		sign = append(sign, 0)
		if x.At(i, 0)*x.At(i, 1)*x.At(i, 2) > 0 {
			sign[i] = 1
		}
	}
	return x, sign
}

// The pool has the member with products of features for a sum of products.
func TestPoolLearnsProducts(t *testing.T) {
	x, y := dixonPrice(300)
	train, test := x.Slice(0, 150, 0, 6), x.Slice(150, 300, 0, 6)
	squared := func(a Auto) (m *AutoModel, sum float64) {
		m = fitPool(t, a, []View{{X: train}}, y[:150])
		mean, _, err := m.Predict(test)
		require.NoError(t, err)
		for i, v := range mean {
			sum += (v - y[150+i]) * (v - y[150+i])
		}
		return m, sum
	}
	m, with := squared(Auto{})
	names, _ := m.Members()
	require.Contains(t, names, interactionsMember)
	_, without := squared(Auto{part: true})
	assert.Less(t, with, without)

	loaded, err := LoadAs[*AutoModel](bytes.NewReader(saved(t, m)))
	require.NoError(t, err)
	assert.Equal(t, predicted(t, m, test), predicted(t, loaded, test))
	p, err := m.Predictor(PredictorOptions{})
	require.NoError(t, err)
	mean, variance, err := m.Predict(test)
	require.NoError(t, err)
	for i := range test.Rows {
		b, err := p.PredictWithBound(test.Row(i))
		require.NoError(t, err)
		assert.InDelta(t, mean[i], b.Mean, b.MeanError+1e-6*math.Sqrt(variance[i]))
		assert.InDelta(t, math.Sqrt(variance[i]), math.Sqrt(b.Variance), b.SDError+1e-4*math.Sqrt(variance[i]))
	}
}

// Where the mixture does not call for products, it is what it would be without them.
func TestPoolWithoutProducts(t *testing.T) {
	x, y := bumpy(80)
	m := fitPool(t, Auto{}, []View{{X: x}}, y)
	assert.Contains(t, m.dropped, interactionsMember)
	assert.Equal(t, predicted(t, fitPool(t, Auto{part: true}, []View{{X: x}}, y), x), predicted(t, m, x))

	spirals, labels := la.NewMatrix[float64](100, 2), make([]int, 100)
	for i := range labels {
		labels[i] = i % 2
		angle := 1 + 0.08*float64(i)
		sin, cos := math.Sincos(angle + math.Pi*float64(labels[i]))
		spirals.Set(i, 0, angle*cos)
		spirals.Set(i, 1, angle*sin)
	}
	c := fitClasses(t, AutoClassifier[int]{}, []View{{X: spirals}}, labels)
	assert.Contains(t, c.dropped, interactionsMember)
	assert.Equal(t, predicted(t, fitClasses(t, AutoClassifier[int]{part: true}, []View{{X: spirals}}, labels), spirals), predicted(t, c, spirals))

	for _, few := range []Features{x.Slice(0, 64, 0, 3), x.Slice(0, 80, 0, 1)} { // few samples, one feature
		m := fitPool(t, Auto{}, []View{{X: few}}, y[:few.Rows])
		names, _ := m.Members()
		assert.NotContains(t, slices.Concat(names, m.dropped), interactionsMember)
	}
}

func TestPoolOfClassesLearnsProducts(t *testing.T) {
	x, sign := crossing(300)
	train, test := x.Slice(0, 120, 0, 4), x.Slice(120, 300, 0, 4)
	wrong := func(a AutoClassifier[int]) (m *AutoClassifierModel[int], count int) {
		m = fitClasses(t, a, []View{{X: train}}, sign[:120])
		label, _, err := m.Predict(test)
		require.NoError(t, err)
		for i, c := range label {
			if c != sign[120+i] {
				count++
			}
		}
		return m, count
	}
	m, with := wrong(AutoClassifier[int]{})
	_, without := wrong(AutoClassifier[int]{part: true})
	assert.Less(t, with, without)
	names, weights := m.Members()
	at := slices.Index(names, interactionsMember)
	require.GreaterOrEqual(t, at, 0)
	assert.Greater(t, weights[at], 1.0/3)
	assert.Contains(t, m.Summary(), "shares of least squares, of products of features")

	loaded, err := LoadAs[*AutoClassifierModel[int]](bytes.NewReader(saved(t, m)))
	require.NoError(t, err)
	assert.Equal(t, predicted(t, m, test), predicted(t, loaded, test))
	p, err := m.Predictor(PredictorOptions{})
	require.NoError(t, err)
	_, probability, err := m.Predict(test)
	require.NoError(t, err)
	for i := range test.Rows {
		got := make([]float64, 2)
		_, err := p.Predict(got, test.Row(i))
		require.NoError(t, err)
		assert.InDeltaSlice(t, probability[i], got, DefaultProcessTolerance)
	}
}

// A member that cannot be fitted is left out, unless the fit is to end.
func TestWithoutInteractions(t *testing.T) {
	var p pool
	bad := errors.New("K is not positive definite")
	require.NoError(t, p.without(t.Context(), interactionsMember, bad))
	assert.Equal(t, []string{"products of features: left out (K is not positive definite)"}, p.remarks)
	ended, end := context.WithCancel(t.Context())
	end()
	require.ErrorIs(t, p.without(ended, interactionsMember, bad), bad)
}
