package gonum_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/bmkl/bmkl/gonum"
	"github.com/bmkl/bmkl/mkl/kernel"
)

func TestFeaturesShareMemory(t *testing.T) {
	d := mat.NewDense(4, 5, nil)
	part := d.Slice(1, 4, 2, 5)
	x := gonum.Features(part)
	d.Set(2, 3, 7)
	assert.Equal(t, []int{3, 3, 5}, []int{x.Rows, x.Cols, x.Stride})
	assert.Equal(t, 7.0, x.At(1, 1))

	column := gonum.Features(mat.NewVecDense(3, []float64{1, 2, 3}))
	assert.Equal(t, []int{3, 1}, []int{column.Rows, column.Cols})
	assert.Equal(t, []float64{1, 2, 3}, column.Data)
}

func TestFeaturesHaveTheElements(t *testing.T) {
	d := mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6})
	for _, m := range []mat.Matrix{
		d, d.T(), d.Slice(0, 2, 1, 3),
		mat.NewSymDense(2, []float64{1, 2, math.NaN(), 3}),
		mat.NewTriDense(2, mat.Upper, []float64{1, 2, math.NaN(), 3}),
		mat.NewDiagDense(2, []float64{1, 2}),
	} {
		x := gonum.Features(m)
		rows, cols := m.Dims()
		require.Equal(t, []int{rows, cols}, []int{x.Rows, x.Cols})
		require.True(t, x.Valid())
		for i := range rows {
			for j := range cols {
				assert.Equal(t, m.At(i, j), x.At(i, j), "%T (%d, %d)", m, i, j)
			}
		}
	}
}

func TestTargetSharesVectorsWithIncrementOne(t *testing.T) {
	v := mat.NewVecDense(3, []float64{1, 2, 3})
	y := gonum.Target(v)
	v.SetVec(1, 5)
	assert.Equal(t, []float64{1, 5, 3}, y)

	d := mat.NewDense(2, 2, []float64{1, 2, 3, 4})
	assert.Equal(t, []float64{2, 4}, gonum.Target(d.ColView(1)))
	assert.Equal(t, []float64{3, 4}, gonum.Target(d.RowView(1)))
	assert.Equal(t, [][]float64{{1, 3}, {2, 4}}, gonum.Targets(d))
}

func TestViewsShareTheirInput(t *testing.T) {
	views := gonum.Views(mat.NewDense(2, 2, []float64{1, 2, 3, 4}).T(), kernel.RBF{Width: 1}, kernel.Linear{})
	require.Len(t, views, 2)
	assert.Same(t, &views[0].X.Data[0], &views[1].X.Data[0])
	assert.Equal(t, kernel.Linear{}, views[1].Kernel)
}
