package mkl

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
)

func TestEdges(t *testing.T) {
	x := la.MatrixOf(3, 2, []float64{0, 5, 1, 5, 2, 5})
	e := edgesOf([]Features{x})
	const sd = 1.0
	assert.InDelta(t, -sd, e[0][0][0], 1e-12)
	assert.InDelta(t, 2+sd, e[0][0][1], 1e-12)
	assert.Equal(t, [2]float64{5, 5}, e[0][1])
	inside := e.matrices([]Features{x})[0]
	assert.Same(t, &x.Data[0], &inside.Data[0], "nothing is copied")
	wild := la.MatrixOf(2, 2, []float64{1e6, 5, 1, math.Inf(-1)})
	moved := e.matrices([]Features{wild})[0]
	assert.Equal(t, []float64{e[0][0][1], 5, 1, math.Inf(-1)}, moved.Data)
	assert.Equal(t, 1e6, wild.Data[0])
	assert.True(t, math.IsNaN(e.row([][]float64{{math.NaN(), 5}})[0][0]))
	row := []float64{-9, 5}
	assert.Equal(t, [][]float64{{e[0][0][0], 5}}, e.row([][]float64{row}))
	assert.Equal(t, -9.0, row[0])
	assert.Len(t, e.row([][]float64{{1}})[0], 1, "to be refused")
	assert.Empty(t, e.row(nil), "to be refused")
	same := [][]float64{{1, 5}}
	assert.Same(t, &same[0], &e.row(same)[0], "nothing is copied")
	assert.NoError(t, e.check([]ModelInput{{Cols: 2}}))
	assert.ErrorContains(t, e.check([]ModelInput{{Cols: 3}}), "edges[0] has 2 features where the input has 3")
	assert.ErrorContains(t, e.check(nil), "edges of 1 inputs where there are 0")
	e[0][1] = [2]float64{3, 2}
	assert.ErrorContains(t, e.check([]ModelInput{{Cols: 2}}), "edges[0][1] is [3 2]")
	e[0][1] = [2]float64{math.NaN(), 2}
	assert.ErrorContains(t, e.check([]ModelInput{{Cols: 2}}), "edges[0][1] is [NaN 2]")
}

// A wild value of a feature that the target depends on makes no wild prediction.
func TestWildRowOfManyRows(t *testing.T) {
	testkit.NotShort(t)
	x, price, _ := prices(1, DefaultExactSamples+200)
	m := fitPool(t, Auto{Time: quickly}, []View{{X: x}}, price)
	most := 0.0
	for _, v := range price {
		most = max(most, v)
	}
	one, err := m.Predictor(PredictorOptions{Exact: true})
	require.NoError(t, err)
	for j := range 3 {
		for _, wild := range []float64{-1e6, 1e6} {
			row := []float64{0.1, 0.2, 0.3}
			row[j] = wild
			mean, _, err := m.Predict(la.MatrixOf(1, 3, row))
			require.NoError(t, err)
			assert.Less(t, mean[0], 4*most)
			single, _, err := one.Predict(row)
			require.NoError(t, err)
			assert.InEpsilon(t, mean[0], single, 1e-6)
		}
	}
	_, _, err = m.Predict(la.MatrixOf(1, 3, []float64{0, math.Inf(1), 0}))
	assert.Error(t, err)
}
